"""What requests contain; OpenAPI shows it. What the values may be, `Experiment` checks and says."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, create_model

from ..experiment.verbs import Verb

Name = Annotated[str, Field(description="The experiment's name.", examples=["prompts"])]
Format = Literal["jsonl", "json", "csv"]


class Body(BaseModel):
    """Of a request: every field as it is declared, and no other."""

    model_config = ConfigDict(strict=True, extra="forbid")

    experiment: Name


class Create(Body):
    """Settings of a new experiment, or of an existing one; others than these are handed on, too."""

    model_config = ConfigDict(strict=True, extra="allow")

    arms: list[str]
    delta: float | None = None
    sigma: float | dict[str, float] | None = None
    bounds: list[float] | None = Field(None, examples=[[0, 1]])
    model: dict[str, Any] | None = None
    strategy: str | dict[str, Any] | None = None
    stopping: str | dict[str, Any] | None = None
    tolerance: float | None = None
    minimize: bool | None = None
    order: str | None = None
    items: int | list[Any] | dict[str, Any] | None = Field(
        None,
        description="What all arms are compared on, in rounds: how many items there are, the items "
        "themselves, or what the settings of an experiment have of them. No file of the server is read.",
    )
    known: dict[str, Any] | None = Field(
        None,
        description="With items, arms that are not asked, and of each its score on every item: a list in the "
        "order of the items. Or what the settings of an experiment have of them.",
    )
    proxies: list[list[float | None]] | None = Field(
        None, description="With known, the scores of other models on every item, a list for each."
    )
    failures: str | float | None = None
    compare: str | None = Field(None, description='"means", or "wins" if only who was better counts.')
    direct: bool | None = None
    question: dict[str, Any] | None = None
    control: str | None = Field(None, description="The arm that the others are compared with.")
    sampled: bool | None = Field(None, description="Whether the items are a random sample.")
    cluster: str | None = Field(None, description="The key of the items by which they belong together.")
    weigh: str | None = Field(None, description='With clusters, what counts alike: "items" or "clusters".')
    largest: int | None = Field(None, description="The most items that any cluster can have.")
    epochs: int | None = Field(None, description="How often each arm answers an item.")
    seed: int | None = None
    lease: float | None = 3600.0
    max_samples: int | None = Field(
        None, description="How many samples there will be at most: the rule prepares for it. Limits nothing."
    )
    about: dict[str, str] | None = None


class Ask(Body):
    """Who asks for how many pulls."""

    n: int = Field(1, description="How many at most.")
    worker: str = Field(description="The name of the worker that will evaluate them.", examples=["gpu-1"])


class Told(BaseModel):
    """The value of a pull; where values are only compared it may be infinite, written as 1e999."""

    model_config = ConfigDict(strict=True, extra="forbid")

    pull: int
    value: float


class Tell(Body):
    """Values of pulls."""

    results: list[Told]


class Observe(Body):
    """Values that existed before, of one arm or of several."""

    values: list[Annotated[tuple[str, float], Strict(False)]] | dict[str, list[float]] = Field(
        description="Pairs [arm, value] in the order in which they were sampled, judged one after the other; "
        "or arm -> its values, judged once, when all are in."
    )


class Pull(BaseModel):
    """A sample to take; rounds on common items have more fields."""

    model_config = ConfigDict(extra="allow")

    id: int
    arm: str
    seed: int
    deadline: float | None


class Asked(BaseModel):
    """Pulls, or why there are none: "decided", "stopped", "used up", or "wait" for earlier pulls."""

    pulls: list[Pull]
    reason: str


class Outcome(BaseModel):
    """What became of a value: "told", "repeated", or "late" if another one was there before."""

    pull: int
    outcome: str


class Outcomes(BaseModel):
    """In the order in which they were told."""

    outcomes: list[Outcome]


def of_verb(verb: Verb) -> type[Body]:
    """What a request for a plain verb contains."""
    fields: dict[str, Any] = {}
    for one in verb.parameters:
        kind, word = verb.kinds[one.name]
        default = ... if one.default is one.empty else one.default
        fields[one.name] = (kind, Field(default, description=word.help))
    name = verb.function.__name__.capitalize()
    return create_model(name, __base__=Body, __doc__=f"Of {verb.function.__name__}.", **fields)

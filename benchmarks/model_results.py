"""What real models scored on every item of public test sets, read from clones of two repositories.

An item that a model has no readable score on is missing for this model alone. A file that cannot be read and
a model that lacks too many items are left out, each with a remark.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

LEAST = 0.95  # of the items, which a model must have

OBJECT = json.JSONDecoder()
WAYS = tuple(
    re.compile(way) for way in (r'"answer"\s*:\s*"([^"]*)"', r'"?answer"?\s*:\s*([^,\s]*)', r"\\boxed{(\w+)}")
)
FRACTION = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Dataset:
    """Where results are, and how a record of them is scored.

    repository  on GitHub; its clone has the second part of this name
    files       of a clone, one for each model, whose name stands for the star
    score       the item of a record, and the score on it in [0, 1]
    """

    name: str
    repository: str
    files: str
    score: Callable[[dict[str, Any]], tuple[str, float]]


@dataclass(frozen=True, eq=False)
class Table:
    """The results on one dataset.

    models  the best first, by their means over the items that they have
    scores  (items, models); NaN where one is missing
    """

    name: str
    models: tuple[str, ...]
    scores: npt.NDArray[np.float64]

    def of(self, arms: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """(items, arms): the scores of some models, on the items that all of these have."""
        some = self.scores[:, arms]
        return np.ascontiguousarray(some[~np.isnan(some).any(axis=1)])


def preferred(record: dict[str, Any]) -> tuple[str, float]:
    """How much a judge prefers the model's output to that of the reference, from 1 to 2, less 1."""
    return str(record["instruction"]), float(record["preference"]) - 1.0


def solved(record: dict[str, Any]) -> tuple[str, float]:
    """1 where the answer has the right number first."""
    answer, right = answer_in(record["output"][0]), number_in(str(record["answer"]))
    return str(record["id"]), float(answer is not None and right is not None and number_in(answer) == right)


def predicted(record: dict[str, Any]) -> tuple[str, float]:
    """1 where the answer is the right text, but for quotes around it."""
    answer, right = answer_in(record["output"][0]), str(record["answer"]).strip("'\"")
    return str(record["id"]), float(answer is not None and as_literal(answer) == right)


def answer_in(output: str) -> str | None:
    """The answer in the JSON object that a model was asked for, or in what looks like one; None without."""
    line = output.replace("\n", "")
    with suppress(ValueError, KeyError, RecursionError):
        return str(OBJECT.raw_decode(line, line.index("{"))[0]["answer"])
    return next((match[1] for way in WAYS if (match := way.search(output))), None)


def number_in(answer: str) -> float | None:
    """A fraction, or the first number of a text; None without."""
    plain = answer.replace("$", "").replace(",", "")
    if (match := FRACTION.fullmatch(plain)) and float(match[2]) > 0.0:
        return float(match[1]) / float(match[2])
    return float(match[0]) if (match := NUMBER.search(plain)) else None


def as_literal(answer: str) -> str:
    """Without quotes around it, line breaks as they are written."""
    return answer.strip("'\"").replace("\n", "\\n")


JUDGED = "results/*/weighted_alpaca_eval_gpt4_turbo/annotations.json"
DATASETS = (
    Dataset("AlpacaEval 2", "tatsu-lab/alpaca_eval", JUDGED, preferred),
    Dataset("GSM8K", "yuchenlin/ZeroEval", "result_dirs/gsm/*.json", solved),
    Dataset("CRUX", "yuchenlin/ZeroEval", "result_dirs/crux/*.json", predicted),
)


def read_tables(folder: Path) -> tuple[list[Table], list[str]]:
    """The tables of all clones in a folder, and what was left out, a sentence each."""
    found = [(dataset.name, *read_table(dataset, folder)) for dataset in DATASETS]
    remarks = [f"{name}: {remark}." for name, _, left_out in found for remark in left_out]
    return [table for _, table, _ in found if table], remarks


def read_table(dataset: Dataset, folder: Path) -> tuple[Table | None, list[str]]:
    """A dataset's table, None for fewer than two models; and what was left out."""
    clone = folder / dataset.repository.split("/")[1]
    before, _, after = dataset.files.partition("*")
    scores, remarks = {}, []
    for file in sorted(clone.glob(dataset.files)):
        name = file.relative_to(clone).as_posix()
        found = read_scores(file, dataset.score)
        if isinstance(found, str):
            remarks.append(f"{name} is left out, since {found}")
        else:
            scores[name.removeprefix(before).removesuffix(after)] = found
    if after.startswith("/"):
        models = [one for one in clone.glob(f"{before}*") if one.is_dir()]
        absent = sum(not (one / after[1:]).exists() for one in models)
        if absent:
            remarks.append(f"{absent} of {len(models)} models are left out, since they have no {after[1:]}")
    return _table(dataset.name, scores, remarks), remarks


def read_scores(file: Path, score: Callable[[dict[str, Any]], tuple[str, float]]) -> dict[str, float] | str:
    """The scores of a file by item, or why there are none."""
    try:
        records = json.loads(file.read_bytes())
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    except (ValueError, RecursionError):
        return "it is not valid JSON"
    if not isinstance(records, list):
        return "it is not a list of records"
    found = {}
    for record in records:
        with suppress(KeyError, IndexError, TypeError, ValueError, AttributeError):
            item, value = score(record)
            if 0.0 <= value <= 1.0:
                found[item] = value
    return found or "no record of it has a score"


def _table(name: str, scores: dict[str, dict[str, float]], remarks: list[str]) -> Table | None:
    """Of the models that have nearly all items that most of them have; remarks are added for the others."""
    counts = Counter(item for one in scores.values() for item in one)
    items = sorted(item for item, count in counts.items() if 2 * count > len(scores))
    columns = {}
    for model, one in scores.items():
        column = np.array([one.get(item, np.nan) for item in items])
        known = int((~np.isnan(column)).sum())
        if known and known >= LEAST * len(items):
            columns[model] = column
        else:
            remarks.append(f"{model} is left out, since it has scores on {known} of {len(items)} items")
    if len(columns) < 2:
        remarks += [f"{model} is the only model left, and a choice takes two" for model in columns]
        return None
    ranking = sorted(columns, key=lambda model: (-np.nanmean(columns[model]), model))
    return Table(name, tuple(ranking), np.stack([columns[model] for model in ranking], axis=1))

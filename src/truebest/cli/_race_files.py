"""The files of `truebest race`: in the forms of hyperfine, so that what reads those reads these."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._records import csv_lines, plain
from ..errors import TruebestError

if TYPE_CHECKING:
    from ..running.standings import Race, Standing

STATISTICS = ("mean", "stddev", "median", "user", "system", "min", "max")


def export(race: Race, parameters: dict[str, dict[str, str]], files: dict[str, str | None]) -> None:
    """Write what was asked for: the form ("json", "csv", "markdown") -> file, None for none."""
    for form, file in files.items():
        if file is None:
            continue
        try:
            Path(file).write_text(FORMS[form](race, parameters), encoding="utf-8")
        except OSError as error:
            raise TruebestError(
                f"cannot write to {file!r}: {error.strerror or error}; choose another."
            ) from None


def as_json(race: Race, parameters: dict[str, dict[str, str]]) -> str:
    """hyperfine's results, of the runs that did not fail, with those of the race beside them."""
    results = [
        {
            **_record(one),
            "times": [x for x in one.times if math.isfinite(x)],
            "exit_codes": [0] * (len(one.times) - one.failed),
            "failures": one.failed,
            "won": one.won,
            "lost": one.lost,
            "ratio": one.ratio._asdict(),
            **({"parameters": parameters[one.name]} if parameters.get(one.name) else {}),
        }
        for one in race.standings
    ]
    whole = {"results": results, "race": race.to_dict()}
    return json.dumps(plain(whole), indent=2, allow_nan=False) + "\n"


def as_csv(race: Race, parameters: dict[str, dict[str, str]]) -> str:
    """hyperfine's columns, then a column for each parameter."""
    names = sorted({name for each in parameters.values() for name in each})
    rows = []
    for one in race.standings:
        given = {f"parameter_{name}": parameters.get(one.name, {}).get(name) for name in names}
        rows.append({**plain(_record(one)), **given})
    columns = ["command", *STATISTICS, *(f"parameter_{name}" for name in names)]
    return "".join(line + "\n" for line in csv_lines(rows, columns))


def as_markdown(race: Race, parameters: dict[str, dict[str, str]]) -> str:
    """hyperfine's table; Relative is the median over rounds, with its interval."""
    del parameters
    means = [one.mean for one in race.standings if math.isfinite(one.mean)]
    unit, scale = ("ms", 1e3) if not means or min(means) < 1.0 else ("s", 1.0)
    lines = [
        f"| Command | Mean [{unit}] | Min [{unit}] | Max [{unit}] | Relative |",
        "|:---|---:|---:|---:|---:|",
    ]
    for one in race.standings:
        mean, least, most = (_number(scale * x) for x in (one.mean, one.least, one.most))
        name = one.name.replace("|", "\\|")
        spread, relative = _number(scale * one.deviation), _relative(one)
        lines.append(f"| `{name}` | {mean} ± {spread} | {least} | {most} | {relative} |")
    return "\n".join([*lines, "", f"{race}.", ""])


FORMS = {"json": as_json, "csv": as_csv, "markdown": as_markdown}


def _record(one: Standing) -> dict[str, Any]:
    values = (one.mean, one.deviation, one.median, one.user, one.system, one.least, one.most)
    return {"command": one.name, **dict(zip(STATISTICS, values, strict=True))}


def _relative(one: Standing) -> str:
    from ..running.standings import ratio_words

    return "1.00" if one.won is None else ratio_words(one.ratio)


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.1f}" if value >= 100.0 else f"{value:.3g}"

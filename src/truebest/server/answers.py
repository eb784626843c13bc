"""How answers are written: JSON without NaN, and files to download."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from .._records import plain


def as_json(content: Any, status: int = 200) -> Response:
    """Numbers that JSON does not have are null."""
    return Response(json.dumps(plain(content), allow_nan=False), status, media_type="application/json")


def file_name(name: str, ending: str) -> dict[str, str]:
    """The header under which a browser saves an answer: no name leads it to another folder."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:80] or "experiment"
    full = quote(re.sub(r"[/\\:*?\"<>|]+", "_", name)[:80].strip(". ") or "experiment", safe="")
    return {
        "Content-Disposition": f"attachment; filename=\"{safe}.{ending}\"; filename*=UTF-8''{full}.{ending}"
    }

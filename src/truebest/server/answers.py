"""How answers are written: as JSON; and errors as `application/problem+json` (RFC 9457), with a code.

An error is the sentence that truebest says everywhere:

{"type": "about:blank", "title": "Bad Request", "status": 400, "code": "invalid",
 "detail": "n must be a whole number from 1 to 100000, got 0; it is how many pulls to issue at once."}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import Response

from .._records import plain
from .._text import harmless
from ..errors import DamagedLogError, InvalidInputError, StoreError, SuspendedError, TruebestError

_TYPE = re.compile(r"(int|float|str|bool|list\[.*|dict\[.*)$")  # of several, which was tried first
MEDIA_TYPE = "application/problem+json"


def as_json(content: Any) -> Response:
    """Numbers that JSON does not have are null."""
    return Response(json.dumps(plain(content), allow_nan=False), media_type="application/json")


class ProblemError(TruebestError):
    """An answer that is an error.

    status   of HTTP
    code     for programs
    headers  that go with it
    """

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.code, self.headers = status, code, dict(headers or {})

    def response(self) -> Response:
        """The answer."""
        content = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": harmless(str(self)),
        }
        return Response(json.dumps(content), self.status, self.headers, MEDIA_TYPE)


def no_such_page(path: str) -> ProblemError:
    """For an address that does not exist."""
    return ProblemError(404, "no-such-page", f"there is no {path!r:.200} here; /docs lists all addresses.")


def problem_of(error: Exception) -> ProblemError:
    """The answer for an error of truebest, or for any other."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, InvalidInputError):
        return ProblemError(400, "invalid", str(error))
    if isinstance(error, SuspendedError):
        return ProblemError(409, "suspended", str(error))
    if isinstance(error, DamagedLogError):
        return ProblemError(500, "damaged", str(error))
    if isinstance(error, StoreError):
        return ProblemError(503, "store", str(error), {"Retry-After": "1"})
    return ProblemError(
        500,
        "unexpected",
        f"the server met an unexpected {type(error).__name__}; what was acknowledged before is stored; "
        f"please report it, with what the server printed.",
    )


def invalid_body(error: RequestValidationError) -> ProblemError:
    """The first thing that is wrong with a request: what was given, what is allowed, what to do."""
    first: dict[str, Any] = dict(error.errors()[0])
    place = ".".join(str(part) for part in first["loc"][1:] if not _TYPE.match(str(part))) or "the body"
    if first["type"] == "json_invalid":
        return ProblemError(
            400,
            "invalid",
            f"the body must be JSON, got something else ({first['ctx']['error']} at character "
            f'{first["loc"][-1]}); send an object like {{"experiment": "prompts"}}.',
        )
    given = "nothing" if first["type"] == "missing" else f"{first.get('input')!r:.60}"
    said = str(first["msg"])
    return ProblemError(
        400,
        "invalid",
        f"{place} is not as it must be: {said[:1].lower()}{said[1:]}, got {given}; /docs says what is "
        f"allowed, and bodies must be sent with Content-Type: application/json.",
    )


async def answer(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """For FastAPI: the answer to a request that failed."""
    return problem_of(error).response()


async def answer_invalid(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """The same where the request itself is not as it must be."""
    assert isinstance(error, RequestValidationError)
    return invalid_body(error).response()

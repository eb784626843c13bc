"""What people see: the page with its files, and all addresses of the service as plain text.

The files are read once, when the server starts, and are found by their exact names: no path is ever built
from a request.
"""

from __future__ import annotations

import hashlib
from html import escape
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, Response

from .._html import Cell, table
from .answers import as_json

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}


def static_files() -> dict[str, tuple[bytes, str]]:
    """Path -> what it is and its media type."""
    found = {}
    for file in files(__package__).joinpath("static").iterdir():
        path = "/" if file.name == "index.html" else f"/static/{file.name}"
        found[path] = file.read_bytes(), TYPES[file.name.rpartition(".")[2]]
    return found


def add_pages(app: FastAPI, static: dict[str, tuple[bytes, str]]) -> None:
    """The page, its files, and the description of the service."""

    def serve(content: bytes, media_type: str) -> Any:
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'

        async def get(request: Request) -> Response:
            known = request.headers.get("if-none-match") == tag
            headers = {"ETag": tag}
            return Response(b"" if known else content, 304 if known else 200, headers, media_type)

        return get

    for path, (content, media_type) in static.items():
        app.add_api_route(path, serve(content, media_type), methods=["GET", "HEAD"], include_in_schema=False)

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return as_json(app.openapi())

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(described(app.openapi()))


def described(openapi: dict[str, Any]) -> str:
    """All addresses on one page, without a script."""
    schemas = openapi.get("components", {}).get("schemas", {})
    parts = []
    for path, methods in openapi["paths"].items():
        for method, what in methods.items():
            parts.append(f"<h2 id='{escape(path)}'>{method.upper()} {escape(path)}</h2>")
            for paragraph in str(what.get("description", "")).split("\n\n"):
                parts.append(f"<p>{escape(paragraph)}</p>")
            rows = [*_parameters(what), *_fields(what, schemas)]
            if rows:
                cells = [[Cell(escape(text)) for text in row] for row in rows]
                parts.append(f"<div class='scroll'>{table(['field', 'type', 'meaning'], cells)}</div>")
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<title>truebest: the service</title><link rel='stylesheet' href='static/style.css'>"
        "<link rel='icon' href='static/icon.svg'></head><body class='docs'><main>"
        "<p><a href='./'>Experiments</a></p><h1>The service</h1>"
        f"<p>{escape(openapi['info']['description'])}</p>{''.join(parts)}"
        "<p><a href='openapi.json'>The same for programs: OpenAPI</a></p></main></body></html>"
    )


def _parameters(what: dict[str, Any]) -> list[list[str]]:
    """Of the address, after the question mark."""
    return [
        [
            one["name"],
            _type(one["schema"]),
            _meaning(one["schema"], one.get("description", ""), one["required"]),
        ]
        for one in what.get("parameters", [])
    ]


def _fields(what: dict[str, Any], schemas: dict[str, Any]) -> list[list[str]]:
    """The fields of a request's body."""
    content = what.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = schemas.get(content.get("schema", {}).get("$ref", "").rpartition("/")[2], {})
    required = schema.get("required", [])
    return [
        [name, _type(one), _meaning(one, one.get("description", ""), name in required)]
        for name, one in schema.get("properties", {}).items()
    ]


def _meaning(schema: dict[str, Any], words: str, required: bool) -> str:
    usual = schema.get("default")
    default = "required." if required else "" if usual in (None, "") else f"default {usual}."
    return f"{words} {default.capitalize()}".strip()


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))

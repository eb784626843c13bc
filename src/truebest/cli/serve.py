"""`truebest serve`: a page to watch experiments, and a service to call from any language."""

from __future__ import annotations

import signal
from typing import Annotated, Any

import typer

from ..errors import InvalidInputError
from . import DONE, INTERRUPTED, say
from ._experiment import StoreUrl, store_url
from ._numbers import read_number

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 for all networks.")]
Port = Annotated[str, typer.Option(metavar="INT", help="On which port; 0 for any that is free.")]
Token = Annotated[
    str | None,
    typer.Option(
        envvar="TRUEBEST_TOKEN",
        metavar="TEXT",
        help="The token that permits everything; default: a new one, which is printed. Others on this "
        "machine can see a command line: better set TRUEBEST_TOKEN.",
    ),
]
ReadToken = Annotated[
    str | None,
    typer.Option(
        envvar="TRUEBEST_READ_TOKEN", metavar="TEXT", help="A token that permits reading; default: none."
    ),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A name under which the server is reached, besides its address, such as the proxy's; with a "
        "port if it is not the usual one.",
    ),
]
RootPath = Annotated[
    str, typer.Option(metavar="PATH", help="The path under which a proxy shows the page, such as /runs.")
]
TrustProxy = Annotated[
    bool,
    typer.Option(
        "--trust-proxy",
        help="Believe X-Forwarded-Host and X-Forwarded-For; only where a proxy sets both and nothing else "
        "can reach the server.",
    ),
]
Rate = Annotated[str, typer.Option(metavar="INT", help="Requests a second that one address may send.")]


def serve(
    store: StoreUrl = None,
    host: Host = "127.0.0.1",
    port: Port = "8000",
    token: Token = None,
    read_token: ReadToken = None,
    allow_host: AllowHost = None,
    root_path: RootPath = "",
    trust_proxy: TrustProxy = False,
    rate: Rate = "1000",
) -> int:
    r"""Show the experiments of a store on a page, live, and let programs work on them over HTTP.

    Everything needs a token: the page asks for it, programs send it as Authorization: Bearer TOKEN. It ends
    cleanly with Ctrl-C or SIGTERM. Needs truebest\[serve]; docs/guides/serve.md has examples.

    Example: truebest serve --store sqlite:///runs.db
    """
    from .._args import whole

    url = store_url(store)
    number = whole("port", read_number(port), 0, 65535, "8000 is usual, and 0 takes a free one")
    most = whole("rate", read_number(rate), 1, 10**9, "it is how many requests a second an address may send")
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise InvalidInputError(
            f"a server needs the packages fastapi and uvicorn, which cannot be imported ({error}); install "
            f"them with `pip install 'truebest[serve]'`."
        ) from error
    from ..server.run import serve as run
    from ..server.tokens import Tokens, new_token

    own = token or new_token()
    tokens = Tokens(own, read_token)

    def ready(address: str) -> None:
        say(f"the page is at {address}; it ends with Ctrl-C.")
        if token is None:
            say(f"the token, which is shown only now: {own}")

    behind: dict[str, Any] = {"allowed": allow_host or (), "prefix": root_path, "trusted": trust_proxy}
    ended = run(url, tokens, ready, host=host, port=number, rate=most, **behind)
    if ended == signal.SIGINT:
        return INTERRUPTED
    say("the server has ended; everything that it acknowledged is stored.")
    return DONE

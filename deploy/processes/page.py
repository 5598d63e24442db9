"""Serving the page on which users see what is remembered of them.

It is made of static files and knows nobody: whose memories it shows follows from the token behind
the ``#`` of its address, which browsers do not send.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PAGE_PATH: Final = "/memory"
"""Where the page is. Its files are named relative to it, and its data likewise, so that it can also
be served under a path of its own behind a proxy."""

_SCRIPT: Final = "text/javascript; charset=utf-8"
_PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "page.css": "text/css; charset=utf-8",
        "page.js": _SCRIPT,
        "gateway.js": _SCRIPT,
        "memory.js": _SCRIPT,
        "summaries.js": _SCRIPT,
        "telling.js": _SCRIPT,
        "words.js": _SCRIPT,
        "icon.svg": "image/svg+xml",
    }
)

HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        # Scripts, styles and data of this gateway and of nobody else; nothing inline; no text is
        # ever parsed as markup (Trusted Types), and no other page may frame this one.
        "Content-Security-Policy": "; ".join(
            (
                "default-src 'none'",
                "script-src 'self'",
                "style-src 'self'",
                "img-src 'self'",
                "connect-src 'self'",
                "base-uri 'none'",
                "form-action 'none'",
                "frame-ancestors 'none'",
                "require-trusted-types-for 'script'",
                "trusted-types 'none'",
            )
        ),
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }
)


def page_link(gateway_url: str, token: str) -> str:
    """Return the address of the page for whoever holds a token, which no server is told.

    Args:
        gateway_url: where the holder reaches the gateway.
        token: the user token.
    """
    return f"{gateway_url.rstrip('/')}{PAGE_PATH}#token={token}"


def page_routes() -> list[Route]:
    """Return the routes of the page and its parts; nothing of anybody is in them."""
    directory = files("deploy").joinpath("page")
    index = directory.joinpath("index.html").read_bytes()
    parts = {name: directory.joinpath(name).read_bytes() for name in _PARTS}

    async def page(_request: Request) -> Response:
        return Response(index, headers=HEADERS, media_type="text/html")

    async def part(request: Request) -> Response:
        name = request.path_params["part"]
        if name not in parts:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return Response(parts[name], headers={**HEADERS, "Content-Type": _PARTS[name]})

    return [Route(PAGE_PATH, page), Route(f"{PAGE_PATH}/{{part}}", part)]

"""``memledger mcp``: the MCP server over standard input and output."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from typing import Final

import click

from deploy.addresses import running_settings
from deploy.home import Home
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from schemas.text import clean_identifier

API_KEY: Final = "MEMLEDGER_API_KEY"


@click.command()
@click.option("--user", required=True, help="The one user whose memories the tools are about.")
@click.option("--url", help="The gateway; else that of the pipeline that runs here.")
def mcp(*, user: str, url: str | None) -> None:
    """Serve one user's memories as tools of the Model Context Protocol, over stdin and stdout.

    The tenant is that of the API key in MEMLEDGER_API_KEY, the user is bound here: no tool can name
    another. Needs the extra `mcp`. Over HTTP the gateway serves the same, see MEMLEDGER_MCP.
    """
    user_id = clean_identifier("--user", user)
    settings = running_settings()
    address, key = _gateway(settings, url)
    try:
        stdio = import_module("deploy.mcp.stdio")
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f'`memledger mcp` needs the package {error.name}: pip install "memledger[mcp]"'
        ) from None
    asyncio.run(stdio.serve(address, key, user_id))


def _gateway(settings: Settings, url: str | None) -> tuple[str, str]:
    """Return the gateway's URL and the API key."""
    home = Home(settings.home)
    key = os.environ.get(API_KEY, "").strip()
    if url is None:
        state = home.read_state()
        if state is None:
            raise ConfigurationError(
                f"nothing runs under {settings.home}: start it with `memledger up --detach`, or "
                "name a gateway with --url"
            )
        url = state.gateway_url
        if not key and home.api_key_file.exists():
            key = home.api_key_file.read_text(encoding="utf-8").strip()
    if not key:
        raise ConfigurationError(f"{API_KEY} is not set: set it to an API key of the user's tenant")
    return url, key

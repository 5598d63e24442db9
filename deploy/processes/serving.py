"""Running a process: logging, signals and its HTTP server."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import uvicorn

from deploy.processes.connections import CONNECTIONS_MAX, HEAD_BYTES_MAX, BoundedProtocol
from schemas.errors import ConfigurationError, EmbedderMismatch, MemledgerError
from schemas.request_context import RequestIdFilter
from schemas.settings import Settings

logger = logging.getLogger(__name__)

UNUSABLE: Final = 2
"""Exit status of a process that cannot start as it is configured: starting it again is no use."""

CANNOT_RUN: Final = "cannot run: "
"""Begins a process' last words in its log; the error's name and its message follow."""

_BACKLOG: Final = 2048
_GRACE_S: Final = 10

# Libraries that tell every step of their own at INFO.
_CHATTY: Final = (
    "aiokafka", "anthropic", "faust", "httpx", "httpx2", "mode", "openai", "processors.group",
)  # fmt: skip

Main = Callable[[Settings, asyncio.Event], Awaitable[None]]


def run_process(name: str, main: Main) -> None:
    """Run ``main(settings, stop)`` until it returns; SIGTERM and SIGINT set ``stop``.

    Exits with status 2 where the process cannot start as configured, and 1 where it fails.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(RequestIdFilter())
    logging.basicConfig(
        handlers=[handler],
        level=logging.INFO,
        format=f"%(asctime)s {name} %(levelname)s %(name)s%(request)s: %(message)s",
    )
    for chatty in _CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)
    try:
        settings = Settings.from_environment()
        asyncio.run(_until_stopped(settings, main))
    except MemledgerError as error:
        logger.error("%s%s: %s", CANNOT_RUN, type(error).__name__, error)  # noqa: TRY400 - the message says all
        unusable = isinstance(error, ConfigurationError | EmbedderMismatch)
        sys.exit(UNUSABLE if unusable else 1)


async def _until_stopped(settings: Settings, main: Main) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await main(settings, stop)


@contextlib.asynccontextmanager
async def serving(app: Any, *, host: str, port: int, variable: str) -> AsyncIterator[int]:  # noqa: ANN401 - any ASGI application
    """Serve an ASGI application and yield the port; stop serving on leaving.

    Args:
        app: the application.
        host: the address to listen on.
        port: the port; 0 picks a free one.
        variable: what sets another port, for the message where this one is taken.

    Raises:
        ConfigurationError: the address cannot be listened on.
    """
    listener = _listen(host, port, variable)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=BoundedProtocol,
            limit_concurrency=CONNECTIONS_MAX,
            h11_max_incomplete_event_size=HEAD_BYTES_MAX,
            log_level="warning",
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=_GRACE_S,
        )
    )
    # The process handles signals itself, so that its parts stop in their own order.
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    task = asyncio.create_task(server.serve(sockets=[listener]), name="http-server")
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await task
        listener.close()


def _listen(host: str, port: int, variable: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends each write at once; else the body of an answer waits
    # behind its head for the caller's delayed acknowledgement, 40 ms on Linux.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigurationError(
            f"cannot listen on {host}:{port} ({error.strerror}): stop what listens there, or "
            f"choose another port by {variable}"
        ) from None
    return listener

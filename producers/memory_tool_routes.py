"""The HTTP route of the memory tool."""

# Annotations are not postponed here: FastAPI evaluates those of functions inside a function.

from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import APIRouter, Request

from producers.bodies import documented_body
from producers.memory_tool import MemoryTool
from producers.memory_tool_input import BODIES, read_tool_command
from producers.metrics import Command, command_refusals_counted
from schemas.files import LIMITS, ToolResult
from schemas.http import bearer_token
from schemas.http_body import JsonBodies
from schemas.json_text import decode_json

REQUEST_BYTES_MAX: Final = 2 * 6 * LIMITS.file_characters_max + 64 * 1024
"""Holds a replacement of the longest file by the longest, with every character escaped."""

HELD_BYTES_MAX: Final = 16 * 1024 * 1024
"""The most bytes of all such bodies that are read or worked on at one time."""

Authenticate = Callable[[str], Awaitable[str]]
"""Returns the tenant of an API key's token, or raises ``InvalidApiKey``."""


def memory_tool_router(tool: MemoryTool, authenticate: Authenticate) -> APIRouter:
    """Return the router of ``POST /v1/memory-tool``.

    Errors are raised as they are: the application answers them as problem details, see
    :func:`schemas.http.install_problem_handlers`.

    Args:
        tool: answers commands.
        authenticate: tells the tenant of an API key; nothing in the body can.
    """
    router = APIRouter()
    bodies = JsonBodies(
        bytes_max=REQUEST_BYTES_MAX,
        held_bytes_max=HELD_BYTES_MAX,
        remedy="send a shorter text, or split it over several files",
    )

    @router.post(
        "/v1/memory-tool",
        summary="Carry out a command of Claude's memory tool on a user's files",
        openapi_extra={"requestBody": documented_body(*BODIES.values())},
    )
    async def memory_tool(request: Request) -> ToolResult:
        """Answer a command with the text for the model.

        What the model got wrong is answered with `is_error: true` and changes nothing, so that it
        can try again; a malformed body is refused as a problem. The user is the body's `user_id`,
        whatever a path says.
        """
        with command_refusals_counted(Command.FILE_COMMAND):
            tenant = await authenticate(bearer_token(request))
            async with bodies.read(request) as content:
                return await tool.answer(tenant, read_tool_command(decode_json(content)))

    return router

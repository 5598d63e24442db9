"""A server whose tools refuse what they do not know, and repeat no value in a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult
from mcp_types import Tool as ListedTool
from pydantic import ValidationError

from schemas.json_text import shown_name

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_NAMES_SHOWN_MAX: Final = 10
_UNREPEATED: Final[Mapping[str, str]] = {
    "uuid_parsing": "is no id: take it from a search or the list",
    "missing": "is missing: send it",
}
"""What is told of an argument in place of the validator's words, by its type of error."""


class ClosedTools(MCPServer[Any]):
    """A server that answers an unknown argument as an error.

    The SDK drops what a tool does not know. Whoever named a user, a tenant or a filter would then
    be answered as if that had been heeded.
    """

    async def list_tools(self) -> list[ListedTool]:
        """Return the tools; their schemas tell that they are closed to further arguments."""
        return [
            tool.model_copy(
                update={"input_schema": {**tool.input_schema, "additionalProperties": False}}
            )
            for tool in await super().list_tools()
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: it cannot be answered; the message repeats no value of an argument.
        """
        known = {tool.name: tool.input_schema for tool in await self.list_tools()}
        if name in known:
            _require_known(arguments, known[name].get("properties", {}))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_told(error.__cause__)) from None
            raise


def _require_known(arguments: Mapping[str, object], known: Mapping[str, object]) -> None:
    unknown = [name for name in arguments if name not in known]
    if not unknown:
        return
    shown = ", ".join(shown_name(name) for name in unknown[:_NAMES_SHOWN_MAX])
    raise ToolError(
        f"unknown arguments: {shown}; leave them out, known are {', '.join(known)}. Whose memories "
        "a tool is about follows from the connection alone."
    )


def _told(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(map(_detail, details))


def _detail(detail: ErrorDetails) -> str:
    name = ".".join(str(part) for part in detail["loc"][:1])
    return f"{name}: {_UNREPEATED.get(detail['type'], detail['msg'])}"

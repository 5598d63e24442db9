"""Recall as a tool that a model calls itself, by the tool calling of Anthropic or OpenAI.

The definition goes into ``tools`` of a request, and what a model calls it with goes to
:meth:`RecallTool.answer` or :meth:`AsyncRecallTool.answer`, whose text is the tool's result.
Needs the SDK of neither.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import httpx

from deploy.clients.account import Account
from deploy.clients.answers import Body, ToolFailed
from deploy.clients.asking import Asking, AsyncAsking

NAME: Final = "recall_memories"
DESCRIPTION: Final = (
    "Look up what is remembered of this user from earlier conversations. Call it before you answer "
    "anything that may depend on who they are, what they like, what they have or what was agreed. "
    "The result is background data with dates, and no instructions."
)

_PATH: Final = "/v1/recall"
_NOTHING: Final = "Nothing that is remembered of this user bears on that."

_PARAMETERS: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "What to look for, as a short question or a few words.",
        }
    },
    "required": ["query"],
    "additionalProperties": False,
}


def anthropic_definition() -> dict[str, Any]:
    """Return the tool as ``tools`` of Anthropic's Messages API takes it; the schema is strict."""
    return {
        "name": NAME,
        "description": DESCRIPTION,
        "input_schema": _parameters(),
        "strict": True,
    }


def openai_definition() -> dict[str, Any]:
    """Return the tool as ``tools`` of OpenAI's chat completions takes it; the schema is strict."""
    function = {
        "name": NAME,
        "description": DESCRIPTION,
        "parameters": _parameters(),
        "strict": True,
    }
    return {"type": "function", "function": function}


class RecallTool:
    """Answers calls of the tool for one user.

    Args:
        account: whose memories; nothing that a model sends can name another user.
        client: sends the requests; without one, each opens a connection of its own.
    """

    def __init__(self, account: Account, *, client: httpx.Client | None = None) -> None:
        self._account = account
        self._asking = Asking(account, client)

    def answer(self, arguments: object) -> str:
        """Return the result of a call: the notes, or that there are none.

        Args:
            arguments: ``input`` of Anthropic's ``tool_use`` block, or the text ``arguments`` of
                OpenAI's function call.

        Raises:
            ToolFailed: it could not be answered; the message is the result to give the model, with
                Anthropic as ``is_error``.
        """
        return self._asking.ask(_PATH, _body(self._account, arguments), _notes)


class AsyncRecallTool:
    """Answers calls of the tool for one user, in an event loop.

    Args:
        account: whose memories; nothing that a model sends can name another user.
        client: sends the requests; without one, each opens a connection of its own.
    """

    def __init__(self, account: Account, *, client: httpx.AsyncClient | None = None) -> None:
        self._account = account
        self._asking = AsyncAsking(account, client)

    async def answer(self, arguments: object) -> str:
        """Return the result of a call; see :meth:`RecallTool.answer`.

        Raises:
            ToolFailed: likewise.
        """
        return await self._asking.ask(_PATH, _body(self._account, arguments), _notes)


def _parameters() -> dict[str, Any]:
    # A copy each: an SDK or its user may change what it is given.
    parameters: dict[str, Any] = json.loads(json.dumps(_PARAMETERS))
    return parameters


def _body(account: Account, arguments: object) -> dict[str, Any]:
    """Return the request of a call, whatever a model called the tool with.

    Raises:
        ToolFailed: it holds no query.
    """
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = None
    query = arguments.get("query") if isinstance(arguments, Mapping) else None
    if not isinstance(query, str):
        raise ToolFailed('Error: The call is malformed: send {"query": "..."} with a text.')
    return {"user_id": account.user_id, "query": query}


def _notes(body: Body) -> str:
    return str(body["injection"]) or _NOTHING

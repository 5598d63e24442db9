"""Claude's memory tool for the tool runner of the Anthropic SDK, kept at a memledger gateway.

Needs the extra ``anthropic``::

    from anthropic import AsyncAnthropic
    from deploy.clients.account import Account
    from deploy.clients.memory_tool import AsyncMemoryTool

    account = Account(base_url="http://127.0.0.1:8700", api_key=key, user_id="ann")
    runner = AsyncAnthropic().beta.messages.tool_runner(
        model=model, max_tokens=1024, messages=messages, tools=[AsyncMemoryTool(account)],
        thread=False,
    )
    message = await runner.until_done()
"""

from __future__ import annotations

from typing import Any, Final, NoReturn
from uuid import uuid4

import httpx
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818Command,
)

from deploy.clients.account import Account
from deploy.clients.answers import Body, ToolFailed
from deploy.clients.asking import Asking, AsyncAsking

_PATH: Final = "/v1/memory-tool"


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool of one user, for the synchronous tool runner.

    Args:
        account: whose files; nothing that a model sends can name another user.
        client: sends the requests; without one, each opens a connection of its own.
        cache_control: where the provider is to begin its cache.
    """

    def __init__(
        self,
        account: Account,
        *,
        client: httpx.Client | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._account = account
        self._asking = Asking(account, client)

    def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Carry out a command, whichever it is.

        Raises:
            ToolError: it could not be done; the message is for the model.
        """
        try:
            return self._asking.ask(_PATH, _body(self._account, command), _text)
        except ToolFailed as failed:
            raise ToolError(str(failed)) from None

    view = create = str_replace = insert = delete = rename = execute  # the gateway tells them apart

    def clear_all_memory(self) -> NoReturn:
        """Refuse: forgetting a user is the operator's, and leaves a record."""
        raise ToolError(_NOT_CLEARED)


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool of one user, for the asynchronous tool runner.

    Args:
        account: whose files; nothing that a model sends can name another user.
        client: sends the requests; without one, each opens a connection of its own.
        cache_control: where the provider is to begin its cache.
    """

    def __init__(
        self,
        account: Account,
        *,
        client: httpx.AsyncClient | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._account = account
        self._asking = AsyncAsking(account, client)

    async def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Carry out a command, whichever it is.

        Raises:
            ToolError: it could not be done; the message is for the model.
        """
        try:
            return await self._asking.ask(_PATH, _body(self._account, command), _text)
        except ToolFailed as failed:
            raise ToolError(str(failed)) from None

    view = create = str_replace = insert = delete = rename = execute  # the gateway tells them apart

    async def clear_all_memory(self) -> NoReturn:
        """Refuse: forgetting a user is the operator's, and leaves a record."""
        raise ToolError(_NOT_CLEARED)


_NOT_CLEARED: Final = "Error: All memory at once is cleared by nobody's tool: delete files by name."


def _body(account: Account, command: BetaMemoryTool20250818Command) -> dict[str, Any]:
    """Return the request of a command, under an id of its own, so that a retry counts once.

    The SDK builds commands unchecked: a field that the model left out is missing here, and one
    that it made up is there. The user stands last, so that none of them can be another.
    """
    told = command.model_dump(exclude_none=True)
    return {**told, "command_id": uuid4().hex, "user_id": account.user_id}


def _text(body: Body) -> str:
    content = str(body["content"])
    if body["is_error"]:
        raise ToolFailed(content)
    return content

"""What both SDKs share: clients, errors by their shape, and a body that may be anything."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any, Final, TypeVar

from processors.extractors.model.clients import Clients
from processors.extractors.model.faults import (
    ADDRESS_SETTING,
    fault_of_status,
    half_sent,
    timed_out,
    unreachable,
)
from processors.extractors.model.provider import ProviderFault, Result
from schemas.errors import ConfigurationError

Sent = TypeVar("Sent")

_BROKEN_OFF: Final = frozenset({"RemoteProtocolError", "ReadError", "DecodingError"})
_NEVER_SENT: Final = frozenset({"LocalProtocolError", "UnsupportedProtocol", "InvalidURL"})


class SdkProvider:
    """A provider that is asked through its own SDK, whose own retries are off."""

    def __init__(self, *, name: str, model: str, make: Callable[[ModuleType], Any]) -> None:
        """Make the first client; nothing is connected yet.

        Args:
            name: the extractor's name, which is the SDK's.
            model: the model's name, as the server knows it.
            make: makes a client, given the SDK's module.

        Raises:
            ConfigurationError: the SDK is not installed.
        """
        self._name = name
        self._model = model
        self._sdk = load_sdk(name)
        self._clients = Clients(lambda: make(self._sdk))

    @property
    def name(self) -> str:
        """The extractor's name."""
        return self._name

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model

    async def aclose(self) -> None:
        """Close the connections."""
        await self._clients.aclose()

    async def _body(
        self, request: Callable[[Any], Awaitable[Any]], *, timeout_s: float
    ) -> dict[str, Any]:
        """Return the body of the answer to one request.

        Args:
            request: sends it by a client, for the raw answer.
            timeout_s: for all of it.

        Raises:
            ProviderFault: there is none.
        """
        with self._clients.lent() as client:
            raw = await sent(request(client), self._sdk, timeout_s=timeout_s)
        return object_in(raw.http_response.text)


def load_sdk(name: str) -> ModuleType:
    """Import an SDK.

    Raises:
        ConfigurationError: it is not installed; the message says what to install.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigurationError(
            f"the extractor {name!r} needs the package {name!r}, which cannot be imported "
            f'({error}): install memledger with its extra, as in pip install "memledger[{name}]"'
        ) from error


async def sent(request: Awaitable[Sent], sdk: ModuleType, *, timeout_s: float) -> Sent:
    """Return what an SDK's call gives, within a time that nothing prolongs.

    Args:
        request: the call, whose own retries are off.
        sdk: the SDK's module, whose errors are told apart.
        timeout_s: for connecting, sending and reading together: the SDK's own limit is for each
            read, and a server that drips keeps within it.

    Raises:
        ProviderFault: it gave none.
    """
    try:
        async with asyncio.timeout(timeout_s):
            return await request
    except (TimeoutError, sdk.APITimeoutError):
        raise timed_out(timeout_s) from None
    except sdk.APIStatusError as error:
        raise fault_of_status(
            error.status_code,
            headers={name.lower(): value for name, value in error.response.headers.items()},
            code=_code(error),
        ) from None
    except sdk.APIConnectionError as error:
        raise _of_connection(error.__cause__ or error) from None


def object_in(body: str) -> dict[str, Any]:
    """Return the JSON object that an answer's body is.

    Raises:
        ProviderFault: it is none.
    """
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        # As the page that a wrong address shows.
        raise half_sent(f"the answer's body is not JSON: check {ADDRESS_SETTING}") from None
    if not isinstance(value, dict):
        raise half_sent("the answer's body is not a JSON object")
    if isinstance(value.get("error"), dict):
        # Some servers tell of an error under the status of a success.
        raise ProviderFault(
            result=Result.SERVER_ERROR, problem="an error in the body of a success", passes=True
        )
    return value


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of what should be a list of them."""
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict)]


def count(usage: object, *path: str) -> int:
    """Return a number of tokens in the usage of an answer; 0 where it tells none."""
    value: object = usage
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _of_connection(cause: BaseException) -> ProviderFault:
    name = type(cause).__name__
    if name in _BROKEN_OFF:
        return half_sent(f"{name}: the answer broke off")
    if name in _NEVER_SENT:
        return ProviderFault(
            result=Result.DENIED,
            problem=f"{name}: the request cannot be sent: check {ADDRESS_SETTING} and the key",
            passes=False,
        )
    return unreachable(cause)


def _code(error: Any) -> str | None:  # noqa: ANN401 - either SDK's error
    # The message stays out: it may repeat the key or the text.
    for name in ("code", "type"):
        value = getattr(error, name, None)
        if isinstance(value, str) and value:
            return value
    return None

"""Embeddings from OpenAI, or from any server that speaks its ``POST /embeddings``."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx
import numpy as np

from projections.embedders.checks import unit_rows
from schemas.embedding import EmbeddingFault, PartlyEmbedded
from schemas.errors import EmbedderUnavailable, EmbeddingFailed
from schemas.ports import Vectors

DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"
DEADLINE_S: Final = 10.0
_ADDRESS_SETTING: Final = "MEMLEDGER_EMBEDDER_BASE_URL"

# The interface takes 2,048 texts and 300,000 tokens a request; a character is a token at most,
# but for rare scripts.
_TEXTS_A_REQUEST_MAX: Final = 256
_CHARACTERS_A_REQUEST_MAX: Final = 200_000
_ATTEMPTS_MAX: Final = 4
_BACKOFF_FIRST_S: Final = 0.5
_BACKOFF_MAX_S: Final = 8.0
_RETRIED_STATUSES: Final = frozenset({408, 409, 425, 429})
_TEXT_REFUSED_STATUSES: Final = frozenset({400, 413, 422})
_REDIRECTS: Final = range(300, 400)
_SERVER_ERROR: Final = 500

COMPONENT_BYTES_MAX: Final = 32
"""A component as JSON: the longest that a float is written with has 24 characters."""

ENVELOPE_BYTES_MAX: Final = 64 * 1024
"""What an answer may hold beside its vectors, and what is read of one that tells of an error."""

_ITEM_BYTES_MAX: Final = 1024
_MODEL_NAME_CHARACTERS_MAX: Final = 200
_CODE_CHARACTERS_MAX: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    status: int
    headers: httpx.Headers
    content: bytes


class OpenAIEmbedder:
    """Asks a server for vectors, within a deadline and with bounded retries.

    What may pass (408, 409, 425, 429, 5xx, a broken connection) is tried up to four times while the
    deadline lasts, after 0.5 to 8 seconds or what ``Retry-After`` says; a server that asks for more
    time than is left has failed. Texts are sent whole: one above the model's own limit is the
    server's to refuse. Of an answer no more is read than its vectors can need.
    """

    def __init__(
        self,
        *,
        model: str,
        dimension: int,
        min_similarity: float,
        same_statement_similarity: float | None = None,
        base_url: str = DEFAULT_BASE_URL,
        api_key: str | None = None,
        ask_dimension: bool = False,
        deadline_s: float = DEADLINE_S,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Make the client; nothing is connected yet.

        Args:
            model: the model's name, as the server knows it.
            dimension: how many components its vectors have.
            min_similarity: the cosine from which the model's vectors count as related.
            same_statement_similarity: the cosine below which two statements are never the same one
                in other words; ``None`` for never.
            base_url: the interface's root, with its version.
            api_key: sent as a bearer token; ``None`` sends none, for a server of one's own.
            ask_dimension: send ``dimensions``, which only models that can shorten vectors accept.
            deadline_s: how long one call of :meth:`embed` may take in all; one attempt half of it.
            sleep: waits between attempts, in seconds.
        """
        self._model = model
        self._deadline_s = deadline_s
        self._dimension = dimension
        self._min_similarity = min_similarity
        self._same_statement_similarity = same_statement_similarity
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._ask_dimension = ask_dimension
        self._sleep = sleep
        self._answered_as: str | None = None
        # Read as it comes: of what is unpacked on the way nobody knows how large it gets.
        headers = {"Accept-Encoding": "identity"}
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
        self._client = httpx.AsyncClient(headers=headers, timeout=deadline_s)

    @property
    def name(self) -> str:
        """The model's name and the dimension."""
        return f"{self._model}:{self._dimension}"

    @property
    def dimension(self) -> int:
        """Number of components."""
        return self._dimension

    @property
    def min_similarity(self) -> float:
        """The cosine from which the model's vectors count as related."""
        return self._min_similarity

    @property
    def same_statement_similarity(self) -> float | None:
        """The cosine below which two statements are never the same in other words, or ``None``."""
        return self._same_statement_similarity

    @property
    def answered_as(self) -> str | None:
        """The model that the last answer says it is from; ``None`` where none has said so."""
        return self._answered_as

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text.

        Raises:
            PartlyEmbedded: the answer is one, but for some vectors that cannot be used.
            EmbedderUnavailable: the server could not be reached, did not answer in time, or
                refused whatever it was sent.
            EmbeddingFailed: the server refused the texts, or answered with something other than
                one vector for each.
        """
        faults: dict[int, EmbeddingFault] = {}
        parts: list[Vectors] = []
        sent = 0
        try:
            async with asyncio.timeout(self._deadline_s) as deadline:
                for part in _requests_of(texts):
                    vectors, faulty = await self._request(part, deadline)
                    faults |= {sent + position: fault for position, fault in faulty.items()}
                    parts.append(vectors)
                    sent += len(part)
        except TimeoutError:
            raise self._unavailable(
                f"no whole answer within {self._deadline_s:g} s at {self._url}"
            ) from None
        rows = unit_rows(np.concatenate(parts))
        if faults:
            message = f"embedder {self.name}: {len(faults)} of {len(texts)} vectors are unusable"
            raise PartlyEmbedded(message, vectors=rows, faults=faults)
        return rows

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _request(
        self, texts: Sequence[str], deadline: asyncio.Timeout
    ) -> tuple[Vectors, dict[int, EmbeddingFault]]:
        body: dict[str, object] = {
            "model": self._model,
            "input": list(texts),
            "encoding_format": "float",
        }
        if self._ask_dimension:
            body["dimensions"] = self._dimension
        each = self._dimension * COMPONENT_BYTES_MAX + _ITEM_BYTES_MAX
        content = await self._post(body, ENVELOPE_BYTES_MAX + len(texts) * each, deadline)
        try:
            answer: object = json.loads(content)
        except (ValueError, RecursionError):
            raise self._failed("the answer is not JSON") from None
        if not isinstance(answer, dict):
            raise self._failed("the answer is not a JSON object")
        name = answer.get("model")
        if isinstance(name, str) and name.isprintable():
            self._answered_as = name[:_MODEL_NAME_CHARACTERS_MAX]
        return self._vectors_in(answer.get("data"), len(texts))

    async def _post(
        self, body: dict[str, object], bytes_max: int, deadline: asyncio.Timeout
    ) -> bytes:
        for attempt in range(1, _ATTEMPTS_MAX + 1):
            backoff_s = min(_BACKOFF_FIRST_S * 2 ** (attempt - 1), _BACKOFF_MAX_S)
            # Half of it is chance, so that processes that failed together do not return together.
            pause_s = backoff_s * (0.5 + random.random() / 2)  # noqa: S311 - spreads load, no secret
            asked_s = None
            try:
                # The client's own limit is for each read: a server that drips keeps within it.
                async with asyncio.timeout(self._deadline_s / 2), self._sent(body) as response:
                    answer = await self._read(response, bytes_max)
            except TimeoutError:
                problem = f"no whole answer within {self._deadline_s / 2:g} s at {self._url}"
            except httpx.HTTPError as error:
                problem = f"{type(error).__name__} at {self._url} ({_ADDRESS_SETTING})"
            except httpx.InvalidURL as error:
                raise self._unavailable(f"{_ADDRESS_SETTING} cannot be used: {error}") from None
            else:
                if _is_success(answer.status):
                    return answer.content
                problem = f"HTTP {answer.status}{_code_in(answer)}"
                if not _may_pass(answer.status):
                    raise self._refused(answer.status, problem)
                asked_s = _retry_after_s(answer)
                pause_s = pause_s if asked_s is None else asked_s
            left_s = _left_s(deadline)
            if pause_s >= left_s:
                asks = "" if asked_s is None else f", and asks for a pause of {asked_s:.0f} s"
                raise self._unavailable(
                    f"{problem}{asks}, with {left_s:.1f} s left of {self._deadline_s:g} s",
                    retry_after_s=asked_s,
                )
            if attempt < _ATTEMPTS_MAX:
                await self._sleep(pause_s)
        raise self._unavailable(f"{problem}, in each of {_ATTEMPTS_MAX} attempts")

    @asynccontextmanager
    async def _sent(self, body: dict[str, object]) -> AsyncIterator[httpx.Response]:
        async with self._client.stream("POST", self._url, json=body) as response:
            yield response

    async def _read(self, response: httpx.Response, bytes_max: int) -> _Answer:
        """Read an answer as far as it may go.

        Raises:
            EmbeddingFailed: an answer with vectors is larger, or packed.
        """
        success = _is_success(response.status_code)
        limit = bytes_max if success else ENVELOPE_BYTES_MAX
        packed = response.headers.get("content-encoding", "identity").lower()
        if success and packed != "identity":
            raise self._failed(
                f"the answer is packed ({packed[:20]!a}), which was not asked for: check the "
                "proxies in front of the server"
            )
        content = bytearray()
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > limit:
                if success:
                    raise self._failed(
                        f"the answer is above {limit} bytes, the most that its vectors of "
                        f"{self._dimension} components can need: check the base URL"
                    )
                break
        return _Answer(
            status=response.status_code, headers=response.headers, content=bytes(content)
        )

    def _vectors_in(self, items: object, texts: int) -> tuple[Vectors, dict[int, EmbeddingFault]]:
        if not isinstance(items, list) or len(items) != texts:
            found = f"{len(items)} items" if isinstance(items, list) else "no list"
            raise self._failed(f"the answer's data has {found} for {texts} texts")
        vectors = np.full((texts, self._dimension), np.nan, dtype=np.float32)
        faults: dict[int, EmbeddingFault] = {}
        filled: set[int] = set()
        for item in items:
            if not isinstance(item, dict):
                raise self._failed("an item is not an object")
            index = item.get("index")
            if type(index) is not int or not 0 <= index < texts:
                raise self._failed(f"an item has the index {_shown(index)} for {texts} texts")
            vector = _numbers(item.get("embedding"))
            if vector is None:
                faults[index] = EmbeddingFault.MISSING
            elif vector.shape != (self._dimension,):
                faults[index] = EmbeddingFault.WRONG_DIMENSION
            else:
                vectors[index] = vector
            filled.add(index)
        if len(filled) != texts:
            # Whose vector is whose cannot be told any more.
            raise self._failed(f"the answer's indexes name {len(filled)} of {texts} texts")
        return vectors, faults

    def _refused(self, status: int, problem: str) -> EmbeddingFailed:
        if status in _TEXT_REFUSED_STATUSES:
            return self._failed(
                f"{problem}: check the model's limits, its name and {_ADDRESS_SETTING}"
            )
        if status in _REDIRECTS:
            return self._unavailable(
                f"{problem}, a redirect, which is not followed: set {_ADDRESS_SETTING} "
                "to where it leads"
            )
        return self._unavailable(f"{problem}: check model, key and {_ADDRESS_SETTING}")

    def _failed(self, problem: str) -> EmbeddingFailed:
        return EmbeddingFailed(f"embedder {self.name}: {problem}")

    def _unavailable(
        self, problem: str, *, retry_after_s: float | None = None
    ) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"embedder {self.name}: {problem}", retry_after_s=retry_after_s)


def _numbers(value: object) -> Vectors | None:
    """Return a list of numbers as float32, too large ones as infinite; ``None`` for all else."""
    if not isinstance(value, list):
        return None
    try:
        # The kind is looked at, since texts of digits would be converted.
        array = np.asarray(value) if value else np.empty(0)
    except (TypeError, ValueError, OverflowError):
        return None
    if array.dtype.kind not in "iuf" or array.ndim != 1:
        return None
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def _shown(index: object) -> str:
    text = repr(index) if isinstance(index, bool | int | float) else type(index).__name__
    return text[:20]


def _left_s(deadline: asyncio.Timeout) -> float:
    when = deadline.when()
    return float("inf") if when is None else when - asyncio.get_running_loop().time()


def _is_success(status: int) -> bool:
    return httpx.codes.is_success(status)


def _requests_of(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut the texts into stretches that one request may hold; a single long text goes alone."""
    start, characters = 0, 0
    for position, text in enumerate(texts):
        full = position - start == _TEXTS_A_REQUEST_MAX
        if position > start and (full or characters + len(text) > _CHARACTERS_A_REQUEST_MAX):
            yield texts[start:position]
            start, characters = position, 0
        characters += len(text)
    yield texts[start:]


def _may_pass(status: int) -> bool:
    return status in _RETRIED_STATUSES or status >= _SERVER_ERROR


def _retry_after_s(answer: _Answer) -> float | None:
    """Return the pause that the server asks for, seconds or a date (RFC 9110), if readable."""
    value = answer.headers.get("retry-after", "")
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _code_in(answer: _Answer) -> str:
    # The message stays out: it may repeat the key or the text.
    try:
        code = json.loads(answer.content)["error"]["code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return (
        f" ({code})"
        if isinstance(code, str) and code.isprintable() and len(code) <= _CODE_CHARACTERS_MAX
        else ""
    )

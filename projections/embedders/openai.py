"""Embeddings from OpenAI, or from any server that speaks its ``POST /embeddings``."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx
import numpy as np

from projections.embedders.checks import unit_rows
from schemas.errors import EmbeddingFailed
from schemas.ports import Vectors

DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"

# The interface takes 2,048 texts and 300,000 tokens a request; a character is a token at most,
# but for rare scripts.
_TEXTS_A_REQUEST_MAX: Final = 256
_CHARACTERS_A_REQUEST_MAX: Final = 200_000
_ATTEMPTS_MAX: Final = 4
_BACKOFF_FIRST_S: Final = 0.5
_BACKOFF_MAX_S: Final = 8.0
_RETRY_AFTER_MAX_S: Final = 30.0
_RETRIED_STATUSES: Final = frozenset({408, 409, 425, 429})
_SERVER_ERROR: Final = 500


class OpenAIEmbedder:
    """Asks a server for vectors, with deadlines and bounded retries.

    What may pass (408, 409, 425, 429, 5xx, a broken connection) is tried up to four times, after
    0.5 to 8 seconds or what ``Retry-After`` says; a server that asks for more than 30 seconds has
    failed. Texts are sent whole: one above the model's own limit is the server's to refuse.
    """

    def __init__(
        self,
        *,
        model: str,
        dimension: int,
        min_similarity: float,
        base_url: str = DEFAULT_BASE_URL,
        api_key: str | None = None,
        ask_dimension: bool = False,
        timeout_s: float = 30.0,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Make the client; nothing is connected yet.

        Args:
            model: the model's name, as the server knows it.
            dimension: how many components its vectors have.
            min_similarity: the cosine from which the model's vectors count as related.
            base_url: the interface's root, with its version.
            api_key: sent as a bearer token; ``None`` sends none, for a server of one's own.
            ask_dimension: send ``dimensions``, which only models that can shorten vectors accept.
            timeout_s: deadline of one attempt.
            sleep: waits between attempts, in seconds.
        """
        self._model = model
        self._timeout_s = timeout_s
        self._dimension = dimension
        self._min_similarity = min_similarity
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._ask_dimension = ask_dimension
        self._sleep = sleep
        headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout_s)

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

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text.

        Raises:
            EmbeddingFailed: the server could not be reached, refused, or answered with something
                other than one vector for each text.
        """
        parts = [await self._request(part) for part in _requests_of(texts)]
        return unit_rows(np.concatenate(parts))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _request(self, texts: Sequence[str]) -> Vectors:
        body: dict[str, object] = {
            "model": self._model,
            "input": list(texts),
            "encoding_format": "float",
        }
        if self._ask_dimension:
            body["dimensions"] = self._dimension
        response = await self._post(body)
        try:
            answer: object = response.json()
        except ValueError:
            raise self._failed("the answer is not JSON") from None
        return self._vectors_in(answer, len(texts))

    async def _post(self, body: dict[str, object]) -> httpx.Response:
        for attempt in range(1, _ATTEMPTS_MAX + 1):
            backoff_s = min(_BACKOFF_FIRST_S * 2 ** (attempt - 1), _BACKOFF_MAX_S)
            # Half of it is chance, so that processes that failed together do not return together.
            pause_s = backoff_s * (0.5 + random.random() / 2)  # noqa: S311 - spreads load, no secret
            try:
                # The client's own limit is for each read: a server that drips keeps within it.
                async with asyncio.timeout(self._timeout_s):
                    response = await self._client.post(self._url, json=body)
            except TimeoutError:
                problem = f"no whole answer within {self._timeout_s:g} s at {self._url}"
            except httpx.HTTPError as error:
                problem = f"{type(error).__name__} at {self._url}"
            except httpx.InvalidURL as error:
                raise self._failed(f"the base URL cannot be used: {error}") from None
            else:
                if response.is_success:
                    return response
                problem = f"HTTP {response.status_code}{_code_in(response)}"
                if not _may_pass(response.status_code):
                    raise self._failed(f"{problem}: check model, key and base URL")
                asked_s = _retry_after_s(response)
                if asked_s is not None and asked_s > _RETRY_AFTER_MAX_S:
                    raise self._failed(f"{problem}, and asks for a pause of {asked_s:.0f} s")
                pause_s = pause_s if asked_s is None else asked_s
            if attempt < _ATTEMPTS_MAX:
                await self._sleep(pause_s)
        raise self._failed(f"{problem}, in each of {_ATTEMPTS_MAX} attempts")

    def _vectors_in(self, answer: object, texts: int) -> Vectors:
        items = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(items, list) or len(items) != texts:
            found = f"{len(items)} items" if isinstance(items, list) else "no list"
            raise self._failed(f"the answer's data has {found} for {texts} texts")
        vectors = np.empty((texts, self._dimension), dtype=np.float32)
        filled: set[int] = set()
        for item in items:
            index, vector = self._item_of(item, texts)
            vectors[index] = vector
            filled.add(index)
        if len(filled) != texts:
            raise self._failed(f"the answer's indexes name {len(filled)} of {texts} texts")
        return vectors

    def _item_of(self, item: object, texts: int) -> tuple[int, Vectors]:
        if not isinstance(item, dict):
            raise self._failed("an item is not an object")
        index = item.get("index")
        try:
            with np.errstate(over="ignore"):
                vector = np.asarray(item.get("embedding"), dtype=np.float32)
        except (TypeError, ValueError, OverflowError):
            raise self._failed("an embedding is not a list of numbers") from None
        if type(index) is not int or not 0 <= index < texts:
            raise self._failed(f"an item has the index {index!r} for {texts} texts")
        if vector.shape != (self._dimension,):
            raise self._failed(
                f"a vector has shape {vector.shape}, not {self._dimension} components: set "
                "MEMLEDGER_EMBEDDER_DIMENSION to what the model gives"
            )
        return index, vector

    def _failed(self, problem: str) -> EmbeddingFailed:
        return EmbeddingFailed(f"embedder {self.name}: {problem}")


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


def _retry_after_s(response: httpx.Response) -> float | None:
    """Return the pause that the server asks for, seconds or a date (RFC 9110), if readable."""
    value = response.headers.get("retry-after", "")
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _code_in(response: httpx.Response) -> str:
    # The message stays out: it may repeat the key or the text.
    try:
        code = response.json()["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return ""
    return f" ({code})" if isinstance(code, str) and code.isprintable() else ""

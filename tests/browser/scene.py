"""A pipeline with a gateway that a browser can reach, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from typing import Any, Final, TypeVar

import httpx
from click.testing import CliRunner

from deploy.addresses import Addresses
from deploy.cli import main
from deploy.processes.gateway import make_app
from deploy.processes.mcp_door import running_doors
from deploy.processes.serving import serving
from projections.recall_log import RecallLog
from schemas.ports import Extraction, ExtractionRequest, SummaryRequest
from schemas.proposals import Operation
from schemas.settings import Settings
from tests.conftest import TestStores
from tests.support.brokers import broker_choice
from tests.support.one_process import TENANT, OneProcess, opened_pipeline

Result = TypeVar("Result")

_START_S: Final = 90.0


class ScriptedExtractor:
    """Proposes for each user turn what the test put down for it, and sums sessions up in its words.

    Attributes:
        proposals: by user text, the operations.
    """

    name = "scripted"
    model = "scripted"
    prompt_hash = "scripted-1"
    known_max = 0

    def __init__(self) -> None:
        self.proposals: dict[str, Sequence[Operation]] = {}

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Return what was put down."""
        return Extraction(operations=tuple(self.proposals.get(request.turn.user_text, ())))

    async def summarise(self, request: SummaryRequest) -> Extraction:
        """Return what the user said."""
        said = " ".join(turn.user_text for turn in request.turns)
        return Extraction(operations=(), summary=said)


class PageScene:
    """What a test of the page may ask of the pipeline behind it.

    Attributes:
        extractor: what the worker asks.
        url: where the gateway answers.
        client: asks it with an API key.
        process: the pipeline's parts.
    """

    def __init__(self, stores: TestStores, extractor: ScriptedExtractor | None = None) -> None:
        """Hold the stores; :meth:`begin` starts everything."""
        self._stores = stores
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="page-scene")
        self._api_key: Future[str] = Future()
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self.extractor = extractor or ScriptedExtractor()
        self.url = ""
        self.client: httpx.Client
        self.process: OneProcess

    def begin(self) -> None:
        """Start pipeline and gateway."""
        self._thread.start()
        headers = {"authorization": f"Bearer {self._api_key.result(_START_S)}"}
        self.client = httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def end(self) -> None:
        """Stop everything."""
        self.client.close()
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_START_S)
        assert not self._thread.is_alive(), "the scene does not end"

    def ask(self, asked: Coroutine[Any, Any, Result], *, timeout_s: float = 30.0) -> Result:
        """Return what a coroutine returns in the pipeline's own event loop."""
        return asyncio.run_coroutine_threadsafe(asked, self._loop).result(timeout_s)

    def say(self, user: str, text: str, *operations: Operation) -> None:
        """Have a turn processed for which the operations are proposed."""
        self.extractor.proposals[text] = operations
        turn = {"user_id": user, "conversation_id": "c", "user_text": text}
        answer = self.client.post("/v1/turns", json=turn)
        assert answer.status_code == httpx.codes.ACCEPTED, answer.text
        self.settled(user, answer.json()["position"])

    def end_chat(self, user: str) -> None:
        """End the conversation in which a user spoke, and wait for what comes of it."""
        end = {"user_id": user, "conversation_id": "c"}
        answer = self.client.post("/v1/conversations/end", json=end)
        assert answer.status_code == httpx.codes.ACCEPTED, answer.text
        self.settled(user, answer.json()["position"])

    def settled(self, user: str, position: str) -> None:
        """Return once a user's records up to a position are processed."""
        question = {"user_id": user, "query": "anything", "at_least": position}
        while True:
            answer = self.client.post("/v1/recall", json=question)
            if answer.status_code != httpx.codes.GATEWAY_TIMEOUT:
                assert answer.status_code == httpx.codes.OK, answer.text
                return

    def token(self, user: str, *, lifetime_s: int = 900, audience: str = "page") -> str:
        """Return a user token."""
        asked = {"user_id": user, "audience": audience, "lifetime_s": lifetime_s}
        answer = self.client.post("/v1/user-tokens", json=asked)
        assert answer.status_code == httpx.codes.CREATED, answer.text
        return str(answer.json()["token"])

    def link(self, user: str, **options: Any) -> str:
        """Return the address of a user's page."""
        return f"{self.url}/memory#token={self.token(user, **options)}"

    @property
    def environment(self) -> dict[str, str]:
        """What ``memledger`` has to be told to speak of this pipeline."""
        stores = self._stores
        return {
            "DATABASE_URL": stores.database_url,
            "KAFKA_BOOTSTRAP": stores.kafka_bootstrap,
            "MEMLEDGER_BROKER": broker_choice().kind,
            "MEMLEDGER_KEYRING_URL": stores.keyring_url,
            "MEMLEDGER_KEY_DIRECTORY": str(stores.key_directory),
        }

    def printed_link(self, user: str) -> str:
        """Return the address of a user's page as ``memledger page-link`` prints it."""
        arguments = ["page-link", "--user", user, "--tenant", TENANT, "--url", self.url]
        ran = CliRunner().invoke(main, arguments, env=self.environment)
        assert ran.exit_code == 0, ran.stderr
        return ran.stdout.strip()

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with AsyncExitStack() as parts:
                self._api_key.set_result(await self._started(parts))
                await self._stop.wait()
        except BaseException as error:
            if self._api_key.done():
                raise
            self._api_key.set_exception(error)

    async def _started(self, parts: AsyncExitStack) -> str:
        stores = self._stores
        enter = parts.enter_async_context
        self.process = process = await enter(opened_pipeline(stores))
        await enter(process.projecting())
        await enter(process.working(self.extractor))
        recall_log = RecallLog(process.producer, process.keyring.keys, partitions=stores.partitions)
        parts.push_async_callback(recall_log.close)
        app = make_app(
            Settings(
                partitions=stores.partitions,
                generation=stores.generation,
                key_directory=stores.key_directory,
                mcp=True,
            ),
            Addresses(
                database_url=stores.database_url,
                keyring_url=stores.keyring_url,
                kafka_bootstrap=stores.kafka_bootstrap,
            ),
            keyring=process.keyring,
            read_model=process.read_model,
            producer=process.producer,
            embedder=process.embedder,
            recall_log=recall_log,
        )
        await enter(running_doors(app))
        port = await enter(serving(app, host="127.0.0.1", port=0, variable=""))
        self.url = f"http://127.0.0.1:{port}"
        return await process.keyring.create_api_key(TENANT)


@contextmanager
def page_scene(stores: TestStores) -> Iterator[PageScene]:
    """Yield a running scene."""
    scene = PageScene(stores)
    scene.begin()
    try:
        yield scene
    finally:
        scene.end()

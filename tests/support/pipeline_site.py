"""One pipeline on this machine: where it lies, and what a test may ask of it from outside."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import psycopg

from deploy.addresses import KEYRING_DATABASE, Addresses
from deploy.embedded import EmbeddedPostgres
from deploy.home import Home
from deploy.supervisor.ports import free_port
from deploy.supervisor.stores import READ_MODEL_DATABASE
from projections.read_model import schema_name
from schemas.errors import LogUnavailable
from schemas.log.reader import bounds, new_consumer, read_to_end
from schemas.log.sealed import LogRecord
from schemas.settings import Settings
from schemas.topics import TURNS, memories_topic
from tests.support.brokers import broker_choice, new_broker
from tests.support.chat_client import ChatClient
from tests.support.command import clean_environment, memledger
from tests.support.journal import Journal
from tests.support.journal_extractor import CONTROL_VARIABLE, JOURNAL_VARIABLE
from tests.support.waiting import wait_until

GENERATION = "g1"
_LOG_SHOWN = 4_000


_TREE: Final = Path(__file__).parents[2]


class PipelineSite:
    """A home of its own with an extractor of the test's own.

    Attributes:
        home: its directories.
        journal: what its extractors were asked.
        settings: what every process of it is told.
        environment: the same as variables.
        postgres, broker: its stores.
    """

    def __init__(self, root: Path, **settings: object) -> None:
        self.home = Home(root).make()
        self.journal = Journal(root)
        told: dict[str, object] = {
            "home": root,
            "extractor": "tests.support.journal_extractor:make",
            "embedder": "hash",
            "embedder_dimension": 64,
            "partitions": 4,
            # The least that the settings allow: whoever dies is missed soon.
            "session_timeout_s": 6,
            # A turn may be blocked for as long as a test wants.
            "extract_timeout_s": 600,
            "gateway_port": free_port(),
            "broker": broker_choice().kind,
            **settings,
        }
        self.settings = Settings(**told)  # type: ignore[arg-type] # checked by pydantic
        self.environment = {
            **clean_environment(),
            **{f"MEMLEDGER_{name.upper()}": str(value) for name, value in told.items()},
            JOURNAL_VARIABLE: str(self.journal.path),
            CONTROL_VARIABLE: str(self.journal.control_path),
            # The processes do not search the current directory; the extractor lies in this tree.
            "PYTHONPATH": str(_TREE),
        }
        self.postgres = EmbeddedPostgres(self.home.postgres)
        self.broker = new_broker(root, heap_mb=320)

    @property
    def gateway_url(self) -> str:
        """Where the API answers."""
        return f"http://127.0.0.1:{self.settings.gateway_port}"

    @property
    def addresses(self) -> Addresses:
        """Where the stores are; they have been started once."""
        return Addresses(
            database_url=self.postgres.url(READ_MODEL_DATABASE),
            keyring_url=self.postgres.url(KEYRING_DATABASE),
            kafka_bootstrap=self.bootstrap,
        )

    @cached_property
    def bootstrap(self) -> str:
        """The broker's address, the same after every start; it runs when first asked for."""
        return self.broker.start()

    def client(self) -> ChatClient:
        """Return a client of the API."""
        return ChatClient(self.gateway_url, self.home.api_key_file.read_text().strip())

    def audit(self) -> dict[str, Any]:
        """Return what ``memledger audit`` reports."""
        addresses = self.addresses
        finished = memledger(
            "audit",
            "--json",
            environment={
                **self.environment,
                "DATABASE_URL": addresses.database_url,
                "KAFKA_BOOTSTRAP": addresses.kafka_bootstrap,
                "MEMLEDGER_KEYRING_URL": addresses.keyring_url,
            },
        )
        assert finished.output, finished.errors
        report: dict[str, Any] = finished.json()
        assert report["passed"] == (finished.status == 0)
        return report

    def records(self, topic: str) -> list[LogRecord]:
        """Return every record of a topic, each partition in order."""

        def read(partition: int) -> list[LogRecord]:
            return list(read_to_end(self.bootstrap, topic, partition, start=0, client_id="test"))

        # Most of the time goes by in waiting for the end.
        with ThreadPoolExecutor(self.settings.partitions) as pool:
            return [
                record
                for records in pool.map(read, range(self.settings.partitions))
                for record in records
            ]

    def ends(self, *topics: str) -> dict[tuple[str, int], int]:
        """Return the offset after the last one, by topic and partition."""
        consumer = new_consumer(self.bootstrap, client_id="test")
        try:
            return {
                (topic, partition): bounds(consumer, topic, partition)[1]
                for topic in topics
                for partition in range(self.settings.partitions)
            }
        finally:
            consumer.close()

    def rows(self, query: str, parameters: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Return what a query of the read model finds, of every subject."""
        with self.read_model() as connection:
            return connection.execute(query, parameters).fetchall()

    @contextmanager
    def read_model(self) -> Iterator[psycopg.Connection]:
        """Yield a connection to the read model that sees every subject's rows."""
        options = f"-c search_path={schema_name(GENERATION)} -c memledger.every_subject=yes"
        url = self.postgres.url(READ_MODEL_DATABASE)
        with psycopg.connect(url, options=options, autocommit=True) as connection:
            yield connection

    def left_to_do(self) -> int:
        """Return how many records are not applied and how many turns are known to be open."""
        ends = self.ends(TURNS, memories_topic(GENERATION))
        rows = self.rows("SELECT topic, partition, next_offset FROM positions")
        positions = {(topic, partition): int(offset) for topic, partition, offset in rows}
        # What was read beyond an end, since it was asked for, makes up for nothing elsewhere.
        unread = sum(max(0, end - positions.get(place, 0)) for place, end in ends.items())
        ((opened,),) = self.rows("SELECT count(*) FROM open_turns")
        return unread + int(opened)

    def wait_settled(self, *, timeout_s: float = 120.0) -> None:
        """Return once every turn of the log is closed and every outcome is applied."""

        def settled() -> bool:
            try:
                return self.left_to_do() == 0
            except (psycopg.OperationalError, LogUnavailable):
                return False

        self.wait_until(settled, what="every turn to be closed", timeout_s=timeout_s)

    def wait_until(
        self, condition: Callable[[], bool], *, what: str, timeout_s: float, poll_s: float = 0.2
    ) -> None:
        """Return once a condition holds.

        Raises:
            AssertionError: it did not in time; shows the end of each process' log.
        """
        try:
            wait_until(condition, what=what, timeout_s=timeout_s, poll_s=poll_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.logs()}") from None

    def logs(self) -> str:
        """Return the end of each process' log, for the reader of a failure."""
        return "\n".join(
            f"--- {log.name}\n{log.read_text(errors='replace')[-_LOG_SHOWN:]}"
            for log in sorted(self.home.logs.glob("*.log"))
        )


@contextmanager
def site_directory() -> Iterator[Path]:
    """Yield a directory that Postgres' own user can walk to, which pytest's own is not."""
    with tempfile.TemporaryDirectory(
        prefix="memledger-faults-", ignore_cleanup_errors=True
    ) as path:
        root = Path(path)
        root.chmod(0o755)
        yield root

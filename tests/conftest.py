"""Real stores: one broker and one Postgres a run, fresh databases and topics a test."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from hypothesis import HealthCheck, settings
from psycopg import sql

from deploy.embedded import EmbeddedPostgres, TrialBroker
from schemas.errors import LogUnavailable
from schemas.log.admin import ensure_topics
from schemas.topics import ledger_topics
from tests.support.brokers import Broker, broker_choice, new_broker

GENERATION = "g1"
PARTITIONS = 4
ENDING_S = 120
"""After how many seconds a process whose tests are over shows what it still does, and ends."""
ORPHANED_S = 10
"""The same of one among several, once the process that shared out the tests is gone."""

# An example may take long for reasons of the machine's own; that is no failure of the code.
settings.register_profile(
    "local",
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# Where nobody watches, a run that failed must fail again: the examples follow from the test alone,
# the same ones each time, so half as many are run as elsewhere.
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, max_examples=50)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@dataclass(frozen=True, kw_only=True, slots=True)
class TestStores:
    """Stores that hold nothing yet.

    Attributes:
        database_url: an empty database with pgvector, for the read model.
        keyring_url: an empty database, for the keyring.
        kafka_bootstrap: a broker with the topics of ``generation``, empty.
        key_directory: an empty directory for epoch keys.
        generation: the generation of the topics.
        partitions: how many partitions each topic has.
    """

    __test__ = False

    database_url: str
    keyring_url: str
    kafka_bootstrap: str
    key_directory: Path
    generation: str
    partitions: int


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what the trial broker cannot do, each test with its name and the reason."""
    marked = [(item, mark) for item in items if (mark := item.get_closest_marker("lasting_broker"))]
    if not marked or broker_choice().kind != "trial":
        return
    for item, mark in marked:
        needs = mark.kwargs["reason"]
        item.add_marker(pytest.mark.skip(reason=f"{item.name}: {needs}. {broker_choice().reason}"))


def pytest_collection_finish() -> None:
    """Keep what collecting made out of later collections of garbage, which would look at it all."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Let one process among several not outlive the one that shared out the tests."""
    if hasattr(config, "workerinput"):
        threading.Thread(target=_end_as_orphan, args=[os.getppid()], daemon=True).start()


def _end_as_orphan(parent: int) -> None:
    # xdist leaves a process alone that a thread of its own keeps from ending, and whoever reads the
    # output of the tests would wait for it.
    while os.getppid() == parent:
        time.sleep(1)
    time.sleep(ORPHANED_S)
    faulthandler.dump_traceback(file=_standard_error())
    os._exit(1)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """End this process where it does not end by itself, as with a thread that waits for ever."""
    # A copy: what pytest wrote its errors to is closed before this process ends.
    faulthandler.dump_traceback_later(ENDING_S, exit=True, file=os.dup(_standard_error()))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Let one process among several wait until the others' tests are over; it is ended by xdist."""
    if hasattr(config, "workerinput"):
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def shared_home() -> Iterator[Path]:
    """A directory that Postgres' own user can walk to, which pytest's own is not."""
    home = Path(tempfile.mkdtemp(prefix="memledger-test-"))
    home.chmod(0o755)
    yield home
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres(shared_home: Path) -> Iterator[EmbeddedPostgres]:
    """A running Postgres with pgvector."""
    server = EmbeddedPostgres(shared_home / "postgres")
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def broker(shared_home: Path) -> Iterator[Broker]:
    """A running broker."""
    server = new_broker(shared_home)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def kafka_bootstrap(broker: Broker) -> str:
    """The broker's address; its topics are whatever the test before left."""
    return broker.start()


@pytest.fixture
def postgres_url(postgres: EmbeddedPostgres) -> Iterator[str]:
    """A fresh database with pgvector, owned by the ordinary role."""
    yield from _fresh_database(postgres)


@pytest.fixture
def keyring_url(postgres: EmbeddedPostgres) -> Iterator[str]:
    """A fresh database for a keyring."""
    yield from _fresh_database(postgres)


@pytest.fixture
def ledger_bootstrap(broker: Broker) -> str:
    """The broker's address, with the ledger's topics empty."""
    if isinstance(broker, TrialBroker):
        # Quicker than removing topics, and no group of an earlier test is in the way.
        broker.stop()
    bootstrap = broker.start()
    recreate_topics(bootstrap)
    return bootstrap


@pytest.fixture
def stores(
    postgres_url: str, keyring_url: str, ledger_bootstrap: str, tmp_path: Path
) -> TestStores:
    """Fresh databases and empty topics."""
    return TestStores(
        database_url=postgres_url,
        keyring_url=keyring_url,
        kafka_bootstrap=ledger_bootstrap,
        key_directory=tmp_path / "keys",
        generation=GENERATION,
        partitions=PARTITIONS,
    )


def _standard_error() -> int:
    assert sys.__stderr__ is not None
    return sys.__stderr__.fileno()


def recreate_topics(bootstrap: str) -> None:
    """Remove every topic of a ledger and make those of one generation anew."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
    existing = [name for name in admin.list_topics(timeout=10).topics if name[:2] != "__"]
    if existing:
        for future in admin.delete_topics(existing, operation_timeout=20).values():
            future.result(20)
    deadline = time.monotonic() + 30
    while True:
        try:
            asyncio.run(
                ensure_topics(bootstrap, ledger_topics(GENERATION, PARTITIONS), replication=1)
            )
        except (KafkaException, LogUnavailable):
            if time.monotonic() > deadline:
                raise
        else:
            return


def _fresh_database(postgres: EmbeddedPostgres) -> Iterator[str]:
    name = f"test_{uuid4().hex}"
    with psycopg.connect(postgres.superuser_url(), autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER memledger").format(sql.Identifier(name))
        )
    with psycopg.connect(postgres.superuser_url(name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    yield postgres.url(name)
    # A pool that was closed while it connected leaves a socket to the collector, and a session that
    # waits for its password keeps DROP DATABASE waiting until Postgres gives it up, after a minute.
    gc.collect()
    with psycopg.connect(postgres.superuser_url(), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

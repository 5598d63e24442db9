"""Where Kafka's broker cannot be had, a demonstration takes the trial one, and only there."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from deploy.cli import demo
from deploy.embedded import (
    JarChecksumMismatchError,
    JavaMissingError,
    JavaTooOldError,
    obstacle_to_the_broker,
    obstacles,
)
from deploy.embedded.errors import (
    DataDirectoryNotWritableError,
    DiskFullError,
    EmbeddedStoreError,
    JarsUnavailableError,
    MavenMissingError,
)
from schemas.settings import Settings

JARS = Path("/jars")
LACKS = (
    JavaMissingError("there is none"),
    JavaTooOldError(Path("/java"), "11", 17),
    MavenMissingError(JARS),
    JarsUnavailableError("no network"),
    DataDirectoryNotWritableError(JARS, "read-only"),
)
WRONGS = (JarChecksumMismatchError(JARS / "kafka.jar"), DiskFullError(JARS))


def name(error: EmbeddedStoreError) -> str:
    return type(error).__name__


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[EmbeddedStoreError | None], None]:
    """Let this machine have what the broker needs, but for one thing."""

    def has(error: EmbeddedStoreError | None) -> None:
        def resolve() -> None:
            if error is not None:
                raise error

        monkeypatch.setattr(obstacles, "find_java", lambda: None)
        monkeypatch.setattr(obstacles, "resolve_jars", resolve)

    return has


def chosen(settings: Settings) -> tuple[str, str]:
    told = io.StringIO()
    broker = demo._broker_at_hand(settings, Console(file=told, soft_wrap=True))
    return broker, told.getvalue()


def test_a_machine_that_lacks_nothing_has_no_obstacle(
    machine: Callable[[EmbeddedStoreError | None], None],
) -> None:
    machine(None)
    assert obstacle_to_the_broker() is None
    assert chosen(Settings.model_validate({}))[0] == "kafka"


@pytest.mark.parametrize("lack", LACKS, ids=name)
def test_what_a_machine_lacks_makes_a_demonstration_a_trial_and_is_told(
    machine: Callable[[EmbeddedStoreError | None], None], lack: EmbeddedStoreError
) -> None:
    machine(lack)
    assert obstacle_to_the_broker() is lack
    broker, told = chosen(Settings.model_validate({}))
    assert broker == "trial"
    assert lack.problem in told


@pytest.mark.parametrize("wrong", WRONGS, ids=name)
def test_what_is_wrong_on_a_machine_is_an_error_and_no_reason_for_another_broker(
    machine: Callable[[EmbeddedStoreError | None], None], wrong: EmbeddedStoreError
) -> None:
    machine(wrong)
    with pytest.raises(type(wrong)):
        chosen(Settings.model_validate({}))


@pytest.mark.parametrize("broker", ["kafka", "trial"])
def test_a_broker_that_is_asked_for_is_taken_unasked(
    machine: Callable[[EmbeddedStoreError | None], None], broker: str
) -> None:
    machine(WRONGS[0])
    assert chosen(Settings.model_validate({"broker": broker})) == (broker, "")


def test_beside_a_given_broker_none_is_looked_for(
    machine: Callable[[EmbeddedStoreError | None], None],
) -> None:
    machine(WRONGS[0])
    assert chosen(Settings.model_validate({"KAFKA_BOOTSTRAP": "kafka:9092"})) == ("kafka", "")

"""Which broker the tests run on, and that continuous integration never settles for the lesser."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.embedded import EmbeddedStoreError, JarsUnavailableError, JavaMissingError
from deploy.embedded.errors import MavenMissingError
from tests.support.brokers import BROKER_VARIABLE, choose_broker
from tests.support.documents import ROOT

OBSTACLES = (
    JavaMissingError("there is none"),
    MavenMissingError(Path("/jars")),
    JarsUnavailableError("no network"),
)


def nothing() -> None:
    return None


def never() -> EmbeddedStoreError | None:
    raise AssertionError("asked, though the answer is given")


def test_a_machine_that_can_have_kafka_uses_it() -> None:
    assert choose_broker({}, nothing).kind == "kafka"


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda error: type(error).__name__)
def test_a_machine_that_cannot_uses_the_trial_broker_and_says_why(
    obstacle: EmbeddedStoreError,
) -> None:
    choice = choose_broker({}, lambda: obstacle)
    assert (choice.kind, choice.reason) == ("trial", obstacle.problem)


@pytest.mark.parametrize("environment", [{"CI": "true"}, {BROKER_VARIABLE: "kafka"}])
def test_where_the_trial_broker_is_forbidden_nothing_is_even_asked(
    environment: dict[str, str],
) -> None:
    assert choose_broker(environment, never).kind == "kafka"


def test_the_trial_broker_can_be_asked_for() -> None:
    assert choose_broker({"CI": "true", BROKER_VARIABLE: "trial"}, never).kind == "trial"


def test_a_broker_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match=BROKER_VARIABLE):
        choose_broker({BROKER_VARIABLE: "kafak"}, never)


def test_the_run_of_continuous_integration_forbids_the_trial_broker() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines.index(f"export {BROKER_VARIABLE}=kafka") < next(
        number for number, line in enumerate(lines) if line.endswith("make test")
    )

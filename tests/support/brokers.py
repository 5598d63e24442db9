"""Which broker the tests run on: Kafka's, or the trial one where a machine cannot have that."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

from deploy.embedded import (
    EmbeddedBroker,
    EmbeddedStoreError,
    TrialBroker,
    obstacle_to_the_broker,
)
from schemas.log.producer import LogProducer

BROKER_VARIABLE: Final = "MEMLEDGER_TEST_BROKER"

Broker: TypeAlias = EmbeddedBroker | TrialBroker


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokerChoice:
    """The broker that the tests run on.

    Attributes:
        kind: ``kafka``, or ``trial``, whose log does not outlive its process.
        reason: why it is the trial one.
    """

    kind: Literal["kafka", "trial"]
    reason: str = ""


def choose_broker(
    environment: Mapping[str, str], obstacle: Callable[[], EmbeddedStoreError | None]
) -> BrokerChoice:
    """Choose a broker.

    Args:
        environment: ``MEMLEDGER_TEST_BROKER`` says which; ``CI`` forbids the trial one, so that
            there a broker that cannot be had fails the tests.
        obstacle: tells what keeps Kafka's from running here; may take minutes.

    Raises:
        ValueError: the variable names no broker.
    """
    wanted = environment.get(BROKER_VARIABLE) or ("kafka" if environment.get("CI") else "")
    if wanted == "kafka":
        return BrokerChoice(kind="kafka")
    if wanted == "trial":
        return BrokerChoice(kind="trial", reason=f"{BROKER_VARIABLE} asks for the trial broker")
    if wanted:
        raise ValueError(f"{BROKER_VARIABLE} is {wanted!r}: give kafka or trial, or leave it out")
    found = obstacle()
    if found is None:
        return BrokerChoice(kind="kafka")
    return BrokerChoice(kind="trial", reason=found.problem)


@cache
def broker_choice() -> BrokerChoice:
    """Return the broker of this run."""
    return choose_broker(os.environ, obstacle_to_the_broker)


def new_producer(bootstrap: str) -> LogProducer:
    """Return a producer as a pipeline on this run's broker has it."""
    trial = broker_choice().kind == "trial"
    return LogProducer(bootstrap, client_id="test", one_record_a_batch=trial)


def new_broker(home: Path, *, heap_mb: int = 512) -> Broker:
    """Return a broker of this run's kind, which is not started."""
    if broker_choice().kind == "trial":
        return TrialBroker(home / "trial-broker")
    return EmbeddedBroker(home / "kafka", heap_mb=heap_mb)

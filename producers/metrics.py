"""What the producers count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from prometheus_client import Counter

from schemas.records import Origin

TURNS_ACCEPTED: Final = Counter(
    "memledger_turns_accepted_total", "Turns that the log acknowledged, by door", ["origin"]
)
TURNS_REFUSED: Final = Counter(
    "memledger_turns_refused_total",
    "Turns that were not appended, by door and error",
    ["origin", "error"],
)
TURNS_WITHHELD: Final = Counter(
    "memledger_turns_withheld_total",
    "Turns that were not appended since their user wants it so, by door and reason",
    ["origin", "reason"],
)


def count_refused(origin: Origin, error: Exception, *, turns: int = 1) -> None:
    """Count turns that were not appended under the class of the error that tells why."""
    TURNS_REFUSED.labels(origin.value, type(error).__name__).inc(turns)


@contextmanager
def refusals_counted(origin: Origin, *, turns: int = 1) -> Iterator[None]:
    """Count an error that passes through as the refusal of so many turns."""
    try:
        yield
    except Exception as error:
        count_refused(origin, error, turns=turns)
        raise


class Command(StrEnum):
    """What is appended beside turns."""

    SYSTEM_FACT = "system-fact"
    CURATION = "curation"
    FLAG_DECISION = "flag-decision"
    SESSION_END = "session-end"
    CONSOLIDATION = "consolidation"
    FILE_COMMAND = "file-command"


COMMANDS_ACCEPTED: Final = Counter(
    "memledger_commands_accepted_total",
    "Records beside turns that the log acknowledged, by what they are",
    ["command"],
)
COMMANDS_REFUSED: Final = Counter(
    "memledger_commands_refused_total",
    "Requests for such a record that were refused, by what they asked for and error",
    ["command", "error"],
)


def count_command(command: Command) -> None:
    """Count a record that the log acknowledged."""
    COMMANDS_ACCEPTED.labels(command.value).inc()


@contextmanager
def command_refusals_counted(command: Command) -> Iterator[None]:
    """Count an error that passes through as the refusal of a command."""
    try:
        yield
    except Exception as error:
        COMMANDS_REFUSED.labels(command.value, type(error).__name__).inc()
        raise

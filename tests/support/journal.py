"""The files through which a test and the extractors of its workers speak with each other."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call of the extractor.

    Attributes:
        turn_id: the turn.
        pid: the worker process.
        began_at: when, in seconds since 1970.
    """

    turn_id: UUID
    pid: int
    began_at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """What a test asks of the extractors.

    Attributes:
        delay_s: how long each call takes, in seconds.
        blocked: calls wait while their text holds one of these.
    """

    delay_s: float = 0.0
    blocked: tuple[str, ...] = ()


def read_control(path: Path) -> Control:
    """Return what is asked of the extractors now; of a file that is missing, nothing."""
    try:
        asked = json.loads(path.read_bytes())
    except FileNotFoundError:
        return Control()
    return Control(delay_s=asked["delay_s"], blocked=tuple(asked["blocked"]))


class Journal:
    """A test's end of the two files.

    Attributes:
        path: where the extractors write their calls down.
        control_path: where they read what is asked of them.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / "extractor-journal"
        self.control_path = directory / "extractor-control"
        self.path.touch()

    def ask(self, *, delay_s: float = 0.0, blocked: tuple[str, ...] = ()) -> None:
        """Replace what is asked of the extractors."""
        partial = self.control_path.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(Control(delay_s=delay_s, blocked=blocked))))
        partial.replace(self.control_path)

    def calls(self) -> list[Call]:
        """Return every call so far, in the order in which they began."""
        lines = self.path.read_text().splitlines()
        return [
            Call(turn_id=UUID(call["turn_id"]), pid=call["pid"], began_at=call["began_at"])
            for call in map(json.loads, lines)
        ]

    def count(self) -> int:
        """Return the number of calls so far."""
        return self.path.read_bytes().count(b"\n")

"""Asking the processes of a pipeline whether they do their work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import httpx

from deploy.home import RunState
from deploy.supervisor.children import is_alive

TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningPart:
    """One part of the pipeline.

    Attributes:
        name: what it is.
        ready: whether it does its work now.
        detail: why not.
        address: where it answers.
        note: what to know of it even where it is ready.
        lag: how many records it has yet to process, where that can be told.
        disk_bytes: what it occupies, where it is ours.
    """

    name: str
    ready: bool
    detail: str
    address: str
    note: str = ""
    lag: int | None = None
    disk_bytes: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the part as JSON."""
        return {
            "name": self.name,
            "ready": self.ready,
            "detail": self.detail,
            "address": self.address,
            "note": self.note,
            "lag": self.lag,
            "disk_bytes": self.disk_bytes,
        }


def readiness(state: RunState) -> list[RunningPart]:
    """Ask the supervisor's processes whether they are ready."""
    parts = []
    for child in state.children:
        detail = "" if is_alive(child) else "not running"
        if not detail:
            try:
                answer = httpx.get(f"{child.url}/readyz", timeout=TIMEOUT_S)
                detail = "" if answer.is_success else answer.json().get("reason", answer.text)
            except (httpx.HTTPError, ValueError) as error:
                detail = f"does not answer ({type(error).__name__})"
        parts.append(
            RunningPart(name=child.name, ready=not detail, detail=detail, address=child.url)
        )
    return parts


def all_started(state: RunState) -> bool:
    """Whether every kind of process was started: projector, at least one worker, gateway."""
    kinds = {child.name.partition("-")[0] for child in state.children}
    return kinds == {"projector", "worker", "gateway"}

"""What a bench found, with the bound it is held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np


class Side(StrEnum):
    """On which side of its bound a figure must lie."""

    AT_LEAST = "at least"
    AT_MOST = "at most"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """What a figure is held to.

    Attributes:
        side: on which side of the limit it must lie.
        limit: the limit, in the figure's unit; itself allowed.
    """

    side: Side
    limit: float

    def holds(self, value: float) -> bool:
        """Whether a figure keeps it."""
        return value >= self.limit if self.side is Side.AT_LEAST else value <= self.limit

    def __str__(self) -> str:
        return f"{self.side.value} {self.limit:g}"


def at_least(limit: float) -> Bound:
    """Return a lower bound."""
    return Bound(side=Side.AT_LEAST, limit=limit)


def at_most(limit: float) -> Bound:
    """Return an upper bound."""
    return Bound(side=Side.AT_MOST, limit=limit)


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One thing that was measured.

    Attributes:
        name: what, as ``bench.what``.
        value: how much.
        unit: of what; ``ratio`` where it is one.
        bound: what it is held to; ``None`` for what is only told.
        details: what helps to understand it, as JSON.
    """

    name: str
    value: float
    unit: str
    bound: Bound | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def held(self) -> bool | None:
        """Whether it keeps its bound; ``None`` without one."""
        return None if self.bound is None else self.bound.holds(self.value)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "name": self.name,
            "value": rounded(self.value),
            "unit": self.unit,
            "bound": None
            if self.bound is None
            else {"side": self.bound.side.value, "limit": self.bound.limit},
            "held": self.held,
            "details": dict(self.details),
        }


def rounded(value: float) -> float:
    """Return a figure with as many digits as a measurement deserves."""
    return float(f"{value:.4g}")


def percentiles_ms(seconds: Sequence[float]) -> dict[str, float]:
    """Return the 50th, 95th and 99th percentile of durations in seconds, in milliseconds."""
    found = np.percentile(np.asarray(seconds) * 1000, [50, 95, 99])
    return {
        name: rounded(float(value))
        for name, value in zip(("p50", "p95", "p99"), found, strict=True)
    }

"""The benches by name, and running some of them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from rich.console import Console

from deploy.bench.appends import measure_appends
from deploy.bench.exact_peer import measure_beside_exact_peer
from deploy.bench.figures import Figure, rounded
from deploy.bench.options import BenchSize
from deploy.bench.pipeline import measure_pipeline
from deploy.bench.recall_http import measure_recall_http
from deploy.bench.recall_speed import measure_recall
from deploy.bench.slow_model import measure_slow_model

Bench = Callable[[BenchSize, Console], list[Figure]]

BENCHES: Final[Mapping[str, Bench]] = MappingProxyType(
    {
        "appends": measure_appends,
        "pipeline": measure_pipeline,
        "slow-model": measure_slow_model,
        "recall": measure_recall,
        "recall-http": measure_recall_http,
        "exact-peer": measure_beside_exact_peer,
    }
)
"""Each bench by its name, in the order in which they run."""


def run_benches(names: Sequence[str], size: BenchSize, announce: Console) -> list[Figure]:
    """Return what the named benches found; one after the other, since they share the machine."""
    return [figure for name in BENCHES if name in names for figure in BENCHES[name](size, announce)]


def machine() -> dict[str, Any]:
    """Return what the figures depend on: a machine that was busy before gives worse ones."""
    return {
        "cpus": os.cpu_count(),
        "load_average_before": [rounded(load) for load in os.getloadavg()],
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
    }


def report(figures: Sequence[Figure], measured_on: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures as JSON, with the machine that they were measured on."""
    return {
        "machine": dict(measured_on),
        "figures": [figure.as_json() for figure in figures],
        "missed": [figure.name for figure in figures if figure.held is False],
    }

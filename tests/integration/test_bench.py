"""``memledger bench`` as it is called, on stores of its own. No speed passes or fails a test."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import pytest

from tests.support.command import memledger

_TINY = {
    "--turns": "100",
    "--users": "20",
    "--appends": "200",
    "--probes": "3",
    "--rows": "400",
    "--memories-a-user": "20",
    "--recalls": "16",
}

# What every figure of the design that can be measured here is called, and whether it has a bound.
_FIGURES = {
    "appends.sealed_against_plain": True,
    "pipeline.rate": True,
    "pipeline.cpu": True,
    "pipeline.memory": False,
    "pipeline.accepted_to_recallable_p99": True,
    "pipeline.unaccounted": True,
    "slow_model.share_of_possible_rate": True,
    "recall.p50": True,
    "recall.p99": True,
    "recall.large_against_small": True,
    "recall.with_8_clients": True,
    "recall.matches_found": True,
    "recall_http.p99": True,
    "exact_peer.times_faster": True,
    "exact_peer.matches_found": True,
}


@pytest.mark.lasting_broker(reason="a bench measures the broker that a pipeline is run with")
def test_a_bench_measures_every_figure_and_leaves_nothing_behind(tmp_path: Path) -> None:
    before = _left_behind()
    sizes = [word for option in _TINY.items() for word in option]

    run = memledger(
        "bench",
        "--json",
        *sizes,
        # Stores that cannot be reached: a bench that asked them for anything would fail.
        environment={
            "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing",
            "KAFKA_BOOTSTRAP": "127.0.0.1:1",
            "MEMLEDGER_HOME": str(tmp_path / "home"),
        },
    )

    assert run.status == 0, run.errors
    figures = {figure["name"]: figure for figure in run.json()["figures"]}
    assert {name: figure["bound"] is not None for name, figure in figures.items()} == _FIGURES
    assert figures.pop("pipeline.unaccounted")["value"] == 0
    assert all(math.isfinite(one["value"]) and one["value"] > 0 for one in figures.values())
    assert figures["recall.matches_found"]["value"] == 1
    parts = figures["pipeline.cpu"]["details"]["by_process"]
    assert set(parts) == {"broker", "gateway", "postgres", "projector", "worker-1"}
    assert _left_behind() <= before
    assert not (tmp_path / "home").exists()


def _left_behind() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("memledger-bench-*"))


def test_a_bench_of_an_unknown_name_is_refused_with_those_there_are() -> None:
    run = memledger("bench", "everything", environment={})

    assert run.status == 2
    assert "slow-model" in run.errors

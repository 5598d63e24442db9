"""What a bench prints: figures, the bounds they are held to, and whether they are kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from deploy.bench import appends, exact_peer, pipeline, recall_http, recall_speed, slow_model
from deploy.bench.figures import Bound, Figure, at_least, at_most, percentiles_ms
from deploy.bench.run import report

_GUIDE = Path(__file__).parents[2] / "docs" / "operating.md"

_BOUNDS = {
    "appends.sealed_against_plain": appends.SHARE_BOUND,
    "pipeline.rate": pipeline.RATE_BOUND,
    "pipeline.cpu": pipeline.CPU_BOUND,
    "pipeline.memory": None,
    "pipeline.accepted_to_recallable_p99": pipeline.FRESH_BOUND,
    "pipeline.unaccounted": pipeline.UNACCOUNTED_BOUND,
    "slow_model.share_of_possible_rate": slow_model.SHARE_BOUND,
    "recall.p50": recall_speed.P50_BOUND,
    "recall.p99": recall_speed.P99_BOUND,
    "recall.large_against_small": recall_speed.GROWTH_BOUND,
    "recall.with_8_clients": recall_speed.CLIENTS_BOUND,
    "recall.matches_found": recall_speed.FOUND_BOUND,
    "recall_http.p99": recall_http.P99_BOUND,
    "exact_peer.times_faster": exact_peer.FASTER_BOUND,
    "exact_peer.matches_found": exact_peer.FOUND_BOUND,
}


@pytest.mark.parametrize(
    ("bound", "value", "held"),
    [
        (at_least(600), 599.9, False),
        (at_least(600), 600.0, True),
        (at_most(3), 3.0, True),
        (at_most(3), 3.001, False),
        (None, 1.0, None),
    ],
)
def test_a_figure_tells_whether_it_keeps_its_bound(
    bound: Bound | None, value: float, held: bool | None
) -> None:
    figure = Figure(name="some.figure", value=value, unit="ratio", bound=bound)

    assert figure.held is held
    assert figure.as_json()["held"] is held


def test_a_bound_that_is_missed_is_decided_on_the_figure_and_not_on_its_rounding() -> None:
    figure = Figure(name="some.figure", value=2.99996, unit="ratio", bound=at_least(3))

    assert figure.as_json()["value"] == 3.0
    assert figure.held is False


def test_the_report_names_what_was_missed() -> None:
    kept = Figure(name="kept", value=1, unit="ratio", bound=at_least(1))
    missed = Figure(name="missed", value=2, unit="ms", bound=at_most(1), details={"p50": 1.5})
    told = Figure(name="told", value=3, unit="MiB")

    printed = json.loads(json.dumps(report([kept, missed, told], {"cpus": 2})))

    assert printed["missed"] == ["missed"]
    assert printed["machine"] == {"cpus": 2}
    assert [figure["name"] for figure in printed["figures"]] == ["kept", "missed", "told"]
    assert printed["figures"][1]["bound"] == {"side": "at most", "limit": 1}
    assert printed["figures"][1]["details"] == {"p50": 1.5}
    assert printed["figures"][2]["bound"] is None


def test_percentiles_are_those_of_the_durations_in_milliseconds() -> None:
    durations_s = [number / 1000 for number in range(1, 102)]

    assert percentiles_ms(durations_s) == {"p50": 51.0, "p95": 96.0, "p99": 100.0}


def test_the_guide_tells_every_bound_as_it_is_measured_against() -> None:
    section = _GUIDE.read_text().partition("## Figures and bounds")[2]
    told = dict(re.findall(r"^\| `([a-z_0-9.]+)` \|.*\| ([^|]*?) ?\|$", section, re.MULTILINE))

    assert told == {name: "" if bound is None else str(bound) for name, bound in _BOUNDS.items()}

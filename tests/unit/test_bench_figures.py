"""What a bench prints: figures, the bounds they are held to, and whether they are kept."""

from __future__ import annotations

import json

import pytest

from deploy.bench.figures import Bound, Figure, at_least, at_most, percentiles_ms
from deploy.bench.run import report


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

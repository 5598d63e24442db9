"""What ``memledger status`` tells of parts that are ready."""

from __future__ import annotations

import pytest

from deploy.cli.status import _with_lag
from deploy.supervisor.readiness import RunningPart
from projections.lag import Lag


def _part(name: str) -> RunningPart:
    return RunningPart(name=name, ready=True, detail="", address="http://127.0.0.1:1")


@pytest.mark.parametrize(("waiting", "note"), [(0, ""), (3, "3 memories wait for a vector")])
def test_a_worker_tells_its_lag_and_how_many_memories_wait_for_a_vector(
    waiting: int, note: str
) -> None:
    lag = Lag(workers=1, projector=2, embeddings_waiting=waiting)
    told = {name: _with_lag(_part(name), lag) for name in ("worker-1", "projector", "gateway")}
    assert {name: (part.lag, part.note) for name, part in told.items()} == {
        "worker-1": (1, note),
        "projector": (2, ""),
        "gateway": (None, ""),
    }

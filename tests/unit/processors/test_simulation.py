"""Whole runs with crashes, zombies, repeated turns and lost acknowledgements, one for each seed."""

from __future__ import annotations

import logging
from uuid import UUID

import pytest

from schemas import ids
from schemas.log.sealed import LogRecord
from schemas.records import Closing
from schemas.topics import memories_topic
from tests.support.memory_ledger import closings
from tests.support.memory_worker import GENERATION
from tests.support.simulation import PARTITIONS, Simulation
from tests.support.virtual_time import run_virtual

SEEDS = 60


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_turn_is_closed_once_in_order_and_paid_for_once(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    simulation = simulated(seed)
    closed = {
        turn: closing
        for partition in range(PARTITIONS)
        for turn, closing in closings(simulation.site.ledger, partition).items()
    }
    assert closed == dict.fromkeys(simulation.said, Closing.STORED), f"seed {seed}"
    first = first_outcomes(simulation)
    for turns in simulation.order.values():
        places = [first[ids.outcome_id(GENERATION, turn)] for turn in turns]
        assert places == sorted(places), f"seed {seed}"
    assert simulation.paid_twice == [], f"seed {seed}"
    assert simulation.out_of_turn == [], f"seed {seed}"


def test_a_seed_tells_a_run(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    one, same, other = (first_outcomes(simulated(seed)) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def simulated(seed: int) -> Simulation:
    """Return a simulation that has run."""

    async def run() -> Simulation:
        simulation = Simulation(seed)
        await simulation.run()
        return simulation

    return run_virtual(run())


def first_outcomes(simulation: Simulation) -> dict[UUID, int]:
    """Return where the outcome that counts stands, by its id."""
    places: dict[UUID, int] = {}
    for partition in range(PARTITIONS):
        records: list[LogRecord] = simulation.site.log.records(
            memories_topic(GENERATION), partition
        )
        for record in records:
            places.setdefault(record.header().record_id, record.position.offset)
    return places

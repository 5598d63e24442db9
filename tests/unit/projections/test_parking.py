"""Setting partitions apart that cannot go on."""

from __future__ import annotations

from projections.parking import FIRST_RETRY_S, RETRY_S_MAX, ParkingLot
from schemas.errors import KeyMissing


class _Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_parked_partition_waits_and_is_then_tried_again() -> None:
    clock = _Clock()
    lot = ParkingLot(generation="test", clock=clock)
    lot.park(3, KeyMissing("gone"))
    assert lot.waiting == {3}
    assert not lot.release_due()

    clock.now_s += FIRST_RETRY_S

    assert lot.release_due()
    assert lot.waiting == frozenset()
    assert lot.parked == {3}
    lot.succeeded(3)
    assert lot.parked == frozenset()


def test_each_failure_in_a_row_waits_longer_up_to_a_limit() -> None:
    clock = _Clock()
    lot = ParkingLot(generation="test", clock=clock)
    pauses = []
    for _ in range(6):
        lot.park(0, KeyMissing("gone"))
        parked_at = clock.now_s
        while not lot.release_due():
            clock.now_s += 1.0
        pauses.append(clock.now_s - parked_at)

    assert pauses == [2.0, 4.0, 8.0, 16.0, RETRY_S_MAX, RETRY_S_MAX]


def test_partitions_that_others_hold_now_are_forgotten() -> None:
    lot = ParkingLot(generation="test", clock=_Clock())
    for partition in (1, 2):
        lot.park(partition, KeyMissing("gone"))

    lot.keep_only(frozenset({2, 5}))

    assert lot.parked == {2}

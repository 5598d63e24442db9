"""Lanes: order per subject, progress from the head, nothing skipped."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections import defaultdict
from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from processors.lanes import WINDOW_BYTES_MAX, Lanes, Window
from schemas.log.sealed import LogPosition, LogRecord

ASSIGNMENT = 7


@dataclass
class Handler:
    """Finishes a record when the test says so, and notes what was begun and finished."""

    begun: list[tuple[bytes, int]] = field(default_factory=list)
    finished: list[tuple[bytes, int]] = field(default_factory=list)
    gates: dict[int, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))

    async def __call__(self, record: LogRecord, context: str) -> None:
        assert context == "context"
        entry = (record.key or b"", record.position.offset)
        self.begun.append(entry)
        await self.gates[record.position.offset].wait()
        self.finished.append(entry)


@dataclass
class Flow:
    """Notes which partitions are held back."""

    held: set[int] = field(default_factory=set)


class Traced(list[tuple[str, bytes]]):
    """Headers that can be watched: a record cannot."""


def record(offset: int, subject: int, partition: int = 0, value: bytes = b"") -> LogRecord:
    return LogRecord(
        position=LogPosition(topic="turns", partition=partition, offset=offset),
        timestamp_ms=0,
        key=b"%d" % subject,
        value=value,
        headers=[],
    )


def lanes_of(
    handler: Handler,
    flow: Flow,
    window_max: int = 1000,
    window_bytes_max: int = WINDOW_BYTES_MAX,
) -> Lanes[str]:
    return Lanes(
        handler,
        lane_of=lambda one: one.key or b"",
        window_max=window_max,
        window_bytes_max=window_bytes_max,
        hold=flow.held.add,
        release=flow.held.discard,
    )


def window(start: int = 0, partition: int = 0) -> Window[str]:
    return Window(
        partition=partition,
        assignment=ASSIGNMENT,
        next_offset=start,
        head=start,
        context="context",
    )


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@given(
    subjects=st.lists(st.integers(0, 4), min_size=1, max_size=30),
    gaps=st.lists(st.integers(1, 3), min_size=30, max_size=30),
    order=st.randoms(use_true_random=False),
)
def test_each_subject_is_in_order_and_the_head_never_passes_an_unfinished_turn(
    subjects: list[int], gaps: list[int], order: object
) -> None:
    async def run() -> None:
        handler, flow = Handler(), Flow()
        lanes = lanes_of(handler, flow)
        lanes.open([window()])
        offsets = [sum(gaps[: index + 1]) for index in range(len(subjects))]
        for offset, subject in zip(offsets, subjects, strict=True):
            lanes.admit(record(offset, subject), assignment=ASSIGNMENT)
        release = list(offsets)
        order.shuffle(release)  # type: ignore[attr-defined] # hypothesis gives a random.Random
        for offset in release:
            handler.gates[offset].set()
            await settle()
            done = {finished for _, finished in handler.finished}
            unfinished = [offset for offset in offsets if offset not in done]
            assert lanes.heads[0] <= min(unfinished, default=offsets[-1] + 1)
        assert lanes.heads == {0: offsets[-1] + 1}
        assert lanes.waiting == 0
        for subject in set(subjects):
            key = b"%d" % subject
            own = [offset for lane, offset in handler.finished if lane == key]
            assert own == sorted(own)
            begun = [offset for lane, offset in handler.begun if lane == key]
            assert begun == sorted(begun)

    asyncio.run(run())


def test_a_subjects_next_turn_waits_for_the_one_before_while_others_go_on() -> None:
    async def run() -> None:
        handler, flow = Handler(), Flow()
        lanes = lanes_of(handler, flow)
        lanes.open([window()])
        for offset, subject in ((0, 1), (1, 1), (2, 2), (3, 3)):
            lanes.admit(record(offset, subject), assignment=ASSIGNMENT)
        await settle()
        assert [offset for _, offset in handler.begun] == [0, 2, 3]
        handler.gates[2].set()
        handler.gates[3].set()
        await settle()
        assert lanes.heads == {0: 0}
        handler.gates[0].set()
        await settle()
        assert lanes.heads == {0: 1}
        assert [offset for _, offset in handler.begun] == [0, 2, 3, 1]
        await lanes.close(grace_s=0)

    asyncio.run(run())


def test_records_of_another_assignment_or_admitted_before_are_ignored() -> None:
    async def run() -> None:
        handler, flow = Handler(), Flow()
        lanes = lanes_of(handler, flow)
        lanes.open([window(start=10)])
        lanes.admit(record(9, 1), assignment=ASSIGNMENT)
        lanes.admit(record(11, 1), assignment=ASSIGNMENT - 1)
        lanes.admit(record(11, 1, partition=5), assignment=ASSIGNMENT)
        lanes.admit(record(12, 1), assignment=ASSIGNMENT)
        lanes.admit(record(12, 1), assignment=ASSIGNMENT)
        lanes.admit(record(11, 2), assignment=ASSIGNMENT)
        await settle()
        assert [offset for _, offset in handler.begun] == [12]
        await lanes.close(grace_s=0)

    asyncio.run(run())


def test_a_full_partition_is_held_back_until_half_of_it_is_done() -> None:
    async def run() -> None:
        handler, flow = Handler(), Flow()
        lanes = lanes_of(handler, flow, window_max=4)
        lanes.open([window(), window(partition=1)])
        for offset in range(4):
            lanes.admit(record(offset, offset), assignment=ASSIGNMENT)
        lanes.admit(record(0, 9, partition=1), assignment=ASSIGNMENT)
        assert flow.held == {0}
        handler.gates[0].set()
        await settle()
        assert flow.held == {0}
        handler.gates[1].set()
        await settle()
        assert flow.held == set()
        await lanes.close(grace_s=0)

    asyncio.run(run())


def test_a_partition_is_held_back_by_the_bytes_of_what_is_not_done() -> None:
    async def run() -> None:
        handler, flow = Handler(), Flow()
        lanes = lanes_of(handler, flow, window_bytes_max=4_000)
        lanes.open([window()])
        for offset in range(3):
            lanes.admit(record(offset, offset, value=b"x" * 1_000), assignment=ASSIGNMENT)
        assert flow.held == set()
        lanes.admit(record(3, 3, value=b"x" * 1_000), assignment=ASSIGNMENT)
        assert flow.held == {0}
        # The head does not move, yet what is done takes no room.
        handler.gates[1].set()
        handler.gates[2].set()
        await settle()
        assert flow.held == {0}  # keys count too
        handler.gates[3].set()
        await settle()
        assert (flow.held, lanes.heads) == (set(), {0: 0})
        await lanes.close(grace_s=0)

    asyncio.run(run())


def test_a_thousand_large_turns_do_not_fill_memory() -> None:
    async def run() -> None:
        handler, flow = Handler(), Flow()
        lanes = lanes_of(handler, flow)
        lanes.open([window()])
        large = b"x" * 1_000_000
        admitted = 0
        while not flow.held:
            lanes.admit(record(admitted, admitted, value=large), assignment=ASSIGNMENT)
            admitted += 1
        assert admitted == 68  # 64 MiB
        await lanes.close(grace_s=0)

    asyncio.run(run())


def test_a_record_that_is_done_behind_a_slow_one_is_let_go() -> None:
    async def run() -> None:
        handler, flow = Handler(), Flow()
        lanes = lanes_of(handler, flow)
        lanes.open([window()])
        lanes.admit(record(0, 0), assignment=ASSIGNMENT)
        behind = replace(record(1, 1), headers=Traced())
        gone = weakref.ref(behind.headers)
        lanes.admit(behind, assignment=ASSIGNMENT)
        del behind
        handler.gates[1].set()
        await settle()
        gc.collect()
        assert gone() is None
        assert (lanes.heads, lanes.waiting) == ({0: 0}, 2)
        await lanes.close(grace_s=0)

    asyncio.run(run())


def test_closing_ends_every_lane_and_keeps_the_head_of_what_was_finished() -> None:
    async def run() -> None:
        handler, flow = Handler(), Flow()
        lanes = lanes_of(handler, flow)
        lanes.open([window()])
        for offset in range(3):
            lanes.admit(record(offset, offset), assignment=ASSIGNMENT)
        handler.gates[0].set()
        await settle()
        await lanes.close(grace_s=0)
        assert lanes.heads == {0: 1}
        for offset in (1, 2):
            handler.gates[offset].set()
        await settle()
        assert [offset for _, offset in handler.finished] == [0]
        lanes.open([window(start=1)])
        assert lanes.heads == {0: 1}

    asyncio.run(run())


def test_a_handler_that_breaks_its_promise_stops_its_lane_and_skips_nothing() -> None:
    async def run() -> None:
        handled: list[int] = []

        async def handle(one: LogRecord, _: str) -> None:
            handled.append(one.position.offset)
            if one.position.offset == 1:
                raise RuntimeError("a bug")

        lanes: Lanes[str] = Lanes(
            handle,
            lane_of=lambda one: one.key or b"",
            window_max=10,
            hold=lambda _: None,
            release=lambda _: None,
        )
        lanes.open([window()])
        for offset, subject in ((0, 1), (1, 1), (2, 1), (3, 2)):
            lanes.admit(record(offset, subject), assignment=ASSIGNMENT)
        await settle()
        assert sorted(handled) == [0, 1, 3]
        assert lanes.heads == {0: 1}
        await lanes.close(grace_s=0)

    asyncio.run(run())

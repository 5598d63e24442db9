"""Texts made to be slow are judged in a time that grows with their length alone."""

from __future__ import annotations

import time

import pytest

from processors.gate import Said, narrowed, refusals
from schemas.memory import MemoryKind
from schemas.slots import Slot
from tests.support.deciding import operation, turn

CHARACTERS = 40_000
SECONDS_MAX = 5.0
"""Ten times what the slowest takes on two busy cores; what grows with the square takes minutes."""

UNITS = [
    *("a", "1", "1 ", "4-", "eyJ", "://a", "a@b", "I have depression my sister ", "I am gay "),
    *("if I were ", "please remember ", "password is ", 'he said "', "From: a\n", "On 1 ", "```\n"),
    *("DE89 ", "token ", "secret", "always give ", "you promised ", "has free ", "12 a ", "a, "),
    *(
        "\u6211\u5f97\u4e86\u6291\u90c1\u75c7",
        "1.1.24, 10:10 - Bob: hi\n",
        "\U000e0041",
        "e\u0301",
        ". ",
    ),
]


@pytest.mark.parametrize("unit", UNITS)
def test_a_wall_of_one_thing_takes_no_time_that_grows_with_its_square(unit: str) -> None:
    text = unit * (CHARACTERS // len(unit))
    whole = operation(text, slot=Slot.EPISODE, kind=MemoryKind.EPISODIC)
    for one in (whole, operation("A fact", quote=text)):
        said = Said(turn(text))
        started = time.perf_counter()
        refusals(narrowed(one, said), said)
        assert time.perf_counter() - started < SECONDS_MAX

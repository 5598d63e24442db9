"""Texts made to be slow are judged in a time that grows with their length alone."""

from __future__ import annotations

import time

import pytest

from processors.gate import Said, narrowed, refusals
from schemas.memory import MemoryKind
from schemas.slots import Slot
from tests.support.deciding import operation, turn

CHARACTERS = 20_000
RATIO_MAX = 3.0
"""Twice the characters take twice the time; what grows with the square takes four times."""

UNCERTAIN_SECONDS = 0.05
"""What is over sooner cannot be compared, and does no harm."""

ATTEMPTS = 3
"""A busy machine slows one run down and not another: the best of so many counts."""

UNITS = [
    *("a", "1", "1 ", "4-", "eyJ", "://a", "a@b", "I have depression my sister ", "I am gay "),
    *(
        "if I were ",
        "if I won I would ",
        "si ganara ",
        "als ik ",
        "se vincessi comprerei ",
        "please remember ",
        "onthoud ",
        "thanks ",
        "password is ",
        'he said "',
        "From: a\n",
        "On 1 ",
        "```\n",
    ),
    *("4821 is my ", "pw ", "4\n"),
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
    for _ in range(ATTEMPTS):
        once, twice = seconds(unit, CHARACTERS), seconds(unit, 2 * CHARACTERS)
        if twice < max(UNCERTAIN_SECONDS, RATIO_MAX * once):
            return
    pytest.fail(f"twice as much of {unit!r} takes {twice / once:.1f} times as long")


def seconds(unit: str, characters: int) -> float:
    """Return the CPU seconds that judging a text of one thing takes, as a whole and as a quote."""
    text = unit * (characters // len(unit))
    whole = operation(text, slot=Slot.EPISODE, kind=MemoryKind.EPISODIC)
    started = time.thread_time()
    for one in (whole, operation("A fact", quote=text)):
        said = Said(turn(text))
        refusals(narrowed(one, said), said)
    return time.thread_time() - started

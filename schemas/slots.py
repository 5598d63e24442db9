"""The fixed list of slots: which attribute of a person (or of whom) a memory is about.

A *single* slot holds one live value at a time, so a new value supersedes the old one within its
lineage. A *many* slot holds any number, so a new value never displaces another: only the same
statement confirms, and only a correction or a named reference closes.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Slot(StrEnum):
    """An attribute that a memory states."""

    NAME = "name"
    RESIDENCE = "residence"
    ORIGIN = "origin"
    EMPLOYER = "employer"
    OCCUPATION = "occupation"
    DIET = "diet"
    """What somebody eats or does not: vegetarian, halal and without lactose hold side by side."""
    BIRTHDAY = "birthday"
    LANGUAGE = "language"
    """The language that the user wants to be answered in."""
    ALLERGY = "allergy"
    NEED = "need"
    """What the user's safety or access asks for: a step-free entrance, large print."""
    PREFERENCE = "preference"
    RELATION = "relation"
    ROUTINE = "routine"
    POSSESSION = "possession"
    PROJECT = "project"
    GOAL = "goal"
    TASK = "task"
    """What is being worked on now: it ceases by itself."""
    DECISION = "decision"
    """What the user decided, and why: it never ceases by itself."""
    EVENT = "event"
    RULE = "rule"
    NOTE = "note"
    EPISODE = "episode"


SINGLE_VALUED: Final = frozenset(
    {
        Slot.NAME,
        Slot.RESIDENCE,
        Slot.ORIGIN,
        Slot.EMPLOYER,
        Slot.OCCUPATION,
        Slot.BIRTHDAY,
        Slot.LANGUAGE,
    }
)
"""Slots of which one value is live at a time, for each ``about``."""

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
    BIRTHDAY = "birthday"
    ALLERGY = "allergy"
    PREFERENCE = "preference"
    RELATION = "relation"
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
        Slot.DIET,
        Slot.BIRTHDAY,
    }
)
"""Slots of which one value is live at a time, for each ``about``."""

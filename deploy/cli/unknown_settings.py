"""Variables of the environment that look like settings and are none, such as misspelt ones."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from deploy.cli.mcp import API_KEY
from deploy.embedded.jars import JARS_VARIABLE
from schemas.settings import Settings

PREFIX: Final = "MEMLEDGER_"
TEST_PREFIX: Final = "MEMLEDGER_TEST_"
BESIDE_SETTINGS: Final = (API_KEY, JARS_VARIABLE)
"""What is read from the environment without being a setting."""


def unknown_settings(environment: Iterable[str]) -> list[str]:
    """Return a sentence for each variable that is named like a setting and that nothing reads.

    It is told and not refused: an extractor of one's own may read variables of that name.

    Args:
        environment: the names of the variables that are set, in whatever case.
    """
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | {*BESIDE_SETTINGS}
    unknown = sorted(
        name
        for name in {name.upper() for name in environment}
        if name.startswith(PREFIX) and not name.startswith(TEST_PREFIX) and name not in known
    )
    return [f"{name} is no setting of memledger{_meant(name, known)}" for name in unknown]


def _meant(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, sorted(known), n=1, cutoff=0.85)
    return f": is {near[0]} meant?" if near else ", and is left alone"

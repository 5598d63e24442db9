"""A misspelt setting is told when the pipeline starts, with the one that is meant."""

from __future__ import annotations

from deploy.cli.unknown_settings import unknown_settings
from tests.support.documents import ROOT, Page, codes_of


def test_a_misspelt_setting_is_told_with_the_one_that_is_meant() -> None:
    assert unknown_settings(["MEMLEDGER_EXTRACTR", "PATH", "MEMLEDGER_OURS", "memledger_home"]) == [
        "MEMLEDGER_EXTRACTR is no setting of memledger: is MEMLEDGER_EXTRACTOR meant?",
        "MEMLEDGER_OURS is no setting of memledger, and is left alone",
    ]


def test_no_variable_that_the_operators_guide_names_is_unknown() -> None:
    named = {
        code.partition("=")[0]
        for code in codes_of(Page(ROOT / "docs" / "operating.md").text)
        if code.startswith("MEMLEDGER_")
    }
    assert len(named) > 40
    assert unknown_settings(named) == []

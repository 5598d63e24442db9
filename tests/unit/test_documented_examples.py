"""What the pages show of the examples is what the examples say."""

from __future__ import annotations

import textwrap

import pytest

from projections.recall_question import QUERY_CHARACTERS_MAX
from tests.support.documents import ROOT, Block, Page

API = Page(ROOT / "docs" / "api.md")
EXAMPLES = {"docs/examples/chat_loop.py": "python", "docs/examples/chat-loop.ts": "typescript"}
INDENTS = ("", "  ", "    ")


def shown(path: str) -> Block:
    """Return the part of an example that the page shows."""
    (block,) = (block for block in API.blocks if block.info == f"{EXAMPLES[path]} {path}")
    return block


@pytest.mark.parametrize("path", EXAMPLES)
def test_a_part_of_an_example_that_is_shown_stands_in_it(path: str) -> None:
    source, part = (ROOT / path).read_text("utf-8"), shown(path).text
    assert len(part.splitlines()) > 10
    assert any(textwrap.indent(part, indent) in source for indent in INDENTS)


@pytest.mark.parametrize("path", EXAMPLES)
def test_a_question_is_cut_where_the_gateway_would_refuse_it(path: str) -> None:
    assert f"QUERY_CHARACTERS_MAX = {QUERY_CHARACTERS_MAX:_}" in (ROOT / path).read_text("utf-8")

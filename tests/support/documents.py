"""Reading the project's Markdown pages: their tables, fenced blocks, headings and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The repository."""

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`]*)`")
_RULE = re.compile(r"[\s|:-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A fenced block.

    Attributes:
        info: what stands behind the opening fence.
        text: what stands between the fences.
    """

    info: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown page of the repository.

    Attributes:
        path: where it lies.
    """

    path: Path

    @property
    def text(self) -> str:
        """The whole page."""
        return self.path.read_text(encoding="utf-8")

    @property
    def blocks(self) -> list[Block]:
        """The fenced blocks, in order."""
        return [Block(info=info.strip(), text=text) for info, text in _FENCE.findall(self.text)]

    @property
    def prose(self) -> str:
        """The page without its fenced blocks."""
        return _FENCE.sub("", self.text)

    @property
    def anchors(self) -> set[str]:
        """What a link can name behind ``#``: headings, as code hosts spell them."""
        return {_anchor(title) for _, title in _HEADING.findall(self.prose)}

    @property
    def links(self) -> list[str]:
        """Where links lead, but for those in fenced blocks."""
        return _LINK.findall(self.prose)

    def table(self, heading: str, *, number: int = 0) -> list[list[str]]:
        """Return the rows of a table in the section under a heading, its head left out.

        Args:
            heading: the heading's text.
            number: which table of the section, from 0.
        """
        return self.tables(heading)[number]

    def tables(self, heading: str) -> list[list[list[str]]]:
        """Return the rows of every table in the section under a heading."""
        return list(_tables(self._section(heading)))

    def _section(self, heading: str) -> str:
        found = [match for match in _HEADING.finditer(self.prose) if match[2].strip() == heading]
        assert len(found) == 1, f"{self.path.name} has {len(found)} headings {heading!r}"
        level, start = len(found[0][1]), found[0].end()
        following = (
            match.start()
            for match in _HEADING.finditer(self.prose, start)
            if len(match[1]) <= level
        )
        return self.prose[start : next(following, None)]


def code_of(cell: str) -> str:
    """Return what the only code span of a cell says."""
    found = _CODE.findall(cell)
    assert len(found) == 1, f"one code span is expected in {cell!r}"
    span: str = found[0]
    return span


def codes_of(cell: str) -> list[str]:
    """Return what every code span of a cell says."""
    return _CODE.findall(cell)


def _tables(section: str) -> Iterator[list[list[str]]]:
    rows: list[list[str]] = []
    for line in [*section.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            head, rule, *body = rows
            assert all(_RULE.fullmatch(cell) for cell in rule), f"no rule below {head}"
            assert all(len(row) == len(head) for row in body), f"uneven rows below {head}"
            yield body
            rows = []


def _anchor(title: str) -> str:
    kept = re.sub(r"[^\w\s-]", "", title.strip().lower())
    return re.sub(r"\s", "-", kept)

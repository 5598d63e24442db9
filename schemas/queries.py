"""Named queries: the statements that a package keeps in ``.sql`` files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Final

_NAME_LINE: Final = re.compile(r"-- name: ([a-z][a-z0-9_]*)")
_LOOKS_LIKE_NAME_LINE: Final = re.compile(r"\s*--\s*name\s*:", re.IGNORECASE)


class Queries(Mapping[str, str]):
    """The named statements of one ``.sql`` file; read-only."""

    def __init__(self, source: str, statements: Mapping[str, str]) -> None:
        self._source = source
        self._statements = MappingProxyType(dict(statements))

    def __getitem__(self, name: str) -> str:
        try:
            return self._statements[name]
        except KeyError:
            raise KeyError(f"{self._source} has no query named {name!r}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._statements)

    def __len__(self) -> int:
        return len(self._statements)


def load_queries(package: str, filename: str) -> Queries:
    """Return the named queries of a ``.sql`` file that ships in a package.

    A query is a line ``-- name: snake_case``, a comment that tells what it does, and the statement.

    Args:
        package: the importable package the file lies in.
        filename: the file's path inside the package, with forward slashes.

    Raises:
        ValueError: a name is malformed or occurs twice, or a query has no comment or statement.
    """
    text = files(package).joinpath(filename).read_text(encoding="utf-8")
    return _parse_queries(f"{package}/{filename}", text)


def _parse_queries(source: str, text: str) -> Queries:
    blocks: dict[str, list[str]] = {}
    block: list[str] = []  # what stands before the first name is about the file
    for number, line in enumerate(text.splitlines(), start=1):
        if not _LOOKS_LIKE_NAME_LINE.match(line):
            block.append(line)
            continue
        match = _NAME_LINE.fullmatch(line.rstrip())
        if match is None:
            raise ValueError(f"{source}:{number}: write a name as `-- name: snake_case`")
        if match[1] in blocks:
            raise ValueError(f"{source}:{number}: a query is already named {match[1]!r}")
        block = blocks[match[1]] = []
    for name, lines in blocks.items():
        if not lines or not lines[0].startswith("-- "):
            raise ValueError(f"{source}: say below the name {name!r} what the query does")
        if all(not line.strip() or line.startswith("--") for line in lines):
            raise ValueError(f"{source}: the query {name!r} has no statement")
    return Queries(source, {name: _without_comments(lines) for name, lines in blocks.items()})


def _without_comments(lines: list[str]) -> str:
    """Return a statement without the lines that only explain it.

    psycopg remembers how it read a statement if that has no more than 4,096 characters
    (``MAX_CACHED_STATEMENT_LENGTH``), and else reads it again each time.
    """
    return "\n".join(line for line in lines if not line.lstrip().startswith("--")).strip()

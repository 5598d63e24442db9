"""The JSON Schemas of the log's records, for readers in other languages.

``python -m schemas.jsonschema`` writes one file for each record as it is written today, named
``schemas/json/<name>-<version>.json``; ``--check`` only tells what differs. The files of older
versions stay as they are, since nothing generates them any more.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from schemas.registry import SCHEMAS, Schema

DIRECTORY: Final = Path(__file__).parent / "json"
"""Where the files lie, beside this module and in every installation."""

COMMAND: Final = "python -m schemas.jsonschema"
"""What writes the files."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"  # the one that pydantic writes
_FILE: Final = re.compile(r"([a-z][a-z-]*)-([1-9][0-9]*)\.json")


def document(schema: Schema) -> str:
    """Return the JSON Schema of a record as it is written today, keys in order, as the file's text.

    Bytes are base64 with the alphabet for URLs, as in the payload.
    """
    described: dict[str, Any] = schema.model.model_json_schema(mode="serialization")
    described |= {"$schema": _DIALECT, "$id": f"urn:memledger:{schema.name}:{schema.version}"}
    return json.dumps(described, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def file_name(name: str, version: int) -> str:
    """Return the name of the file that describes one version of a record."""
    return f"{name}-{version}.json"


def problems(directory: Path = DIRECTORY) -> list[str]:
    """Return what is wrong with the files of a directory, one sentence each; none if all is well.

    Raises:
        OSError: the directory is there and cannot be read.
    """
    return [*_wrong_files(directory), *_strange_files(directory)]


def write(directory: Path = DIRECTORY) -> list[Path]:
    """Write the files of today's versions and return those that were missing or differed.

    Raises:
        OSError: the directory cannot be made or written.
    """
    directory.mkdir(exist_ok=True)
    written = []
    for schema in SCHEMAS:
        path = directory / file_name(schema.name, schema.version)
        if _text(path) != document(schema):
            path.write_text(document(schema), encoding="utf-8")
            written.append(path)
    return written


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the files; return the exit status, 1 where a problem is left."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Write the records' JSON Schemas.")
    parser.add_argument("--check", action="store_true", help="write nothing, tell what differs")
    if not parser.parse_args(arguments).check:
        for path in write():
            sys.stdout.write(f"wrote {path.name}\n")
    found = problems()
    for problem in found:
        sys.stderr.write(f"{problem}\n")
    return 1 if found else 0


def _wrong_files(directory: Path) -> Iterator[str]:
    for schema in SCHEMAS:
        for version in range(1, schema.version):
            name = file_name(schema.name, version)
            if _text(directory / name) is None:
                yield f"{name} is missing: restore it, nothing generates an old version"
        name = file_name(schema.name, schema.version)
        found = _text(directory / name)
        if found is None:
            yield f"{name} is missing: run `{COMMAND}`"
        elif found != document(schema):
            yield (
                f"{name} is not what today's record is: run `{COMMAND}`, and where the record's "
                "shape has landed give the new one the next version first"
            )


def _strange_files(directory: Path) -> Iterator[str]:
    versions = {schema.name: schema.version for schema in SCHEMAS}
    for path in sorted(directory.iterdir()) if directory.is_dir() else ():
        match = _FILE.fullmatch(path.name)
        if match is None or int(match[2]) > versions.get(match[1], 0):
            yield f"{path.name} describes no version of a record: remove it"


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())

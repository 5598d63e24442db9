"""A small file of every format, zips of them, and what becomes of them when they are imported."""

from __future__ import annotations

import asyncio
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from producers.importers.destinations import Nowhere
from producers.importers.report import ImportReport
from producers.importers.run import import_file
from tests.unit.producers.fakes import NOW
from tests.unit.producers.importers.exports import conversation, message

LINE = {"user_id": "u", "conversation_id": "c", "user_text": "hello"}
LINES = json.dumps(LINE).encode()
CLAUDE = {
    "uuid": "c1",
    "account": {"uuid": "ann"},
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "hi", "created_at": "2025-05-01T08:00:00Z"}
    ],
}
LIBRECHAT = {
    "conversationId": "c1",
    "messages": [
        {
            "messageId": "m1",
            "text": "hi",
            "isCreatedByUser": True,
            "createdAt": "2025-05-01T08:00:00Z",
        }
    ],
}
SHAREGPT = {"id": "c1", "conversations": [{"from": "human", "value": "hi"}]}
TREE = {"message_tree_id": "t", "prompt": {"message_id": "t", "role": "prompter", "text": "hi"}}
FILES: Mapping[str, bytes] = {
    "chatgpt": json.dumps([conversation(message("user", "hi"))]).encode(),
    "claude": json.dumps([CLAUDE]).encode(),
    "librechat": json.dumps(LIBRECHAT).encode(),
    "sharegpt": json.dumps([SHAREGPT]).encode(),
    "openassistant": json.dumps(TREE).encode() + b"\n",
    "jsonlines": LINES,
    "csv": "user_id,conversation_id,user_text\nu,c,h\u00e9llo".encode(),
}


def imported(path: Path, **options: Any) -> ImportReport:
    """What becomes of a file that is imported to nowhere, for the user ``u`` of ``acme``."""
    return asyncio.run(
        import_file(
            Nowhere(),
            path=path,
            clock=lambda: NOW,
            **{"tenant": "acme", "user": "u", **options},
        )
    )


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    """A zip of files by their names, at a path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def many_turns() -> bytes:
    """Lines that hardly compress, so that damage leaves what lies in front of it."""
    lines = [{**LINE, "user_text": os.urandom(600).hex()} for _ in range(500)]
    return "\n".join(json.dumps(line) for line in lines).encode()

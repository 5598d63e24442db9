"""What the command line prints."""

from __future__ import annotations

import json

from deploy.cli.output import shown
from deploy.home import dump_json


def test_a_lone_surrogate_is_escaped_and_reads_back_the_same() -> None:
    printed = dump_json({"turn_id": "x\ud800"})

    printed.encode()
    assert json.loads(printed) == {"turn_id": "x\ud800"}


def test_what_a_terminal_would_obey_is_replaced_and_letters_stay() -> None:
    assert shown("a\x1b[2J\u202eb\nc") == "a\ufffd[2J\ufffdb c"
    family = "\U0001f468\u200d\U0001f469"
    assert shown(family) == family

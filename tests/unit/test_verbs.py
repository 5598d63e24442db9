"""The list of verbs is shown at once: no verb is imported for it."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from deploy.cli import main
from deploy.cli.verbs import VERBS

_SHOW = """
import sys
from click.testing import CliRunner
from deploy.cli import main
shown = CliRunner().invoke(main, ["--help"]).output
print(shown)
print("IMPORTED", [name for name in sys.modules if name.startswith(("deploy.cli.", "processors"))])
"""


def test_help_names_every_verb_and_imports_none() -> None:
    ran = subprocess.run([sys.executable, "-c", _SHOW], capture_output=True, text=True, check=True)
    shown, _, imported = ran.stdout.partition("IMPORTED ")
    assert all(f"  {name} " in shown for name in VERBS)
    assert imported.strip() == "['deploy.cli.verbs']"


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_is_where_the_list_says(name: str) -> None:
    verb = main.get_command(click.Context(main), name)
    assert verb is not None
    assert VERBS[name].help.endswith(".")

"""A directory in use that is removed, replaced or moved away is noticed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.supervisor.anchors import Anchors, HomeVanished


def removed(directory: Path) -> None:
    shutil.rmtree(directory)


def made_anew(directory: Path) -> None:
    directory.rename(directory.with_name("elsewhere"))
    directory.mkdir()


def a_file_instead(directory: Path) -> None:
    shutil.rmtree(directory)
    directory.write_text("")


@pytest.mark.parametrize("change", [removed, made_anew, a_file_instead])
def test_what_is_not_what_it_was_is_told_with_its_path(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    kept, lost = tmp_path / "kept", tmp_path / "lost"
    kept.mkdir()
    lost.mkdir()
    with Anchors([kept, lost]) as anchors:
        (lost / "written").write_text("what happens inside is no matter")
        anchors.require_unmoved()
        change(lost)
        with pytest.raises(HomeVanished, match=f"{lost} was removed or replaced"):
            anchors.require_unmoved()


def test_a_parent_that_became_a_file_is_noticed(tmp_path: Path) -> None:
    inside = tmp_path / "home" / "postgres"
    inside.mkdir(parents=True)
    with Anchors([inside]) as anchors:
        a_file_instead(tmp_path / "home")
        with pytest.raises(HomeVanished):
            anchors.require_unmoved()

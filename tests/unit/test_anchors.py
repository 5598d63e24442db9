"""A directory in use that is removed, replaced or moved away is noticed."""

from __future__ import annotations

import errno
import os
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


@pytest.mark.parametrize("number", [errno.ENOTCONN, errno.ESTALE, errno.EIO])
def test_a_file_system_that_is_gone_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with Anchors([tmp_path]) as anchors, monkeypatch.context() as unmounted:
        unmounted.setattr(os, "stat", gone)
        unmounted.setattr(os, "fstat", gone)
        with pytest.raises(HomeVanished, match="its file system is gone"):
            anchors.require_unmoved()


def test_what_cannot_be_looked_at_for_another_reason_is_not_called_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with Anchors([tmp_path]) as anchors, monkeypatch.context() as changed:
        changed.setattr(os, "stat", refused)
        with pytest.raises(PermissionError):
            anchors.require_unmoved()

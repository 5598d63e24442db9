"""The archive of Java classes: put in place whole, or not at all."""

from pathlib import Path

import pytest

from deploy.embedded.class_archive import ClassArchive, class_archive
from deploy.embedded.java import Java


def java(version: str = "17.0.15") -> Java:
    return Java(program=Path("/usr/bin/java"), version=version)


@pytest.fixture
def archive(tmp_path: Path) -> ClassArchive:
    return class_archive(tmp_path / "kafka", java(), tmp_path / "data")


def test_the_first_broker_writes_the_archive_and_the_next_one_uses_it(
    archive: ClassArchive,
) -> None:
    assert archive.options() == [f"-XX:ArchiveClassesAtExit={archive.partial}"]

    archive.partial.write_bytes(b"classes")
    archive.adopt()

    assert archive.path.read_bytes() == b"classes"
    assert not archive.partial.exists()
    assert archive.options()[0] == f"-XX:SharedArchiveFile={archive.path}"


def test_what_a_killed_broker_left_is_discarded(archive: ClassArchive) -> None:
    archive.partial.write_bytes(b"clas")

    archive.discard()

    assert not archive.partial.exists()
    assert not archive.path.exists()


def test_without_a_new_archive_the_old_one_stays(archive: ClassArchive) -> None:
    archive.path.write_bytes(b"old")

    archive.adopt()

    assert archive.path.read_bytes() == b"old"


def test_each_java_has_its_own_and_each_broker_writes_its_own(tmp_path: Path) -> None:
    jars = tmp_path / "kafka"
    one = class_archive(jars, java(), tmp_path / "one")
    other_java = class_archive(jars, java("21"), tmp_path / "one")
    other_broker = class_archive(jars, java(), tmp_path / "two")

    assert one.path != other_java.path
    assert one.path == other_broker.path
    assert one.partial != other_broker.partial


def test_a_cache_that_is_missing_gets_no_archive(tmp_path: Path) -> None:
    archive = class_archive(tmp_path / "missing" / "kafka", java(), tmp_path)

    assert archive.options() == []

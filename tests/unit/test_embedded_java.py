"""Finding a Java that is new enough."""

from pathlib import Path

import pytest

from deploy.embedded.errors import JavaMissingError, JavaTooOldError
from deploy.embedded.java import find_java


def fake_java(home: Path, script: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.fixture(autouse=True)
def empty_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


def test_no_java_at_all_says_where_it_was_looked_for() -> None:
    with pytest.raises(
        JavaMissingError, match=r"JAVA_HOME is not set and 'java' is not on the PATH"
    ):
        find_java()


@pytest.mark.parametrize(
    ("banner", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', "17.0.15"),
        ('openjdk version "21-ea" 2023-09-19', "21-ea"),
        ('java version "25" 2025-09-16 LTS', "25"),
    ],
)
def test_a_new_enough_java_is_found_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, banner: str, version: str
) -> None:
    program = fake_java(tmp_path, f"echo '{banner}' >&2")
    monkeypatch.setenv("PATH", str(program.parent))

    java = find_java()

    assert (java.program, java.version) == (program, version)


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22", "16.0.2"])
def test_an_older_java_is_refused_with_both_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    fake_java(tmp_path, f"echo 'openjdk version \"{version}\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    with pytest.raises(JavaTooOldError) as refused:
        find_java()

    assert version in str(refused.value)
    assert "Java 17 or newer" in str(refused.value)


def test_java_home_wins_over_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = fake_java(tmp_path / "path", "echo 'openjdk version \"17\"' >&2")
    at_home = fake_java(tmp_path / "home", "echo 'openjdk version \"21\"' >&2")
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))

    assert find_java().program == at_home


def test_a_java_home_without_java_is_told_and_not_worked_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = fake_java(tmp_path / "path", "echo 'openjdk version \"17\"' >&2")
    monkeypatch.setenv("PATH", str(on_path.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "elsewhere"))

    with pytest.raises(JavaMissingError, match="JAVA_HOME is set"):
        find_java()


@pytest.mark.parametrize("script", ["exit 1", "echo nonsense >&2", "echo 'version \"17\"'; exit 3"])
def test_a_java_that_does_not_run_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    fake_java(tmp_path, script)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    with pytest.raises(JavaMissingError, match="does not tell a version"):
        find_java()

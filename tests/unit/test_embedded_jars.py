"""The broker's jars: resolved once, checked at every use, never half there."""

import hashlib
import re
import threading
from pathlib import Path

import pytest

from deploy.embedded import jars
from deploy.embedded.errors import (
    JarChecksumMismatchError,
    JarsUnavailableError,
    MavenMissingError,
)

CONTENT = {"a-1.jar": b"first", "b-2.jar": b"second"}
PINNED = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}


class Repository:
    """A stand-in for Maven: a program that copies what it is given and counts its runs."""

    def __init__(self, root: Path) -> None:
        self.files = root / "repository"
        self.files.mkdir()
        self._runs = root / "runs"
        self._program = root / "bin" / "mvn"
        self._program.parent.mkdir()
        self.behave(f'mkdir -p "$out" && cp \'{self.files}\'/* "$out"/')
        for name, content in CONTENT.items():
            (self.files / name).write_bytes(content)

    def behave(self, script: str) -> None:
        find_out = 'for word; do case "$word" in -DoutputDirectory=*) out="${word#*=}";; esac; done'
        self._program.write_text(f"#!/bin/sh\necho run >> '{self._runs}'\n{find_out}\n{script}\n")
        self._program.chmod(0o755)

    @property
    def runs(self) -> int:
        return len(self._runs.read_text().splitlines()) if self._runs.exists() else 0


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    repository = Repository(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(jars, "pinned_checksums", lambda: dict(PINNED))
    return repository


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "kafka"


def leftovers(cache: Path) -> set[str]:
    return {path.name for path in cache.parent.iterdir()} - {cache.name, f".{cache.name}.lock"}


def test_jars_are_resolved_once_in_the_order_of_the_class_path(
    repository: Repository, cache: Path
) -> None:
    assert jars.resolve_jars(cache) == (cache / "a-1.jar", cache / "b-2.jar")
    assert jars.resolve_jars(cache) == (cache / "a-1.jar", cache / "b-2.jar")
    assert repository.runs == 1
    assert leftovers(cache) == set()


@pytest.mark.usefixtures("repository")
def test_a_complete_cache_needs_no_maven(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jars.resolve_jars(cache)
    monkeypatch.setenv("PATH", "")

    assert len(jars.resolve_jars(cache)) == 2


@pytest.mark.usefixtures("repository")
def test_an_empty_cache_without_maven_names_both(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(MavenMissingError, match="Install Maven") as refused:
        jars.resolve_jars(cache)

    assert str(cache) in str(refused.value)


def test_a_missing_jar_is_resolved_again(repository: Repository, cache: Path) -> None:
    jars.resolve_jars(cache)
    (cache / "b-2.jar").unlink()

    jars.resolve_jars(cache)

    assert (cache / "b-2.jar").read_bytes() == b"second"
    assert repository.runs == 2


def test_an_unknown_file_is_cleared_away(repository: Repository, cache: Path) -> None:
    jars.resolve_jars(cache)
    (cache / "stranger.jar").write_bytes(b"not ours")

    jars.resolve_jars(cache)

    assert {path.name for path in cache.iterdir()} == set(CONTENT)
    assert repository.runs == 2


def test_a_changed_jar_is_refused_and_not_replaced_in_silence(
    repository: Repository, cache: Path
) -> None:
    jars.resolve_jars(cache)
    (cache / "a-1.jar").write_bytes(b"First")

    with pytest.raises(JarChecksumMismatchError, match="SHA-256 differs") as refused:
        jars.resolve_jars(cache)

    assert refused.value.jar == cache / "a-1.jar"
    assert repository.runs == 1


def test_a_changed_jar_from_the_repository_never_reaches_the_cache(
    repository: Repository, cache: Path
) -> None:
    (repository.files / "a-1.jar").write_bytes(b"changed upstream")

    with pytest.raises(JarChecksumMismatchError):
        jars.resolve_jars(cache)

    assert not cache.exists()
    assert leftovers(cache) == set()


def test_an_incomplete_delivery_is_told_by_name(repository: Repository, cache: Path) -> None:
    (repository.files / "b-2.jar").rename(repository.files / "b-3.jar")

    with pytest.raises(JarsUnavailableError, match=r"b-2\.jar missing, b-3\.jar unknown"):
        jars.resolve_jars(cache)

    assert not cache.exists()


def test_a_failing_maven_is_quoted(repository: Repository, cache: Path) -> None:
    repository.behave("echo '[ERROR] could not transfer artifact a:1'; echo noise; exit 1")

    with pytest.raises(JarsUnavailableError, match="could not transfer artifact a:1") as refused:
        jars.resolve_jars(cache)

    assert "noise" not in str(refused.value)
    assert leftovers(cache) == set()


def test_an_incomplete_cache_survives_a_failed_attempt(repository: Repository, cache: Path) -> None:
    jars.resolve_jars(cache)
    (cache / "b-2.jar").unlink()
    repository.behave("exit 1")

    with pytest.raises(JarsUnavailableError, match="exit status 1"):
        jars.resolve_jars(cache)

    assert (cache / "a-1.jar").read_bytes() == b"first"


def test_resolvers_at_the_same_time_share_one_run(repository: Repository, cache: Path) -> None:
    repository.behave(f'mkdir -p "$out" && sleep 0.2 && cp \'{repository.files}\'/* "$out"/')
    results: list[tuple[Path, ...]] = []
    threads = [
        threading.Thread(target=lambda: results.append(jars.resolve_jars(cache))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [(cache / "a-1.jar", cache / "b-2.jar")] * 4
    assert repository.runs == 1


def test_the_cache_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(jars.JARS_VARIABLE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert jars.jars_directory() == tmp_path / ".cache" / "memledger" / "kafka-4.4.0"

    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert jars.jars_directory() == tmp_path / ".cache" / "memledger" / "kafka-4.4.0"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert jars.jars_directory() == tmp_path / "xdg" / "memledger" / "kafka-4.4.0"

    monkeypatch.setenv(jars.JARS_VARIABLE, str(tmp_path / "mine"))
    assert jars.jars_directory() == tmp_path / "mine"


def test_the_released_checksums_cover_what_the_pom_asks_for() -> None:
    pinned = jars.pinned_checksums()
    pom = (jars.KAFKA_DIRECTORY / "pom.xml").read_text()
    dependency = r"<dependency>.*?<artifactId>(.*?)<.*?<version>(.*?)<"
    wanted = {f"{name}-{version}.jar" for name, version in re.findall(dependency, pom, re.DOTALL)}

    assert len(wanted) == 2
    assert wanted <= set(pinned)
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in pinned.values())

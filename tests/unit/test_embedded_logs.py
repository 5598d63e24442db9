"""The end of a log, for a message; and its bound."""

from pathlib import Path

from deploy.embedded import logs
from deploy.embedded.errors import BrokerFailedError, PostgresFailedError


def test_the_last_lines_are_read_from_a_position_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("earlier\n")
    since = logs.size(log)
    with log.open("a") as file:
        file.write("one\n\n   \ntwo\n")

    assert logs.last_lines(log, since=since) == ("one", "two")
    assert logs.last_lines(log) == ("earlier", "one", "two")


def test_a_large_log_is_read_from_its_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(100_000)))

    lines = logs.last_lines(log)

    assert len(lines) == 15
    assert lines[-1] == "line 99999"


def test_a_missing_log_has_no_lines_and_no_size(tmp_path: Path) -> None:
    assert logs.last_lines(tmp_path / "log") == ()
    assert logs.size(tmp_path / "log") == 0


def test_bytes_that_are_no_text_do_not_hide_the_rest(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\xff\xfe\nreadable\n")

    assert logs.last_lines(log)[-1] == "readable"


def test_only_a_log_above_the_bound_is_moved_aside(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * 100)
    logs.rotate(log, bytes_max=100)
    assert log.exists()

    log.write_bytes(b"x" * 101)
    logs.rotate(log, bytes_max=100)

    assert not log.exists()
    assert logs.size(tmp_path / "log.1") == 101


def test_a_failure_shows_the_lines_and_the_path() -> None:
    log = Path("/data/postgres.log")

    failure = PostgresFailedError("ended while it was starting", log, ("one", "two"))

    assert str(failure).startswith("The embedded PostgreSQL ended while it was starting.")
    assert str(failure).endswith("    one\n    two")
    assert str(log) in str(failure)
    assert "(the log is empty)" in str(BrokerFailedError("ended", log, ()))

"""What a supervisor tells of a process that cannot start as it is configured."""

from __future__ import annotations

from pathlib import Path

from deploy.supervisor.children import Child


def test_the_last_words_of_a_process_are_its_sentence_alone(tmp_path: Path) -> None:
    log_file = tmp_path / "gateway.log"
    child = Child("gateway", "none", environment={}, url="", log_file=log_file)
    log_file.write_text(
        "2026-11-30 10:00:00,000 gateway INFO x: began\n2026-11-30 10:00:01,000 gateway ERROR "
        "deploy.processes.serving: cannot run: ConfigurationError: cannot listen on 127.0.0.1:1\n"
    )

    assert child._last_words() == "cannot listen on 127.0.0.1:1"

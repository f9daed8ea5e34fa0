"""What is done now and then goes on after an error, and says what was wrong."""

import threading

import pytest

from ffnviz.jobs.memory import repeat


def test_an_error_ends_no_thread(caplog: pytest.LogCaptureFixture) -> None:
    enough = threading.Event()
    times: list[int] = []

    def work() -> None:
        times.append(len(times))
        if len(times) > 2:
            enough.set()
            threading.Event().wait()  # for ever, so that no test after this one hears of it
        raise RuntimeError(f"time {len(times)}")

    repeat("now-and-then", 0.001, work)
    assert enough.wait(20)
    assert [record.getMessage() for record in caplog.records] == 2 * [
        "now-and-then goes on after an error."
    ]
    assert "time 2" in caplog.text

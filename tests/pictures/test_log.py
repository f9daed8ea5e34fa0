"""Asking the server for a file that is not there fills no log."""

import logging
import sys

from ffnviz.app import mounting


def record_of(error: OSError) -> logging.LogRecord:
    logger = logging.getLogger(mounting._SERVER_LOG)
    try:
        raise error
    except OSError:
        record = logger.makeRecord(
            logger.name, logging.ERROR, __file__, 1, "Error reading", (), sys.exc_info()
        )
    assert logger.filter(record)
    return record


def test_a_missing_file_is_one_line_in_the_log() -> None:
    assert "Traceback" not in logging.Formatter().format(record_of(FileNotFoundError("x.py")))


def test_a_file_that_cannot_be_read_keeps_its_trace() -> None:
    assert "Traceback" in logging.Formatter().format(record_of(PermissionError("chart.js")))

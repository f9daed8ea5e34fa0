"""A row of the study's log, to vary."""

from ffnviz.analysis.trainings import FINAL, Row

ROW = Row("relu", FINAL, 4e-3, 0, 16_000, 8_700_000, 100, 3.4, 3.5, 0.5, "0", "a processor")

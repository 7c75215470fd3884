"""Runs the history checker for five minutes (APIMESH_HISTORY_MINUTES changes that). tests/history/history.py --minutes 60 runs it for an hour."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "history"))
from history import run_history  # noqa: E402

MINUTES = float(os.environ.get("APIMESH_HISTORY_MINUTES", "5"))


@pytest.mark.timeout(MINUTES * 60 + 300)
def test_no_violation(tmp_path, etcd_path):
    violations, figures = run_history(MINUTES, etcd_path, folder=tmp_path)
    assert not violations, "\n".join(text[:1000] for text in violations[:10])
    # The result is meaningful only with enough operations and faults.
    least = {"writes": 100, "reads": 100, "events": 100, "lists": 10, "faults": 4, "compactions": 4}  # per minute, on a slow machine
    assert all(figures[what] >= number * MINUTES for what, number in least.items()), figures

"""The history checker, ten minutes of it (APIMESH_HISTORY_MINUTES: fewer or more); an hour by hand: tests/history/history.py --minutes 60."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "history"))
from history import run_history  # noqa: E402

MINUTES = float(os.environ.get("APIMESH_HISTORY_MINUTES", "10"))


@pytest.mark.timeout(MINUTES * 60 + 300)
def test_no_violation(tmp_path, etcd_path):
    violations, figures = run_history(MINUTES, etcd_path, folder=tmp_path)
    assert not violations, "\n".join(text[:1000] for text in violations[:10])
    # It proves something only if things were done, also while others broke.
    least = {"writes": 100, "reads": 100, "events": 100, "lists": 10, "faults": 4, "compactions": 4}  # a minute, on a slow machine
    assert all(figures[what] >= number * MINUTES for what, number in least.items()), figures

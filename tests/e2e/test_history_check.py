"""Tests the history checker with correct histories and with histories that have one error each."""
import pathlib
import sys
import types

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "history"))
from check import check  # noqa: E402
from record import Record  # noqa: E402

P = "/registry/configmaps/h/"
EVENTS = [(5, "a", 1, "1"), (6, "b", 2, "0"), (8, "a", 3, "0"), (9, "b", None, None), (12, "b", 4, "1")]
GOOD_WATCH = [("ADDED", "a", 1, 5), ("ADDED", "b", 2, 6), ("BOOKMARK", None, None, 7), ("MODIFIED", "a", 3, 8), ("DELETED", "b", 2, 9), ("ADDED", "b", 4, 12)]
ODD = "labelSelector=parity%3D1"


def judge(reads=(), lists=(), watches=(), errors=()):
    record = Record(None, [P], None, 1)
    record.events[P] = list(EVENTS)
    record.revisions[P] = [event[0] for event in EVENTS]
    run = types.SimpleNamespace(errors=list(errors), reads=list(reads), lists=list(lists), watches=list(watches))
    return check(run, record)


GOOD = {
    "a read": dict(reads=[("linearizable", P, "a", 5, 5, 1)]),
    "a newer read": dict(reads=[("linearizable", P, "a", 5, 8, 3)]),
    "a read between two states": dict(reads=[("linearizable", P, "a", 7, 5, 1)]),
    "not there yet": dict(reads=[("linearizable", P, "a", 4, None, None)]),
    "deleted": dict(reads=[("linearizable", P, "b", 10, None, None)]),
    "a list": dict(lists=[(P, "", 8, 10, [("a", 3, 8)])]),
    "a selected list": dict(lists=[(P, ODD, 8, 12, [("b", 4, 12)])]),
    "a watch": dict(watches=[(P, "", 4, GOOD_WATCH)]),
    "a watch cut off": dict(watches=[(P, "", 4, GOOD_WATCH[:3])]),
    "a resumed watch": dict(watches=[(P, "", 8, GOOD_WATCH[4:])]),
    "a selected watch": dict(watches=[(P, ODD, 4, [("ADDED", "a", 1, 5), ("DELETED", "a", 1, 8), ("ADDED", "b", 4, 12)])]),
    "a watch with the present state": dict(watches=[(P, "", None, [("ADDED", "a", 1, 5), ("ADDED", "b", 2, 6), ("END", None, None, 7), *GOOD_WATCH[3:]])]),
}
BAD = {
    "an old read": dict(reads=[("linearizable", P, "a", 8, 5, 1)]),
    "a value of another revision": dict(reads=[("linearizable", P, "a", 5, 8, 1)]),
    "gone though it was there": dict(reads=[("linearizable", P, "b", 12, None, None)]),
    "a value nobody wrote": dict(reads=[("not-older", P, "a", 0, 5, 7)]),
    "an old list": dict(lists=[(P, "", 12, 10, [("a", 3, 8)])]),
    "a torn list": dict(lists=[(P, "", 6, 8, [("a", 1, 5), ("b", 2, 6)])]),
    "a list in disorder": dict(lists=[(P, "", 6, 6, [("b", 2, 6), ("a", 1, 5)])]),
    "a lost event": dict(watches=[(P, "", 4, GOOD_WATCH[:1] + GOOD_WATCH[2:])]),
    "a doubled event": dict(watches=[(P, "", 4, GOOD_WATCH[:1] + GOOD_WATCH)]),
    "events in disorder": dict(watches=[(P, "", 4, [GOOD_WATCH[1], GOOD_WATCH[0], *GOOD_WATCH[2:]])]),
    "a bookmark too far": dict(watches=[(P, "", 4, [GOOD_WATCH[0], ("BOOKMARK", None, None, 8)])]),
    "a watch that resumes too late": dict(watches=[(P, "", 6, GOOD_WATCH[4:])]),
    "MODIFIED instead of ADDED": dict(watches=[(P, ODD, 9, [("MODIFIED", "b", 4, 12)])]),
    "a present state with a hole": dict(watches=[(P, "", None, [("ADDED", "a", 1, 5), ("END", None, None, 7)])]),
    "a client that broke": dict(errors=["Reader: oops"]),
}


@pytest.mark.parametrize("name", GOOD)
def test_truth_is_accepted(name):
    assert judge(**GOOD[name]) == []


@pytest.mark.parametrize("name", BAD)
def test_lies_are_found(name):
    assert len(judge(**BAD[name])) == 1

"""Sends the same requests to our server and to the real kube-apiserver. Differences must be listed in docs/differences.md."""
import pytest

import cases
import compare
import counted

CASES = cases.load()
EXECUTED = set()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_same_answers(case, sides, both, known_differences):
    compare_case(case, sides, both, known_differences)
    EXECUTED.add(case.id)


def compare_case(case, sides, both, known_differences):
    """Sends the steps of a case to both servers. Fails for differences that are not known."""
    for side in sides:
        side.saved = {"run": cases.RUN}
    if case.needs_namespace:
        both(sides, lambda side: side.run({"do": "POST /api/v1/namespaces", "body": {"metadata": {"name": "$NS"}}}, case.variables))
    unexplained = []
    for number, step in enumerate(case.steps, 1):
        ours, theirs = both(sides, lambda side: side.run(step, case.variables))
        counted.count(case.id, step, ours.status)
        if step.get("setup"):
            assert ours.status == theirs.status, f"{step['do']}: {ours.status} {ours.body}\n{theirs.status} {theirs.body}"
            continue
        for where, what in compare.differences(step, ours, sides[0], theirs, sides[1]).items():
            if not where.startswith(tuple(step.get("only", [""]))):
                continue
            matching = [k for k in known_differences if k.covers(f"{case.id}/{number}", where)]
            for k in matching:
                k.seen = True
            if not matching:
                unexplained.append(f"  {case.id}/{number} {step['do']}\n    {where}: {what}")
    assert not unexplained, "\n" + "\n".join(unexplained)


def test_there_are_enough_requests():
    assert sum(not step.get("setup") for case in CASES for step in case.steps) >= 300


def test_every_listed_difference_is_still_there(sides, known_differences):
    if len(EXECUTED) < len(CASES):
        pytest.skip("requires that all requests are sent: run it without -k")
    assert [str(k) for k in known_differences if not k.seen and not k.sometimes] == []

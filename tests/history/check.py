"""Compares the responses that clients recorded with the history of etcd."""


def check(run, record):
    """Returns the violations, each as a sentence."""
    violations = list(run.errors) + list(record.errors)
    lives = {}
    for read in run.reads:
        violations += _read(read, record, lives)
    for listed in run.lists:
        violations += _list(listed, record)
    for watch in run.watches:
        violations += _watch(watch, record)
    return violations


def _read(read, record, lives):
    mode, prefix, name, floor, version, number = read
    if prefix not in lives:
        lives[prefix] = record.lives(prefix)
    # The response must have been correct at a revision that is not older than `floor`.
    for begins, ends, value in lives[prefix].get(name, [(0, float("inf"), None)]):
        if ends > floor and value == number and (version is None or version == begins):
            return []
    return [f"{mode} GET of {prefix}{name} gave n={number} at {version}, but at {floor} or later that was never so"]


def _wanted(selector, label):
    return not selector or label == "1"


def _list(listed, record):
    prefix, selector, floor, version, items = listed
    if version < floor:
        return [f"LIST of {prefix} is of {version}, though {floor} had been acknowledged before it began"]
    want = sorted((name, number, at) for name, (number, at, label) in record.state_at(prefix, version).items() if _wanted(selector, label))
    if sorted(items) != want:
        extra, missing = set(items) - set(want), set(want) - set(items)
        return [f"LIST of {prefix} ({selector or 'all'}) at {version} is no snapshot: too much {extra}, missing {missing}"]
    if [item[0] for item in items] != [item[0] for item in want]:
        return [f"LIST of {prefix} at {version} is not in the order of names"]
    return []


def _expected(selector, state, changes):
    """Yields the events that a watch must deliver for `changes`. `state` is the state before them."""
    for at, name, number, label in changes:
        before = state.get(name)
        was = before is not None and _wanted(selector, before[2])
        if number is None:
            state.pop(name, None)
            if was:
                yield ("DELETED", name, before[0], at)
            continue
        state[name] = (number, at, label)
        now = _wanted(selector, label)
        if now:
            yield ("MODIFIED" if was else "ADDED", name, number, at)
        elif was:
            yield ("DELETED", name, before[0], at)


def _watch(watch, record):
    prefix, selector, start, events = watch
    if start is None:  # the watch began with the initial state
        end = next((i for i, event in enumerate(events) if event[0] == "END"), None)
        if end is None:
            return []
        start = events[end][3]
        want = sorted(("ADDED", name, number, at) for name, (number, at, label) in record.state_at(prefix, start).items()
                      if _wanted(selector, label))
        if sorted(events[:end]) != want:
            return [f"the present state of a watch of {prefix} at {start} is {events[:end]}, not {want}"]
        events = events[end + 1:]
    if not events:
        return []
    last = max(event[3] for event in events)
    got = [event for event in events if event[0] not in ("BOOKMARK", "END")]
    want = list(_expected(selector, record.state_at(prefix, start), record.between(prefix, start, last)))
    # A stream can break within a revision that has several changes; the revisions of these clients have one change each.
    if got != want:
        return [f"a watch of {prefix} ({selector or 'all'}) after {start} up to {last} gave {got}, not {want}"]
    revisions = [event[3] for event in events]
    if revisions != sorted(revisions):
        return [f"a watch of {prefix} after {start} went back: {revisions}"]
    return []

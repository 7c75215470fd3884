"""The reference for the checker: the history of etcd, recorded by a direct watch on etcd."""
import base64
import bisect
import http.client
import json
import threading
import time

from clients import number_of

KEEP_EVERY = 1000


def _b64(text):
    return base64.b64encode(text.encode()).decode()


class Record(threading.Thread):
    """Records all events below `prefixes` in order. Every `compact_every` seconds it compacts etcd, except the last 20 recorded revisions."""

    def __init__(self, etcd, prefixes, stop, compact_every):
        super().__init__(daemon=True)
        self.etcd, self.prefixes, self.stop, self.compact_every = etcd, prefixes, stop, compact_every
        self.changed = threading.Condition()
        self.events = {prefix: [] for prefix in prefixes}      # (revision, name, n or None, label)
        self.revisions = {prefix: [] for prefix in prefixes}   # the revisions of `events`
        self.seen = 0                                          # all events up to this revision are recorded
        self.kept = {}                                         # prefix: [the state before every KEEP_EVERY-th event], filled on demand
        self.compactions = 0
        self.errors = []

    def _call(self, path, body, timeout=5):
        connection = http.client.HTTPConnection("127.0.0.1", self.etcd.port, timeout=timeout)
        connection.request("POST", path, json.dumps(body))
        return connection, connection.getresponse()

    def newest(self):
        connection, answer = self._call("/v3/kv/range", {"key": _b64("x")})
        revision = int(json.loads(answer.read())["header"]["revision"])
        connection.close()
        return revision

    def run(self):
        compactor = threading.Thread(target=self._compact, daemon=True)
        compactor.start()
        while not self.stop.is_set():
            try:
                self._follow()
            except (OSError, http.client.HTTPException, ValueError):
                self.stop.wait(0.2)

    def _follow(self):
        start = {"key": _b64("/registry/"), "range_end": _b64("/registry0"), "start_revision": self.seen + 1, "progress_notify": True}
        connection, answer = self._call("/v3/watch", {"create_request": start}, timeout=30)
        while not self.stop.is_set():
            line = answer.readline()
            if not line:
                return
            result = json.loads(line).get("result", {})
            if result.get("compact_revision"):
                self.errors.append(f"the record missed {self.seen + 1} to {result['compact_revision']}")
                self.seen = int(result["compact_revision"])
                return
            with self.changed:
                last = self.seen
                for event in result.get("events", []):
                    last = max(last, self._take(event))
                # etcd sends all events of a revision in one message.
                self.seen = last
                self.changed.notify_all()

    def _take(self, event):
        key = base64.b64decode(event["kv"]["key"]).decode()
        revision = int(event["kv"]["mod_revision"])
        for prefix in self.prefixes:
            if not key.startswith(prefix):
                continue
            number = label = None
            if event.get("type") != "DELETE":
                value = json.loads(base64.b64decode(event["kv"]["value"]))
                number, label = number_of(value), value["metadata"].get("labels", {}).get("parity")
            self.events[prefix].append((revision, key[len(prefix):], number, label))
            self.revisions[prefix].append(revision)
        return revision

    def _compact(self):
        while not self.stop.wait(self.compact_every):
            target = self.seen - 20
            if target <= 0:
                continue
            try:
                connection, answer = self._call("/v3/kv/compaction", {"revision": target})
                answer.read()
                self.compactions += answer.status == 200
                connection.close()
            except (OSError, http.client.HTTPException):
                pass

    def complete(self, seconds):
        """Writes a key to etcd and waits until its revision is recorded. Then all earlier changes are recorded."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                connection, answer = self._call("/v3/kv/put", {"key": _b64("/registry/zz-history-mark"), "value": ""})
                revision = int(json.loads(answer.read())["header"]["revision"])
                connection.close()
                return self.wait_for(revision, end - time.monotonic())
            except (OSError, http.client.HTTPException, ValueError, KeyError):
                time.sleep(0.2)
        return False

    def wait_for(self, revision, seconds):
        with self.changed:
            return self.changed.wait_for(lambda: self.seen >= revision, seconds)

    # ---- the state at a revision
    def state_at(self, prefix, revision):
        """Returns {name: (n, at, label)}. Starts from the nearest state in `kept`, because a run of an hour has 100,000 changes and 10,000 lists."""
        events, kept = self.events[prefix], self.kept.setdefault(prefix, [{}])
        end = bisect.bisect_right(self.revisions[prefix], revision)
        while len(kept) <= end // KEEP_EVERY:
            kept.append(_changed(kept[-1], events[(len(kept) - 1) * KEEP_EVERY:len(kept) * KEEP_EVERY]))
        return _changed(kept[end // KEEP_EVERY], events[end // KEEP_EVERY * KEEP_EVERY:end])

    def between(self, prefix, after, last):
        revisions = self.revisions[prefix]
        return self.events[prefix][bisect.bisect_right(revisions, after):bisect.bisect_right(revisions, last)]

    def lives(self, prefix):
        """Returns {name: [(from, to, n)]}. `to` is the revision that ended the state, or infinity; n is None while the object does not exist."""
        found, last = {}, {}
        for at, name, number, _ in self.events[prefix]:
            begins, before = last.get(name, (0, None))
            found.setdefault(name, []).append((begins, at, before))
            last[name] = (at, number)
        for name, (begins, number) in last.items():
            found[name].append((begins, float("inf"), number))
        return found


def _changed(state, events):
    state = dict(state)
    for at, name, number, label in events:
        if number is None:
            state.pop(name, None)
        else:
            state[name] = (number, at, label)
    return state

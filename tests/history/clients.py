"""The clients. Each records its requests, what it knew before and the responses; check.py checks them afterwards."""
import collections
import http.client
import json
import random
import ssl
import threading
import time

CONTEXT = ssl._create_unverified_context()


class Gone(Exception):
    """410: the resourceVersion is too old."""


class Api:
    """A connection to one mesh at a time. After a failure, and for 2 % of the requests, it connects again to a random mesh."""

    def __init__(self, meshes, seed):
        self.meshes, self.random = meshes, random.Random(seed)
        self.connection = None
        self.failures = 0
        self.codes = collections.Counter()

    def _connect(self, timeout):
        mesh = self.random.choice(self.meshes)
        self.connection = http.client.HTTPSConnection("127.0.0.1", mesh.port, timeout=timeout, context=CONTEXT)
        self.token = mesh.client.token

    def drop(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def __call__(self, method, path, body=None, timeout=8, stream=False):
        """Returns (code, document), or (None, error) if there was no response. With `stream`, returns the HTTP response instead of the document."""
        if self.connection is None or self.random.random() < 0.02:
            self.drop()
            self._connect(timeout)
        try:
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            self.connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = self.connection.getresponse()
            self.codes[answer.status] += 1
            if stream and answer.status == 200:
                return 200, answer
            text = answer.read()
            return answer.status, json.loads(text) if text else {}
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.failures += 1
            self.drop()
            return None, repr(error)


class Kind:
    """A resource whose objects have their number in an annotation. `fields` are the other fields that an object needs."""

    def __init__(self, path, prefix, api_version, kind, fields=None):
        self.path, self.prefix, self.api_version, self.kind, self.fields = path, prefix, api_version, kind, fields or {}


def number_of(document):
    return int(document["metadata"]["annotations"]["n"])


class Run:
    """The state that all clients of a run share."""

    def __init__(self, meshes, kinds, stop):
        self.meshes, self.kinds, self.stop = meshes, kinds, stop
        self.lock = threading.Lock()
        self.acknowledged = 0       # the newest revision of an acknowledged write
        self.reads, self.lists, self.watches = [], [], []
        self.writes = self.unknown = 0
        self.errors = []

    def acknowledge(self, revision):
        with self.lock:
            self.acknowledged = max(self.acknowledged, revision)
            self.writes += 1


class Worker(threading.Thread):
    pause = 0.01

    def __init__(self, run, kind, seed):
        super().__init__(daemon=True)
        self.shared, self.kind, self.random = run, kind, random.Random(seed)
        self.api = Api(run.meshes, seed)

    def run(self):
        while not self.shared.stop.is_set():
            try:
                self.step()
            except Exception as error:  # an error in a client must fail the run
                self.shared.errors.append(f"{type(self).__name__}: {error!r}")
                return
            time.sleep(self.pause * self.random.uniform(0.5, 1.5))


class Writer(Worker):
    """Writes objects that no other client writes. Every write is conditional, so that a delayed write cannot overwrite a newer one. A name is
    not used again after a creation with unknown outcome."""

    def __init__(self, run, kind, seed):
        super().__init__(run, kind, seed)
        self.number, self.made, self.current = 0, 0, {}  # name -> (resourceVersion, uid)

    def body(self, name, version=None):
        self.number += 1
        document = {"apiVersion": self.kind.api_version, "kind": self.kind.kind,
                    "metadata": {"name": name, "labels": {"parity": str(self.number % 2)}, "annotations": {"n": str(self.number)}}, **self.kind.fields}
        if version:
            document["metadata"]["resourceVersion"] = version
        return document

    def step(self):
        names = list(self.current)
        if len(names) < 6:
            self.made += 1
            name = f"w{id(self) % 9973}-{self.made}"
            code, answer = self.api("POST", self.kind.path, self.body(name))
            self._done(name, code, answer, 201)
            return
        name = self.random.choice(names)
        version, uid = self.current[name]
        if self.random.random() < 0.15:
            options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid, "resourceVersion": version}}
            code, answer = self.api("DELETE", f"{self.kind.path}/{name}", options)
            if code == 200:
                self.current.pop(name)
                with self.shared.lock:
                    self.shared.writes += 1
            elif code not in (429, 503):
                self._find_out(name)
            return
        code, answer = self.api("PUT", f"{self.kind.path}/{name}", self.body(name, version))
        self._done(name, code, answer, 200)

    def _done(self, name, code, answer, good):
        if code == good:
            self.current[name] = (answer["metadata"]["resourceVersion"], answer["metadata"]["uid"])
            self.shared.acknowledge(int(answer["metadata"]["resourceVersion"]))
        elif name in self.current:
            self._find_out(name)

    def _find_out(self, name):
        with self.shared.lock:
            self.shared.unknown += 1
        code, answer = self.api("GET", f"{self.kind.path}/{name}")
        if code == 200:
            self.current[name] = (answer["metadata"]["resourceVersion"], answer["metadata"]["uid"])
        elif code == 404:
            self.current.pop(name, None)


class Reader(Worker):
    """Reads single objects: linearizable, or not older than the newest revision that this client has seen from any mesh."""

    def __init__(self, run, kind, seed):
        super().__init__(run, kind, seed)
        self.names, self.seen = [], 0

    def step(self):
        if not self.names or self.random.random() < 0.05:
            code, answer = self.api("GET", self.kind.path + "?resourceVersion=0")
            if code == 200:
                self.names = [item["metadata"]["name"] for item in answer["items"]]
            return
        name = self.random.choice(self.names)
        mode = self.random.choice(["linearizable", "linearizable", "not-older"])
        floor = self.shared.acknowledged if mode == "linearizable" else self.seen
        query = "" if mode == "linearizable" else f"?resourceVersion={self.seen}"
        code, answer = self.api("GET", f"{self.kind.path}/{name}{query}")
        if code == 404:
            self.shared.reads.append((mode, self.kind.prefix, name, floor, None, None))
            self.names.remove(name)
        elif code == 200:
            version = int(answer["metadata"]["resourceVersion"])
            self.shared.reads.append((mode, self.kind.prefix, name, floor, version, number_of(answer)))
            self.seen = max(self.seen, version)


class Lister(Worker):
    """Requests complete and paged lists, with and without a selector."""
    pause = 0.1

    def step(self):
        selector = self.random.choice(["", "", "labelSelector=parity%3D1"])
        limit = self.random.choice([0, 2, 3])
        floor = self.shared.acknowledged
        items, token, version = [], "", None
        while True:
            query = "&".join(filter(None, [selector, f"limit={limit}" if limit else "", f"continue={token}" if token else ""]))
            code, answer = self.api("GET", f"{self.kind.path}?{query}")
            if code == 410:
                return  # the revision of the list was compacted before its last page; the next step starts a new list
            if code != 200:
                return
            if version is None:
                version = answer["metadata"]["resourceVersion"]
            elif version != answer["metadata"]["resourceVersion"]:
                self.shared.errors.append(f"pages of {version} and {answer['metadata']['resourceVersion']} in one list")
                return
            items += [(item["metadata"]["name"], number_of(item), int(item["metadata"]["resourceVersion"])) for item in answer["items"]]
            token = answer["metadata"].get("continue", "")
            if not token:
                break
            time.sleep(self.random.choice([0, 0, 0.3]))
        self.shared.lists.append((self.kind.prefix, selector, floor, int(version), items))


class Watcher(Worker):
    """Lists, then watches from there. Every watch resumes at the last position, at a random mesh; after 410 the client lists again."""

    def __init__(self, run, kind, seed):
        super().__init__(run, kind, seed)
        self.version, self.selector = None, self.random.choice(["", "", "labelSelector=parity%3D1"])

    def step(self):
        if self.version is None:
            code, answer = self.api("GET", f"{self.kind.path}?{self.selector}")
            if code != 200:
                return
            self.version = int(answer["metadata"]["resourceVersion"])
        initial = self.random.random() < 0.1
        query = f"watch=true&allowWatchBookmarks=true&timeoutSeconds={self.random.randint(2, 30)}&{self.selector}"
        query += "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" if initial else f"&resourceVersion={self.version}"
        self.api.drop()
        code, answer = self.api("GET", f"{self.kind.path}?{query}", timeout=15, stream=True)
        if code == 410:
            self.version = None
        if code != 200:
            return
        start, events = (None if initial else self.version), []
        end = time.monotonic() + 40
        try:
            while not self.shared.stop.is_set() and time.monotonic() < end:
                line = answer.readline()
                if not line.endswith(b"\n"):
                    break
                event = json.loads(line)
                if event["type"] == "ERROR":
                    if event["object"].get("code") == 410:
                        self.version = None
                    break
                meta = event["object"]["metadata"]
                if event["type"] == "BOOKMARK":
                    ends = meta.get("annotations", {}).get("k8s.io/initial-events-end") == "true"
                    events.append(("END" if ends else "BOOKMARK", None, None, int(meta["resourceVersion"])))
                else:
                    events.append((event["type"], meta["name"], number_of(event["object"]), int(meta["resourceVersion"])))
                if start is not None or any(one[0] == "END" for one in events[-1:]) or not initial:
                    self.version = int(meta["resourceVersion"])
                    initial = False
        except (OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            self.api.drop()
        self.shared.watches.append((self.kind.prefix, self.selector, start, events))

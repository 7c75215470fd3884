#!/usr/bin/env python3
"""Runs the real kube-apiserver with our store as its etcd, under light load, with a compaction every minute.

    tests/store/soak.py --minutes 60 --apiserver PATH [--store build/bin/store] [--folder DIR] [--compaction 1m]

Writers create, update and delete ConfigMaps; watchers watch all of them, and their connections end and resume; a reader lists.
Checks that every watcher received every acknowledged write once and in order and nothing else, that no consistent list was older than an
acknowledged write, and that the consistency metrics of kube-apiserver and the logs contain no errors.
Prints a report as JSON. The exit status is 1 if a check failed.
"""
import argparse
import http.client
import json
import pathlib
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

TOKEN = "token-of-the-soak-test"
PATH = "/api/v1/namespaces/default/configmaps"
TLS = ssl._create_unverified_context()
# Errors in the log of kube-apiserver that are not caused by the store. kube-apiserver advertises a loopback address here, which one of its controllers rejects.
# With a compaction every minute, the cache of a kind that is never written can be older than the compacted revision, so that its consistency check is not
# possible (9 of 124 checks with a real etcd, 36 of 553 with our store).
HARMLESS = re.compile(r"unable to sync kubernetes service: Endpoints .* may not be in the loopback range|Cache consistency check error.*resourceVersion for the provided list is too old")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Servers:
    """The store and kube-apiserver, with data and logs in `folder`."""

    def __init__(self, args, folder):
        self.folder, self.port = folder, free_port()
        self.store_url = f"http://127.0.0.1:{free_port()}"
        peer = f"http://127.0.0.1:{free_port()}"
        subprocess.run(["openssl", "genrsa", "-out", folder / "sa.key", "2048"], check=True, capture_output=True)
        (folder / "tokens.csv").write_text(f'{TOKEN},admin,admin-uid,"system:masters"\n')
        self.store = self.run("store", [args.store, "--data-dir", folder / "data", "--listen-client-urls", self.store_url, "--advertise-client-urls",
                                        self.store_url, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"])
        self.apiserver = self.run("apiserver", [
            args.apiserver, f"--etcd-servers={self.store_url}", f"--etcd-compaction-interval={args.compaction}", f"--cert-dir={folder}/certs",
            f"--secure-port={self.port}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--token-auth-file={folder}/tokens.csv",
            "--authorization-mode=RBAC", f"--service-account-key-file={folder}/sa.key", f"--service-account-signing-key-file={folder}/sa.key",
            "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/24",
            "--feature-gates=DetectCacheInconsistency=true"])

    def run(self, name, command):
        return subprocess.Popen([str(part) for part in command], stdout=(self.folder / f"{name}.log").open("ab"), stderr=subprocess.STDOUT)

    def wait_ready(self, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.apiserver.poll() is not None:
                break
            try:
                if Client(self.port).call("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise SystemExit("kube-apiserver did not become ready:\n" + (self.folder / "apiserver.log").read_text()[-2000:])

    def stop(self):
        for process in (self.apiserver, self.store):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(70)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


class Client:
    """A client with one persistent connection."""

    def __init__(self, port):
        self.port, self.connection = port, None

    def request(self, method, path, body=None, timeout=60):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=TLS, timeout=timeout)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        try:
            self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            return self.connection.getresponse()
        except (OSError, http.client.HTTPException):
            self.connection = None
            raise

    def call(self, method, path, body=None):
        answer = self.request(method, path, body)
        text = answer.read()
        return answer.status, (json.loads(text) if text.startswith(b"{") else text.decode())


class History:
    """The acknowledged writes, the counts of events, and the faults."""

    def __init__(self):
        self.lock = threading.Lock()
        self.writes = {}    # revision: (type, name, number)
        self.newest = 0     # acknowledged revision
        self.faults = []
        self.counts = {}

    def acknowledge(self, revision, kind, name, number):
        with self.lock:
            self.writes[revision] = (kind, name, number)
            self.newest = max(self.newest, revision)

    def fault(self, text):
        with self.lock:
            self.faults.append(text)

    def count(self, what, n=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + n


def revision_of(item):
    return int(item["metadata"]["resourceVersion"])


def write(number, port, history, stop, pause):
    """Creates, updates and deletes objects that no other writer uses, and records the acknowledged writes."""
    client, rng, objects, sequence = Client(port), random.Random(number), {}, 0
    while not stop.wait(pause * rng.uniform(0.5, 1.5)):
        name, sequence = f"w{number}-{rng.randrange(20)}", sequence + 1
        body = {"metadata": {"name": name, "labels": {"writer": str(number)}}, "data": {"sequence": str(sequence), "padding": "x" * rng.randrange(2000)}}
        kind = "ADDED" if name not in objects else "DELETED" if rng.random() < 0.3 else "MODIFIED"
        try:
            if kind == "ADDED":
                status, answer = client.call("POST", PATH, body)
            elif kind == "MODIFIED":
                body["metadata"]["resourceVersion"] = str(objects[name])
                status, answer = client.call("PUT", f"{PATH}/{name}", body)
            else:
                status, answer = client.call("DELETE", f"{PATH}/{name}")
        except (OSError, http.client.HTTPException) as error:
            history.fault(f"{kind} {name}: {error}")
            return
        if status not in (200, 201):
            history.fault(f"{kind} {name}: {status} {answer}")
            return
        history.count(kind)
        if kind == "DELETED":
            # The response does not contain the revision of the deletion, so deletions are only counted.
            del objects[name]
            history.count("deletions acknowledged")
        else:
            objects[name] = revision_of(answer)
            history.acknowledge(objects[name], kind, name, sequence)


class Watcher:
    """Watches all ConfigMaps from revision `start`. Each connection ends after some time; the next one resumes."""

    def __init__(self, number, port, start, history, watch_seconds):
        self.number, self.port, self.last, self.history = number, port, start, history
        self.watch_seconds, self.seen, self.stop = watch_seconds, [], threading.Event()

    def run(self):
        rng = random.Random(1000 + self.number)
        while not self.stop.is_set():
            seconds = max(1, int(self.watch_seconds * rng.uniform(0.3, 1.0)))
            bookmarks = "&allowWatchBookmarks=true" if self.number % 2 else ""
            try:
                answer = Client(self.port).request("GET", f"{PATH}?watch=1&resourceVersion={self.last}&timeoutSeconds={seconds}{bookmarks}", timeout=seconds + 60)
                if answer.status != 200:
                    return self.history.fault(f"watcher {self.number} at {self.last}: {answer.status} {answer.read()[:300]}")
                self.history.count("watch connections")
                for line in answer:
                    if not self.take(json.loads(line)):
                        return
                    if self.stop.is_set():
                        return
            except (OSError, http.client.HTTPException) as error:
                if self.stop.is_set():
                    return
                return self.history.fault(f"watcher {self.number} at {self.last}: {error}")

    def take(self, event):
        if event["type"] == "ERROR":
            self.history.fault(f"watcher {self.number} at {self.last}: {event['object']}")
            return False
        revision = revision_of(event["object"])
        if event["type"] == "BOOKMARK":
            self.history.count("bookmarks")
            if revision < self.last:
                self.history.fault(f"watcher {self.number}: bookmark {revision} after {self.last}")
        else:
            if revision <= self.last:
                self.history.fault(f"watcher {self.number}: event {revision} after {self.last}")
            self.seen.append((revision, event["type"], event["object"]["metadata"]["name"], int((event["object"].get("data") or {}).get("sequence", 0))))
        self.last = max(self.last, revision)
        return True


def read(port, history, stop, pause):
    """Requests lists in four ways. A consistent list must not be older than a write that was acknowledged before the list began."""
    client, rng = Client(port), random.Random(7)
    while not stop.wait(pause * rng.uniform(0.5, 1.5)):
        newest = history.newest
        way = rng.choice(["", "limit=7", "resourceVersion=0", "labelSelector=writer%3D1"])
        items, proceed, revision = [], "", 0
        try:
            while True:
                status, answer = client.call("GET", f"{PATH}?{way}{'&continue=' + proceed if proceed else ''}")
                if status != 200:
                    return history.fault(f"list {way}: {status} {answer}")
                items += answer["items"]
                revision = revision or int(answer["metadata"]["resourceVersion"])
                proceed = answer["metadata"].get("continue", "")
                if not proceed:
                    break
        except (OSError, http.client.HTTPException) as error:
            return history.fault(f"list {way}: {error}")
        history.count("lists")
        if way != "resourceVersion=0" and revision < newest:
            history.fault(f"list {way} at {revision} is behind the acknowledged {newest}")
        if any(revision_of(item) > revision for item in items):
            history.fault(f"list {way} at {revision} holds a newer object")


def check_watchers(history, watchers, start):
    """Checks that all watchers received the same events: every acknowledged write, the acknowledged number of deletions, and nothing else."""
    sequences = [watcher.seen for watcher in watchers]
    longest = max(sequences, key=len)
    for watcher in watchers:
        if watcher.seen != longest:
            missing = set(longest) ^ set(watcher.seen)
            history.fault(f"watcher {watcher.number} saw {len(watcher.seen)} events, another {len(longest)}: {sorted(missing)[:5]}")
    seen = {event[0]: event[1:] for event in longest}
    for revision, (kind, name, number) in history.writes.items():
        if revision > start and seen.get(revision) != (kind, name, number):
            history.fault(f"{kind} {name} at {revision} (number {number}) was seen as {seen.get(revision)}")
    deletions = 0
    for revision, (kind, name, _) in seen.items():
        if kind == "DELETED":
            deletions += 1
        elif name.startswith("w") and revision not in history.writes:
            history.fault(f"{kind} {name} at {revision} was seen but never acknowledged")
    if deletions != history.counts.get("deletions acknowledged", 0):
        history.fault(f"{deletions} deletions seen, {history.counts.get('deletions acknowledged', 0)} acknowledged")


def metrics(port):
    """Returns the sums of the consistency metrics of kube-apiserver by result."""
    _, text = Client(port).call("GET", "/metrics")
    sums = {}
    for name, labels, value in re.findall(r"^(\w+)\{([^}]*)\} (\S+)$", text, re.M):
        label = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if name == "apiserver_storage_consistency_checks_total":
            key = f"{name}[{label['status']}]"
        elif name == "apiserver_watch_cache_consistent_read_total":
            key = f"{name}[success={label['success']},fallback={label['fallback']}]"
        elif name in ("apiserver_terminated_watchers_total", "etcd_request_errors_total", "apiserver_storage_decode_errors_total", "apiserver_watch_cache_initializations_total"):
            key = f"{name}[{label.get('type', '')}]" if name == "etcd_request_errors_total" else name
        else:
            continue
        sums[key] = sums.get(key, 0) + float(value)
    return sums


def check_metrics(history, before, after):
    for key, value in after.items():
        grown = value - before.get(key, 0)
        bad = key == "apiserver_storage_consistency_checks_total[failure]" or "success=false" in key or "fallback=true" in key \
            or key.startswith(("apiserver_terminated_watchers_total", "apiserver_storage_decode_errors_total", "apiserver_watch_cache_initializations_total"))
        if bad and grown > 0:
            history.fault(f"{key} grew by {grown:g}")


def check_logs(history, folder, size_before):
    text = (folder / "apiserver.log").read_bytes()[size_before:].decode(errors="replace")
    bad = [line for line in text.splitlines() if re.match(r"^[EF]\d{4} ", line) and not HARMLESS.search(line)]
    for line in bad[:10]:
        history.fault(f"apiserver.log: {line[:400]}")
    store = (folder / "store.log").read_text(errors="replace")
    for line in [line for line in store.splitlines() if re.search(r"error|critical|abort", line, re.I)][:10]:
        history.fault(f"store.log: {line[:400]}")
    return len(bad)


def compacted_revision(url):
    import urllib.request
    text = urllib.request.urlopen(url + "/metrics", timeout=10).read().decode()
    found = re.search(r"^etcd_debugging_mvcc_compact_revision (\S+)", text, re.M)
    return int(float(found.group(1))) if found else -1


def soak(args, folder):
    servers, history = Servers(args, folder), History()
    try:
        servers.wait_ready()
        time.sleep(2)  # kube-apiserver fills its caches
        _, listed = Client(servers.port).call("GET", PATH)
        start = int(listed["metadata"]["resourceVersion"])
        before, log_size = metrics(servers.port), (folder / "apiserver.log").stat().st_size
        stop = threading.Event()
        watchers = [Watcher(i, servers.port, start, history, args.watch_seconds) for i in range(args.watchers)]
        watching = [threading.Thread(target=watcher.run, daemon=True) for watcher in watchers]
        working = [threading.Thread(target=write, args=(i, servers.port, history, stop, args.pause)) for i in range(args.writers)]
        working.append(threading.Thread(target=read, args=(servers.port, history, stop, args.pause * 2)))
        for thread in watching + working:
            thread.start()
        compactions, last_compacted, end = 0, compacted_revision(servers.store_url), time.monotonic() + args.minutes * 60
        while time.monotonic() < end and not history.faults:
            time.sleep(min(5, max(0.1, end - time.monotonic())))
            compacted = compacted_revision(servers.store_url)
            compactions, last_compacted = compactions + (compacted > last_compacted), max(compacted, last_compacted)
            if any(process.poll() is not None for process in (servers.store, servers.apiserver)):
                history.fault("a server ended")
        stop.set()
        for thread in working:
            thread.join(60)
        time.sleep(3)  # the last events arrive
        after = metrics(servers.port)
        for watcher in watchers:
            watcher.stop.set()
        for thread in watching:
            thread.join(args.watch_seconds + 5)
        check_watchers(history, watchers, start)
        check_metrics(history, before, after)
        errors = check_logs(history, folder, log_size)
        return {"minutes": args.minutes, "faults": history.faults[:50], "counts": history.counts, "events per watcher": len(watchers[0].seen),
                "compactions": compactions, "compacted revision": last_compacted, "newest revision": history.newest, "errors in the log": errors, "metrics": after}
    finally:
        servers.stop()


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="duration (default: 60)")
    parser.add_argument("--apiserver", required=True, help="binary of the real kube-apiserver")
    parser.add_argument("--store", default=root / "build/bin/store", help="binary of our store (default: build/bin/store)")
    parser.add_argument("--folder", type=pathlib.Path, help="folder for data and logs, which is kept (default: a temporary folder)")
    parser.add_argument("--compaction", default="1m", help="interval of compactions (default: 1m)")
    parser.add_argument("--writers", type=int, default=4, help="number of writers")
    parser.add_argument("--watchers", type=int, default=4, help="number of watchers")
    parser.add_argument("--pause", type=float, default=0.5, help="average number of seconds between the writes of one writer")
    parser.add_argument("--watch-seconds", type=float, default=120, help="maximum duration of a watch connection")
    args = parser.parse_args()
    if args.folder:
        args.folder.mkdir(parents=True, exist_ok=True)
        report = soak(args, args.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            report = soak(args, pathlib.Path(folder))
    json.dump(report, sys.stdout, indent=1)
    print()
    return 1 if report["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())

"""The embedded store beside a real etcd: the same etcdctl commands must print the same."""
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest

import mesh

ETCDCTL = shutil.which("etcdctl")
pytestmark = pytest.mark.skipif(ETCDCTL is None, reason="no etcdctl (Debian: etcd-client)")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """An etcd or our store, with the same flags; the peer URL is fixed, as ids are made of it."""

    def __init__(self, binary, folder):
        self.url = f"http://127.0.0.1:{free_port()}"
        # A real etcd listens on a peer port that differs from the one it advertises, so that both have the same ids.
        self.process = subprocess.Popen(
            [binary, "--data-dir", folder / "data", "--listen-client-urls", self.url, "--advertise-client-urls", "http://client:1",
             "--listen-peer-urls", f"http://127.0.0.1:{free_port()}", "--initial-advertise-peer-urls", "http://127.0.0.1:2",
             "--initial-cluster", "default=http://127.0.0.1:2"],
            stdout=subprocess.DEVNULL, stderr=(folder / "log").open("wb"))
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(self.url + "/health", timeout=1).read()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError((folder / "log").read_text())

    def ctl(self, *args, stdin=None):
        done = subprocess.run([ETCDCTL, *args], env={**os.environ, "ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": self.url},
                              input=stdin, capture_output=True, text=True, timeout=30)
        errors = [line for line in done.stderr.splitlines() if not line.startswith("{")]  # log lines carry times
        return done.returncode, done.stdout.replace(self.url, "URL"), errors

    def stop(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def servers(tmp_path, etcd_path):
    started = []
    for name, binary in (("store", mesh.BIN / "store"), ("etcd", etcd_path)):
        (tmp_path / name).mkdir()
        started.append(Server(binary, tmp_path / name))
    yield started
    for server in started:
        server.stop()


COMMANDS = [
    ("put", "a", "1"), ("put", "b", "2"), ("put", "c", "3"), ("put", "a", "11", "--prev-kv"), ("get", "a"),
    ("get", "a", "-w", "json"), ("get", "", "--prefix", "-w", "json"), ("get", "", "--from-key", "--keys-only"),
    ("get", "a", "z", "--limit", "2", "-w", "json"), ("get", "", "--prefix", "--sort-by=VALUE", "--order=DESCEND"),
    ("get", "", "--prefix", "--sort-by=MODIFY", "--order=ASCEND"), ("get", "a", "--rev", "2"), ("get", "a", "--rev", "100"),
    ("get", "", "--prefix", "--count-only", "-w", "json"), ("get", "nothing", "-w", "json"), ("put", "zz", "--ignore-value"),
    ("put", "a", "12", "--prev-kv", "-w", "json"), ("del", "b", "--prev-kv"), ("del", "b"), ("del", "", "--prefix", "-w", "json"),
    ("put", "x", "y", "--lease=123456"), ("lease", "keep-alive", "--once", "123"), ("lease", "timetolive", "123"),
    ("lease", "revoke", "123"), ("put", "", "x"), ("endpoint", "hashkv"), ("compact", "6"), ("compact", "6"), ("compact", "1000"),
    ("get", "a", "--rev", "3"), ("endpoint", "hashkv"), ("put", "d", "4"), ("compact", "8", "--physical"), ("endpoint", "hashkv"),
    ("member", "list"), ("alarm", "list"), ("user", "list"), ("defrag",), ("get", "", "--prefix", "-w", "json"),
]
TRANSACTIONS = [
    'value("a") = "x"\n\nput a y\n\nput a n\nget a\n\n',
    'mod("a") > "0"\nversion("a") = "1"\n\nput a y\nput b z\nget "" --prefix\n\nput a n\n\n',
    'create("q") = "0"\n\nput q 1\ndel a\nget q\n\n\n',
    '\nput q 1\nput q 2\n\n\n',
]


def test_etcdctl_prints_the_same(servers):
    for command in COMMANDS:
        ours, theirs = (server.ctl(*command) for server in servers)
        assert ours == theirs, command
    for transaction in TRANSACTIONS:
        ours, theirs = (server.ctl("txn", "-i", "-w", "json", stdin=transaction) for server in servers)
        assert ours == theirs, transaction


def test_watch_prints_the_same(servers):
    for server in servers:
        for i in range(20):
            server.ctl("put", f"k{i % 4}", str(i))
        server.ctl("del", "k1")
    printed = []
    for server in servers:
        watch = subprocess.run(["timeout", "3", ETCDCTL, "watch", "k", "--prefix", "--prev-kv", "--rev", "5"],
                               env={**os.environ, "ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": server.url}, capture_output=True, text=True)
        printed.append(watch.stdout)
    assert printed[0] == printed[1] and len(printed[0]) > 100


def test_snapshot_moves_between_store_and_etcd(servers, tmp_path):
    ours, theirs = servers
    for server in servers:
        for i in range(300):
            server.ctl("put", f"k{i:03}", "v" * 50)
        assert server.ctl("snapshot", "save", str(tmp_path / f"{id(server)}.db"))[0] == 0
    # etcdctl reads ours, and our restore reads etcd's.
    status = ours.ctl("snapshot", "status", str(tmp_path / f"{id(ours)}.db"))
    assert status[0] == 0 and re.search(r", 301, ", status[1])
    store = mesh.BIN / "store"
    (tmp_path / "restored").mkdir()
    subprocess.run([store, "snapshot", "restore", tmp_path / f"{id(theirs)}.db", "--data-dir", tmp_path / "restored" / "data"], check=True)
    restored = Server(store, tmp_path / "restored")
    try:
        everything = ("get", "", "--prefix", "-w", "json")
        assert restored.ctl(*everything) == theirs.ctl(*everything)
    finally:
        restored.stop()

"""The embedded store beside a real etcd: etcdctl must print the same."""
import os
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

"""Compares the embedded store with a real etcd: the same etcdctl commands must print the same output."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

import mesh

ETCDCTL = shutil.which("etcdctl")
BUILT = f"{mesh.ROOT}/.venv/bin"  # the folder of the binaries that ./apimesh builds from the Go registry
ETCDCTL_36 = os.environ.get("ETCDCTL36") or shutil.which("etcdctl", path=BUILT)
ETCDUTL = os.environ.get("ETCDUTL") or shutil.which("etcdutl", path=BUILT) or shutil.which("etcdutl")
needs_etcdctl = pytest.mark.skipif(ETCDCTL is None, reason="etcdctl is not installed; install the Debian package etcd-client")
REFERENCE = os.environ.get("APIMESH_REFERENCE") or shutil.which("kube-apiserver-reference", path=BUILT)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """An etcd or our store, with the same flags. The peer URL is fixed because ids are derived from it. Leases have random ids, so hashes are compared before the first lease."""

    def __init__(self, binary, folder, *flags):
        self.url, self.folder, self.lease = f"http://127.0.0.1:{free_port()}", folder, ""
        folder.mkdir(exist_ok=True)
        # The advertised peer URL is not the one on which etcd listens, so that both servers have the same ids.
        self.process = subprocess.Popen(
            [binary, "--data-dir", folder / "data", "--listen-client-urls", self.url, "--advertise-client-urls", "http://client:1",
             "--listen-peer-urls", f"http://127.0.0.1:{free_port()}", "--initial-advertise-peer-urls", "http://127.0.0.1:2",
             "--initial-cluster", "default=http://127.0.0.1:2", *flags],
            stdout=subprocess.DEVNULL, stderr=(folder / "log").open("wb"))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                urllib.request.urlopen(self.url + "/health", timeout=5).read()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError((folder / "log").read_text()[-3000:])

    def environment(self):
        return {**os.environ, "ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": self.url}

    def ctl(self, *args, stdin=None, timeout=60, binary=ETCDCTL):
        """Runs etcdctl. Returns (exit status, output, errors), with addresses, leases, sizes and times replaced."""
        args = [argument.replace("LEASE", self.lease) for argument in args]
        done = subprocess.run([binary, "--dial-timeout=20s", "--command-timeout=40s", *args], env=self.environment(), input=stdin, capture_output=True, text=True, timeout=timeout)
        errors = [line for line in done.stderr.splitlines() if not line.startswith("{")]  # log lines contain times
        return done.returncode, self.normal(done.stdout), [self.normal(line) for line in errors]

    def normal(self, text):
        if granted := re.search(r"lease ([0-9a-f]{16}) granted", text):
            self.lease = granted.group(1)
        text = text.replace(self.url, "URL").replace(self.url[7:], "URL")
        if self.lease:
            text = text.replace(self.lease, "LEASE").replace(str(int(self.lease, 16)), "1234")
        text = re.sub(r"took( =)? [0-9.]+[a-zµ]+", "took TIME", text)
        text = re.sub(r"(3\.6\.0), [0-9.]+ [kM]?B, [0-9.]+ [kM]?B, \d+%, ([0-9.]+ GB, true, false, \d+), \d+, \d+,", r"\1, SIZES, \2, N, N,", text)
        text = re.sub(r'"(dbSize|dbSizeInUse|raftIndex|raftAppliedIndex)":\d+', r'"\1":N', text)
        text = re.sub(r"remaining\(\d+s\)", "remaining(Ns)", text)
        return re.sub(r"(, 3\.6\.\d+), [0-9.]+ [kM]?B, (true, false, \d+), \d+, \d+,", r"\1, SIZE, \2, N, N,", text)

    def stop(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def servers(tmp_path, etcd_path):
    started = [Server(binary, tmp_path / name) for name, binary in (("store", mesh.BIN / "store"), ("etcd", etcd_path))]
    yield started
    for server in started:
        server.stop()


def on_both(servers, *args, **kw):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(lambda server: server.ctl(*args, **kw), servers))


COMMANDS = [
    ("put", "a", "1"), ("put", "b", "2"), ("put", "c", "3"), ("put", "a", "11", "--prev-kv"), ("get", "a"),
    ("get", "a", "-w", "json"), ("get", "", "--prefix", "-w", "json"), ("get", "", "--from-key", "--keys-only"),
    ("get", "a", "z", "--limit", "2", "-w", "json"), ("get", "", "--prefix", "--sort-by=VALUE", "--order=DESCEND"),
    ("get", "", "--prefix", "--sort-by=MODIFY", "--order=ASCEND"), ("get", "", "--prefix", "--sort-by=CREATE", "--order=DESCEND", "-w", "fields"),
    ("get", "a", "--rev", "2"), ("get", "a", "--rev", "100"), ("get", "a", "--print-value-only", "--hex"), ("get", "a", "--consistency=s", "-w", "json"),
    ("get", "", "--prefix", "--count-only", "-w", "json"), ("get", "nothing", "-w", "json"), ("put", "zz", "--ignore-value"),
    ("put", "a", "12", "--prev-kv", "-w", "json"), ("put", "a", "--ignore-value", "-w", "json"), ("get", "a", "-w", "fields"),
    ("del", "b", "--prev-kv"), ("del", "b"), ("get", "", "--prefix"), ("endpoint", "hashkv"), ("del", "", "--prefix", "-w", "json"),
    ("endpoint", "hashkv"), ("compaction", "6"), ("compaction", "6"), ("compaction", "1000"), ("get", "a", "--rev", "3"),
    ("put", "d", "4"), ("endpoint", "hashkv"), ("compaction", "8", "--physical"), ("endpoint", "hashkv"), ("compaction", "10", "--physical"), ("endpoint", "hashkv"),
    ("put", "x", "y", "--lease=123456"), ("lease", "keep-alive", "--once", "123"), ("lease", "timetolive", "123"), ("lease", "revoke", "123"),
    ("lease", "grant", "300"), ("put", "leased", "1", "--lease=LEASE"), ("lease", "timetolive", "LEASE", "--keys"), ("lease", "list"),
    ("lease", "keep-alive", "--once", "LEASE"), ("get", "leased", "-w", "json"), ("put", "leased", "2", "--ignore-lease"), ("get", "leased", "-w", "json"),
    ("lease", "revoke", "LEASE"), ("lease", "timetolive", "LEASE"), ("get", "leased"), ("lease", "list"), ("lease", "grant", "0"), ("lease", "grant", "-1"),
    ("lease", "grant", "9000000001"), ("put", "", "x"),
    ("lock", "a-lock", "echo", "got it"), ("member", "list"), ("member", "list", "-w", "json"), ("member", "remove", "1234"), ("member", "promote", "1234"),
    ("endpoint", "status"), ("endpoint", "status", "-w", "json"), ("endpoint", "health"), ("alarm", "list"), ("alarm", "disarm"),
    ("user", "list"), ("user", "get", "nobody"), ("user", "delete", "nobody"), ("user", "grant-role", "nobody", "r"), ("user", "revoke-role", "nobody", "r"),
    ("role", "list"), ("role", "get", "none"), ("role", "delete", "none"), ("role", "grant-permission", "none", "read", "k"), ("role", "revoke-permission", "none", "k"),
    ("auth", "enable"), ("auth", "disable"), ("--user", "root:secret", "get", "a"), ("defrag",), ("move-leader", "1234"), ("get", "", "--prefix", "-w", "json"),
]
TRANSACTIONS = [
    'value("a") = "x"\n\nput a y\n\nput a n\nget a\n\n',
    'mod("a") > "0"\nversion("a") = "1"\n\nput a y\nput b z\nget "" --prefix\n\nput a n\n\n',
    'create("q") = "0"\n\nput q 1\ndel a\nget q\n\n\n',
    'version("q") < "5"\nvalue("q") != "7"\n\nget q --rev=9\nget q\n\n\n',
    '\nput q 1\nput q 2\n\n\n',
    '\nget q --rev=10000\n\n\n',
    '\nget q --rev=2\n\n\n',
    '\nput t --lease=77 v\n\n\n',
]


@pytest.mark.parametrize("binary", [
    pytest.param(ETCDCTL, marks=needs_etcdctl, id="debian"),
    pytest.param(ETCDCTL_36, marks=pytest.mark.skipif(ETCDCTL_36 is None, reason="no etcdctl 3.6: run ./apimesh test, which builds it with Go"), id="3.6")])
def test_etcdctl_prints_the_same(servers, binary):
    different = []
    for command in COMMANDS:
        ours, theirs = on_both(servers, *command, binary=binary)
        if ours != theirs:
            different.append((command, ours, theirs))
    for transaction in TRANSACTIONS:
        for form in (("-i",), ("-i", "-w", "json")):
            ours, theirs = on_both(servers, "txn", *form, stdin=transaction, binary=binary)
            if ours != theirs:
                different.append((transaction, ours, theirs))
    too_large, too_large_to_send = "x" * 1_700_000, "x" * 2_200_000
    for value in (too_large, too_large_to_send):
        ours, theirs = on_both(servers, "put", "large", stdin=value, binary=binary)
        assert ours[0] != 0
        if ours != theirs:
            different.append((f"put of {len(value)} bytes", ours, theirs))
    assert not different, "\n".join(f"{what}:\n  store {ours}\n  etcd  {theirs}" for what, ours, theirs in different)


def watch(server, *args, seconds=4):
    run = subprocess.run(["timeout", str(seconds), ETCDCTL, "watch", *args], env=server.environment(), capture_output=True, text=True)
    return run.stdout, [line for line in run.stderr.splitlines() if not line.startswith("{")]


@needs_etcdctl
def test_watch_prints_the_same(servers):
    for i in range(20):
        on_both(servers, "put", f"k{i % 4}", str(i))
    on_both(servers, "del", "k1")
    on_both(servers, "compaction", "4")
    watches = [("k", "--prefix", "--prev-kv", "--rev", "5"), ("k1", "--rev", "4"), ("k1", "k3", "--rev", "6", "-w", "json"), ("k0", "--rev", "2"), ("--", "k0", "--rev=9"),
               ("z", "a", "--rev", "5")]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        printed = [[pool.submit(watch, server, *args) for server in servers] for args in watches]
        printed = [[run.result() for run in runs] for runs in printed]
    assert [p[0] for p in printed] == [p[1] for p in printed]
    assert len(printed[0][0][0]) > 100
    assert "compacted" in str(printed[3][0])


@needs_etcdctl
def test_snapshot_moves_between_store_and_etcd(servers, tmp_path, etcd_path):
    """Saves snapshots with etcdctl and with our command, and restores them in the other server. The content, its revisions and the hash of the history stay equal."""
    ours, theirs = servers
    for server in servers:
        script = "".join(f"put k{i:03} {'v' * 50}\n" for i in range(100))
        server.ctl("txn", "-i", stdin="\n" + script + "\n\n")
        for i in range(20):
            server.ctl("put", f"k{i % 3:03}", f"w{i}")
        server.ctl("lease", "grant", "1000")
        server.ctl("put", "leased", "x", "--lease=LEASE")
        server.ctl("del", "k001")
    saved = [server.ctl("snapshot", "save", str(tmp_path / "etcdctl.db")) for server in servers]
    assert saved[0] == saved[1]
    for server, name in ((ours, "ours"), (theirs, "theirs")):
        assert server.ctl("snapshot", "save", str(tmp_path / f"{name}.db"))[0] == 0
    status = [json.loads(ours.ctl("snapshot", "status", str(tmp_path / f"{name}.db"), "-w", "json")[1]) for name in ("ours", "theirs")]
    assert status[0]["revision"] == status[1]["revision"] == 24

    content = ("get", "", "--prefix", "-w", "json")
    expected, expected_hash = theirs.ctl(*content)[1], theirs.ctl("endpoint", "hashkv")[1]
    assert json.loads(ours.ctl(*content)[1])["kvs"] != [] and ours.ctl("endpoint", "hashkv")[1] != ""
    # Restores the snapshot of etcd in our store.
    subprocess.run([mesh.BIN / "store", "snapshot", "restore", tmp_path / "theirs.db", "--data-dir", tmp_path / "from_etcd" / "data"], check=True, timeout=60)
    restored = Server(mesh.BIN / "store", tmp_path / "from_etcd")
    restored.lease = theirs.lease
    try:
        assert restored.ctl(*content)[1] == expected
        assert restored.ctl("endpoint", "hashkv")[1] == expected_hash
        assert "LEASE" in restored.ctl("lease", "list")[1]
    finally:
        restored.stop()
    # Restores our snapshot, saved with our command, in a real etcd.
    subprocess.run([mesh.BIN / "store", "snapshot", "save", tmp_path / "own.db", "--endpoints", ours.url], check=True, timeout=60)
    if ETCDUTL is None:
        pytest.skip("restoring our snapshot in etcd needs etcdutl 3.6: run ./apimesh test, which builds it with Go (the other direction was tested)")
    # etcdutl accepts our snapshot, and reports the same contents as for the snapshot of etcd.
    summaries = [json.loads(subprocess.run([ETCDUTL, "snapshot", "status", tmp_path / f"{name}.db", "-w", "json"], check=True, timeout=60, capture_output=True).stdout)
                 for name in ("ours", "own", "theirs")]
    assert [s["revision"] for s in summaries] == [24, 24, 24]
    assert [s["version"] for s in summaries] == ["3.6.0"] * 3
    for name in ("ours", "own"):
        folder = tmp_path / f"from_{name}"
        folder.mkdir()
        subprocess.run([ETCDUTL, "snapshot", "restore", tmp_path / f"{name}.db", "--data-dir", folder / "data", "--name", "default", "--initial-cluster", "default=http://127.0.0.1:2",
                        "--initial-advertise-peer-urls", "http://127.0.0.1:2"], check=True, timeout=120, capture_output=True)
        back = Server(etcd_path, folder)
        back.lease = ours.lease
        try:
            got, want = json.loads(back.ctl(*content)[1]), json.loads(ours.ctl(*content)[1])
            assert got["kvs"] == want["kvs"] and got["header"]["revision"] == want["header"]["revision"]
            assert back.ctl("endpoint", "hashkv")[1] == ours.ctl("endpoint", "hashkv")[1]
            assert "LEASE" in back.ctl("lease", "list")[1]
        finally:
            back.stop()


@needs_etcdctl
def test_import_from_and_export_to_a_live_etcd(servers, tmp_path, etcd_path):
    """Imports while another client writes: the import has all changes up to the revision that it reports."""
    ours, theirs = servers
    for i in range(30):
        theirs.ctl("put", f"k{i:02}", str(i))
    theirs.ctl("lease", "grant", "1000")
    theirs.ctl("put", "leased", "x", "--lease=LEASE")
    writer = subprocess.Popen(["bash", "-c", f"i=0; while :; do {ETCDCTL} put moving $i; i=$((i+1)); done"], env=theirs.environment(), stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        done = subprocess.run([mesh.BIN / "store", "import", "--from", theirs.url, "--data-dir", tmp_path / "imported" / "data"], check=True, timeout=60, capture_output=True, text=True)
    finally:
        os.killpg(writer.pid, signal.SIGKILL)
        writer.wait()
    revision = int(re.search(r"up to revision (\d+)", done.stdout).group(1))
    imported = Server(mesh.BIN / "store", tmp_path / "imported")
    imported.lease = theirs.lease
    try:
        then = json.loads(theirs.ctl("get", "", "--prefix", "-w", "json", "--rev", str(revision))[1])
        now = json.loads(imported.ctl("get", "", "--prefix", "-w", "json")[1])
        assert now["kvs"] == then["kvs"] and now["header"]["revision"] == revision
        assert "LEASE" in imported.ctl("lease", "list")[1]
    finally:
        imported.stop()
    # Exports the newest state into a running etcd, which assigns its own revisions.
    for i in range(10):
        ours.ctl("put", f"o{i}", f"value {i}")
    target = Server(etcd_path, tmp_path / "target")
    try:
        subprocess.run([mesh.BIN / "store", "export", "--endpoints", ours.url, "--to", target.url], check=True, timeout=60)
        assert target.ctl("get", "", "--prefix") == ours.ctl("get", "", "--prefix")
    finally:
        target.stop()


@needs_etcdctl
def test_the_launcher_moves_a_store_by_snapshots(servers, tmp_path):
    """`apimesh store …` runs the same tool. Import and export also accept snapshots."""
    ours, theirs = servers
    for server in servers:
        for i in range(5):
            server.ctl("put", f"k{i}", f"value {i}")
    launcher = [mesh.BIN / "apimesh", "store"]
    for source, name in ((ours, "ours"), (theirs, "theirs")):
        subprocess.run([*launcher, "export", "--snapshot", tmp_path / f"{name}.db", "--endpoints", source.url], check=True, timeout=60)
        subprocess.run([*launcher, "import", "--from-snapshot", tmp_path / f"{name}.db", "--data-dir", tmp_path / name / "data"], check=True, timeout=60)
        restored = Server(mesh.BIN / "store", tmp_path / name)
        try:
            assert restored.ctl("get", "", "--prefix", "-w", "json")[1] == source.ctl("get", "", "--prefix", "-w", "json")[1]
        finally:
            restored.stop()
    # Restore does not overwrite data, and detects a damaged snapshot.
    again = subprocess.run([*launcher, "snapshot", "restore", tmp_path / "ours.db", "--data-dir", tmp_path / "ours" / "data"], capture_output=True, text=True, timeout=60)
    assert again.returncode != 0 and "is not empty" in again.stderr
    damaged = bytearray((tmp_path / "ours.db").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "damaged.db").write_bytes(damaged)
    refused = subprocess.run([*launcher, "snapshot", "restore", tmp_path / "damaged.db", "--data-dir", tmp_path / "fresh"], capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0 and "checksum" in refused.stderr


@needs_etcdctl
def test_space_quota_raises_an_alarm_that_lets_deletes_through(tmp_path):
    server = Server(mesh.BIN / "store", tmp_path / "store", "--quota-backend-bytes", str(1 << 20))
    try:
        results = [server.ctl("put", f"k{i}", stdin="x" * 300_000) for i in range(6)]
        assert results[-1][0] != 0 and "mvcc: database space exceeded" in str(results[-1])
        assert "alarm:NOSPACE" in server.ctl("alarm", "list")[1]
        assert server.ctl("put", "small", "x")[0] != 0
        assert server.ctl("del", "", "--prefix")[0] == 0
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(server.url + "/health", timeout=5)
        revision = json.loads(server.ctl("get", "none", "-w", "json")[1])["header"]["revision"]
        assert server.ctl("compaction", str(revision), "--physical")[0] == 0
        assert server.ctl("defrag")[0] == 0
        assert server.ctl("alarm", "disarm")[0] == 0
        assert server.ctl("put", "small", "x")[0] == 0
    finally:
        server.stop()


@needs_etcdctl
@pytest.mark.skipif("APIMESH_SLOW_TESTS" not in os.environ, reason="takes a minute and needs an idle disk: set APIMESH_SLOW_TESTS=1")
def test_check_perf_passes(servers):
    """Runs `etcdctl check perf`. The test passes if the disk is also too slow for etcd."""
    (ours, theirs) = (server.ctl("check", "perf", "--load=s", timeout=120) for server in servers)
    assert "FAIL" not in ours[1] or "FAIL" in theirs[1], (ours, theirs)


@pytest.mark.skipif(REFERENCE is None, reason="no real kube-apiserver: run ./apimesh test, which builds it, or set APIMESH_REFERENCE to a kube-apiserver v1.36")
def test_the_real_kube_apiserver_runs_on_it(tmp_path):
    """Runs tests/store/soak.py for 42 seconds, with a compaction every 10 seconds."""
    soak = pathlib.Path(__file__).resolve().parents[1] / "store" / "soak.py"
    done = subprocess.run([sys.executable, soak, "--minutes", "0.7", "--compaction", "10s", "--pause", "0.1", "--watch-seconds", "8", "--apiserver", REFERENCE,
                           "--store", mesh.BIN / "store", "--folder", tmp_path], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert report["compactions"] >= 2 and report["events per watcher"] > 50

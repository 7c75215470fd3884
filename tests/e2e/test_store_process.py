"""The store as a process that replaces etcd: TLS, Unix socket, metrics, automatic compaction, graceful shutdown."""
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request


import mesh
from pki import Pki
from test_store import ETCDCTL, Server, free_port, needs_etcdctl

STORE = mesh.BIN / "store"


def start(folder, url, *flags):
    folder.mkdir(exist_ok=True)
    return subprocess.Popen([STORE, "--data-dir", folder / "data", "--listen-client-urls", url, "--advertise-client-urls", url, *flags],
                            stdout=subprocess.DEVNULL, stderr=(folder / "log").open("wb"))


def etcdctl(url, *args):
    return subprocess.run([ETCDCTL, "--endpoints", url, "--dial-timeout=5s", "--command-timeout=10s", *args], env={**os.environ, "ETCDCTL_API": "3"},
                          capture_output=True, text=True, timeout=60)


@needs_etcdctl
def test_tls_and_client_certificates(tmp_path):
    pki = Pki(tmp_path)
    pki.issue_server("server")
    pki.issue("client")
    Pki(tmp_path, "other").issue("stranger")
    url = f"https://127.0.0.1:{free_port()}"
    process = start(tmp_path / "store", url, "--cert-file", tmp_path / "server.crt", "--key-file", tmp_path / "server.key",
                    "--trusted-ca-file", pki.ca, "--client-cert-auth")
    try:
        ca = ("--cacert", str(pki.ca))

        def identity(name):
            return "--cert", str(tmp_path / f"{name}.crt"), "--key", str(tmp_path / f"{name}.key")

        mesh.wait_until(lambda: etcdctl(url, *ca, *identity("client"), "put", "a", "1").returncode == 0, 60, "a client with a certificate is accepted")
        assert etcdctl(url, *ca, *identity("client"), "get", "a").stdout == "a\n1\n"
        assert etcdctl(url, *ca, "get", "a").returncode != 0, "a client without a certificate was accepted"
        assert etcdctl(url, *ca, *identity("stranger"), "get", "a").returncode != 0, "a client with a certificate of another CA was accepted"
        saved = subprocess.run([STORE, "snapshot", "save", tmp_path / "s.db", "--endpoints", url, *ca, *identity("client")], capture_output=True, text=True, timeout=60)
        assert saved.returncode == 0, saved.stderr
        # The store uses a renewed certificate without a restart.
        before = subprocess.run(["openssl", "s_client", "-connect", url[8:], "-cert", tmp_path / "client.crt", "-key", tmp_path / "client.key"],
                                input="", capture_output=True, text=True, timeout=30).stdout
        time.sleep(1.1)  # file times have a resolution of one second
        pki.issue_server("server")
        after = subprocess.run(["openssl", "s_client", "-connect", url[8:], "-cert", tmp_path / "client.crt", "-key", tmp_path / "client.key"],
                               input="", capture_output=True, text=True, timeout=30).stdout
        pem = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END", re.S)
        assert pem.search(before) and pem.search(after) and pem.search(before).group() != pem.search(after).group()
        assert etcdctl(url, *ca, *identity("client"), "get", "a").stdout == "a\n1\n"
    finally:
        process.kill()
        process.wait()


def test_an_https_url_without_a_certificate_is_refused(tmp_path):
    process = start(tmp_path / "store", f"https://127.0.0.1:{free_port()}")
    assert process.wait(30) == 1
    assert "needs --cert-file and --key-file" in (tmp_path / "store" / "log").read_text()


@needs_etcdctl
def test_unix_socket_is_its_owners_alone(tmp_path):
    path = tmp_path / "socket"
    process = start(tmp_path / "store", f"unix://{path}")
    try:
        mesh.wait_until(path.exists, 30, "the socket exists")
        assert path.stat().st_mode & 0o777 == 0o600
        assert etcdctl(f"unix://{path}", "put", "a", "1").stdout == "OK\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0 and not path.exists()
    finally:
        process.kill()
        process.wait()


@needs_etcdctl
def test_metrics_have_etcds_names_and_kinds(tmp_path, etcd_path):
    servers = [Server(STORE, tmp_path / "store"), Server(etcd_path, tmp_path / "etcd")]
    try:
        kinds = []
        for server in servers:
            server.ctl("put", "a", "1")
            text = urllib.request.urlopen(server.url + "/metrics", timeout=10).read().decode()
            kinds.append(dict(re.findall(r"^# TYPE (\S+) (\w+)$", text, re.M)))
        ours, theirs = kinds
        different = {name: kind for name, kind in ours.items() if not name.startswith("apimesh_") and theirs.get(name) != kind}
        assert not different, {name: (kind, theirs.get(name)) for name, kind in different.items()}
        assert {"etcd_server_has_leader", "etcd_mvcc_db_total_size_in_bytes", "etcd_disk_wal_fsync_duration_seconds", "etcd_server_quota_backend_bytes"} <= set(ours)
    finally:
        for server in servers:
            server.stop()


@needs_etcdctl
def test_compacts_by_itself(tmp_path):
    server = Server(STORE, tmp_path / "store", "--auto-compaction-mode", "periodic", "--auto-compaction-retention", "1s")
    try:
        for i in range(3):
            server.ctl("put", "a", str(i))
        mesh.wait_until(lambda: "required revision has been compacted" in str(server.ctl("get", "a", "--rev", "2")), 60, "old revisions are compacted")
        assert server.ctl("get", "a")[1] == "a\n2\n"
    finally:
        server.stop()


def test_every_flag_of_etcd_is_known(etcd_path):
    """Every flag of etcd is accepted, accepted and ignored, or rejected with a reason, so that start scripts for etcd do not fail with "unknown flag"."""
    printed = subprocess.run([etcd_path, "--help"], capture_output=True, text=True, timeout=60)
    flags = set(re.findall(r"^\s+--([a-z][a-z0-9-]+)", printed.stdout + printed.stderr, re.M))
    assert len(flags) > 100, printed
    unknown = {flag for flag in flags if "unknown flag" in subprocess.run([STORE, f"--{flag}=x", "--version"], capture_output=True, text=True, timeout=60).stderr}
    assert not unknown


@needs_etcdctl
def test_a_store_that_does_not_wait_for_the_disk_keeps_its_data_over_a_graceful_end(tmp_path):
    for i in range(3):
        server = Server(STORE, tmp_path / "store", "--sync=off")
        try:
            assert json.loads(server.ctl("get", "k", "--prefix", "-w", "json")[1]).get("count", 0) == i
            server.ctl("put", f"k{i}", "v")
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(20) == 0
        finally:
            server.stop()


@needs_etcdctl
def test_ends_gracefully_and_keeps_what_it_acknowledged(tmp_path):
    server = Server(STORE, tmp_path / "store")
    watch = subprocess.Popen([ETCDCTL, "watch", "k", "--prefix"], env=server.environment(), stdout=subprocess.PIPE, text=True)
    try:
        for i in range(5):
            server.ctl("put", f"k{i}", "v")
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 0
        assert time.monotonic() - began < 10
    finally:
        watch.kill()
        watch.wait()
    again = Server(STORE, tmp_path / "store")
    try:
        assert json.loads(again.ctl("get", "k", "--prefix", "-w", "json")[1])["count"] == 5
    finally:
        again.stop()


def test_two_stores_on_one_folder_are_refused(tmp_path):
    first = Server(STORE, tmp_path / "store")
    try:
        second = start(tmp_path / "second", f"http://127.0.0.1:{free_port()}", "--data-dir", tmp_path / "store" / "data")
        assert second.wait(30) == 1
        assert "in use by another store" in (tmp_path / "second" / "log").read_text()
    finally:
        first.stop()


def test_any_bytes_end_a_connection_and_nothing_else(tmp_path):
    server = Server(STORE, tmp_path / "store")
    try:
        port = int(server.url.rsplit(":", 1)[1])
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        for junk in (b"\x00" * 100, b"GET /" + b"x" * 100_000, preface + b"\xff" * 1000, preface + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + b"\x7f\xff\xff\x00\x00" * 50):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as s:
                try:
                    s.sendall(junk)
                    s.settimeout(10)
                    while s.recv(4096):
                        pass
                except (ConnectionError, socket.timeout):
                    pass
        assert b"true" in urllib.request.urlopen(server.url + "/health", timeout=10).read()
    finally:
        server.stop()

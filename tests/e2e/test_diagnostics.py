"""Pages for diagnosis that have no counterpart to compare with: profiles of all processes, and the verbosity of their logs."""
import concurrent.futures
import gzip
import shutil
import socket
import subprocess
import threading
import urllib.parse

import pytest

import mesh


def test_profile_has_all_processes_and_functions(server, tmp_path):
    """Requests run meanwhile, so that every process on their way has something to show."""
    stop = threading.Event()

    def load():
        client = mesh.Client(server.url)
        while not stop.is_set():
            client.get("/api/v1/namespaces/default/configmaps")

    threads = [threading.Thread(target=load) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):  # a busy machine may give the mesh little time
            answer = server.client.raw("GET", "/debug/pprof/profile?seconds=1", timeout=60)
            assert answer.code == 200, answer.body
            profile = gzip.decompress(answer.body)
            if b"core-api" in profile and b"apimesh::" in profile:
                break
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert b"core-api" in profile and b"apimesh::" in profile and b"nanoseconds" in profile
    if shutil.which("go"):
        file = tmp_path / "profile"
        file.write_bytes(answer.body)
        top = subprocess.run(["go", "tool", "pprof", "-top", "-cum", str(file)], capture_output=True, text=True, timeout=60)
        if "no such tool" not in top.stderr:
            assert "core-api" in top.stdout, top.stderr


def test_limits_of_profiles(server):
    client = server.client
    assert client.get("/debug/pprof/profile?seconds=121").code == 400
    answer = client.get("/debug/pprof/profile?process=nope&seconds=1")
    assert (answer.code, answer.body) == (400, "the processes are aggregator, authn-authz, core-api, extensions-api\n")
    with concurrent.futures.ThreadPoolExecutor() as threads:
        answers = threads.map(lambda process: mesh.Client(server.url).raw("GET", f"/debug/pprof/profile?seconds=3&process={process}").code,
                              ("aggregator", "authn-authz"))
        assert sorted(answers) == [200, 500]  # one profile at a time, of all processes
    assert client.raw("GET", "/debug/pprof/profile?seconds=1&process=authn-authz").code == 200


@pytest.mark.parametrize("path", ["/debug/pprof/", "/debug/pprof/profile?seconds=1", "/debug/flags/v"])
def test_only_authorized_users(server, path):
    assert server.anonymous.get(path).code == 403
    assert server.client.get(path, headers={"Impersonate-User": "jane"}).code == 403


def test_what_cannot_be_profiled_says_why(server):
    for name, code in (("heap", 501), ("goroutine", 501), ("mutex", 501), ("nope", 404), ("symbol", 200), ("", 200)):
        assert server.client.get(f"/debug/pprof/{name}").code == code, name
    assert server.client("POST", "/apimesh/process/verbosity", "9").code == 404  # between processes only


def test_verbosity(server):
    """From 4 on, debug lines are logged: here that of a failed TLS handshake."""
    def logged():
        return server.log.read_text(errors="replace").count("TLS handshake")

    def fail_a_handshake():
        address = urllib.parse.urlsplit(server.url)
        with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
            connection.sendall(b"this is no handshake\r\n\r\n")
            while connection.recv(4096):
                pass

    before = logged()
    assert server.client("PUT", "/debug/flags/v", "4").body == "successfully set klog.logging.verbosity to 4\n"
    fail_a_handshake()
    mesh.wait_until(lambda: logged() > before, 20, "the debug line is logged")
    assert server.client("PUT", "/debug/flags/v", "0").body == "successfully set klog.logging.verbosity to 0\n"

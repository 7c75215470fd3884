"""Time limits of requests, which apply even if a process of the mesh does not respond, and clients that disconnect."""
import os
import pathlib
import signal
import time

import pytest

import mesh


@pytest.fixture
def quick_server(tmp_path):
    with mesh.running_server(tmp_path, "--request-timeout=1s") as server:
        yield server


def is_stopped(pid):
    """Returns whether every thread is stopped; kill() returns earlier."""
    return all("State:\tT" in (task / "status").read_text() for task in pathlib.Path(f"/proc/{pid}/task").iterdir())


@pytest.mark.parametrize("service", ["core-api", "authn-authz"])
def test_request_timeout_is_504_whoever_hangs(quick_server, service):
    quick_server.client.get("/api/v1/namespaces/default")
    pid = quick_server.children()[service]
    mesh.suspend(pid)
    mesh.wait_until(lambda: is_stopped(pid), 5, f"all threads of {service} are stopped")
    try:
        # An unknown token, so that no cached response is used.
        asker = quick_server.client if service == "core-api" else mesh.Client(quick_server.url, token="unknown")
        began = time.monotonic()
        answer = asker.get("/api/v1/namespaces/default")
        took = time.monotonic() - began
    finally:
        os.kill(pid, signal.SIGCONT)
    assert answer.code == 504, answer.body
    assert 0.9 < took < 5
    status = answer.json()
    assert status["kind"] == "Status" and status["reason"] == "Timeout" and status["code"] == 504
    assert status["message"] == "Timeout: request did not complete within the allotted timeout"
    mesh.wait_until(lambda: quick_server.client.answers("/api/v1/namespaces/default"), 10, "the server responds again")


def test_request_timeout_does_not_end_watches(quick_server):
    began = time.monotonic()
    answer = quick_server.client.get("/api/v1/namespaces?watch=true&timeoutSeconds=3")
    assert answer.code == 200
    assert time.monotonic() - began > 2.5


def test_shorter_timeout_of_the_request_itself(server):
    bad = server.client.get("/api/v1/namespaces?timeout=soon")
    assert bad.code == 400 and "invalid timeout specified in the request URL" in bad.json()["message"]
    assert server.client.get("/api/v1/namespaces?timeout=10s").code == 200

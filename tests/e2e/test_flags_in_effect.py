"""Flags of kube-apiserver that need a server of their own: the socket for debugging, the rules for metrics, limits on upgraded connections."""
import http.client
import pathlib
import re
import socket
import stat
import subprocess
import sys
import time

import mesh
import pytest
from slow_connection import SlowConnection

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "differential"))
import metrics_text  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flags")
    store = mesh.Store(folder / "store")
    server = mesh.KubeApiserver(folder, store.url, f"--debug-socket-path={folder}/debug.sock", "--profiling=false",
                                "--disabled-metrics=apiserver_longrunning_requests,etcd_requests_total",
                                "--allow-metric-labels=apiserver_request_total,verb=GET,WATCH", "--shutdown-watch-termination-grace-period=2s",
                                "--tls-curve-preferences=24,4588", "--permit-port-sharing", "--delete-collection-workers=8", "--external-hostname=api.example.com")
    server.socket = folder / "debug.sock"
    yield server.start()
    if server.process.poll() is None:
        server.stop()
    store.stop()


def at_socket(server, method, path, body=None):
    connection = http.client.HTTPConnection("localhost", timeout=30)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(30)
    connection.sock.connect(str(server.socket))
    connection.request(method, path, body)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_only_the_owner_can_open_the_debug_socket(server):
    assert stat.S_IMODE(server.socket.stat().st_mode) == 0o600


def test_the_debug_socket_serves_profiles_although_profiling_is_off(server):
    assert server.client.get("/debug/pprof/").code == 404
    code, index = at_socket(server, "GET", "/debug/pprof/")
    assert code == 200 and b"profile" in index
    code, profile = at_socket(server, "GET", "/debug/pprof/profile?seconds=1")
    assert code == 200 and profile[:2] == b"\x1f\x8b"


def test_the_debug_socket_changes_the_verbosity(server):
    assert at_socket(server, "PUT", "/debug/flags/v", b"2") == (200, b"successfully set klog.logging.verbosity to 2\n")
    assert at_socket(server, "PUT", "/debug/flags/v", b"x")[0] == 400


@pytest.mark.parametrize("path", ["/", "/metrics", "/api/v1/secrets", "/version", "/healthz", "/statusz", "/debug", "/debug/../api/v1/secrets",
                                  "/debug/api_priority_and_fairness/dump_requests"])
def test_the_debug_socket_serves_nothing_else(server, path):
    code, content = at_socket(server, "GET", path)
    assert code == 400 if ".." in path else code == 404 and b"not found" in content


def test_metrics_obey_their_rules(server):
    assert server.client.get("/api/v1/pods").code == 200
    families = metrics_text.read(server.client.get("/metrics").body)
    assert "apiserver_longrunning_requests" not in families and "etcd_requests_total" not in families
    assert families["disabled_metrics_total"].samples[0][2] == 2
    verbs = {labels["verb"] for _, labels, _ in families["apiserver_request_total"].samples}
    assert "unexpected" in verbs and verbs <= {"GET", "WATCH", "unexpected"}
    assert {labels["verb"] for _, labels, _ in families["apiserver_request_duration_seconds"].samples} >= {"LIST"}
    levels = {labels["stability_level"]: value for _, labels, value in families["registered_metrics_total"].samples}
    assert levels["STABLE"] >= 8 and levels["BETA"] >= 10 and levels["ALPHA"] > 20


@pytest.mark.parametrize("group, accepted", [("P-384", True), ("P-256", False), ("X25519", False)])
def test_handshakes_use_the_preferred_curves(server, group, accepted):
    run = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-groups", group], input=b"", capture_output=True, timeout=30)
    assert (b"Cipher is TLS_AES" in run.stdout) == accepted, run.stdout


def test_failed_handshakes_are_counted(server):
    failures = lambda: float(re.search(r"^apiserver_tls_handshake_errors_total (\S+)", server.client.get("/metrics").body, re.M)[1])  # noqa: E731
    before = failures()
    with socket.create_connection(("127.0.0.1", server.port), 30) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        connection.settimeout(30)
        while connection.recv(4096):
            pass
    mesh.wait_until(lambda: failures() > before, 10, "the failed handshake is counted")


def test_other_processes_can_share_the_port(server):
    with socket.socket() as other:
        with pytest.raises(OSError):
            other.bind(("127.0.0.1", server.port))
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", server.port))  # it does not listen, so that it gets no connections


def test_a_collection_is_deleted_by_several_workers(server):
    path = "/api/v1/namespaces/default/configmaps"
    for i in range(40):
        assert server.client("POST", path, {"metadata": {"name": f"c{i}", "labels": {"collection": "a"}}}).code == 201
    deleted = server.client("DELETE", path + "?labelSelector=collection=a")
    assert deleted.code == 200 and len(deleted.json()["items"]) == 40
    assert server.client.get(path + "?labelSelector=collection=a").json()["items"] == []


def test_documents_name_the_external_host(server):
    address = f"api.example.com:{server.port}"
    assert server.client.get("/api").json()["serverAddressByClientCIDRs"] == [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]
    assert server.client.get("/.well-known/openid-configuration").json()["jwks_uri"] == f"https://{address}/openid/v1/jwks"


def test_the_checks_of_etcd_have_their_time_limits(tmp_path):
    store = mesh.Store(tmp_path / "store")
    slow = SlowConnection(store.url)
    server = mesh.KubeApiserver(tmp_path, slow.url, "--etcd-readycheck-timeout=700ms", "--etcd-healthcheck-timeout=20s", "--advertise-port=7443")
    try:
        server.start()
        mesh.wait_until(lambda: server.client.get("/readyz/etcd-readiness").code == 200, 30, "the server is ready")
        endpoints = mesh.wait_until(lambda: (a := server.client.get("/api/v1/namespaces/default/endpoints/kubernetes")).code == 200 and a, 30, "the endpoints exist")
        assert endpoints.json()["subsets"][0]["ports"][0]["port"] == 7443
        assert server.client.get("/api").json()["serverAddressByClientCIDRs"][0]["serverAddress"].endswith(":7443")
        slow.delay = 0.5  # for the request and for the response
        refused = mesh.wait_until(lambda: (a := server.client.get("/readyz/etcd-readiness")).code == 500 and a, 30, "readiness fails")
        assert refused.body == "internal server error: etcd failed: context deadline exceeded\n"
        assert server.client.get("/healthz/etcd").code == 200
        slow.delay = 0
        mesh.wait_until(lambda: server.client.get("/readyz/etcd-readiness").code == 200, 30, "the server is ready again")
    finally:
        server.stop()
        slow.stop()
        store.stop()


def test_readiness_waits_for_stores_only_for_a_time(tmp_path):
    server = mesh.KubeApiserver(tmp_path, f"http://127.0.0.1:{mesh.free_port()}", "--storage-initialization-timeout=1s").start(wait=False)
    try:
        hook = "/readyz/poststarthook/"
        mesh.wait_until(lambda: server.client.answers(hook + "storage-readiness"), 30, "the hook has finished although there is no etcd")
        assert server.client.get(hook + "generic-apiserver-start-informers").code == 500
        assert "deadline exceeded while waiting for storage readiness" in server.log.read_text()
    finally:
        server.stop()


def test_watches_end_over_the_grace_period(server):
    """The last test of the module, because it stops the server."""
    watches = []
    for _ in range(20):
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=30, context=server.client.context)
        connection.request("GET", "/api/v1/configmaps?watch=1&allowWatchBookmarks=true", headers={"Authorization": f"Bearer {mesh.ADMIN_TOKEN}"})
        watches.append(connection)
    answers = [connection.getresponse() for connection in watches]
    assert all(answer.status == 200 for answer in answers)
    began, ends = time.monotonic(), []
    server.process.terminate()
    sockets = {connection.sock: answer for connection, answer in zip(watches, answers)}
    import selectors
    selector = selectors.DefaultSelector()
    for sock in sockets:
        selector.register(sock, selectors.EVENT_READ)
    while sockets and time.monotonic() < began + 20:
        for key, _ in selector.select(1):
            try:
                data = key.fileobj.recv(1 << 16)
            except OSError:
                data = b""
            if data.endswith(b"0\r\n\r\n") or not data:
                ends.append(time.monotonic() - began)
                selector.unregister(key.fileobj)
                sockets.pop(key.fileobj)
    assert len(ends) == 20
    assert max(ends) - min(ends) > 0.8, ends
    assert server.process.wait(20) == 0

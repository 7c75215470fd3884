"""Extension servers: examples/ serve a group-version over gRPC, behind an APIService with an endpoint."""
import base64
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading

import pytest

import mesh
from pki import Pki
from watching import Watch

APISERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
PYTHON = [sys.executable, str(mesh.ROOT / "examples/extension-python/server.py")]


class Extension:
    """One of the examples, and its APIService."""

    def __init__(self, folder, command, group, resource):
        self.command, self.group, self.resource, self.name = command, group, resource, f"v1.{group}"
        self.socket = pathlib.Path(folder) / f"x-{group}" / "s"
        self.namespaced = resource == "notes"
        self.path = f"/apis/{group}/v1/{'namespaces/default/' if self.namespaced else ''}{resource}"
        self.process = None

    def start(self):
        self.process = subprocess.Popen([*self.command, f"unix:{self.socket}"], stdout=open(f"{self.socket.parent}.log", "ab"), stderr=subprocess.STDOUT)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def register(self, server, endpoint=None):
        server.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": self.name, "annotations": {"apimesh.io/grpc-endpoint": endpoint or f"unix:{self.socket}"}},
            "spec": {"group": self.group, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10}}))


def condition(server, name):
    conditions = server.client.get(f"{APISERVICES}/{name}").json().get("status", {}).get("conditions") or [{}]
    return conditions[0].get("status"), conditions[0].get("reason"), conditions[0].get("message", "")


def wait_available(server, extension, status="True"):
    return mesh.wait_until(lambda: (found := condition(server, extension.name))[0] == status and found, 30, f"{extension.name} is available: {status}")


@contextlib.contextmanager
def registered(server, folder, command, group, resource):
    """Starts an example and waits until its group is available."""
    extension = Extension(folder, command, group, resource)
    extension.start()
    extension.register(server)
    wait_available(server, extension)
    yield extension
    server.client("DELETE", f"{APISERVICES}/{extension.name}")
    extension.stop()


@pytest.fixture(scope="module")
def notes(server, tmp_path_factory):
    with registered(server, tmp_path_factory.mktemp("notes"), PYTHON, "python.example.com", "notes") as extension:
        yield extension


@pytest.fixture(scope="module")
def counters(server, tmp_path_factory):
    with registered(server, tmp_path_factory.mktemp("counters"), [str(mesh.BIN / "extension_example")], "cpp.example.com", "counters") as extension:
        yield extension


@pytest.fixture(scope="module")
def lamps(server, tmp_path_factory):
    go, folder = shutil.which("go"), tmp_path_factory.mktemp("lamps")
    if not go:
        pytest.skip("needs Go, which ./apimesh test installs")
    subprocess.run([go, "build", "-o", str(folder / "server"), "."], cwd=mesh.ROOT / "examples/extension-go", check=True, capture_output=True, timeout=600)
    with registered(server, folder, [str(folder / "server"), str(mesh.ROOT)], "go.example.com", "lamps") as extension:
        yield extension


def manifest(kind, group, name, spec):
    return json.dumps({"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec})


@pytest.mark.parametrize("example, kind, first, second, explained", [
    ("notes", "Note", {"text": "milk"}, {"text": "bread"}, "The words of the note."),
    ("lamps", "Lamp", {"on": False}, {"on": True}, "Whether the lamp shines."),
    ("counters", "Counter", {"value": 1}, {"value": 2}, "The number so far."),
])
def test_kubectl(server, request, example, kind, first, second, explained):
    extension = request.getfixturevalue(example)
    row = [line for line in server.kubectl("api-resources", f"--api-group={extension.group}").stdout.splitlines() if extension.resource in line][0]
    assert row.split()[-3:] == [f"{extension.group}/v1", str(extension.namespaced).lower(), kind]
    watch = subprocess.Popen([mesh.KUBECTL, f"--kubeconfig={server.kubeconfig()}", "get", f"{extension.resource}.{extension.group}", "-w", "-o", "jsonpath={.spec}{'\\n'}"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert "created" in server.kubectl("apply", "-f", "-", stdin=manifest(kind, extension.group, "one", first)).stdout
        assert "configured" in server.kubectl("apply", "-f", "-", stdin=manifest(kind, extension.group, "one", second)).stdout
        assert "unchanged" in server.kubectl("apply", "-f", "-", stdin=manifest(kind, extension.group, "one", second)).stdout
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(iter(lambda: watch.stdout.readline().strip(), json.dumps(second, separators=(",", ":")))), daemon=True)
        reader.start()
        reader.join(30 * mesh.SLOWDOWN)
        assert not reader.is_alive(), lines
    finally:
        watch.kill()
    assert "one" in server.kubectl("get", extension.resource, "one").stdout
    assert server.kubectl("get", extension.resource, "-o", "name").stdout.strip() == f"{kind.lower()}.{extension.group}/one"
    assert explained in server.kubectl("explain", f"{extension.resource}.spec").stdout
    assert f'"{list(first)[0]}"' in json.dumps(server.client.get("/openapi/v2").json()["definitions"][".".join([*reversed(extension.group.split(".")), "v1", kind])])
    assert "deleted" in server.kubectl("delete", extension.resource, "one").stdout
    assert server.client.get(f"{extension.path}/one").code == 404


def test_the_mesh_decides_who_may_do_what(server, notes):
    assert server.anonymous.get(notes.path).code in (401, 403)
    jane = {"Impersonate-User": "jane"}
    assert server.client.get(notes.path, headers=jane).code == 403
    assert server.client.get(f"/apis/{notes.group}/v1/namespaces/default/others").code == 404  # not described
    assert server.client("DELETE", notes.path).code == 405  # deletecollection is not described
    assert server.client.get(notes.path, headers={"Accept": "application/vnd.kubernetes.protobuf"}).code == 406
    table = server.client.get(notes.path, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"})
    assert table.code == 200 and table.json()["kind"] == "NoteList"


def test_clients_share_a_watch(server, notes):
    version = server.client.get(notes.path).json()["metadata"]["resourceVersion"]
    watches = [Watch(server.client, f"{notes.path}?resourceVersion={version}") for _ in range(5)]
    for name in ("a", "b"):
        assert server.client("POST", notes.path, {"metadata": {"name": name}, "spec": {"text": name}}).code == 201
    # A client that begins later gets the events after its resource version.
    watches.append(Watch(server.client, f"{notes.path}?resourceVersion={version}"))
    for watch in watches:
        mesh.wait_until(lambda: len(watch.events) >= 2, 15, "both events arrive")
        assert [(kind, thing["metadata"]["name"]) for kind, thing in watch.events] == [("ADDED", "a"), ("ADDED", "b")]
    old = Watch(server.client, f"{notes.path}?resourceVersion=7")
    mesh.wait_until(lambda: old.over, 15, "the watch of an old version ends")
    assert [(kind, thing["code"]) for kind, thing in old.events] == [("ERROR", 410)]
    short = Watch(server.client, f"{notes.path}?timeoutSeconds=1")  # with the current objects
    mesh.wait_until(lambda: short.over, 15, "a watch ends after its time")
    assert short.error is None and [thing["metadata"]["name"] for _, thing in short.events] == ["a", "b"]
    for watch in watches:
        watch.close()


@pytest.mark.parametrize("endpoint, reason, text", [
    ("127.0.0.1:6443", "NoCertificate", "--mesh-cert-file"),
    ("unix:/nowhere/s", "FailedConnection", "No such file"),
])
def test_a_bad_endpoint_has_a_clear_condition(server, tmp_path, endpoint, reason, text):
    extension = Extension(tmp_path, [], "bad.example.com", "bads")
    extension.register(server, endpoint)
    mesh.wait_until(lambda: (found := condition(server, extension.name))[1] == reason and text in found[2], 20, f"the condition is {reason}")
    refused = server.client.get(extension.path)
    assert refused.code == 503 and refused.headers["Retry-After"] == "1"
    assert server.client("DELETE", f"{APISERVICES}/{extension.name}").code == 200


def test_a_socket_that_others_can_reach_is_refused(server, notes, tmp_path):
    os.chmod(notes.socket.parent, 0o750)
    try:
        extension = Extension(tmp_path, [], "open.example.com", "opens")
        extension.register(server, f"unix:{notes.socket}")
        mesh.wait_until(lambda: "must have mode 0700" in condition(server, extension.name)[2], 20, "the socket is refused")
        server.client("DELETE", f"{APISERVICES}/{extension.name}")
    finally:
        os.chmod(notes.socket.parent, 0o700)


def test_the_annotation_is_validated(server):
    spec = {"group": "x.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10}
    body = {"metadata": {"name": "v1.x.example.com", "annotations": {"apimesh.io/grpc-endpoint": "http://x"}}, "spec": {**spec, "service": {"namespace": "a", "name": "b"}}}
    refused = server.client("POST", APISERVICES, body)
    assert refused.code == 422
    assert 'must be "unix:/path" or "host:port"' in refused.json()["message"] and "together with spec.service" in refused.json()["message"]


def test_a_server_without_the_group_has_a_clear_condition(server, notes, tmp_path):
    other = Extension(tmp_path, PYTHON, "other.example.com", "notes")
    other.register(server, f"unix:{notes.socket}")
    mesh.wait_until(lambda: condition(server, other.name)[1] == "GroupVersionNotServed", 20, "the group is not served")
    assert server.client.get(other.path).code == 503
    server.client("DELETE", f"{APISERVICES}/{other.name}")


def test_a_server_that_stops_and_comes_back(server, notes):
    """Requests get 503 at once while the server is down, and the group is served again after it has started."""
    notes.stop()
    assert wait_available(server, notes, "False")[1] == "FailedConnection"
    assert server.client.get(notes.path).code == 503
    notes.start()
    wait_available(server, notes)
    assert server.client.get(notes.path).code == 200


def own_address():
    """Returns an IPv4 address of this machine that is not loopback, or ""."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))  # sends nothing
            return "" if probe.getsockname()[0].startswith("127.") else probe.getsockname()[0]
        except OSError:
            return ""


@pytest.mark.skipif(not own_address(), reason="this machine has only loopback")
def test_tls_is_mutual(tmp_path):
    """The aggregator presents its client certificate, checks that of the server, and does not connect to loopback."""
    pki, proxy, address = Pki(tmp_path / "pki", "notes"), Pki(tmp_path / "pki", "front-proxy"), own_address()
    certificate, key = proxy.issue("the-aggregator")
    store = mesh.Store(tmp_path / "store")
    server = mesh.KubeApiserver(tmp_path / "api", store.url, f"--proxy-client-cert-file={certificate}", f"--proxy-client-key-file={key}").start()
    port = mesh.free_port()
    files = pki.issue_server("notes", f"IP:{address},IP:127.0.0.1")
    process = subprocess.Popen([*PYTHON, f"0.0.0.0:{port}", *map(str, files), str(proxy.ca)], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)

    def register(host, ca):
        server.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": "v1.python.example.com", "annotations": {"apimesh.io/grpc-endpoint": f"{host}:{port}"}},
            "spec": {"group": "python.example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10,
                     "caBundle": base64.b64encode(ca.read_bytes()).decode()}}))

    try:
        register(address, pki.ca)
        mesh.wait_until(lambda: condition(server, "v1.python.example.com")[0] == "True", 30, "the server is available over TLS")
        assert server.client.get("/apis/python.example.com/v1/namespaces/default/notes").code == 200
        register(address, proxy.ca)
        mesh.wait_until(lambda: "certificate" in condition(server, "v1.python.example.com")[2], 20, "a certificate of another CA is refused")
        register("127.0.0.1", pki.ca)
        mesh.wait_until(lambda: "is not allowed" in condition(server, "v1.python.example.com")[2], 20, "loopback is refused")
        assert server.client.get("/apis/python.example.com/v1/namespaces/default/notes").code == 503
    finally:
        process.kill()
        process.wait()
        server.stop()
        store.stop()

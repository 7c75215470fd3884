"""exec, attach and port-forward with kubectl, which speaks WebSocket, and a stand-in for a kubelet with the real streaming code. The same tests run against the
real kube-apiserver, if there is one."""
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading
import time
import urllib.request

import pytest

import mesh
from kubelet import BINARY as KUBELET
from kubelet import Kubelet
from pki import Pki
from test_pod_subresources import NS, bind, pod, set_status
from websocket_client import CLOSE, PING, PONG, TEXT, Refused, WebSocket

REFERENCE = os.environ.get("APIMESH_REFERENCE") or shutil.which("kube-apiserver-reference", path=f"{mesh.ROOT}/.venv/bin")
SIDES = ["ours"] + (["reference"] if REFERENCE else [])
pytestmark = pytest.mark.skipif(not pathlib.Path(KUBELET).exists(), reason="no stand-in for a kubelet: run ./apimesh test, which builds it, or set APIMESH_KUBELET")
V5 = "v5.channel.k8s.io"


class Cluster:
    """A server and two kubelets: "old" speaks SPDY, "new" declares that it also speaks WebSocket. Pods have the name of their node."""

    def __init__(self, folder, side, etcd_path):
        pki, clients = Pki(folder / "pki", "kubelets"), Pki(folder / "pki", "kubelet-clients")
        certificate, key = clients.issue("kube-apiserver")
        self.new_kubelet = lambda *flags: Kubelet(pki, clients.ca, *flags)
        self.kubelets = {"old": self.new_kubelet(), "new": self.new_kubelet("-websocket"), "gone": self.new_kubelet()}
        self.kubelets["gone"].stop()
        self.store = mesh.Store(folder / "store", etcd_path if side == "reference" else None)
        self.server = mesh.KubeApiserver(folder, self.store.url, f"--kubelet-client-certificate={certificate}", f"--kubelet-client-key={key}",
                                         f"--kubelet-certificate-authority={pki.ca}", "--kubelet-preferred-address-types=InternalIP",
                                         binary=REFERENCE if side == "reference" else None).start(wait=False)
        mesh.wait_until(lambda: self.server.anonymous.answers("/readyz"), 120, "the server is ready")
        for name, kubelet in self.kubelets.items():
            self.add_node(name, kubelet)
        self.add_pod("broken", "old")

    def add_node(self, name, kubelet):
        assert self.server.client("POST", "/api/v1/nodes", {"metadata": {"name": name}}).code == 201
        set_status(self.server, f"/api/v1/nodes/{name}", addresses=[{"type": "InternalIP", "address": "127.0.0.1"}],
                   daemonEndpoints={"kubeletEndpoint": {"Port": kubelet.port}}, **({"declaredFeatures": ["ExtendWebSocketsToKubelet"]} if name == "new" else {}))
        self.add_pod(name, name)

    def add_pod(self, name, node):
        body = pod(name)
        body["spec"]["containers"][0].update(stdin=True)
        mesh.wait_until(lambda: self.server.client("POST", f"{NS}/pods", body).code in (201, 409), 10, "the pod is created")
        assert bind(self.server, name, node).code == 201
        # kubectl attaches only to containers that run.
        set_status(self.server, f"{NS}/pods/{name}", phase="Running", containerStatuses=[
            {"name": "c", "image": "i", "imageID": "i", "ready": True, "restartCount": 0, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}])

    def websocket(self, name, query, protocol=V5, subresource="exec"):
        return WebSocket(self.server.port, f"{NS}/pods/{name}/{subresource}?{query}", protocol, mesh.ADMIN_TOKEN)

    def kubectl(self, *arguments, stdin="", check=True):
        run = subprocess.run([mesh.KUBECTL, f"--kubeconfig={self.server.kubeconfig()}", f"--cache-dir={self.server.folder}/cache", *arguments], capture_output=True,
                             timeout=120, input=stdin if isinstance(stdin, bytes) else stdin.encode())
        assert not check or run.returncode == 0, run
        return run

    def stop(self):
        self.server.stop()
        self.store.stop()
        for kubelet in self.kubelets.values():
            kubelet.stop()


@pytest.fixture(scope="module", params=SIDES)
def cluster(request, tmp_path_factory, etcd_path):
    made = Cluster(tmp_path_factory.mktemp("kubelets"), request.param, etcd_path)
    made.side = request.param
    yield made
    made.stop()


def shell(script):
    return "&".join(f"command={urllib.request.quote(word)}" for word in ("sh", "-c", script))


@pytest.mark.parametrize("node", ["old", "new"])
def test_kubectl_exec(cluster, node):
    run = cluster.kubectl("exec", node, "--", "sh", "-c", "echo out; echo err >&2")
    assert (run.stdout, run.stderr) == (b"out\n", b"err\n")
    seen = cluster.kubelets[node].requests[-1]
    if node == "old":
        assert (seen["method"], seen["upgrade"], seen["path"]) == ("POST", "SPDY/3.1", "/exec/default/old/c")
        assert "kubectl" not in seen["agent"]  # it falls back to SPDY itself if WebSocket is refused
        assert seen["protocols"] == ["v5.channel.k8s.io", "v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"]
    else:
        assert any(r["upgrade"].lower() == "websocket" and r["protocols"] == [V5] for r in cluster.kubelets[node].requests)
    failed = cluster.kubectl("exec", node, "--", "sh", "-c", "exit 42", check=False)
    assert failed.returncode == 42 and b"command terminated with exit code 42" in failed.stderr
    piped = cluster.kubectl("exec", "-i", node, "--", "tr", "a-z", "A-Z", stdin="hello")  # ends because the input ends
    assert piped.stdout == b"HELLO"


def test_large_data_in_both_directions(cluster):
    data = os.urandom(8 << 20)
    summed = cluster.kubectl("exec", "-i", "old", "--", "sha256sum", stdin=data)
    assert summed.stdout.split()[0].decode() == hashlib.sha256(data).hexdigest()
    assert cluster.kubectl("exec", "-i", "old", "--", "cat", stdin=data).stdout == data


@pytest.mark.parametrize("node", ["old", "new"])
def test_kubectl_attach(cluster, node):
    run = cluster.kubectl("attach", "-i", node, stdin="some input\n")
    assert run.stdout == b"attached\nSOME INPUT\n"


@contextlib.contextmanager
def forwarded(cluster, node, port):
    process = subprocess.Popen([mesh.KUBECTL, f"--kubeconfig={cluster.server.kubeconfig()}", "port-forward", f"pod/{node}", f":{port}"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        assert line.startswith("Forwarding from 127.0.0.1:"), line + process.stderr.read()
        yield int(line.split(":")[1].split()[0])
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize("node", ["old", "new"])
def test_kubectl_port_forward(cluster, node):
    body = os.urandom(3 << 20)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with forwarded(cluster, node, server.server_port) as port:
        for _ in range(3):
            assert urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60).read() == body
    server.shutdown()
    seen = [r for r in cluster.kubelets[node].requests if r["path"].startswith("/portForward/")]
    if node == "old":
        assert {(r["method"], r["upgrade"]) for r in seen} == {("POST", "SPDY/3.1")} and seen[-1]["protocols"] == ["portforward.k8s.io"], seen
    else:
        assert any(r["upgrade"].lower() == "websocket" for r in seen)


def test_messages_of_a_command(cluster):
    socket = cluster.websocket("old", shell("cat; echo err >&2; exit 3") + "&stdin=true&stdout=true&stderr=true")
    assert "sec-websocket-protocol: v5.channel.k8s.io" in socket.head.lower()
    assert socket.receive() == (2, b"\x01")  # the connection is established
    socket.send(b"\x00one ")
    socket.send(b"\x00two", opcode=TEXT)
    socket.send(b"hi", opcode=PING)
    socket.send(b"\x09ignored")
    socket.send(b"")
    socket.send(b"\xff\x00")
    seen, pong = {}, None
    while "close" not in seen:
        opcode, payload = socket.receive()
        if opcode == PONG:
            pong = payload
        elif opcode == CLOSE:
            seen["close"] = payload
        else:
            seen[payload[0]] = seen.get(payload[0], b"") + payload[1:]
    assert pong == b"hi" and seen["close"] == b"\x03\xe8"
    assert (seen[1], seen[2]) == (b"one two", b"err\n")
    assert json.loads(seen[3]) == {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [{"reason": "ExitCode", "message": "3"}]},
                                   "message": "command terminated with non-zero exit code: command terminated with exit code 3"}


def test_success_and_failures(cluster):
    done = cluster.websocket("old", "command=true&stdout=true").channels()
    assert done == {1: b"", 3: b'{"metadata":{},"status":"Success"}', "close": 1000}
    only_status = cluster.websocket("old", "command=true&stderr=true").channels()
    assert only_status == {2: b"", 3: b'{"metadata":{},"status":"Success"}', "close": 1000}
    absent = json.loads(cluster.websocket("old", "command=/no/such/file&stdout=true").channels()[3])
    assert absent["message"].startswith("Internal error occurred: Internal error occurred: error executing command in container: fork/exec /no/such/file")
    assert (absent["reason"], absent["code"]) == ("InternalError", 500)
    refused = json.loads(cluster.websocket("broken", "command=true&stdout=true").channels()[3])
    assert refused["message"] == "Internal error occurred: unable to upgrade connection: pod does not exist"
    assert refused["details"] == {"causes": [{"message": "unable to upgrade connection: pod does not exist"}]}
    gone = json.loads(cluster.websocket("gone", "command=true&stdout=true").channels()[3])
    url = f"https://127.0.0.1:{cluster.kubelets['gone'].port}/exec/default/gone/c?command=true&output=1"
    assert gone["message"].startswith(f'Internal error occurred: error sending request: Post "{url}": dial tcp 127.0.0.1:') and "onnection refused" in gone["message"]


def test_terminal_sizes(cluster):
    socket = cluster.websocket("old", "command=sizes&command=2&stdin=true&stdout=true&tty=true")
    socket.send(b'\x04{"Width":80,"Height":24}')
    socket.send(b'\x04{"Width":100,"Height":30}\n')
    seen = socket.channels()
    assert seen[1] == b"80x24\n100x30\n" and json.loads(seen[3])["status"] == "Success"


def test_broken_clients_are_disconnected(cluster):
    for message in (b"\xff", b"\xff\x00\x00", b"\xff\x07"):
        socket = cluster.websocket("old", "command=cat&stdin=true&stdout=true")
        socket.send(message)
        assert 3 not in socket.channels() or cluster.side == "reference", message
    for path in ("nobody/exec", "old/exec?container=none&command=x"):
        with pytest.raises(Refused) as refused:
            WebSocket(cluster.server.port, f"{NS}/pods/{path}", V5, mesh.ADMIN_TOKEN)
        assert refused.value.head.startswith(("HTTP/1.1 404", "HTTP/1.1 400"))


def test_kubelet_that_dies_is_reported(cluster):
    if cluster.side == "reference":
        pytest.skip("kube-apiserver reports success when the connection breaks (docs/decisions/0031)")
    kubelet = cluster.new_kubelet()
    cluster.add_node("dies", kubelet)
    socket = cluster.websocket("dies", shell("echo begun; exec sleep 30") + "&stdin=true&stdout=true")
    assert socket.receive() == (2, b"\x01") and socket.receive() == (2, b"\x01begun\n")
    kubelet.stop()
    began = time.monotonic()
    seen = socket.channels()
    assert time.monotonic() - began < 5 * mesh.SLOWDOWN
    assert json.loads(seen[3])["message"] == "Internal error occurred: the connection to the kubelet was lost before the command ended"


def test_client_that_leaves_ends_the_input(cluster, tmp_path):
    socket = cluster.websocket("old", shell(f"echo begun; cat; echo ended > {tmp_path}/ended") + "&stdin=true&stdout=true")
    while socket.receive() != (2, b"\x01begun\n"):
        pass
    socket.close()
    mesh.wait_until((tmp_path / "ended").exists, 10, "the input of the command has ended")


def test_slow_clients_hold_the_kubelet_back(cluster):
    """A client that does not read costs no memory in the server, and gets everything when it reads."""
    if cluster.side == "reference":
        pytest.skip("measures our processes")
    before = cluster.server.memory_kilobytes()
    socket = cluster.websocket("old", shell("head -c 100000000 /dev/zero") + "&stdout=true")
    time.sleep(5)
    growth = cluster.server.memory_kilobytes() - before
    assert growth < 30_000, f"{growth} KB"
    seen = socket.channels()
    assert len(seen[1]) == 100_000_000 and json.loads(seen[3])["status"] == "Success"

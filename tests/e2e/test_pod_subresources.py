"""Bindings, evictions, and the subresources that connect to a kubelet, with a simulated kubelet."""
import socket
import ssl

import pytest

import mesh
from pki import Pki
from tls_server import TlsServer

NS = "/api/v1/namespaces/default"
PDBS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


def pod(name, **labels):
    return {"metadata": {"name": name, "labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def bind(server, name, node, target=None):
    body = {"metadata": {"name": name}, "target": target or {"kind": "Node", "name": node}}
    return server.client("POST", f"{NS}/pods/{name}/binding", body)


def set_status(server, path, **status):
    found = server.client.get(path).json()
    found["status"] = {**found.get("status", {}), **status}
    assert server.client("PUT", f"{path}/status", found).code == 200


def test_what_has_no_store_is_405_or_404(server):
    for path in (f"{NS}/bindings", "/apis/authentication.k8s.io/v1/tokenreviews", "/apis/authorization.k8s.io/v1/subjectaccessreviews"):
        answer = server.client.get(path)
        assert answer.code == 405 and answer.json()["message"] == "the server does not allow this method on the requested resource", path
    for method in ("PUT", "PATCH", "DELETE"):
        assert server.client(method, "/api/v1/componentstatuses/etcd-0", {}).code == 405
    assert server.client.get("/api/v1/namespaces/default").code == 200


def test_component_statuses(server):
    answer = server.client.get("/api/v1/componentstatuses")
    assert answer.headers["Warning"] == '299 - "v1 ComponentStatus is deprecated in v1.19+"'
    body = answer.json()
    assert body["metadata"] == {} and body["kind"] == "ComponentStatusList"
    by_name = {item["metadata"]["name"]: item["conditions"][0] for item in body["items"]}
    assert set(by_name) == {"etcd-0", "scheduler", "controller-manager"}
    assert by_name["etcd-0"] == {"type": "Healthy", "status": "True", "message": "ok"}
    assert by_name["scheduler"]["status"] == "False"
    assert server.client.get("/api/v1/componentstatuses/nobody").json()["message"] == 'componentstatus "nobody" not found'
    assert server.kubectl("get", "cs", "etcd-0", "--no-headers").stdout.split() == ["etcd-0", "Healthy", "ok"]


def test_binding(server):
    assert server.client("POST", f"{NS}/pods", pod("b1")).code == 201
    bound = bind(server, "b1", "n1")
    assert bound.code == 201 and bound.json() == {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    found = server.client.get(f"{NS}/pods/b1").json()
    assert found["spec"]["nodeName"] == "n1"
    scheduled = [c for c in found["status"]["conditions"] if c["type"] == "PodScheduled"][0]
    assert scheduled["status"] == "True" and scheduled["lastTransitionTime"]
    again = bind(server, "b1", "n2")
    assert again.code == 409 and again.json()["message"] == 'Operation cannot be fulfilled on pods/binding "b1": pod b1 is already assigned to node "n1"'
    assert bind(server, "missing", "n1").json()["message"] == 'pods "missing" not found'
    assert server.client("POST", f"{NS}/pods", pod("b2")).code == 201
    assert bind(server, "b2", "", {"kind": "Node"}).json()["message"] == "target.name: Required value"
    other = server.client("POST", f"{NS}/pods/b2/binding", {"metadata": {"name": "b1"}, "target": {"name": "n1"}})
    assert other.code == 400 and other.json()["message"] == "name in URL does not match name in Binding object"
    assert server.client("POST", f"{NS}/pods/b2/binding?dryRun=All", {"metadata": {"name": "b2"}, "target": {"name": "n1"}}).code == 201
    assert "nodeName" not in server.client.get(f"{NS}/pods/b2").json()["spec"]
    legacy = server.client("POST", f"{NS}/bindings", {"metadata": {"name": "b2"}, "target": {"name": "n1"}})
    assert legacy.code == 201 and server.client.get(f"{NS}/pods/b2").json()["spec"]["nodeName"] == "n1"
    for name in ("b1", "b2"):
        server.client("DELETE", f"{NS}/pods/{name}?gracePeriodSeconds=0")


def evict(server, name, query=""):
    return server.client("POST", f"{NS}/pods/{name}/eviction{query}", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}})


def test_eviction(server):
    for name in ("e1", "e2"):
        assert server.client("POST", f"{NS}/pods", pod(name, app="evict")).code == 201
        assert bind(server, name, "n1").code == 201
        set_status(server, f"{NS}/pods/{name}", phase="Running", conditions=[{"type": "Ready", "status": "True"}])
    budget = {"metadata": {"name": "keep"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "evict"}}}}
    assert server.client("POST", PDBS, budget).code == 201
    refused = evict(server, "e1")
    assert refused.code == 429
    assert refused.json()["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    assert refused.json()["details"] == {"causes": [{"reason": "DisruptionBudget", "message": "The disruption budget keep is still being processed by the server."}],
                                         "retryAfterSeconds": 10}
    set_status(server, f"{PDBS}/keep", observedGeneration=1, disruptionsAllowed=1, currentHealthy=2, desiredHealthy=1, expectedPods=2)
    assert evict(server, "e1", "?dryRun=All").code == 201
    assert server.client.get(f"{NS}/pods/e1").json()["metadata"].get("deletionTimestamp") is None
    done = evict(server, "e1")
    assert done.code == 201 and done.json() == {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    evicted = server.client.get(f"{NS}/pods/e1").json()
    assert evicted["metadata"]["deletionTimestamp"]
    target = [c for c in evicted["status"]["conditions"] if c["type"] == "DisruptionTarget"][0]
    assert (target["status"], target["reason"], target["message"]) == ("True", "EvictionByEvictionAPI", "Eviction API: evicting")
    left = server.client.get(f"{PDBS}/keep").json()["status"]
    assert left["disruptionsAllowed"] == 0 and "e1" in left["disruptedPods"]
    set_status(server, f"{PDBS}/keep", currentHealthy=1)
    assert evict(server, "e2").json()["details"]["causes"][0]["message"] == "The disruption budget keep needs 1 healthy pods and has 1 currently"
    second = {"metadata": {"name": "keep-too"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "evict"}}}}
    assert server.client("POST", PDBS, second).code == 201
    assert evict(server, "e2").json()["message"] == "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    for path in (f"{PDBS}/keep", f"{PDBS}/keep-too", f"{NS}/pods/e1?gracePeriodSeconds=0", f"{NS}/pods/e2?gracePeriodSeconds=0"):
        server.client("DELETE", path)


class Kubelet:
    """A server with the endpoints of a kubelet that the API server uses."""

    def __init__(self, folder):
        self.pki = Pki(folder, "kubelets")
        self.client_pki = Pki(folder, "kubelet-clients")
        self.client = self.client_pki.issue("kube-apiserver")
        self.server = TlsServer(self.pki.issue_server("node"), self.client_pki.ca, self.answer)

    @staticmethod
    def answer(request, _body):
        if request.path.startswith("/containerLogs/default/p1/c"):
            request.send(200, "line one\nline two\n", "text/plain")
        elif request.path.startswith("/containerLogs/"):
            request.send(400, "the container is not ready", "text/plain")
        elif request.headers.get("Upgrade"):
            request.send_response(101)
            request.send_header("Upgrade", request.headers["Upgrade"])
            request.send_header("Connection", "Upgrade")
            request.end_headers()
            while data := request.rfile.read1(100):
                request.wfile.write(data.upper())
                request.wfile.flush()
            request.close_connection = True
        else:
            request.send(404, "what?", "text/plain")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kubelet")
    kubelet = Kubelet(folder / "pki")
    with mesh.running_server(folder, f"--kubelet-client-certificate={kubelet.client[0]}", f"--kubelet-client-key={kubelet.client[1]}",
                             f"--kubelet-certificate-authority={kubelet.pki.ca}", "--kubelet-preferred-address-types=InternalIP") as server:
        server.kubelet = kubelet
        assert server.client("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}}).code == 201
        set_status(server, "/api/v1/nodes/n1", addresses=[{"type": "InternalIP", "address": "127.0.0.1"}], daemonEndpoints={"kubeletEndpoint": {"Port": kubelet.server.port}})
        for name in ("p1", "p2", "alone"):
            assert server.client("POST", f"{NS}/pods", pod(name)).code == 201
        for name in ("p1", "p2"):
            assert bind(server, name, "n1").code == 201
        yield server
    kubelet.server.stop()


def test_logs(cluster):
    assert cluster.kubectl("logs", "p1", "--tail=5").stdout == "line one\nline two\n"
    _, path, _, client = cluster.kubelet.server.seen[-1]
    assert path == "/containerLogs/default/p1/c?tailLines=5" and client == "kube-apiserver"
    answer = cluster.client.get(f"{NS}/pods/p1/log")
    assert answer.code == 200 and answer.headers["Content-Type"] == "text/plain" and answer.body == "line one\nline two\n"
    broken = cluster.client.get(f"{NS}/pods/p2/log")
    assert broken.code == 400 and broken.json()["message"] == "the container is not ready"
    assert cluster.client.get(f"{NS}/pods/p1/log?container=x").json()["message"] == "container x is not valid for pod p1"
    assert cluster.client.get(f"{NS}/pods/p1/log?tailLines=-1").json()["message"] == (
        'PodLogOptions "p1" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0')
    wrong = cluster.client.get(f"{NS}/pods/p1/log?tailLines=many")
    assert wrong.code == 400 and wrong.json()["message"] == 'strconv.ParseInt: parsing "many": invalid syntax'
    both = cluster.client.get(f"{NS}/pods/p1/log?sinceTime=&sinceSeconds=5").json()
    assert both["message"] == 'PodLogOptions "p1" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified'
    assert cluster.client.get(f"{NS}/pods/alone/log").code == 204
    assert cluster.client.get(f"{NS}/pods/none/log").code == 404


def upgrade(server, method, path):
    """Sends an upgrade request. Returns the head of the response and the connection."""
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    connection = ssl._create_unverified_context().wrap_socket(raw)
    connection.sendall((f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {mesh.ADMIN_TOKEN}\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
                        "X-Stream-Protocol-Version: v4.channel.k8s.io\r\nContent-Length: 0\r\n\r\n").encode())
    head = b""
    while b"\r\n\r\n" not in head:
        data = connection.recv(1000)
        assert data, head
        head += data
    return head.decode(), connection


def test_exec_is_a_tunnel(cluster):
    head, connection = upgrade(cluster, "POST", f"{NS}/pods/p1/exec?command=sh&command=-c&stdin=true&stdout=true&container=c")
    assert head.startswith("HTTP/1.1 101")
    _, path, headers, _ = cluster.kubelet.server.seen[-1]
    assert path == "/exec/default/p1/c?command=sh&command=-c&input=1&output=1"
    assert {name.lower(): value for name, value in headers.items()}["x-stream-protocol-version"] == "v4.channel.k8s.io"
    for text in (b"hello", b"again"):
        connection.sendall(text)
        got = b""
        while len(got) < len(text):
            got += connection.recv(100)
        assert got == text.upper()
    connection.close()


def test_connect_refuses_in_the_words_of_the_reference(cluster):
    for subresource in ("exec?command=x&", "attach?", "portforward?"):
        refused = cluster.client("POST", f"{NS}/pods/alone/{subresource}stdout=1", b"")
        assert refused.code == 400 and refused.json()["message"] == "pod alone does not have a host assigned"
        assert cluster.client("POST", f"{NS}/pods/p1/{subresource}stdout=1", b"").json()["message"] == "Upgrade request required"
    assert cluster.client("PUT", f"{NS}/pods/p1/exec", {}).code == 405
    assert cluster.client.get("/api/v1/nodes/n1/proxy/healthz").json()["message"] == "address not allowed"
    assert cluster.client.get(f"{NS}/pods/p1/proxy/").json()["message"] == "address not allowed"
    assert cluster.client.get(f"{NS}/pods/http:p1:80:x/proxy/").json()["message"] == 'invalid pod request "http:p1:80:x"'
    assert cluster.client.get(f"{NS}/services/nope/proxy/").json()["message"] == 'endpoints "nope" not found'
    assert cluster.client.get("/api/v1/nodes/none/proxy/").json()["message"] == 'nodes "none" not found'
    # A user who may only read cannot get a shell with a WebSocket, which is a GET request.
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    role = {"metadata": {"name": "reads-pods"}, "rules": [{"apiGroups": [""], "resources": ["pods", "pods/exec"], "verbs": ["get"]}]}
    assert cluster.client("POST", f"{rbac}/clusterroles", role).code == 201
    binding = {"metadata": {"name": "reads-pods"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reads-pods"},
               "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}]}
    assert cluster.client("POST", f"{rbac}/clusterrolebindings", binding).code == 201
    reader = {"Impersonate-User": "reader", "Authorization": f"Bearer {mesh.ADMIN_TOKEN}"}
    mesh.wait_until(lambda: cluster.client.get(f"{NS}/pods/p1", headers=reader).code == 200, 5, "the role binding has an effect")
    assert cluster.client.get(f"{NS}/pods/p1/exec?command=x", headers=reader).code == 403

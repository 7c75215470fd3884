"""Servers for the attacks: kubelets, backends of services, and traps to which no process may connect."""
import base64
import json
import socket
import ssl
import threading

import mesh
from pki import Pki
from tls_server import TlsServer

NS = "/api/v1/namespaces/default"


def own_address():
    """Returns an address of this machine that is not a loopback address, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; only selects a route
            address = probe.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith("127.") else address


class Trap:
    """Listens on every address of this machine, including loopback, and counts the connections. There must be none."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.socket.bind(("::", 0))
        self.socket.listen(16)
        self.port = self.socket.getsockname()[1]
        self.connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, address = self.socket.accept()
            except OSError:
                return
            self.connections.append(address)
            connection.close()

    def stop(self):
        self.socket.close()


def pod(name):
    return {"metadata": {"name": name}, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]}}


def set_status(server, path, **status):
    """Writes fields of the status of an object. Returns the response."""
    return server.client("PATCH", f"{path}/status", {"status": status}, headers={"Content-Type": "application/merge-patch+json"})


def is_complete(answer):
    """Returns whether these bytes are a complete HTTP/1.1 response."""
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
    if fields.get(b"transfer-encoding", b"").strip() == b"chunked":
        return body.endswith(b"0\r\n\r\n")
    return len(body) >= int(fields.get(b"content-length", b"0"))


def raw_request(server, head, more=b"", until_closed=False):
    """Sends raw bytes over TLS. Returns the response and whether the server closed the connection. With `until_closed`, reads until the server closes
    the connection or sends nothing for 3 s; otherwise it returns after the first complete response."""
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=10 * mesh.SLOWDOWN)
    connection = ssl._create_unverified_context().wrap_socket(raw)
    connection.sendall(head + more)
    if until_closed:
        connection.settimeout(3 * mesh.SLOWDOWN)
    answer, closed = b"", False
    try:
        while until_closed or not is_complete(answer):
            data = connection.recv(4096)
            if not data:
                closed = True
                break
            answer += data
    except TimeoutError:
        pass
    except OSError:
        closed = True
    connection.close()
    return answer, closed


def upgrade_head(method, path, token=mesh.ADMIN_TOKEN, protocol="SPDY/3.1", **headers):
    """Returns the bytes of an upgrade request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}", "Connection: Upgrade", f"Upgrade: {protocol}"]
    if protocol == "websocket":
        lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: v5.channel.k8s.io"]
    else:
        lines += ["X-Stream-Protocol-Version: v4.channel.k8s.io"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if method != "GET":
        lines.append("Content-Length: 0")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


RESOURCES = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "sea.example.com/v1",
             "resources": [{"name": "fishes", "singularName": "fish", "namespaced": True, "kind": "Fish", "verbs": ["get", "list", "create", "watch"]}]}
APISERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
FISHES = "/apis/sea.example.com/v1/namespaces/default/fishes"


class World:
    """An API server with a kubelet on loopback (node n1, pod p1) and an external API server for sea.example.com/v1. Both call
    `answer(request)`, which a test replaces. Discovery of the external server always works."""

    def __init__(self, folder, *flags):
        self.kubelet_pki, self.client_pki = Pki(folder / "pki", "kubelets"), Pki(folder / "pki", "clients")
        self.sea_pki = Pki(folder / "pki", "sea")
        client = self.client_pki.issue("kube-apiserver")
        self.answer = lambda request: request.send(404, "nothing", "text/plain")
        self.kubelet = TlsServer(self.kubelet_pki.issue_server("node", "IP:127.0.0.1"), self.client_pki.ca, lambda request, _: self.answer(request))
        self.sea = TlsServer(self.sea_pki.issue_server("sea", "DNS:sea.default.svc"), self.client_pki.ca, self._sea)
        self.store = mesh.Store(folder / "store")
        self.server = mesh.KubeApiserver(folder, self.store.url, f"--kubelet-client-certificate={client[0]}", f"--kubelet-client-key={client[1]}",
                                         f"--kubelet-certificate-authority={self.kubelet_pki.ca}", "--kubelet-preferred-address-types=InternalIP",
                                         f"--proxy-client-cert-file={client[0]}", f"--proxy-client-key-file={client[1]}", *flags).start()
        self.client = self.server.client
        assert self.client("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}}).code == 201
        self.place_kubelet(self.kubelet.port)
        assert self.client("POST", f"{NS}/pods", pod("p1")).code == 201
        assert self.register_sea(self.sea.port)

    def _sea(self, request, _body):
        if request.path.split("?")[0] == "/apis/sea.example.com/v1":
            request.send(200, json.dumps(RESOURCES))
        else:
            self.answer(request)

    def place_kubelet(self, port):
        assert set_status(self.server, "/api/v1/nodes/n1", addresses=[{"type": "InternalIP", "address": "127.0.0.1"}],
                          daemonEndpoints={"kubeletEndpoint": {"Port": port}}).code == 200

    def register_sea(self, port, **spec):
        """Registers the external server and replaces an earlier one. Returns the condition of the APIService if it becomes available, or None."""
        self.client("DELETE", f"{APISERVICES}/v1.sea.example.com")
        service = {"metadata": {"name": "sea"}, "spec": {"type": "ExternalName", "externalName": "localhost"}}
        assert self.client("POST", f"{NS}/services", service).code in (201, 409)
        if not spec.get("insecureSkipTLSVerify"):
            spec.setdefault("caBundle", base64.b64encode(self.sea_pki.ca.read_bytes()).decode())
        spec = {"group": "sea.example.com", "version": "v1", "groupPriorityMinimum": 900, "versionPriority": 20,
                "service": {"namespace": "default", "name": "sea", "port": port}, **spec}
        assert self.client("POST", APISERVICES, {"metadata": {"name": "v1.sea.example.com"}, "spec": spec}).code == 201

        def settled():
            conditions = self.client.get(f"{APISERVICES}/v1.sea.example.com").json().get("status", {}).get("conditions") or [{}]
            return conditions[0] if conditions[0].get("reason") in ("Passed", "FailedDiscoveryCheck") else None

        condition = mesh.wait_until(settled, 15, "the aggregator requested the discovery of the external server")
        return condition if condition["status"] == "True" else None

    def stop(self):
        self.server.stop()
        self.store.stop()
        self.kubelet.stop()
        self.sea.stop()

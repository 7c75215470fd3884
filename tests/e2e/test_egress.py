"""--egress-selector-config-file: connections to etcd, to webhooks at a URL and to servers of the cluster leave through three proxies."""
import base64
import json
import socket
import time

import pytest

import mesh
from connect_proxy import ConnectProxy
from pki import Pki
from test_pod_subresources import NS, bind, pod, set_status
from tls_server import TlsServer

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
LIST = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "sea.example.com/v1", "resources": []}


class World:
    def __init__(self, folder):
        self.pki, self.clients = Pki(folder / "pki", "servers"), Pki(folder / "pki", "clients")
        certificate, key = self.clients.issue("kube-apiserver")
        self.cluster = ConnectProxy(certificate=self.pki.issue_server("proxy"), client_ca=self.clients.ca)
        self.control_plane = ConnectProxy(path=folder / "proxy.sock")
        self.etcd = ConnectProxy()
        self.server = TlsServer(self.pki.issue_server("sea", "DNS:sea.default.svc,DNS:localhost,IP:127.0.0.1"), self.clients.ca, self.answer)
        self.address = f"127.0.0.1:{self.server.port}"
        tls = {"caBundle": str(self.pki.ca), "clientCert": str(certificate), "clientKey": str(key)}
        config = folder / "egress.yaml"
        config.write_text(json.dumps({"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration", "egressSelections": [
            {"name": "cluster", "connection": {"proxyProtocol": "HTTPConnect", "transport": {"tcp": {"url": f"https://127.0.0.1:{self.cluster.port}", "tlsConfig": tls}}}},
            {"name": "controlplane", "connection": {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": str(self.control_plane.path)}}}},
            {"name": "etcd", "connection": {"proxyProtocol": "HTTPConnect", "transport": {"tcp": {"url": f"http://127.0.0.1:{self.etcd.port}"}}}}]}))
        self.store = mesh.Store(folder / "store")
        self.api = mesh.KubeApiserver(folder, self.store.url, f"--egress-selector-config-file={config}", f"--kubelet-certificate-authority={self.pki.ca}",
                                      f"--kubelet-client-certificate={certificate}", f"--kubelet-client-key={key}", "--kubelet-preferred-address-types=InternalIP",
                                      f"--proxy-client-cert-file={certificate}", f"--proxy-client-key-file={key}").start()
        self.client = self.api.client

    def answer(self, request, body):
        if request.path.startswith("/hook"):
            review = json.loads(body)
            request.send(200, json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {"uid": review["request"]["uid"], "allowed": True}}))
        elif request.path.startswith("/containerLogs"):
            request.send(200, "line\n", "text/plain")
        else:
            request.send(200, json.dumps(LIST))

    def drop_connections(self):
        """Closes connections that are kept alive, so that the next request goes through a proxy."""
        for connection in self.server.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def create(self, path, body):
        created = self.client("POST", path, body)
        assert created.code == 201, created.body

    def stop(self):
        self.api.stop()
        self.store.stop()
        self.server.stop()
        for proxy in (self.cluster, self.control_plane, self.etcd):
            proxy.stop()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("egress"))
    yield world
    world.stop()


def test_etcd_is_reached_through_its_proxy(world):
    assert set(world.etcd.asked) == {world.store.url.split("//")[1]}
    metrics = world.client.get("/metrics").body
    assert 'apiserver_egress_dialer_dial_start_total{protocol="http_connect",transport="tcp"}' in metrics
    assert 'apiserver_egress_dialer_dial_duration_seconds_bucket{protocol="http_connect",transport="tcp",le="12.5"}' in metrics


def test_kubelets_are_reached_through_the_proxy_of_the_cluster(world):
    world.create("/api/v1/nodes", {"metadata": {"name": "n"}})
    set_status(world.api, "/api/v1/nodes/n", addresses=[{"type": "InternalIP", "address": "127.0.0.1"}], daemonEndpoints={"kubeletEndpoint": {"Port": world.server.port}})
    mesh.wait_until(lambda: world.client("POST", f"{NS}/pods", pod("p")).code in (201, 409), 10, "the pod is created")
    assert bind(world.api, "p", "n").code == 201
    assert world.client.get(f"{NS}/pods/p/log").body == "line\n"
    assert world.cluster.asked[-1] == world.address


def test_webhooks_at_a_url_are_reached_through_the_proxy_of_the_control_plane(world):
    hook = {"name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
            "clientConfig": {"url": f"https://localhost:{world.server.port}/hook", "caBundle": base64.b64encode(world.pki.ca.read_bytes()).decode()},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}
    world.create(WEBHOOKS, {"metadata": {"name": "hooks"}, "webhooks": [hook]})
    asked = f"localhost:{world.server.port}"
    mesh.wait_until(lambda: world.client("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"generateName": "a"}}).code == 201 and asked in world.control_plane.asked,
                    10, "the webhook is called through the proxy")
    # The proxy is gone: the connection that is kept alive may serve one more call.
    world.control_plane.stop()
    world.drop_connections()
    refused = mesh.wait_until(lambda: (a := world.client("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"generateName": "a"}})).code == 500 and a, 10, "the webhook fails")
    assert f"dial unix {world.control_plane.path}: " in refused.json()["message"]
    assert world.client("DELETE", f"{WEBHOOKS}/hooks").code == 200


def test_aggregated_servers_fail_at_once_with_their_proxy(world):
    world.create("/api/v1/namespaces/default/services", {"metadata": {"name": "sea"}, "spec": {"type": "ExternalName", "externalName": "localhost"}})
    world.create(SERVICES, {"metadata": {"name": "v1.sea.example.com"}, "spec": {
        "group": "sea.example.com", "version": "v1", "groupPriorityMinimum": 900, "versionPriority": 20, "caBundle": base64.b64encode(world.pki.ca.read_bytes()).decode(),
        "service": {"namespace": "default", "name": "sea", "port": world.server.port}}})

    def available():
        conditions = world.client.get(f"{SERVICES}/v1.sea.example.com").json().get("status", {}).get("conditions") or [{}]
        return conditions[0].get("status"), conditions[0].get("message", "")

    mesh.wait_until(lambda: available()[0] == "True", 15, "the APIService is available")
    assert world.client.get("/apis/sea.example.com/v1/fishes").code == 200
    for answer, text in ((b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "code 407: 407 Proxy Authentication Required"),
                         (b"garbage\r\n\r\n", "malformed HTTP response"), (b"", "unexpected EOF")):
        world.cluster.answer = answer
        world.drop_connections()
        begun = time.monotonic()
        mesh.wait_until(lambda: text in available()[1], 20, f"the condition shows {text}")
        refused = world.client.get("/apis/sea.example.com/v1/fishes")
        assert refused.code == 503 and time.monotonic() - begun < 20
    world.cluster.answer = "hang"
    begun = time.monotonic()
    assert world.client.get("/apis/sea.example.com/v1/fishes").code == 503 and time.monotonic() - begun < 5, "an unavailable server is not asked"
    assert world.client.get("/api/v1/namespaces/default").code == 200
    world.cluster.answer = None
    mesh.wait_until(lambda: available()[0] == "True", 60, "the APIService is available again")
    assert 'apiserver_egress_dialer_dial_failure_count{protocol="http_connect",stage="proxy",transport="tcp"}' in world.client.get("/metrics").body

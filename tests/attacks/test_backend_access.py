"""Permissions for streams to a pod, and the authentication of kubelets and external API servers."""

import pytest

import mesh
from backends import FISHES, NS, World, raw_request, upgrade_head
from pki import Pki
from tls_server import TlsServer

RBAC = "/apis/rbac.authorization.k8s.io/v1"
STREAMS = ["exec?command=sh&stdin=true&stdout=true", "attach?stdout=true", "portforward?ports=80"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("access")
    world = World(folder)
    world.folder = folder
    yield world
    world.stop()


def grant(world, user, verbs):
    role = {"metadata": {"name": user}, "rules": [{"apiGroups": [""], "resources": ["pods", "pods/exec", "pods/attach", "pods/portforward"], "verbs": verbs}]}
    assert world.client("POST", f"{RBAC}/clusterroles", role).code == 201
    binding = {"metadata": {"name": user}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user},
               "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}
    assert world.client("POST", f"{RBAC}/clusterrolebindings", binding).code == 201
    headers = {"Impersonate-User": user, "Authorization": f"Bearer {mesh.ADMIN_TOKEN}"}
    mesh.wait_until(lambda: world.client.get(f"{NS}/pods/p1", headers=headers).code == 200, 5, "the role binding has an effect")


def test_reading_pods_is_no_right_to_run_commands(world):
    """kubernetes/kubernetes#133515: a WebSocket is opened with GET, for which the edge authorizes the verb `get`. A user with only this permission
    must get 403 for exec, attach and portforward over WebSocket, SPDY and GET without an upgrade. kube-apiserver v1.36 also requires `create`."""
    grant(world, "reader", ["get"])
    grant(world, "runner", ["get", "create"])
    world.answer = lambda request: request.send(418, "reached", "text/plain")
    before = len(world.kubelet.seen)
    for stream in STREAMS:
        for protocol in ("websocket", "SPDY/3.1"):
            for method in ("GET", "POST"):
                answer, _ = raw_request(world.server, upgrade_head(method, f"{NS}/pods/p1/{stream}", protocol=protocol, Impersonate_User="reader"))
                assert answer.startswith(b"HTTP/1.1 403 "), (method, stream, protocol, answer)
                assert b"cannot create resource" in answer
        plain = world.client.get(f"{NS}/pods/p1/{stream}", headers={"Impersonate-User": "reader"})
        assert plain.code == 403
    assert len(world.kubelet.seen) == before
    for stream in STREAMS:  # the user with `create` is allowed
        answer, _ = raw_request(world.server, upgrade_head("GET", f"{NS}/pods/p1/{stream}", protocol="websocket", Impersonate_User="runner"))
        # The WebSockets of exec and attach end in the server, which then connects to the kubelet.
        assert answer.startswith(b"HTTP/1.1 418 " if stream.startswith("portforward") else b"HTTP/1.1 101 "), answer
    mesh.wait_until(lambda: len(world.kubelet.seen) == before + len(STREAMS), 10, "the kubelet is asked")


def bad_certificates(world, pki, names, which):
    strangers = Pki(world.folder / "pki", f"strangers-of-{which}")
    return {"wrong name": pki.issue_server(f"{which}-wrong", "DNS:other.example,IP:10.9.9.9"), "unknown CA": strangers.issue_server(f"{which}-stranger", names),
            "self-signed": (strangers.ca, strangers.key), "expired": pki.issue_server(f"{which}-expired", names, days=("-days", "-1"))}


def test_kubelets_must_prove_who_they_are(world):
    """A server at the address of a node has a certificate with another name, of another CA, self-signed or expired. With
    --kubelet-certificate-authority it gets no requests for logs or streams. With insecureSkipTLSVerifyBackend, requests for logs are sent, because
    the user requests that."""
    world.answer = lambda request: request.send(200, "a line\n", "text/plain")
    assert world.client.get(f"{NS}/pods/p1/log").body == "a line\n"
    for why, certificate in bad_certificates(world, world.kubelet_pki, "IP:127.0.0.1", "node").items():
        impostor = TlsServer(certificate, world.client_pki.ca, lambda request, _: request.send(200, "a line\n", "text/plain"))
        world.place_kubelet(impostor.port)
        try:
            log = world.client.get(f"{NS}/pods/p1/log")
            assert log.code == 500 and "tls" in log.json()["message"], (why, log.body)
            answer, _ = raw_request(world.server, upgrade_head("POST", f"{NS}/pods/p1/exec?command=x&stdout=true"))
            assert answer.startswith(b"HTTP/1.1 500 ") and b"error dialing backend: tls" in answer, (why, answer)
            assert not impostor.seen, why
            assert world.client.get(f"{NS}/pods/p1/log?insecureSkipTLSVerifyBackend=true").body == "a line\n", why
        finally:
            impostor.stop()
    world.place_kubelet(world.kubelet.port)


def test_external_servers_must_prove_who_they_are(world):
    """The same for the server of an APIService: it is not available and gets no requests, so no users or objects are disclosed to it. With
    insecureSkipTLSVerify it is used."""
    good = world.sea.port
    for why, certificate in bad_certificates(world, world.sea_pki, "DNS:sea.default.svc", "sea").items():
        impostor = TlsServer(certificate, world.client_pki.ca, world._sea)
        try:
            assert world.register_sea(impostor.port) is None, why
            assert world.client.get(f"{FISHES}/cod").code == 503, why
            assert not impostor.seen, why
            if why == "self-signed":
                assert world.register_sea(impostor.port, insecureSkipTLSVerify=True), why
                world.answer = lambda request: request.send(200, "{}")
                assert world.client.get(f"{FISHES}/cod").code == 200
        finally:
            impostor.stop()
    assert world.register_sea(good)

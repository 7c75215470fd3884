"""Backends that redirect, and connections that stay open after a rejected upgrade: CVE-2022-3172, CVE-2020-8559, CVE-2018-1002102,
CVE-2020-8561, CVE-2018-1002105.

If a backend could redirect a client, the client would send its credentials to a server that the backend chooses. If a backend could redirect the API
server, the API server would use its own credentials there. The redirects lead to a trap to which no process may connect."""
import base64
import http.server
import json
import threading

import pytest

import mesh
from backends import FISHES, NS, World, own_address, pod, raw_request, set_status, upgrade_head
from pki import Pki
from tls_server import TlsServer

CODES = [301, 302, 303, 307, 308]
REFUSAL = "the backend attempted to redirect this request, which is not permitted"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("redirects"))
    yield world
    world.stop()


def redirect_to(trap, code):
    return lambda request: request.send(code, "moved", "text/plain", Location=f"https://127.0.0.1:{trap.port}/stolen")


@pytest.mark.parametrize("code", CODES)
def test_external_server_redirects_the_client(world, trap, code):
    """CVE-2022-3172: an external API server responds with a redirect. The client gets 502 with the message of kube-apiserver and no Location, for
    reads, lists, writes and watches."""
    world.answer = redirect_to(trap, code)
    for method, path, body in (("GET", f"{FISHES}/cod", None), ("GET", FISHES, None), ("POST", FISHES, {"kind": "Fish"}), ("GET", f"{FISHES}?watch=true", None)):
        answer, _ = raw_request(world.server, plain_head(method, path, body))
        assert answer.startswith(b"HTTP/1.1 502 ") and REFUSAL.encode() in answer, (method, path, answer)
        assert b"location:" not in answer.lower() and b"stolen" not in answer
    assert not trap.connections


def test_redirects_can_be_allowed(tmp_path, trap):
    """Not an attack: with --aggregator-reject-forwarding-redirect=false, the operator lets clients follow the redirects of external servers.
    The API server itself does not follow them."""
    world = World(tmp_path, "--aggregator-reject-forwarding-redirect=false")
    try:
        world.answer = redirect_to(trap, 307)
        for method, path, body in (("GET", f"{FISHES}/cod", None), ("GET", FISHES, None), ("POST", FISHES, {"kind": "Fish"})):
            answer, _ = raw_request(world.server, plain_head(method, path, body))
            assert answer.startswith(b"HTTP/1.1 307 ") and f"location: https://127.0.0.1:{trap.port}/stolen".encode() in answer.lower(), (method, path, answer)
        answer, _ = raw_request(world.server, upgrade_head("GET", f"{FISHES}/cod"), until_closed=True)
        assert answer.startswith(b"HTTP/1.1 503 ") and b"location:" not in answer.lower()
        assert not trap.connections
    finally:
        world.stop()


def plain_head(method, path, body=None):
    data = json.dumps(body).encode() if body else b""
    return (f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {mesh.ADMIN_TOKEN}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n").encode() + data


def test_not_modified_is_no_redirect(world):
    """Not an attack: 304 has no Location and is forwarded."""
    world.answer = lambda request: request.send(304, "", "text/plain")
    answer, _ = raw_request(world.server, plain_head("GET", f"{FISHES}/cod"))
    assert answer.startswith(b"HTTP/1.1 304 ")


@pytest.mark.parametrize("code", CODES)
def test_redirected_upgrades(world, trap, code):
    """CVE-2020-8559: a kubelet or an external server responds to an upgrade request with a redirect. The client gets neither a 3xx status
    nor a Location; the status codes are those of kube-apiserver."""
    world.answer = redirect_to(trap, code)
    paths = [("POST", f"{NS}/pods/p1/exec?command=x&stdout=true", 500), ("GET", f"{NS}/pods/p1/exec?command=x&stdout=true", 500),
             ("POST", f"{NS}/pods/p1/attach?stdout=true", 500), ("POST", f"{NS}/pods/p1/portforward?ports=80", 500), ("GET", f"{FISHES}/cod", 503)]
    for method, path, expected in paths:
        answer, closed = raw_request(world.server, upgrade_head(method, path), until_closed=True)
        assert answer.startswith(f"HTTP/1.1 {expected} ".encode()), (path, answer)
        assert f"invalid upgrade response: status code {code}".encode() in answer
        assert b"location:" not in answer.lower() and b"stolen" not in answer and closed
    assert not trap.connections


@pytest.mark.parametrize("code", CODES)
def test_redirected_logs(world, trap, code):
    """CVE-2018-1002102: a kubelet redirects a request for logs. The API server does not follow it with its client certificate."""
    world.answer = redirect_to(trap, code)
    answer = world.client.get(f"{NS}/pods/p1/log")
    assert answer.code == 500 and "Location" not in answer.headers
    assert answer.json()["message"] == f'Get "https://127.0.0.1:{trap.port}/stolen": redirects forbidden'
    assert not trap.connections


def test_proxied_pods_may_redirect_below_their_proxy(world, trap):
    """As in kube-apiserver, proxied pods, services and nodes may redirect their clients if there is no upgrade; a redirect to the same
    server is rewritten to the path of the proxy. With an upgrade they may not redirect."""
    address = own_address()
    if not address:
        pytest.skip("this machine has only loopback addresses")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(302)
            self.send_header("Location", {"/same": f"http://{address}:{port}/there", "/path": "/there"}.get(self.path, "https://elsewhere.example/x"))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    backend = http.server.ThreadingHTTPServer((address, 0), Handler)
    port = backend.server_address[1]
    threading.Thread(target=backend.serve_forever, daemon=True).start()
    assert world.client("POST", f"{NS}/pods", pod("web")).code == 201
    assert set_status(world.server, f"{NS}/pods/web", podIP=address, podIPs=[{"ip": address}]).code == 200
    base = f"{NS}/pods/web:{port}/proxy"
    for path, location in (("/same", f"{base}/there"), ("/path", f"{base}/there"), ("/other", "https://elsewhere.example/x")):
        answer, _ = raw_request(world.server, plain_head("GET", base + path))
        head = answer.decode().lower()
        assert head.startswith("http/1.1 302 ") and f"location: {location}\r\n" in head, answer
    answer, _ = raw_request(world.server, upgrade_head("GET", f"{base}/same", protocol="websocket"))
    assert answer.startswith(b"HTTP/1.1 500 ") and b"location:" not in answer.lower()
    backend.shutdown()


SMUGGLED = f"GET /apis/sea.example.com/v1/smuggled HTTP/1.1\r\nHost: x\r\nX-Remote-User: system:admin\r\nAuthorization: Bearer {mesh.ADMIN_TOKEN}\r\n\r\n".encode()


@pytest.mark.parametrize("path", [f"{FISHES}/cod", f"{NS}/pods/p1/exec?command=x&stdout=true", f"{NS}/pods/p1/portforward?ports=80"])
@pytest.mark.parametrize("code", [403, 400, 500, 200])
def test_second_request_after_a_refused_upgrade(world, path, code):
    """CVE-2018-1002105: the backend rejects the upgrade. Bytes that the client sends after its request must not reach the backend on the
    connection that the API server has authenticated, and the connection of the client is closed after one response."""
    world.answer = lambda request: request.send(code, "no", "text/plain")
    before = len(world.sea.seen) + len(world.kubelet.seen)
    answer, closed = raw_request(world.server, upgrade_head("GET", path), SMUGGLED, until_closed=True)
    assert closed and answer.count(b"HTTP/1.1 ") == 1 and b" 101 " not in answer.split(b"\r\n")[0], answer
    expected = code if code >= 400 else 503 if "sea.example.com" in path else 500
    assert answer.startswith(f"HTTP/1.1 {expected} ".encode()), answer
    seen = [request for request in world.sea.seen + world.kubelet.seen if "smuggled" in request[1]]
    assert not seen and len(world.sea.seen) + len(world.kubelet.seen) > before


def test_second_request_after_a_list_or_watch_that_ignores_an_upgrade(world):
    """Lists and watches have no upgrade and are answered completely, also if they are large. Bytes that the client sends after its request are never a second
    request: the connection is closed after one response."""
    for number in range(8):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"large-{number}"}, "data": {"x": "x" * 60_000}}
        assert world.client("POST", f"{NS}/configmaps", body).code == 201
    for path in (f"{NS}/configmaps", f"{NS}/configmaps?watch=true&timeoutSeconds=1"):
        answer, closed = raw_request(world.server, upgrade_head("GET", path), SMUGGLED, until_closed=True)
        assert closed and answer.startswith(b"HTTP/1.1 200 ") and answer.count(b"HTTP/1.1 ") == 1, (path, answer[:500])
    assert answer.count(b"x" * 1000) >= 8 * 59 and answer.count(b'"name":"large-') >= 8


def test_second_request_after_a_websocket_watch(world):
    """A watch over WebSocket, or a refused one: bytes that are no frames are never a second request."""
    for origin, status in (("http://localhost", 101), ("null", 403)):
        head = upgrade_head("GET", f"{NS}/configmaps?watch=true&timeoutSeconds=30", protocol="websocket", Origin=origin)
        answer, closed = raw_request(world.server, head, SMUGGLED, until_closed=True)
        assert closed and answer.startswith(f"HTTP/1.1 {status} ".encode()) and answer.count(b"HTTP/1.1 ") == 1, answer[:500]


def review_server(folder, pki, answer):
    """Returns a webhook and the kubeconfig with which the API server calls it."""
    server = TlsServer(pki.issue_server("hook"), pki.ca, answer)
    config = {"apiVersion": "v1", "kind": "Config", "current-context": "w", "users": [{"name": "w", "user": {}}],
              "clusters": [{"name": "w", "cluster": {"server": f"https://127.0.0.1:{server.port}/review", "certificate-authority": str(pki.ca)}}],
              "contexts": [{"name": "w", "context": {"cluster": "w", "user": "w"}}]}
    path = folder / "hook.json"
    path.write_text(json.dumps(config))
    return server, path


def test_redirected_webhooks(tmp_path, trap):
    """CVE-2020-8561, not fixed in kube-apiserver: the webhooks for authentication and authorization respond with a redirect. The redirect is not
    followed, and the call fails: the token is unknown and the request is denied."""
    pki = Pki(tmp_path / "pki", "hooks")
    hook, config = review_server(tmp_path, pki, lambda request, _body: redirect_to(trap, 302)(request))
    store = mesh.Store(tmp_path / "store")
    server = mesh.KubeApiserver(tmp_path, store.url, f"--authentication-token-webhook-config-file={config}", "--authentication-token-webhook-version=v1",
                                "--authorization-mode=RBAC,Webhook", f"--authorization-webhook-config-file={config}", "--authorization-webhook-version=v1")
    server.arguments.remove("--authorization-mode=RBAC")
    server.start()
    try:
        assert mesh.Client(server.url, token="a-token-for-the-webhook").get("/api/v1/namespaces").code == 401
        asked = len(hook.seen)
        assert asked > 0
        answer = server.client.get("/api/v1/secrets", headers={"Impersonate-User": "jane", "Authorization": f"Bearer {mesh.ADMIN_TOKEN}"})
        assert answer.code in (403, 500) and "SecretList" not in answer.body
        assert len(hook.seen) > asked and not trap.connections
    finally:
        server.stop()
        store.stop()
        hook.stop()


@pytest.mark.parametrize("code", CODES)
def test_redirected_admission_webhooks(world, trap, tmp_path, code):
    """CVE-2020-8561 for admission: the redirect of a webhook is a failure, for which the failure policy decides. The object is not sent to the other server."""
    hook = Pki(tmp_path, "hook")
    server = TlsServer(hook.issue_server("hook", san="IP:127.0.0.1"), hook.ca, lambda request, body: redirect_to(trap, code)(request))
    configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
    maps = f"{NS}/configmaps"
    try:
        for policy, expected in (("Fail", 500), ("Ignore", 201)):
            webhook = {"name": "redirects.webhooks.test", "clientConfig": {"url": f"https://127.0.0.1:{server.port}/", "caBundle": base64.b64encode(hook.ca.read_bytes()).decode()},
                       "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": policy,
                       "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["configmaps"]}]}
            assert world.client("POST", configurations, {"metadata": {"name": "redirects"}, "webhooks": [webhook]}).code == 201
            before = len(server.seen)

            def reviewed():
                answer = world.client("POST", f"{maps}?dryRun=All", {"metadata": {"name": "m"}})
                return answer if len(server.seen) > before else None

            answer = mesh.wait_until(reviewed, 10, "the webhook is called")
            assert answer.code == expected, answer.body
            assert expected == 201 or 'failed calling webhook "redirects.webhooks.test"' in answer.json()["message"]
            assert world.client("DELETE", f"{configurations}/redirects").code == 200
    finally:
        server.stop()
    assert not trap.connections

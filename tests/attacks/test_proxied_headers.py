"""Headers that the API server forwards to a backend or back: forged identities, credentials, and internal headers of the mesh."""
import base64
import http.server
import threading

import pytest

import mesh
from backends import FISHES, NS, World, own_address, pod, raw_request, set_status, upgrade_head

# Headers with which a client may try to forge an identity. Many servers treat an underscore in the name of a header as a dash.
FORGED = ["X-Remote-User", "X-Remote-Group", "X-Remote-Uid", "X-Remote-Extra-Scopes", "X_Remote_User", "X-Remote_User", "X_Remote_Group", "x_remote_extra_scopes",
          "X_Remote-Uid", "Impersonate_User", "Impersonate-_Group", "X_Forwarded_Client_Cert", "X-Forwarded-Client-Cert", "X-Envoy-External-Address",
          "X_Envoy_Original_Path", "X-Apimesh-Audit-Annotation", "X_Apimesh_Watch", "X-Apimesh-Memory", "X-Apimesh-Watch-Timeout"]
LIE = "system:admin-by-a-forged-header"
TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io." + base64.urlsafe_b64encode(mesh.ADMIN_TOKEN.encode()).decode().rstrip("=")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("headers"), "--requestheader-username-headers=X-Gate-User,X-Remote-User")
    yield world
    world.stop()


def forged_lines():
    return "".join(f"{name}: {LIE}\r\n" for name in FORGED) + f"X-Gate-User: {LIE}\r\nX_Gate_User: {LIE}\r\n"


def request_head(method, path, lines="", close=True):
    return (f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {mesh.ADMIN_TOKEN}\r\n{'Connection: close' if close else 'Connection: Upgrade'}\r\n"
            f"{lines}\r\n").encode()


class Recorder:
    """A response function that records the raw headers of the last request, except downloads of OpenAPI documents, which the mesh requests by itself."""

    def __init__(self, code=200, **headers):
        self.code, self.headers, self.raw = code, headers, None

    def __call__(self, request):
        if not request.path.startswith("/openapi/"):
            self.raw = [(name, value) for name, value in request.headers.items()]
        request.send(self.code, "{}", **self.headers)

    def values(self, name):
        return [value for key, value in self.raw if key.lower() == name]


def check_nothing_forged(raw):
    text = str(raw)
    assert LIE not in text, text
    assert mesh.ADMIN_TOKEN not in text and TOKEN_PROTOCOL not in text


@pytest.mark.parametrize("method, path", [("GET", f"{FISHES}/cod"), ("GET", FISHES), ("POST", FISHES), ("GET", f"{FISHES}?watch=true")])
def test_external_servers_get_the_identity_that_was_checked(world, method, path):
    """An external API server trusts X-Remote headers that are sent with the client certificate of the mesh. It gets exactly one user, the
    authenticated one, whatever such headers the client sends, and no credentials of the client."""
    recorder = world.answer = Recorder()
    answer, _ = raw_request(world.server, request_head(method, path, forged_lines() + "Cookie: session=secret\r\n"))
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    check_nothing_forged(recorder.raw)
    assert recorder.values("x-remote-user") == ["admin"] and recorder.values("x-remote-uid") == ["admin-uid"]
    assert recorder.values("x-remote-group") == ["system:masters", "system:authenticated"]
    names = {name.lower() for name, _ in recorder.raw}
    assert not names & {"authorization", "cookie", "x-forwarded-client-cert"} and not any(name.startswith("x-apimesh-") or "_" in name for name in names)


@pytest.mark.parametrize("path", [f"{FISHES}/cod", f"{NS}/pods/p1/exec?command=x&stdout=true", f"{NS}/pods/p1/portforward?ports=80"])
def test_upgrades_carry_no_forged_identity(world, path):
    """The same for upgrade requests. A bearer token among the WebSocket protocols, as browsers send it, is not forwarded. The WebSocket of exec ends in
    the server, which connects to the kubelet by SPDY."""
    translated = "/exec" in path
    recorder = world.answer = Recorder(403)
    lines = forged_lines() + f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: v5.channel.k8s.io, {TOKEN_PROTOCOL}\r\n"
    answer, _ = raw_request(world.server, request_head("GET", path, lines, close=False))
    assert answer.startswith(b"HTTP/1.1 101 " if translated else b"HTTP/1.1 403 "), answer
    assert TOKEN_PROTOCOL.encode() not in answer
    mesh.wait_until(lambda: recorder.raw, 10, "the backend is asked")
    check_nothing_forged(recorder.raw)
    assert recorder.values("upgrade") == ["SPDY/3.1" if translated else "websocket"]
    assert recorder.values("x-remote-user") == (["admin"] if "sea.example.com" in path else [])


def test_headers_of_one_connection_stay_there(world):
    """Hop-by-hop headers, also those that the Connection header lists, do not reach the backend. A client cannot remove the headers with the
    identity by listing them in Connection."""
    recorder = world.answer = Recorder()
    head = (f"GET {FISHES}/cod HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {mesh.ADMIN_TOKEN}\r\nConnection: close, X-Listed, X-Remote-User, X-Remote-Group\r\n"
            "X-Listed: a\r\nX-Kept: b\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nProxy-Authorization: Basic eDp5\r\n\r\n").encode()
    answer, _ = raw_request(world.server, head)
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    assert recorder.values("x-kept") == ["b"] and recorder.values("x-remote-user") == ["admin"]
    for name in ("x-listed", "keep-alive", "te", "proxy-authorization"):
        assert recorder.values(name) == [], name


ANSWER = {"Set-Cookie": "session=stolen", "Strict-Transport-Security": "max-age=0", "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "true",
          "X-Apimesh-Audit-Annotation": "forged=yes", "X-Apimesh-Watch-Timeout": "1", "Keep-Alive": "timeout=5", "X-Kept": "b"}


def names_of(answer):
    return {line.split(b":")[0].decode().lower() for line in answer.split(b"\r\n\r\n")[0].split(b"\r\n")[1:]}


@pytest.mark.parametrize("code", [200, 404])
@pytest.mark.parametrize("path", [f"{FISHES}/cod", FISHES])
def test_answers_of_external_servers_set_no_policy(world, path, code):
    """Cookies, CORS and HSTS headers of an external server would apply to the host of the API server. Internal headers of the mesh would change the
    audit event or a watch. None of them is forwarded to the client."""
    world.answer = Recorder(code, **ANSWER)
    answer, _ = raw_request(world.server, request_head("GET", path))
    names = names_of(answer)
    assert answer.startswith(f"HTTP/1.1 {code} ".encode()) and "x-kept" in names
    assert not names & {name.lower() for name in ANSWER if name != "X-Kept"}, answer
    refused, _ = raw_request(world.server, upgrade_head("GET", path, protocol="websocket"))
    assert not names_of(refused) & {name.lower() for name in ANSWER if name != "X-Kept"}, refused


def test_proxied_pods_see_and_set_what_the_reference_lets_them(world):
    """pods/proxy forwards cookies in both directions, as in kube-apiserver, because web pages need them. It does not forward identities, credentials,
    CORS and HSTS headers, and internal headers of the mesh."""
    address = own_address()
    if not address:
        pytest.skip("this machine has only loopback addresses")
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(list(self.headers.items()))
            self.send_response(200)
            for name, value in ANSWER.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    backend = http.server.ThreadingHTTPServer((address, 0), Handler)
    threading.Thread(target=backend.serve_forever, daemon=True).start()
    assert world.client("POST", f"{NS}/pods", pod("web")).code == 201
    assert set_status(world.server, f"{NS}/pods/web", podIP=address, podIPs=[{"ip": address}]).code == 200
    path = f"{NS}/pods/web:{backend.server_address[1]}/proxy/x"
    answer, _ = raw_request(world.server, request_head("GET", path, forged_lines() + "Cookie: mine=1\r\nX-Kept: b\r\n"))
    backend.shutdown()
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    check_nothing_forged(seen[-1])
    sent = {name.lower(): value for name, value in seen[-1]}
    assert sent["cookie"] == "mine=1" and sent["x-kept"] == "b" and "x-remote-user" not in sent and "authorization" not in sent
    names = names_of(answer)
    assert {"set-cookie", "x-kept"} <= names
    assert not names & {"strict-transport-security", "access-control-allow-origin", "access-control-allow-credentials", "x-apimesh-audit-annotation"}


@pytest.mark.parametrize("container", ["../c", "c/../../../exec/default/p1/c", "..", ".", "c/", "/c", "c%2f..", "c?x=y", "other"])
def test_container_parameter_is_a_name(world, container):
    """CVE-2015-7528: the container parameter becomes part of the path of the request to the kubelet. Only names of containers of the pod are accepted."""
    world.answer = Recorder()
    before = len(world.kubelet.seen)
    for path in (f"{NS}/pods/p1/log?container=", f"{NS}/pods/p1/exec?command=x&container=", f"{NS}/pods/p1/attach?stdout=true&container="):
        encoded = "".join(f"%{byte:02x}" for byte in container.encode())
        answer, _ = raw_request(world.server, request_head("GET", path + encoded))
        assert answer.startswith(b"HTTP/1.1 400 ") and b"is not valid for pod p1" in answer, answer
    assert len(world.kubelet.seen) == before


@pytest.mark.parametrize("time", ["2026-01-01T00:00:00Z&follow=true", "x&tailLines=1", "2026-01-01T00:00:00Z#", "/../../exec"])
def test_log_options_add_no_parameters(world, time):
    """sinceTime becomes part of the URL of the request to the kubelet. Text that is not a time is rejected, so that it cannot add unchecked parameters."""
    world.answer = Recorder()
    before = len(world.kubelet.seen)
    encoded = "".join(f"%{byte:02x}" for byte in time.encode())
    answer, _ = raw_request(world.server, request_head("GET", f"{NS}/pods/p1/log?sinceTime={encoded}"))
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert len(world.kubelet.seen) == before

"""External API servers, kubelets and pods that answer with malformed or endless messages, and clients that abuse the connections to them."""
import pytest

import backends
import mesh
from backends import FISHES, NS, World, own_address, pod, raw_request, set_status
from cost import Cost

MEGABYTE = 1 << 20
AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("servers"))
    yield world
    world.stop()


def request_head(method, path, *lines):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {mesh.ADMIN_TOKEN}", *lines, "", ""]).encode()


class Recorder:
    """Records the headers of requests. Agrees to every upgrade."""

    def __init__(self):
        self.seen = []

    def __call__(self, request):
        self.seen.append({name.lower(): value for name, value in request.headers.items()})
        if "upgrade" not in self.seen[-1]:
            return request.send(200, "{}")
        request.send_response(101)
        request.send_header("Connection", "Upgrade")
        request.send_header("Upgrade", request.headers["upgrade"])
        request.end_headers()
        request.close_connection = True


@pytest.mark.parametrize("upgrade", ["h2c", "websocket, H2C"])
@pytest.mark.parametrize("path", [f"{FISHES}/cod", FISHES, "/api/v1/nodes/n1/proxy/pods", "pod"])
def test_upgrades_to_http2_are_ignored(world, path, upgrade):
    """Attack: ask for an upgrade to HTTP/2 without TLS (h2c smuggling). A server that agrees would accept any requests on the connection, which the
    mesh has authenticated with its own certificate; to an external API server, the attacker could send any X-Remote-User. Expected: the upgrade
    is not forwarded, the request is answered as if it had none, and bytes that follow it are not a second request. kube-apiserver forwards such upgrades."""
    # The node is on loopback, to which proxies do not connect, and nothing listens on the port of the pod.
    if path == "pod":
        address = own_address()
        if not address:
            pytest.skip("this machine has only loopback addresses, which pods may not have")
        world.client("POST", f"{NS}/pods", pod("p2"))
        set_status(world.server, f"{NS}/pods/p2", podIP=address, podIPs=[{"ip": address}])
        path = f"{NS}/pods/p2:1/proxy/x"
    recorder = world.answer = Recorder()
    second = b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n"
    head = request_head("GET", path, "Connection: Upgrade, HTTP2-Settings", f"Upgrade: {upgrade}", "HTTP2-Settings: AAMAAABk")
    answer, closed = raw_request(world.server, head, second, True)
    assert answer.split()[1] == (b"400" if "/nodes/" in path else b"503" if "/proxy/" in path else b"200"), answer
    assert answer.count(b"HTTP/1.1 ") == 1 and closed
    assert all("upgrade" not in seen and "http2-settings" not in seen for seen in recorder.seen)


def test_trailers_are_no_headers(world):
    """Attack: send identity headers as trailers, after the body. Expected: they do not reach the external server."""
    recorder = world.answer = Recorder()
    trailers = b"2\r\n{}\r\n0\r\nX-Remote-User: liar\r\nX-Remote-Group: system:masters\r\n\r\n"
    head = request_head("POST", FISHES, "Transfer-Encoding: chunked", "Trailer: X-Remote-User", "Connection: close")
    answer, _ = raw_request(world.server, head, trailers, True)
    assert answer.split()[1] == b"200"
    assert "liar" not in str(recorder.seen) and recorder.seen[0]["x-remote-user"] == "admin"


def bytes_of(pieces):
    """Returns a response function that writes raw bytes and closes the connection."""
    def answer(request):
        request.close_connection = True
        try:
            for piece in pieces():
                request.wfile.write(piece)
            request.wfile.flush()
        except OSError:
            pass  # the API server has closed the connection
    return answer


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LONG = [b"x" * 65536] * 640  # 40 MB
ENDLESS = {"interim responses": lambda: [b"HTTP/1.1 100 Continue\r\n\r\n" * 1000] * 200,
           "a header": lambda: [b"HTTP/1.1 200 OK\r\nX: ", *LONG],
           "headers": lambda: [b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n" * 10_000] * 600],
           "a chunk extension": lambda: [CHUNKED, b"2;", *LONG, b"\r\n{}\r\n0\r\n\r\n"],
           "a trailer": lambda: [CHUNKED, b"2\r\n{}\r\n0\r\nX: ", *LONG, b"\r\n\r\n"],
           "a status line": lambda: [b"HTTP/1.1 200 ", *LONG, b"\r\n\r\n"]}


@pytest.mark.parametrize("what", ENDLESS)
def test_answers_without_end_take_bounded_memory(world, what):
    """Attack: an external API server answers with 40 MB of headers, or of anything else that is kept until it is complete. Expected: an error, or the
    end of the response, after at most 20 MB. Why: its owner has no rights on the API server, which must not run out of memory."""
    world.answer = bytes_of(ENDLESS[what])
    with Cost(world.server) as cost:
        answer, closed = raw_request(world.server, request_head("GET", f"{FISHES}/cod", "Connection: close"), b"", True)
    assert closed and cost.memory < 20 * MEGABYTE, (answer[:200], cost.by_process)


FRAMINGS = {"two lengths": b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", "a second response": b"Content-Length: 2\r\n\r\n{}",
            "a bare line feed": b"X: a\nSet-Cookie: b=c\r\nContent-Length: 2\r\n\r\n{}"}


@pytest.mark.parametrize("framing", FRAMINGS)
def test_answers_are_not_split(world, framing):
    """Attack: an external API server sends a response that programs delimit differently, followed by a forged one. Expected: the client gets one
    response, and nothing of the forged one. Why: the next response on the connection would answer the request of another user."""
    forged = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
    world.answer = bytes_of(lambda: [b"HTTP/1.1 200 OK\r\n" + FRAMINGS[framing] + forged])
    answer, _ = raw_request(world.server, request_head("GET", f"{FISHES}/cod", "Connection: close"), b"", True)
    assert answer.count(b"HTTP/1.1 ") == 1 and b"forged" not in answer and b"Set-Cookie" not in answer


def test_discovery_of_an_external_server_is_bounded(world, monkeypatch):
    """Attack: the discovery of an external API server lists 40,000 resources, in 7 MB. Expected: it is unavailable, and its resources are in no document.
    Why: discovery is merged for all clients, on the thread that serves them, whenever it changes."""
    resource = {"singularName": "", "namespaced": True, "kind": "Fish", "verbs": ["get", "list"], "shortNames": ["x" * 100]}
    many = {**backends.RESOURCES, "resources": [{"name": f"fishes{i}", **resource} for i in range(40_000)]}
    before = len(world.client.get("/apis", headers=AGGREGATED).body)
    monkeypatch.setattr(backends, "RESOURCES", many)
    with Cost(world.server) as cost:
        assert world.register_sea(world.sea.port) is None
    condition = world.client.get(f"{backends.APISERVICES}/v1.sea.example.com").json()["status"]["conditions"][0]
    assert condition["reason"] == "FailedDiscoveryCheck" and "bytes" in condition["message"]
    assert len(world.client.get("/apis", headers=AGGREGATED).body) < before + 10_000
    assert cost.memory < 64e6, cost.by_process
    monkeypatch.undo()
    assert world.register_sea(world.sea.port)

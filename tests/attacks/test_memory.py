"""Anonymous requests must not exhaust the memory of any process. Values that a client can choose (paths, queries, tokens, names,
methods, headers) are cached only by their digest or not at all, and every cache has a limit in bytes."""
import http.client
import itertools
import random
import ssl

import pytest

import cost
import mesh

LIMIT = 50 << 20
COUNTER = itertools.count(random.getrandbits(40))


def text(length):
    """Returns letters and digits that were not used before."""
    return f"{next(COUNTER):012x}".rjust(length, "x")[-length:]


class Connection:
    """A TLS connection for many requests."""

    def __init__(self, server):
        self.server = server
        self.open()

    def open(self):
        self.connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, context=ssl._create_unverified_context(), timeout=20)

    def send(self, method, path, headers=None):
        """Sends a request and returns the status code. The server may close the connection after any response."""
        for attempt in range(2):
            try:
                self.connection.request(method, path, headers=headers or {})
                answer = self.connection.getresponse()
                answer.read()
                if answer.will_close:
                    self.open()
                return answer.status
            except (http.client.HTTPException, OSError):
                self.connection.close()
                self.open()
                if attempt:
                    raise


def long_path(i):
    return "GET", f"/{text(900_000)}", {}


def long_query(i):
    return "GET", f"/api/v1/pods?fieldSelector=metadata.name%3D{text(900_000)}", {}


def random_path(i):
    return "GET", f"/{text(3000)}/{i}", {}


def random_resource(i):
    return "GET", f"/apis/{text(50)}/v1/namespaces/{text(50)}/{text(50)}/{text(1000)}", {}


def random_name(i):
    return "GET", f"/api/v1/namespaces/{text(500)}/secrets/{text(2000)}", {}


def random_token(i):
    return "GET", "/api", {"Authorization": f"Bearer {text(8000)}"}


def random_jwt(i):
    return "GET", "/api", {"Authorization": f"Bearer {text(500)}.{text(3000)}.{text(300)}"}


def random_user_agent(i):
    return "GET", "/api/v1/pods", {"User-Agent": text(8000), "Accept": f"application/{text(100)}"}


def random_method(i):
    return "X" + text(200), f"/api/v1/namespaces/{text(20)}/pods", {}


def random_impersonation(i):
    return "GET", "/api", {"Impersonate-User": text(3000), "Impersonate-Group": text(3000), f"Impersonate-Extra-{text(30)}": text(3000)}


def random_front_proxy(i):
    return "GET", "/api", {"X-Remote-User": text(3000), "X-Remote-Group": text(3000), f"X-Remote-Extra-{text(30)}": text(3000)}


def random_content_type(i):
    return "POST", f"/api/v1/namespaces/{text(20)}/pods", {"Content-Type": f"application/{text(3000)}", "Audit-ID": text(3000)}


ATTACKS = [(long_path, 200), (long_query, 100), (random_path, 1000), (random_resource, 1000), (random_name, 1000), (random_token, 1000), (random_jwt, 500),
           (random_user_agent, 500), (random_method, 500), (random_impersonation, 500), (random_front_proxy, 500), (random_content_type, 500)]


@pytest.mark.parametrize("attack, count", ATTACKS, ids=[attack.__name__ for attack, _ in ATTACKS])
def test_requests_of_nobody_leave_no_memory_behind(server, attack, count):
    """Attack: an anonymous client sends requests, each with a new long value.

    Expected: all requests are rejected, and the memory of all processes together grows by less than 50 MB.
    Why: the edge caches decisions and users. With complete paths as keys, 300 requests would occupy 268 MB.
    """
    connection = Connection(server)
    for i in range(3):  # The first requests allocate buffers that are reused.
        connection.send(*attack(i))
    with cost.Cost(server) as spent:
        codes = {connection.send(*attack(i)) for i in range(count)}
    print(f"{attack.__name__}: {count} requests, {spent.memory / 2**20:.1f} MiB, {spent.by_process}")
    assert codes <= {400, 401, 403, 404, 405, 414, 431, 501}, codes
    assert spent.memory < LIMIT * mesh.SLOWDOWN, spent.by_process


def series(server):
    """Returns the series of the metrics without their values."""
    return {line.rpartition(" ")[0] for line in server.client.get("/metrics").body.splitlines() if not line.startswith("#")}


def test_made_up_requests_make_no_new_series(server):
    """Attack: requests with random methods, paths, resources, names, user agents and content types (CVE-2020-8552).

    Expected: after the first few of each, /metrics has no new series.
    Why: a series per chosen value would exhaust the memory of the edge and of every scraper.
    """
    connection = Connection(server)
    kinds = [random_path, random_resource, random_name, random_token, random_user_agent, random_method, random_impersonation, random_content_type]
    for attack, i in itertools.product(kinds, range(3)):
        connection.send(*attack(i))
    services = [item["metadata"]["name"] for item in server.client.get("/apis/apiregistration.k8s.io/v1/apiservices").json()["items"]]
    checked = {f'aggregator_unavailable_apiservice{{name="{name}"}}' for name in services}
    mesh.wait_until(lambda: checked <= series(server), 20, "every APIService has been checked")
    before = series(server)
    for attack, i in itertools.product(kinds, range(50)):
        connection.send(*attack(i))
    assert not series(server) - before


"""Query parameters with extreme values."""
import threading

import pytest

import mesh
from cost import Cost

MAPS = "/api/v1/namespaces/default/configmaps"


def test_lists_of_the_future(server):
    """Attack: 200 lists and watches at once that wait for a revision which does not exist yet. Expected: 504 or an error event after a few seconds,
    less than 50 MB, and other clients are served. Why: each holds a request open; kube-apiserver answers after 3 s."""
    codes = []

    def ask(query):
        codes.append(mesh.Client(server.url).get(MAPS + query, timeout=30).code)

    queries = ["?resourceVersion=9999999999", "?resourceVersion=9999999999&resourceVersionMatch=NotOlderThan", "?watch=1&sendInitialEvents=true"
               "&resourceVersionMatch=NotOlderThan&resourceVersion=9999999999&timeoutSeconds=1", "/a?resourceVersion=9999999999"]
    with Cost(server) as cost:
        threads = [threading.Thread(target=ask, args=(queries[i % len(queries)],)) for i in range(200)]
        for thread in threads:
            thread.start()
        assert server.client.get(MAPS).code == 200
        for thread in threads:
            thread.join()
    assert set(codes) <= {200, 504} and codes.count(504) >= 100, codes
    assert cost.memory < 50e6 * mesh.SLOWDOWN, cost.by_process


@pytest.mark.parametrize(("query", "code"), [
    ("limit=-1", 200), ("limit=9223372036854775807", 200), ("limit=99999999999999999999", 400), ("timeout=-1s", 400), ("timeout=9999999999h", 400), ("resourceVersion=-1", 400),
    ("resourceVersion=18446744073709551616", 400), ("continue=%00", 400), ("watch=1&timeoutSeconds=1&resourceVersion=18446744073709551615", 200)])
def test_numbers_at_their_limits(server, query, code):
    """Attack: numbers that overflow. Expected: a response, as from kube-apiserver, and no process ends."""
    before = server.children()
    assert server.client.get(f"{MAPS}?{query}", timeout=60).code == code
    assert server.children() == before

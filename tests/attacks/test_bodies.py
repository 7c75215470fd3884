"""Requests that try to exhaust memory, connections or time with large, slow or endless bodies."""
import json
import threading
import time

import pytest

import mesh
from cost import Cost
from raw_requests import BODY_BYTES, Bystander, MAPS, MEGABYTE, REQUEST_SECONDS, REVIEWS, USERS, connect, head, limited_mesh, push, read_answer

WITHOUT_RIGHTS = {"no credentials": ("", b"403"), "a wrong token": ("Authorization: Bearer wrong\r\n", b"401"),
                  "a user without the right": (f"Authorization: Bearer {USERS['user0']}\r\n", b"403")}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with limited_mesh(tmp_path_factory.mktemp("bodies")) as server:
        yield server


@pytest.mark.parametrize("who", WITHOUT_RIGHTS)
@pytest.mark.parametrize("framing", ["Content-Length: 3000000", "Content-Length: 9999999999", "Transfer-Encoding: chunked"])
def test_refusal_needs_no_body(server, who, framing):
    """Attack: an unauthorized request announces a body and does not send it. Expected: 401 or 403 at once, and the connection is
    closed. Why: an unauthorized client must not make the server wait for a body or read it."""
    credentials, code = WITHOUT_RIGHTS[who]
    with connect(server) as connection:
        began = time.monotonic()
        connection.sendall(f"POST {MAPS} HTTP/1.1\r\nHost: a\r\n{credentials}{framing}\r\n\r\n".encode())
        status, headers, _ = read_answer(connection)
        assert status == code
        assert b"\r\nconnection: close" in headers.lower(), "the rest of the body could be parsed as a request"
        assert time.monotonic() - began < 1
        assert connection.recv(1) == b""


@pytest.mark.parametrize("who", WITHOUT_RIGHTS)
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "endless chunks"])
def test_bodies_without_rights_take_no_memory(server, who, chunked):
    """Attack: 150 unauthorized clients send bodies of 3 MB, or endless chunks, at the same time. Expected: all are rejected,
    memory grows by less than 50 MB, and other clients are served. Why: 150 bodies would need 450 MB."""
    credentials, code = WITHOUT_RIGHTS[who]
    framing = "Transfer-Encoding: chunked" if chunked else "Content-Length: 3000000"
    request = f"POST {MAPS} HTTP/1.1\r\nHost: a\r\n{credentials}{framing}\r\n\r\n".encode()
    piece = (b"8000\r\n" + b"x" * 0x8000 + b"\r\n") if chunked else b"x" * 65536
    connections = [connect(server) for _ in range(150)]
    try:
        with Cost(server) as cost, Bystander(server) as bystander:
            for connection in connections:
                connection.sendall(request)
                connection.setblocking(False)
            # All clients send as fast as the server reads.
            attackers = [threading.Thread(target=lambda part=part: [push(c, [piece] * 10, 0.2) for _ in range(5) for c in part])
                         for part in (connections[i::4] for i in range(4))]
            for attacker in attackers:
                attacker.start()
            for attacker in attackers:
                attacker.join()
        codes = set()
        for connection in connections:
            connection.settimeout(10)
            codes.add(read_answer(connection)[0])
    finally:
        for connection in connections:
            connection.close()
    assert codes - {None} == {code}, "None means that the response was lost because the client continued to send"
    assert cost.memory < 50 * MEGABYTE, cost.by_process
    assert bystander.slowest < 1, bystander.slowest


def test_refused_request_gets_no_continue(server):
    """Attack: an unauthorized request with `Expect: 100-continue`. Expected: only the error. Why: "100 Continue" would request the body.
    Without it, the server cannot know whether the body or the next request follows, so it must close the connection."""
    with connect(server) as connection:
        connection.sendall(head("POST", MAPS, "Expect: 100-continue", "Content-Length: 10"))
        status, headers, _ = read_answer(connection)
        assert status == b"403" and b"connection: close" in headers.lower()
    with connect(server) as connection:
        connection.sendall(head("POST", REVIEWS, "Expect: 100-continue", "Content-Length: 2", token=USERS["user0"]))
        assert connection.recv(4096).startswith(b"HTTP/1.1 100")
        connection.sendall(b"{}")
        assert read_answer(connection)[0] != b"100"


def test_refused_body_is_not_the_next_request(server):
    """Attack: the body of an unauthorized request looks like a request. Expected: it is skipped as a body, and the connection can be used
    afterwards. Why: if it were parsed as a request, its response would go to the next user of the connection (request smuggling)."""
    smuggled = head("GET", "/healthz")
    with connect(server) as connection:
        for _ in range(3):
            connection.sendall(head("POST", MAPS, f"Content-Length: {len(smuggled)}") + smuggled[:20])
            assert read_answer(connection)[0] == b"403"
            connection.sendall(smuggled[20:] + head("GET", "/version"))
            status, _, body = read_answer(connection)
            assert status == b"200" and b"gitVersion" in body


def test_order_of_refusals(server):
    """Expected: 401, then 403, then 413, as in kube-apiserver: only authorized clients see the size limit. Why: reading or
    checking a body before the authorization would be work for unauthorized clients."""
    huge = "Content-Length: 100000000"
    for credentials, code in ((("Authorization: Bearer wrong",), b"401"), ((), b"403"), ((f"Authorization: Bearer {mesh.ADMIN_TOKEN}",), b"413")):
        with connect(server) as connection:
            connection.sendall(head("POST", MAPS, huge, *credentials))
            status, headers, body = read_answer(connection)
            assert status == code
    assert json.loads(body)["message"] == "Request entity too large: limit is 3145728"
    assert b"connection: close" in headers.lower()


def test_slow_bodies_end_in_time_and_hold_up_nobody(server):
    """Attack: a user who may write sends 100 requests very slowly; the limit of concurrent writes is 20. Expected: other users
    can write meanwhile, and each slow request ends with 504 after --request-timeout. Why: a request that waits for its client must not
    count towards the limit."""
    connections = [connect(server) for _ in range(100)]
    with Bystander(server) as bystander:
        for connection in connections:
            connection.sendall(head("POST", REVIEWS, "Content-Length: 1000", token=USERS["user0"]) + b"{")
        began = time.monotonic()
        while time.monotonic() - began < REQUEST_SECONDS - 0.5:
            for connection in connections:
                connection.sendall(b" ")
            time.sleep(0.1)
        statuses = {read_answer(connection)[0] for connection in connections}
        took = time.monotonic() - began
    for connection in connections:
        connection.close()
    assert statuses == {b"504"}
    assert took < REQUEST_SECONDS + 3 * mesh.SLOWDOWN
    assert bystander.slowest < 1, bystander.slowest


def test_large_bodies_share_a_budget(server):
    """Attack: a user who may write opens 60 requests with bodies of 3 MB and sends all but the last byte. Expected: the user gets at most a
    quarter of --max-body-bytes-inflight, the other requests get 429 with Retry-After, and other users can still write large
    objects. Why: 60 such bodies need 180 MB, and a single user must not be able to exhaust the budget."""
    body = b" " * 2_999_999
    connections = [connect(server) for _ in range(60)]
    answers = []
    try:
        with Cost(server) as cost:
            for connection in connections:
                connection.sendall(head("POST", REVIEWS, "Content-Length: 3000000", token=USERS["user0"]))
                connection.setblocking(False)
            senders = [threading.Thread(target=lambda part=part: [push(c, [body], 0.3) for c in part]) for part in (connections[i::4] for i in range(4))]
            for sender in senders:
                sender.start()
            large = {"metadata": {"name": "large"}, "data": {"a": "x" * 900_000}}
            made = server.client("POST", MAPS, large)
            for sender in senders:
                sender.join()
        assert made.code == 201, made.body
        for connection in connections:
            connection.settimeout(20)
            answers.append(read_answer(connection))
    finally:
        for connection in connections:
            connection.close()
        server.client("DELETE", MAPS + "/large")
    statuses = [status for status, _, _ in answers]
    assert statuses.count(b"504") <= BODY_BYTES // 4 // 3_000_000, statuses
    assert statuses.count(b"429") > 0 and set(statuses) <= {b"504", b"429", None}
    assert all(b"retry-after: 1" in headers.lower() for status, headers, _ in answers if status == b"429")
    assert cost.memory < 50 * MEGABYTE, cost.by_process

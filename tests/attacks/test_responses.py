"""What a client sends must not change the structure of responses and logs, nor where the server connects to."""
import gzip
import json

import pytest

import mesh
from backends import raw_request
from cost import Cost

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize("key", ["a\r\nSet-Cookie: b=c", "a\0b", "a\x1b[31m", 'a"b\\c', "\u2028"])
def test_warnings_are_one_header(server, key):
    """Attack: an unknown field with control characters, whose name is in a warning, which is a header of the response.
    Expected: one header, in which the characters are escaped. Why: otherwise a client of a proxy could set headers for others (response splitting)."""
    answer = server.client("POST", f"{MAPS}?dryRun=All&fieldValidation=Warn", json.dumps({"metadata": {"name": "w"}, key: 1}), {"Content-Type": "application/json"})
    assert answer.code == 201 and "Set-Cookie" not in answer.headers
    warnings = answer.headers.get_all("Warning")
    assert len(warnings) == 1 and warnings[0].startswith('299 - "unknown field ') and warnings[0].isprintable()


def test_logs_have_no_control_characters(server):
    """Attack: requests with line breaks and terminal escapes in everything that is logged or shown. Expected: 400, or a log without them.
    Why: an operator's terminal executes escapes, and a line break forges a line of the log."""
    for path, headers in (("/api/v1/namespaces/default/configmaps/%0aFORGED%1b[31m", {}), ("/%0d%0aFORGED", {}), ("/api", {"User-Agent": "\x1b[31mFORGED"}),
                          ("/api", {"Impersonate-User": "\x1b[31mFORGED"}), (f"{MAPS}?labelSelector=%0aFORGED", {}), (f"{MAPS}?continue=%1b", {})):
        assert server.client("GET", path, headers=headers).code < 500
    log = server.log.read_bytes()
    assert b"\x1b" not in log
    assert not [line for line in log.split(b"\n") if line.startswith(b"FORGED")]


TARGETS = {"an absolute URL": b"GET http://127.0.0.1:%d/ HTTP/1.1", "CONNECT": b"CONNECT 127.0.0.1:%d HTTP/1.1", "an authority in the path": b"GET //127.0.0.1:%d/api HTTP/1.1"}


@pytest.mark.parametrize("what", TARGETS)
def test_the_server_is_no_forward_proxy(server, trap, what):
    """Attack: use the API server as an HTTP proxy. Expected: it connects to nothing, and the request is refused."""
    answer, _ = raw_request(server, TARGETS[what] % trap.port + b"\r\nHost: x\r\n\r\n")
    assert answer.split()[1] in (b"400", b"403"), answer[:200]
    assert trap.connections == []


def test_trace_returns_no_headers(server):
    """Attack: TRACE, with which a script reads headers that it must not see (cross-site tracing). Expected: the response does not contain the request."""
    answer, _ = raw_request(server, f"TRACE /version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {mesh.ADMIN_TOKEN}\r\nX-Secret: hidden\r\n\r\n".encode())
    assert b"hidden" not in answer and answer.split()[1] in (b"403", b"404", b"405"), answer[:200]


def test_compressed_bodies_are_not_expanded(server):
    """Attack: a body of 50 kB that gzip expands to 50 MB. Expected: 400, because bodies are read as they are, as in kube-apiserver."""
    with Cost(server) as cost:
        answer = server.client("POST", MAPS, gzip.compress(b" " * 50_000_000), {"Content-Type": "application/json", "Content-Encoding": "gzip"})
    assert answer.code == 400
    assert cost.cpu < 0.1 * mesh.SLOWDOWN and cost.memory < 10e6, cost.by_process


HEADS = {"two hosts": b"GET /version HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "no host": b"GET /version HTTP/1.1\r\n\r\n",
         "HTTP/0.9": b"GET /version HTTP/0.9\r\n\r\n", "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "all resources": b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
         "a space before the colon": b"GET /version HTTP/1.1\r\nHost : a\r\n\r\n"}


@pytest.mark.parametrize("what", HEADS)
def test_heads_that_proxies_read_differently(server, what):
    """Attack: heads that two programs interpret differently. Expected: 400, and nothing is executed."""
    answer, _ = raw_request(server, HEADS[what])
    assert answer.split()[1] == b"400", answer[:200]

"""Lists by reference (decision 0018): the aggregator sends lists from memory that core-api shares. Whatever happens to core-api meanwhile, a
client gets either the objects of its snapshot or an incomplete response that it can detect, and never other data."""
import gzip
import os
import pathlib
import re
import signal
import socket
import threading
import time

import pytest

import mesh
from raw_etcd import RawEtcd
from test_data_path import CONFIG_MAPS, as_stored, config_map, etcd, raw_request, started  # noqa: F401  (etcd is a fixture)

OBJECTS = 2000


@pytest.fixture
def server(request, tmp_path, etcd):
    RawEtcd(etcd.url).put_all((f"/registry/configmaps/default/c{i:05}", as_stored(f"c{i:05}", text=f"{i:05}" * 1200)) for i in range(OBJECTS))
    server = started(request, tmp_path / "server", etcd)
    mesh.wait_until(lambda: shares_memory(server), 10, "the aggregator has mapped the memory of core-api")
    return server


def shares_memory(server):
    """Returns whether the aggregator has mapped the memory of core-api and of extensions-api."""
    return pathlib.Path(f"/proc/{server.children()['aggregator']}/maps").read_text().count("/memfd:apimesh") >= 2


def kilobytes_read_of_it(server):
    """Returns how much of the memory of its peer processes the aggregator has read."""
    smaps = pathlib.Path(f"/proc/{server.children()['aggregator']}/smaps").read_text()
    return sum(map(int, re.findall(r"/memfd:apimesh[^\n]*\n(?:[^\n]*\n)*?Rss: +(\d+) kB", smaps)))


def test_lists_are_read_where_they_lie(server):
    """The aggregator reads lists from shared memory, including a short unary one: 100 of the 2,000 objects of 6 KB."""
    before = kilobytes_read_of_it(server)
    assert len(server.client.get(CONFIG_MAPS + "?limit=100").json()["items"]) == 100
    short = kilobytes_read_of_it(server)
    assert short - before > 500, "a list of 600 KB"
    assert len(server.client.get(CONFIG_MAPS, timeout=60).json()["items"]) >= OBJECTS
    assert kilobytes_read_of_it(server) - short > 9_000, "a list of 12 MB"


def read_all(reader):
    received = b""
    reader.settimeout(20)
    try:
        while part := reader.recv(1 << 16):
            received += part
            if received.endswith(b"0\r\n\r\n"):
                break
    except OSError:  # closing the connection is allowed
        pass
    return received


def body_of(received):
    """Returns the received part of the body, without the chunk headers, and whether it is complete."""
    rest, body = received[received.index(b"\r\n\r\n") + 4:], b""
    while b"\r\n" in rest:
        line, rest = rest.split(b"\r\n", 1)
        size = int(line, 16)
        if size == 0:
            return body, True
        body += rest[:size]
        if len(rest) < size + 2:
            break
        rest = rest[size + 2:]
    return body, False


def test_a_reader_gets_what_was_there_when_it_asked(server):
    """All objects are replaced while a slow client reads a list. It gets the complete old objects, and their memory is released afterwards."""
    expected = unchanging_list(server)
    reader = raw_request(server, CONFIG_MAPS)
    first = reader.recv(1000)
    for round in range(2):
        for i in range(0, OBJECTS, 4):
            answer = server.client("PUT", f"{CONFIG_MAPS}/c{i:05}", config_map(f"c{i:05}", text=f"new {round} " * 700))
            assert answer.code == 200, answer.body
    body, whole = body_of(first + read_all(reader))
    assert whole
    assert body == expected


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_core_api_that_goes_never_spoils_an_answer(server, how):
    expected = unchanging_list(server)
    readers = [raw_request(server, CONFIG_MAPS) for _ in range(6)]
    received = [reader.recv(1000) for reader in readers]
    core_api = server.children()["core-api"]
    stop = threading.Event()

    def write():  # memory that is freed is reused at once
        n = 0
        while not stop.is_set():
            n += 1
            try:
                server.client("PUT", f"{CONFIG_MAPS}/c{n % OBJECTS:05}", config_map(f"c{n % OBJECTS:05}", text="new" * 2000), timeout=5)
            except OSError:
                time.sleep(0.05)
    writer = threading.Thread(target=write)
    writer.start()
    time.sleep(0.5)
    os.kill(core_api, how)
    received = [first + read_all(reader) for first, reader in zip(received, readers)]
    stop.set()
    writer.join()
    for answer in received:
        body, whole = body_of(answer)
        assert expected.startswith(body) and (body == expected) == whole
    # The restarted core-api has another segment, which the aggregator maps.
    mesh.wait_until(lambda: server.client.answers("/readyz"), 20, "all processes are ready again")
    mesh.wait_until(lambda: server.children().get("core-api", core_api) != core_api and shares_memory(server), 10, "the aggregator has mapped the new memory")
    assert len(server.client.get(CONFIG_MAPS, timeout=60).json()["items"]) == OBJECTS


def unchanging_list(server):
    """Returns the list after a core-api that an earlier test restarted has made its first writes, because each write changes the resourceVersion."""
    seen = [b""]

    def is_unchanged():
        time.sleep(0.5)
        seen.append(server.client.raw("GET", CONFIG_MAPS, timeout=60).body)
        return seen[-1] == seen[-2]
    mesh.wait_until(is_unchanged, 30, "the list does not change any more")
    return seen[-1]


def test_a_paused_aggregator_does_not_send_what_core_api_has_reused(server):
    """The aggregator is paused while core-api ends and is restarted. Then it continues with a list that was partly sent."""
    expected = unchanging_list(server)
    reader = raw_request(server, CONFIG_MAPS)
    first = reader.recv(1000)
    processes = server.children()
    mesh.suspend(processes["aggregator"])
    os.kill(processes["core-api"], signal.SIGTERM)
    time.sleep(1)
    os.kill(processes["aggregator"], signal.SIGCONT)
    body, whole = body_of(first + read_all(reader))
    assert expected.startswith(body) and (body == expected) == whole
    mesh.wait_until(lambda: server.client.answers("/readyz"), 20, "all processes are ready again")


def test_compressed_lists_are_right(server):
    """Compression reads the same shared memory."""
    expected = unchanging_list(server)
    packed = server.client.raw("GET", CONFIG_MAPS, headers={"Accept-Encoding": "gzip"}, timeout=60)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == expected


def test_thousands_of_lists_are_all_answered(server):
    """Each list ends with a cancelled call between the processes. HTTP/2 libraries treat many cancelled calls as an attack and close the connection,
    with all other calls on it. Here the client pipelines its requests, so the next list is always requested at that moment."""
    ask = f"GET {CONFIG_MAPS}?limit=3 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {mesh.ADMIN_TOKEN}\r\n"
    for _ in range(20):
        secure = server.client.context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), 60))
        secure.sendall(f"{ask}\r\n".encode() * 199 + f"{ask}Connection: close\r\n\r\n".encode())
        received = b""
        while part := secure.recv(1 << 16):
            received += part
        codes = re.findall(rb"HTTP/1.1 (\d+)", received)
        assert codes == [b"200"] * 200, {code: codes.count(code) for code in codes}

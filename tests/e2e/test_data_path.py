"""The data path, tested with HTTP requests: leases, compaction, large values, a restored etcd, slow readers and slow watchers."""
import base64
import json
import shutil
import socket
import time
import urllib.error

import pytest

import mesh
from raw_etcd import RawEtcd
from watching import Watch

CONFIG_MAPS, EVENTS = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/events"


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": data}


def as_stored(name, **data):
    """Returns the object in the encoding that our server stores. Objects that other servers stored in another encoding are re-encoded for lists."""
    return json.dumps({"kind": "ConfigMap", **config_map(name, **data)}, separators=(",", ":"))


@pytest.fixture
def etcd(tmp_path, etcd_path):
    store = mesh.Store(tmp_path / "etcd", binary=etcd_path)
    yield store
    store.stop()


def started(request, folder, etcd, *extra):
    server = mesh.KubeApiserver(folder, etcd.url, *extra).start()
    request.addfinalizer(server.stop)
    return server


def test_events_end_by_themselves_and_share_leases(request, tmp_path, etcd):
    server, raw = started(request, tmp_path / "server", etcd, "--event-ttl=20s"), RawEtcd(etcd.url)
    watch = Watch(server.client, EVENTS)
    began = time.monotonic()
    for i in range(60):
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"e{i}"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}}
        assert server.client("POST", EVENTS, event).code == 201
    took = time.monotonic() - began
    leases = {raw.entry(f"/registry/events/default/e{i}")["lease"] for i in range(60)}
    # Objects share a lease during a twentieth of the lifetime, which is one second here.
    assert "0" not in leases and len(leases) <= took + 2
    alive = raw.call("lease/timetolive", ID=leases.pop())
    assert int(alive["grantedTTL"]) == 21
    mesh.wait_until(lambda: not raw.pairs("/registry/events/"), 40, "the events have expired in etcd")
    mesh.wait_until(lambda: all(watch.types(f"e{i}") == ["ADDED", "DELETED"] for i in range(60)), 10, "the watch receives the deletions")
    assert server.client.get(EVENTS).json()["items"] == []
    watch.close()


def test_events_without_shared_leases(request, tmp_path, etcd):
    server, raw = started(request, tmp_path / "server", etcd, "--lease-reuse-duration-seconds=0"), RawEtcd(etcd.url)
    for i in range(5):
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"e{i}"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}}
        assert server.client("POST", EVENTS, event).code == 201
    leases = [raw.entry(f"/registry/events/default/e{i}")["lease"] for i in range(5)]
    assert len(set(leases)) == 5 and int(raw.call("lease/timetolive", ID=leases[0])["grantedTTL"]) == 3600


def test_compaction_happens_once_among_replicas(request, tmp_path, etcd):
    """Six processes use one etcd: there is one compaction per interval, not six."""
    raw = RawEtcd(etcd.url)
    servers = [started(request, tmp_path / name, etcd, "--etcd-compaction-interval=2s") for name in ("a", "b")]
    mesh.wait_until(lambda: raw.entry("compact_rev_key"), 15, "a process compacts")
    began, first = time.monotonic(), int(raw.entry("compact_rev_key")["version"])
    old = raw.revision()
    for i in range(40):
        assert servers[i % 2].client("PUT" if i else "POST", CONFIG_MAPS + ("/c" if i else ""), config_map("c", n=str(i))).code in (200, 201)
        time.sleep(0.25)
    intervals = (time.monotonic() - began) / 2
    times = int(raw.entry("compact_rev_key")["version"]) - first
    assert 2 <= times <= intervals + 1, f"{times} compactions in {intervals:.1f} intervals"
    with pytest.raises(urllib.error.HTTPError) as gone:
        raw.call("kv/range", key=base64.b64encode(b"a").decode(), revision=str(old))
    assert "compacted" in gone.value.read().decode()
    for server in servers:  # every server reports an old revision as expired, and serves the newest
        expired = server.client.get(f"{CONFIG_MAPS}?resourceVersion={old}&resourceVersionMatch=Exact")
        assert expired.code == 410 or [item["metadata"]["name"] for item in expired.json()["items"]] != ["c"]
        assert server.client.get(f"{CONFIG_MAPS}/c").json()["data"] == {"n": "39"}


def test_no_compaction_if_not_wanted(request, tmp_path, etcd):
    started(request, tmp_path / "server", etcd, "--etcd-compaction-interval=0s")
    time.sleep(3)
    assert RawEtcd(etcd.url).entry("compact_rev_key") is None


def test_values_beyond_etcds_limit_are_refused_and_large_ones_can_be_deleted(request, tmp_path, etcd):
    server, raw = started(request, tmp_path / "server", etcd), RawEtcd(etcd.url)
    foos = mesh.serve_foos(server)

    def foo(size):
        return {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "large", "finalizers": ["example.com/hold"]}, "text": "x" * size}

    limit = 1536 * 1024  # the default limit of etcd
    for size in (limit + 1000, 2 * limit - 1000):
        refused = server.client("POST", foos, foo(size))
        assert refused.code == 413 and "request is too large" in refused.json()["message"], refused.body[:300]
        assert server.client.get(f"{foos}/large").code == 404
    # Finds the largest object that can be stored, to a few bytes.
    low, high = limit - 4000, limit
    while high - low > 4:
        size = (low + high) // 2
        made = server.client("POST", foos, foo(size))
        assert made.code in (201, 413), made.body[:300]
        low, high = (size, high) if made.code == 201 else (low, size)
        if made.code == 201:
            assert server.client("PATCH", f"{foos}/large", [{"op": "remove", "path": "/text"}], headers={"Content-Type": "application/json-patch+json"}).code == 200
            server.client("DELETE", f"{foos}/large")
            server.client("PATCH", f"{foos}/large", {"metadata": {"finalizers": None}}, headers={"Content-Type": "application/merge-patch+json"})
            assert server.client.get(f"{foos}/large").code == 404
    assert server.client("POST", foos, foo(low)).code == 201
    # The deletionTimestamp makes the object larger; it must still be possible to delete it.
    marked = server.client("DELETE", f"{foos}/large")
    assert marked.code == 200, marked.body[:300]
    now = server.client.get(f"{foos}/large").json()["metadata"]
    assert now["deletionTimestamp"] and now["finalizers"] == ["example.com/hold"]
    last = server.client("PATCH", f"{foos}/large", {"metadata": {"finalizers": None}}, headers={"Content-Type": "application/merge-patch+json"})
    assert last.code == 200, last.body[:300]
    assert raw.get("/registry/example.com/foos/default/large") is None


def test_an_etcd_that_went_back_in_time_is_noticed(request, tmp_path, etcd):
    server = started(request, tmp_path / "server", etcd)
    server.client("POST", CONFIG_MAPS, config_map("before"))
    etcd.stop()
    shutil.copytree(etcd.folder, tmp_path / "backup")
    etcd.start()
    mesh.wait_until(lambda: server.client.answers("/readyz"), 30, "the server is ready again after a restart of etcd")
    for i in range(20):
        mesh.wait_until(lambda: server.client("POST", CONFIG_MAPS, config_map(f"after-{i}")).code in (201, 409), 20, "writes succeed")
    newest = server.client.get(CONFIG_MAPS).json()["metadata"]["resourceVersion"]
    watch = Watch(server.client, f"{CONFIG_MAPS}?resourceVersion={newest}")
    etcd.stop()
    shutil.rmtree(etcd.folder)
    shutil.copytree(tmp_path / "backup", etcd.folder)
    etcd.start()

    mesh.wait_until(lambda: watch.over, 40, "the watch ends")
    assert watch.events and watch.events[-1][0] == "ERROR" and watch.events[-1][1]["code"] == 410, watch.events
    mesh.wait_until(lambda: server.client.answers("/readyz"), 30, "the server is ready with the old state")
    assert [item["metadata"]["name"] for item in server.client.get(CONFIG_MAPS).json()["items"] if item["metadata"]["name"] != "kube-root-ca.crt"] == ["before"]
    assert server.client.get(f"{CONFIG_MAPS}/after-3").code == 404
    again = Watch(server.client, f"{CONFIG_MAPS}?resourceVersion={newest}")
    mesh.wait_until(lambda: again.over, 20, "a watch from a revision that no longer exists ends")
    assert again.events[-1][0] == "ERROR" and again.events[-1][1]["code"] == 410
    assert "it was restored. All watches of it end with 410" in server.log.read_text()
    assert server.client("POST", CONFIG_MAPS, config_map("after")).code == 201


def raw_request(server, path, buffer=4096, accept="application/json"):
    """Sends a request and returns the socket, which has a small receive buffer, without reading the response."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    plain.connect(("127.0.0.1", server.port))
    secure = server.client.context.wrap_socket(plain)
    secure.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nAuthorization: Bearer {mesh.ADMIN_TOKEN}\r\n\r\n".encode())
    return secure


@pytest.mark.parametrize("form", ["shared", "other", "indented", "yaml"])
def test_slow_readers_of_a_large_list_hold_a_piece_each(request, tmp_path, etcd, form):
    """Clients read a list of 30 MB at 1 KB per second. A reader may cost only the data in flight to it, 2 MB, not the complete list."""
    objects, text = 5000, "x" * 6000

    def stored(name):
        return json.dumps(config_map(name, text=text)) if form == "other" else as_stored(name, text=text)
    RawEtcd(etcd.url).put_all((f"/registry/configmaps/default/c{i:05}", stored(f"c{i:05}")) for i in range(objects))
    server = started(request, tmp_path / "server", etcd)
    assert len(server.client.get(CONFIG_MAPS, timeout=60).json()["items"]) >= objects
    query, accept = "?pretty=true" if form == "indented" else "", "application/yaml" if form == "yaml" else "application/json"
    slow, most = [], {}
    for readers in (8, 24):  # the first readers also cause page faults on memory that was released after the start, so only the others count
        slow += [raw_request(server, CONFIG_MAPS + query, accept=accept) for _ in range(readers - len(slow))]
        for _ in range(4):
            assert all(len(reader.recv(1024)) > 0 for reader in slow)
            time.sleep(1)
        most[readers] = server.memory_kilobytes("Pss") / 1024
    each = (most[24] - most[8]) / 16
    assert each <= 2 or mesh.SANITIZER_REPORTS, f"each reader costs {each:.2f} MB"
    assert server.client("DELETE", f"{CONFIG_MAPS}/c04999").code == 200  # the readers have snapshots and do not block the deletion
    for reader in slow:
        reader.close()
    assert server.client.get(f"{CONFIG_MAPS}/c00000").code == 200


def test_a_slow_watcher_costs_little_and_loses_nothing(request, tmp_path, etcd):
    """A client does not read while its watch has 60 MB of events. They are not buffered for it: the watch continues from the history of etcd, or it ends."""
    server = started(request, tmp_path / "server", etcd)
    first = server.client("POST", CONFIG_MAPS, config_map("big", n="0")).json()["metadata"]["resourceVersion"]
    slow = raw_request(server, f"{CONFIG_MAPS}?watch=true&resourceVersion={first}")
    head = slow.recv(64)
    assert head.startswith(b"HTTP/1.1 200")
    before = server.memory_kilobytes("Pss")
    filler, count = "x" * 100_000, 600  # larger than all windows and buffers
    for i in range(1, count + 1):
        assert server.client("PUT", f"{CONFIG_MAPS}/big", config_map("big", n=str(i), filler=filler)).code == 200
    grown = (server.memory_kilobytes("Pss") - before) / 1024
    assert grown < 48 or mesh.SANITIZER_REPORTS, f"a watcher that does not read costs {grown:.0f} MB"  # the watch window has 16 MB of JSON and the other encodings

    def finished(text):  # the last chunk: the watch has ended, the connection stays open
        return text.endswith(b"\r\n0\r\n\r\n")

    text = bytearray()
    slow.settimeout(30)
    last = f'"n":"{count}"'.encode()
    while not finished(text) and last not in text[-200_000:]:
        piece = slow.recv(1 << 20)
        assert piece, "the connection was closed, but only the watch may end"
        text += piece
    while not finished(text) and not text.endswith(b"}\n\r\n"):
        text += slow.recv(1 << 20)
    events = [json.loads(line) for line in bytes(text).replace(b"\r\n", b"\n").split(b"\n") if line.startswith(b'{"type"') and line.endswith(b"}")]
    seen = [int(event["object"]["data"]["n"]) for event in events if event["type"] == "MODIFIED"]
    if len(seen) < count:
        watch = Watch(server.client, f"{CONFIG_MAPS}?resourceVersion={events[-1]['object']['metadata']['resourceVersion'] if events else first}")
        mesh.wait_until(lambda: len(watch.events) >= count - len(seen), 60, "the remaining events arrive")
        seen += [int(thing["data"]["n"]) for _, thing in watch.events]
        watch.close()
    assert seen == list(range(1, count + 1)), "events are lost, duplicated or out of order"


def metrics_of(server):
    """Returns {series: value}. Fails if a scraper would reject the text."""
    series, families, family = {}, set(), None
    for line in server.client.get("/metrics").body.splitlines():
        if line.startswith("# TYPE "):
            family = line.split()[2]
            assert family not in families, f"the family {family} occurs twice"
            families.add(family)
        elif not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            assert name.startswith(family) and name not in series, line
            series[name] = float(value)
    return series


def test_metrics_tell_how_much_is_stored(request, tmp_path, etcd):
    """/metrics has the metrics of all processes, with the names that dashboards use."""
    server = started(request, tmp_path / "server", etcd)
    before = metrics_of(server)
    for i in range(5):
        assert server.client("POST", CONFIG_MAPS, config_map(f"c{i}", text="x" * 1000)).code == 201
    assert server.client("DELETE", CONFIG_MAPS + "/c0").code == 200
    mesh.serve_foos(server)
    after = metrics_of(server)

    def grown(name):
        return after[name] - before.get(name, 0)
    labels = 'group="",resource="configmaps"'
    assert grown('apiserver_storage_objects{resource="configmaps"}') == grown(f"apiserver_resource_objects{{{labels}}}") == 4
    assert 4_000 < grown(f"apiserver_resource_size_estimate_bytes{{{labels}}}") < 8_000
    assert grown(f"apiserver_storage_events_received_total{{{labels}}}") == 6
    assert grown('etcd_requests_total{group="",operation="create",resource="configmaps"}') == 5
    assert grown('etcd_request_duration_seconds_count{group="",operation="delete",resource="configmaps"}') == 1
    assert after['apiserver_storage_size_bytes{storage_cluster_id="etcd-0"}'] > 0
    assert after['apiserver_storage_objects{resource="foos.example.com"}'] == 0  # from extensions-api
    assert after['apiserver_storage_objects{resource="apiservices.apiregistration.k8s.io"}'] > 10  # from the aggregator
    assert {name for name in after if name.startswith("process_open_fds")} == {
        "process_open_fds", 'process_open_fds{process="authn-authz"}', 'process_open_fds{process="core-api"}', 'process_open_fds{process="extensions-api"}'}

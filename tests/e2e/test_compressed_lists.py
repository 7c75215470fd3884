"""Compressed lists, which are assembled from cached blocks (decision 0017), equal uncompressed lists in every encoding and after all kinds of changes."""
import gzip
import json
import threading

import pytest

import mesh
from raw_etcd import RawEtcd
from test_data_path import CONFIG_MAPS, as_stored, config_map, etcd, started  # noqa: F401  (etcd is a fixture)

OBJECTS = 1200
FORMS = {"json": "application/json", "protobuf": "application/vnd.kubernetes.protobuf",
         "metadata": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
         "metadata-protobuf": "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
         "table": "application/json;as=Table;v=v1;g=meta.k8s.io", "yaml": "application/yaml"}


@pytest.fixture(scope="module")
def world(tmp_path_factory, etcd_path):
    """A server with objects of very different sizes. They are written in transactions of 100, which have the same revision."""
    folder = tmp_path_factory.mktemp("compressed")
    store = mesh.Store(folder / "etcd", binary=etcd_path)
    text = lambda i: f"{i * 7919:08}" * (8000 if i % 97 == 5 else 700 if i % 3 == 0 else 12)
    noted = lambda i: as_stored(f"c{i:05}", text=text(i)).replace('"namespace":"default"', '"namespace":"default","annotations":{"note":"%s"}' % ("x%d" % i * 25))
    RawEtcd(store.url).put_all((f"/registry/configmaps/default/c{i:05}", noted(i)) for i in range(OBJECTS))
    server = mesh.KubeApiserver(folder / "server", store.url).start()
    yield server
    server.stop()
    store.stop()


def compressed(server, path, accept="application/json"):
    """Requests a list compressed and uncompressed, and compares them. Returns the list and its compressed size."""
    for attempt in range(5):  # another client may write between the two requests
        packed = server.client.raw("GET", path, headers={"Accept": accept, "Accept-Encoding": "gzip"}, timeout=60)
        plain = server.client.raw("GET", path, headers={"Accept": accept, "Accept-Encoding": "gzip;q=0, identity"}, timeout=60)
        assert packed.code == plain.code == 200, packed.body
        assert packed.headers["Content-Encoding"] == "gzip" and packed.headers.get_all("Vary") == ["Accept-Encoding"]
        assert plain.headers["Content-Encoding"] is None
        assert packed.headers["Content-Type"] == plain.headers["Content-Type"]
        if gzip.decompress(packed.body) == plain.body:
            return plain.body, len(packed.body)
    raise AssertionError(f"{path} as {accept}: the compressed and the uncompressed list differ")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same(world, form):
    for _ in range(2):  # the second time from cached blocks
        body, size = compressed(world, CONFIG_MAPS, FORMS[form])
        assert size * 2 < len(body)


def test_pages_and_selections(world):
    names, token = [], ""
    while True:
        body, _ = compressed(world, f"{CONFIG_MAPS}?limit=500&continue={token}")
        page = json.loads(body)
        names += [item["metadata"]["name"] for item in page["items"]]
        token = page["metadata"].get("continue", "")
        if not token:
            break
    assert [name for name in names if name[0] == "c"] == [f"c{i:05}" for i in range(OBJECTS)]
    compressed(world, f"{CONFIG_MAPS}?fieldSelector=metadata.name!%3Dc00300")
    compressed(world, "/api/v1/configmaps?resourceVersion=0")


def test_short_lists_and_those_who_did_not_ask(world):
    for path, encoding in ((CONFIG_MAPS + "?limit=3", "gzip"), (CONFIG_MAPS, "gzip;q=0"), (CONFIG_MAPS, "br"), (CONFIG_MAPS + "/c00000", "gzip")):
        answer = world.client.raw("GET", path, headers={"Accept-Encoding": encoding}, timeout=60)
        assert answer.headers["Content-Encoding"] is None and json.loads(answer.body), (path, encoding)
    watched = world.client.raw("GET", CONFIG_MAPS + "?watch=true&timeoutSeconds=1", headers={"Accept-Encoding": "gzip"}, timeout=60)
    assert watched.headers["Content-Encoding"] is None and watched.body.count(b'"type":"ADDED"') >= OBJECTS


def test_what_was_changed_is_seen_at_once(world):
    before, _ = compressed(world, CONFIG_MAPS)
    for i in (0, 1, 600, 601, OBJECTS - 1):
        assert world.client("PUT", f"{CONFIG_MAPS}/c{i:05}", config_map(f"c{i:05}", text=f"changed {i}")).code == 200
        assert f'"text":"changed {i}"'.encode() in compressed(world, CONFIG_MAPS)[0]
    assert world.client("POST", CONFIG_MAPS, config_map("c00300-added", text="added")).code == 201
    assert b'"text":"added"' in compressed(world, CONFIG_MAPS)[0]
    assert world.client("DELETE", f"{CONFIG_MAPS}/c00300-added").code == 200
    assert b'"text":"added"' not in compressed(world, CONFIG_MAPS)[0]


def test_neighbours_of_one_revision_are_told_apart(request, tmp_path, etcd):
    """Objects that are written in one transaction have the same revision. If some of them are deleted, blocks that contain them must not be reused."""
    raw = RawEtcd(etcd.url)
    raw.put_all((f"/registry/configmaps/default/c{i:05}", as_stored(f"c{i:05}", text=f"{i % 2}" * 900)) for i in range(300))
    server = started(request, tmp_path / "server", etcd)
    compressed(server, CONFIG_MAPS)
    for i in range(3, 300, 4):
        assert server.client("DELETE", f"{CONFIG_MAPS}/c{i:05}").code == 200
        if i % 20 == 3:
            compressed(server, CONFIG_MAPS)
    assert len(json.loads(compressed(server, CONFIG_MAPS)[0])["items"]) >= 225


def test_while_others_write(world):
    stop = threading.Event()

    def write():
        n = 0
        while not stop.is_set():
            n += 1
            world.client("PUT", f"{CONFIG_MAPS}/c{n * 31 % 200:05}", config_map(f"c{n * 31 % 200:05}", text=f"{n} " * (n % 500)), timeout=30)
    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(40):
            packed = world.client.raw("GET", CONFIG_MAPS, headers={"Accept-Encoding": "gzip"}, timeout=60)
            items = json.loads(gzip.decompress(packed.body))["items"]
            assert [item["metadata"]["name"] for item in items if item["metadata"]["name"][0] == "c"] == [f"c{i:05}" for i in range(OBJECTS)]
    finally:
        stop.set()
        for writer in writers:
            writer.join()


def test_gos_reader_takes_it(world):
    """kubectl requests gzip by default, and the gzip reader of Go verifies the checksum."""
    for _ in range(2):
        read = world.kubectl("get", "--raw", CONFIG_MAPS).stdout
        assert read == world.client.raw("GET", CONFIG_MAPS, timeout=60).body.decode()


def test_custom_resources(world):
    foos = mesh.serve_foos(world)
    for i in range(150):
        made = world.client("POST", foos, {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": f"f{i:03}"}, "text": f"{i:03}" * 600})
        assert made.code == 201, made.body
    for form in ("json", "json", "yaml"):  # in the other encodings, 150 objects are too short to be compressed
        compressed(world, foos, FORMS[form])
    head = world.client.raw("HEAD", foos, headers={"Accept-Encoding": "gzip"})
    assert head.code == 200 and head.body == b""
    assert world.client("DELETE", f"{foos}/f077").code == 200
    assert len(json.loads(compressed(world, foos)[0])["items"]) == 149


def test_audited_answers_are_logged_as_text(request, tmp_path, etcd):
    RawEtcd(etcd.url).put_all((f"/registry/configmaps/default/c{i:05}", as_stored(f"c{i:05}", text="text" * 500)) for i in range(200))
    policy, log = tmp_path / "policy.yaml", tmp_path / "audit.log"
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n"
                      "rules: [{level: RequestResponse, verbs: [list], resources: [{resources: [configmaps]}]}]\n")
    server = started(request, tmp_path / "server", etcd, f"--audit-policy-file={policy}", f"--audit-log-path={log}")
    body, _ = compressed(server, CONFIG_MAPS)

    def logged():
        events = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
        return [event for event in events if event["requestURI"] == CONFIG_MAPS and len(event.get("responseObject", {}).get("items", [])) >= 200]
    assert mesh.wait_until(lambda: len(logged()) >= 2 and logged(), 10, "both are logged")

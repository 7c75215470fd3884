"""ResourceQuota with two core-api replicas: concurrent writers never get more than the limit, and cost few writes of the quota."""
import collections
import concurrent.futures

import pytest

import mesh

NS = "/api/v1/namespaces/limited"
WRITERS = 64


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """Two meshes with the same store: two replicas each of core-api and extensions-api."""
    folder = tmp_path_factory.mktemp("quota")
    store = mesh.Store(folder / "store")
    started = []
    try:
        for name in "ab":
            started.append(mesh.KubeApiserver(folder / name, store.url).start())
        assert started[0].client("POST", "/api/v1/namespaces", {"metadata": {"name": "limited"}}).code == 201
        yield started
    finally:
        for server in started:
            server.stop()
        store.stop()


def limit(servers, name, hard, probes):
    """Creates a quota as the quota controller leaves it. `probes` are requests (path, body) that tell whether a replica knows the quota."""
    client = servers[0].client
    assert client("POST", f"{NS}/resourcequotas", {"metadata": {"name": name}, "spec": {"hard": hard}}).code == 201
    for used, code in ((hard, 403), ({amount: "0" for amount in hard}, 201)):  # first all of it is used, then nothing
        status = {"status": {"hard": hard, "used": used}}
        assert client("PATCH", f"{NS}/resourcequotas/{name}/status", status, {"Content-Type": "application/merge-patch+json"}).code == 200
        for server in servers:
            for path, body in probes:
                mesh.wait_until(lambda: server.client("POST", f"{path}?dryRun=All", body).code == code, 10, f"{path} is answered with {code}")


def create_all(servers, requests):
    """Sends the requests (path, body) from 64 threads, alternating between the servers, and counts the status codes by path."""
    def send(numbered):
        number, (path, body) = numbered
        return path, servers[number // 2 % len(servers)].client("POST", path, body, timeout=60).code
    with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
        return collections.Counter(pool.map(send, enumerate(requests)))


def status_of(servers, name):
    return servers[0].client.get(f"{NS}/resourcequotas/{name}").json()


def test_concurrent_writers_never_exceed_a_limit(servers):
    limit(servers, "counts", {"configmaps": "50"}, [(f"{NS}/configmaps", {"metadata": {"name": "x"}})])
    before = int(status_of(servers, "counts")["metadata"]["resourceVersion"])
    answers = create_all(servers, [(f"{NS}/configmaps", {"metadata": {"name": f"c{i}"}}) for i in range(120)])
    assert answers == {(f"{NS}/configmaps", 201): 50, (f"{NS}/configmaps", 403): 70}
    quota = status_of(servers, "counts")
    assert quota["status"]["used"]["configmaps"] == "50"
    assert len(servers[1].client.get(f"{NS}/configmaps").json()["items"]) == 50
    # Revisions count all writes of the store: 50 are those of the ConfigMaps, and a few are those of the quota and of leases.
    assert int(quota["metadata"]["resourceVersion"]) - before < 100, "writes of the quota are batched"


def test_amounts_of_pods_and_counts_of_custom_resources_in_one_quota(servers):
    foos = mesh.serve_foos(servers[0]).replace("default", "limited")
    mesh.wait_until(lambda: servers[1].client.answers(foos), 10, "the custom resource is served")

    def requests(number):
        spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}]}
        return [(f"{NS}/pods", {"metadata": {"name": f"p{number}"}, "spec": spec}),
                (foos, {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": f"f{number}"}})]
    limit(servers, "amounts", {"requests.cpu": "3", "count/foos.example.com": "10"}, requests("x"))
    answers = create_all(servers, [request for number in range(40) for request in requests(number)])
    assert answers == {(f"{NS}/pods", 201): 30, (f"{NS}/pods", 403): 10, (foos, 201): 10, (foos, 403): 30}
    used = status_of(servers, "amounts")["status"]["used"]
    assert (used["requests.cpu"], used["count/foos.example.com"]) == ("3", "10")

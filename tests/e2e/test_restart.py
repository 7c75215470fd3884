"""Start of a server whose etcd has more than one page of a resource."""
from concurrent.futures import ThreadPoolExecutor

COUNT = 1300


def test_a_restart_reads_all_pages(own_server):
    def create(number):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"object-{number}"}, "data": {"key": "x" * 900}}
        return own_server.client("POST", "/api/v1/namespaces/default/configmaps", body).code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(create, range(COUNT))) == {201}
    own_server.stop()
    own_server.start()
    items = own_server.client.get("/api/v1/namespaces/default/configmaps").json()["items"]
    names = [item["metadata"]["name"] for item in items if item["metadata"]["name"].startswith("object-")]
    assert len(names) == len(set(names)) == COUNT
    page = own_server.client.get("/api/v1/namespaces/default/configmaps?limit=100").json()
    assert page["metadata"]["remainingItemCount"] == len(items) - 100

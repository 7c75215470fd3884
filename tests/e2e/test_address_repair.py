"""An IPAddress that a client takes away from a service comes back at once, not only with the next check of all addresses."""
import mesh

ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"


def test_deleted_addresses_come_back(tmp_path):
    store = mesh.Store(tmp_path / "store")
    server = mesh.KubeApiserver(tmp_path / "server", store.url).start()
    try:
        client = server.client
        mesh.wait_until(lambda: client.answers("/readyz"), 30, "the server is ready")
        created = client("POST", "/api/v1/namespaces/default/services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})
        ip = created.json()["spec"]["clusterIP"]
        first = client.get(f"{ADDRESSES}/{ip}").json()["metadata"]["uid"]
        assert client("DELETE", f"{ADDRESSES}/{ip}").code == 200

        def restored():
            found = client.get(f"{ADDRESSES}/{ip}")
            return found.code == 200 and found.json()["metadata"]["uid"] != first
        mesh.wait_until(restored, 60, "the address is allocated again")

        # The address of a service that is deleted does not come back.
        assert client("DELETE", "/api/v1/namespaces/default/services/s").code == 200
        mesh.wait_until(lambda: client.get(f"{ADDRESSES}/{ip}").code == 404, 30, "the address is free")
    finally:
        server.stop()
        store.stop()

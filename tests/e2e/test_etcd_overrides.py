"""--etcd-servers-overrides: some resources are stored in another etcd."""
import pytest

import mesh
from raw_etcd import RawEtcd
from watching import Watch

EVENTS, CONFIG_MAPS = "/api/v1/namespaces/default/events", "/api/v1/namespaces/default/configmaps"


def event(name):
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "R"}


def test_events_have_an_etcd_of_their_own(tmp_path, etcd_path):
    usual, own = mesh.Store(tmp_path / "usual", binary=etcd_path), mesh.Store(tmp_path / "own", binary=etcd_path)
    third = mesh.Store(tmp_path / "third")  # our own store
    server = mesh.KubeApiserver(tmp_path / "server", usual.url, f"--etcd-servers-overrides=/events#{own.url},apps/deployments#{third.url}").start()
    try:
        watch = Watch(server.client, "/apis/events.k8s.io/v1/namespaces/default/events")
        assert server.client("POST", EVENTS, event("e")).code == 201
        watch.wait_for("e", "ADDED")  # the same objects in the other API group, from the same etcd
        watch.close()
        assert server.client.get("/apis/events.k8s.io/v1/namespaces/default/events/e").code == 200
        assert server.client("POST", CONFIG_MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}).code == 201
        assert "/registry/events/default/e" in RawEtcd(own.url).pairs("/registry/events/")
        assert RawEtcd(own.url).pairs("/registry/configmaps/") == {}
        assert RawEtcd(usual.url).pairs("/registry/events/") == {}
        assert "/registry/configmaps/default/c" in RawEtcd(usual.url).pairs("/registry/configmaps/")
        ready = server.client.get("/readyz?verbose").body
        for check in ("etcd", "etcd-readiness", "etcd-override-0", "etcd-override-readiness-0", "etcd-override-1"):
            assert f"[+]{check} ok" in ready, ready

        deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
        assert server.client("POST", "/apis/apps/v1/namespaces/default/deployments", deployment).code == 201
        assert RawEtcd(usual.url).pairs("/registry/deployments/") == {}

        # If one etcd fails, the resources of the others are still served, and the check of that etcd fails.
        own.stop()
        mesh.wait_until(lambda: server.client.get("/readyz/etcd-override-0").code == 500, 15, "the check fails")
        assert server.client.answers("/readyz/etcd") and server.client.answers(f"{CONFIG_MAPS}/c")
        assert server.client.get("/apis/apps/v1/namespaces/default/deployments/d").code == 200
        assert server.client("POST", EVENTS, event("late"), timeout=40).code >= 500
    finally:
        server.stop()
        for store in (usual, own, third):
            store.stop()


@pytest.mark.parametrize("text", ["events#http://127.0.0.1:1", "/events", "/events#"])
def test_a_wrong_override_ends_the_start(tmp_path, text):
    store = mesh.Store(tmp_path / "store")
    server = mesh.KubeApiserver(tmp_path / "server", store.url, f"--etcd-servers-overrides={text}").start(wait=False)
    assert server.process.wait(20) == 1
    assert "--etcd-servers-overrides invalid, must be of format: group/resource#servers" in server.log.read_text()
    store.stop()

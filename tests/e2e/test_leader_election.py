"""Coordinated leader election: an API server chooses the leaders of components from their LeaseCandidates."""
import datetime

import pytest

import mesh

CANDIDATES = "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates"
LEASES = "/apis/coordination.k8s.io/v1/namespaces"
FLAGS = ("--feature-gates=CoordinatedLeaderElection=true", "--runtime-config=coordination.k8s.io/v1beta1=true", "--coordinated-leadership-lease-duration=3s",
         "--coordinated-leadership-renew-deadline=2s", "--coordinated-leadership-retry-period=500ms")


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def candidate(name, emulation, renewed=True):
    spec = {"leaseName": "component", "binaryVersion": "1.36.0", "emulationVersion": emulation, "strategy": "OldestEmulationVersion"}
    return {"apiVersion": "coordination.k8s.io/v1beta1", "kind": "LeaseCandidate", "metadata": {"name": name}, "spec": {**spec, **({"renewTime": now()} if renewed else {})}}


def patch(client, path, body):
    return client("PATCH", path, body, {"Content-Type": "application/merge-patch+json"})


@pytest.fixture
def store(tmp_path):
    store = mesh.Store(tmp_path / "store")
    yield store
    store.stop()


def lease(client, name="component", namespace="default"):
    answer = client.get(f"{LEASES}/{namespace}/leases/{name}")
    return answer.json()["spec"] if answer.code == 200 else {}


def answer_pings(client):
    """Does what client-go does for a candidate: it renews itself when it is asked."""
    for item in client.get(CANDIDATES).json()["items"]:
        if item["spec"].get("pingTime", "") > item["spec"].get("renewTime", ""):
            patch(client, f"{CANDIDATES}/{item['metadata']['name']}", {"spec": {"renewTime": now()}})


def test_leaders_are_chosen(tmp_path, store):
    server = mesh.KubeApiserver(tmp_path / "first", store.url, *FLAGS).start()
    client = server.client
    try:
        assert client.get("/livez/poststarthook/start-kube-apiserver-coordinated-leader-election-controller").code == 200
        own = lambda: lease(client, "leader-election-controller", "kube-system").get("holderIdentity", "")
        mesh.wait_until(own, 30, "the server holds the lease of the controller")

        assert client("POST", CANDIDATES, candidate("new", "1.36.0")).code == 201
        mesh.wait_until(lambda: lease(client).get("holderIdentity") == "new", 30, "the only candidate leads")
        assert lease(client)["strategy"] == "OldestEmulationVersion"

        # A candidate with an older version is preferred. The leader keeps its lease as long as it renews it.
        assert client("POST", CANDIDATES, candidate("old", "1.35.0")).code == 201

        def preferred():
            answer_pings(client)
            spec = lease(client)
            if spec.get("holderIdentity") == "new" and spec.get("preferredHolder") != "old":
                patch(client, f"{LEASES}/default/leases/component", {"spec": {"renewTime": now()}})
            return "old" in (spec.get("holderIdentity"), spec.get("preferredHolder"))
        mesh.wait_until(preferred, 60, "the older candidate is preferred")

        # The leader does not renew its lease any more.
        def led_by_old():
            answer_pings(client)
            return lease(client).get("holderIdentity") == "old"
        mesh.wait_until(led_by_old, 60, "the older candidate leads")
        first = own()
    finally:
        server.stop()

    # The server gave its lease up, so that another one takes it.
    server = mesh.KubeApiserver(tmp_path / "second", store.url, *FLAGS).start()
    try:
        mesh.wait_until(lambda: lease(server.client, "leader-election-controller", "kube-system").get("holderIdentity") not in ("", None, first), 30, "the other server leads")
    finally:
        server.stop()

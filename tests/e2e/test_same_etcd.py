"""A real kube-apiserver and our mesh use one etcd: each returns the objects of the other and delivers them as watch events."""
import os
import shutil
import signal

import pytest

import mesh
from raw_etcd import RawEtcd
from watching import Watch

REFERENCE = os.environ.get("APIMESH_REFERENCE") or shutil.which("kube-apiserver-reference", path=f"{mesh.ROOT}/.venv/bin")
pytestmark = pytest.mark.skipif(REFERENCE is None, reason="no real kube-apiserver: run ./apimesh test, which builds it, or set APIMESH_REFERENCE to a kube-apiserver v1.36")

POD = {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}}}]}
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": POD}
SELECTOR = {"matchLabels": {"app": "x"}}
ONCE = {"metadata": {"labels": {"app": "x"}}, "spec": {**POD, "restartPolicy": "Never"}}
# kind: (path of the collection, the rest of the object, key below /registry of an object "x")
KINDS = {
    "ConfigMap": ("/api/v1/namespaces/default/configmaps", {"data": {"a": "ä\n"}, "binaryData": {"b": "AAEC/w=="}}, "configmaps/default/x"),
    "Secret": ("/api/v1/namespaces/default/secrets", {"stringData": {"a": "b"}, "type": "Opaque"}, "secrets/default/x"),
    "Pod": ("/api/v1/namespaces/default/pods", {"spec": {**POD, "nodeName": "n"}}, "pods/default/x"),
    "Service": ("/api/v1/namespaces/default/services", {"spec": {"selector": {"app": "x"}, "ports": [{"port": 80, "targetPort": "web"}]}}, "services/specs/default/x"),
    "ServiceAccount": ("/api/v1/namespaces/default/serviceaccounts", {}, "serviceaccounts/default/x"),
    "PersistentVolumeClaim": ("/api/v1/namespaces/default/persistentvolumeclaims",
                              {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}, "persistentvolumeclaims/default/x"),
    "Node": ("/api/v1/nodes", {"spec": {"podCIDR": "10.1.0.0/24"}}, "minions/x"),
    "Event": ("/api/v1/namespaces/default/events", {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "R", "message": "m", "type": "Normal"},
              "events/default/x"),
    "Deployment": ("/apis/apps/v1/namespaces/default/deployments", {"spec": {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE}}, "deployments/default/x"),
    "StatefulSet": ("/apis/apps/v1/namespaces/default/statefulsets", {"spec": {"serviceName": "s", "selector": SELECTOR, "template": TEMPLATE}}, "statefulsets/default/x"),
    "Job": ("/apis/batch/v1/namespaces/default/jobs", {"spec": {"template": ONCE}}, "jobs/default/x"),
    "CronJob": ("/apis/batch/v1/namespaces/default/cronjobs", {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": ONCE}}}}, "cronjobs/default/x"),
    "HorizontalPodAutoscaler": ("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
                                {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}}}, "horizontalpodautoscalers/default/x"),
    "Ingress": ("/apis/networking.k8s.io/v1/namespaces/default/ingresses", {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}, "ingress/default/x"),
    "NetworkPolicy": ("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", {"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}}, "networkpolicies/default/x"),
    "Lease": ("/apis/coordination.k8s.io/v1/namespaces/default/leases", {"spec": {"holderIdentity": "h", "leaseDurationSeconds": 5, "renewTime": "2026-01-02T03:04:05.678901Z"}},
              "leases/default/x"),
    "PodDisruptionBudget": ("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {"spec": {"minAvailable": "50%", "selector": SELECTOR}}, "poddisruptionbudgets/default/x"),
    "Role": ("/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}, "roles/default/x"),
    "StorageClass": ("/apis/storage.k8s.io/v1/storageclasses", {"provisioner": "example.com/p", "parameters": {"a": "b"}}, "storageclasses/x"),
    "PersistentVolume": ("/api/v1/persistentvolumes", {"spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "nfs": {"server": "s", "path": "/p"}}},
                         "persistentvolumes/x"),
    "LimitRange": ("/api/v1/namespaces/default/limitranges", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]}}, "limitranges/default/x"),
    "CSIDriver": ("/apis/storage.k8s.io/v1/csidrivers", {"spec": {}}, "csidrivers/x"),
    "ResourceClaim": ("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
                      {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}}, "resourceclaims/default/x"),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 1000, "description": "d"}, "priorityclasses/x"),
}
# Kinds with defaults that are not implemented yet (README: "Not there yet"). The stored data is equal, but defaults that are added on read are not.
INCOMPLETE = {}


@pytest.fixture(scope="module")
def pair(tmp_path_factory, etcd_path):
    """Starts (ours, theirs, etcd). The mesh starts first, so the reference finds a cluster that the mesh has initialised."""
    folder = tmp_path_factory.mktemp("pair")
    etcd = mesh.Store(folder / "etcd", binary=etcd_path)
    # No controllers run, so there is no ServiceAccount for pods, and the finalizer of claims would not be removed.
    flags = ("--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection",)
    ours = mesh.KubeApiserver(folder / "ours", etcd.url, *flags).start()
    theirs = mesh.KubeApiserver(folder / "theirs", etcd.url, *flags, binary=REFERENCE).start()
    yield ours, theirs, RawEtcd(etcd.url)
    ours.stop()
    theirs.stop(signal.SIGKILL)
    etcd.stop()


def made(kind, name):
    path, rest, _ = KINDS[kind]
    return {"apiVersion": path.split("/")[2] if path.startswith("/api/") else "/".join(path.split("/")[2:4]), "kind": kind,
            "metadata": {"name": name, "labels": {"app": "x"}, "annotations": {"a": "1"}}, **rest}


def comparable(thing):
    return {key: value for key, value in thing.items() if key != INCOMPLETE.get(thing["kind"])}


def same_everywhere(ours, theirs, path):
    """Reads an object from both servers, compares it and returns it. Both read at the newest revision of etcd."""
    answers = ours.client.get(path), theirs.client.get(path)
    assert [answer.code for answer in answers] == [200, 200], f"{path}: {answers[0].body} {answers[1].body}"
    a, b = (answer.json() for answer in answers)
    assert comparable(a) == comparable(b), path
    return a


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("writer", ["ours", "theirs"])
def test_each_sees_the_others_objects_and_events(pair, kind, writer):
    ours, theirs, raw = pair
    one, other = (ours, theirs) if writer == "ours" else (theirs, ours)
    if (writer, kind) == ("ours", "Job"):
        pytest.skip("a Job that the mesh creates has no selector yet (README: Not there yet), so kube-apiserver rejects changes of it")
    path, _, key = KINDS[kind]
    name = f"{writer}-{kind.lower()}"
    watches = [Watch(server.client, f"{path}?fieldSelector=metadata.name%3D{name}&timeoutSeconds=100") for server in (one, other)]
    created = one.client("POST", path, made(kind, name))
    assert created.code == 201, created.body
    stored = raw.get("/registry/" + key[:-1] + name)
    assert stored.startswith(b"{" if writer == "ours" else b"k8s\0"), "the mesh stores JSON, kube-apiserver stores protobuf"
    same_everywhere(ours, theirs, f"{path}/{name}")

    # The other server changes the object, then the first server changes it again.
    for step, server in (("2", other), ("3", one)):
        changed = server.client("PATCH", f"{path}/{name}", {"metadata": {"annotations": {"a": step}}}, headers={"Content-Type": "application/merge-patch+json"})
        assert changed.code == 200, changed.body
        now = same_everywhere(ours, theirs, f"{path}/{name}")
        assert now["metadata"]["annotations"]["a"] == step and now["metadata"]["resourceVersion"] == changed.json()["metadata"]["resourceVersion"]
    listed = [{item["metadata"]["name"]: item for item in server.client.get(f"{path}?labelSelector=app%3Dx").json()["items"]} for server in (one, other)]
    assert comparable({**listed[0][name], "kind": kind}) == comparable({**listed[1][name], "kind": kind})

    deleted = other.client("DELETE", f"{path}/{name}?gracePeriodSeconds=0&propagationPolicy=Background")
    assert deleted.code == 200, deleted.body
    types = ["ADDED", "MODIFIED", "MODIFIED"]
    mesh.wait_until(lambda: all("DELETED" in watch.types(name) for watch in watches), 15, f"both watches receive the deletion: {[watch.types(name) for watch in watches]}")
    seen = [[(what, thing["metadata"]["resourceVersion"], thing["metadata"]["annotations"]["a"]) for what, thing in watch.events] for watch in watches]
    assert seen[0] == seen[1], "the events or their revisions differ"
    assert [what for what, _, _ in seen[0]][:3] == types and seen[0][-1][0] == "DELETED"
    # Events with the same revision have the same object.
    assert [comparable(thing) for _, thing in watches[0].events] == [comparable(thing) for _, thing in watches[1].events]
    for server in pair[:2]:
        assert server.client.get(f"{path}/{name}").code == 404
    for watch in watches:
        watch.close()


@pytest.mark.parametrize("writer", ["ours", "theirs"])
def test_custom_resources(pair, writer):
    ours, theirs, _ = pair
    one, other = (ours, theirs) if writer == "ours" else (theirs, ours)
    plural = f"{writer}things"
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.example.com"},
           "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": plural, "kind": writer.title() + "Thing"},
                    "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": {
                        "type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}},
                                                         "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}}}]}}
    assert one.client("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).code == 201
    path = f"/apis/example.com/v1/namespaces/default/{plural}"
    for server in (ours, theirs):
        mesh.wait_until(lambda: server.client.answers(path), 30, "the custom resource is served by both")
    watch = Watch(other.client, path)
    thing = {"apiVersion": "example.com/v1", "kind": writer.title() + "Thing", "metadata": {"name": "t"}, "spec": {}}
    assert one.client("POST", path, thing).code == 201
    assert same_everywhere(ours, theirs, f"{path}/t")["spec"] == {"size": 3}
    assert other.client("PATCH", f"{path}/t", {"spec": {"size": 5}}, headers={"Content-Type": "application/merge-patch+json"}).code == 200
    assert same_everywhere(ours, theirs, f"{path}/t")["spec"] == {"size": 5}
    assert one.client("DELETE", f"{path}/t").code == 200
    watch.wait_for("t", "ADDED", "MODIFIED", "DELETED")
    watch.close()


def test_every_exception_is_needed(pair):
    """A kind that no longer differs must be removed from INCOMPLETE."""
    ours, theirs, _ = pair
    for kind, part in INCOMPLETE.items():
        path = KINDS[kind][0]
        assert ours.client("POST", path, made(kind, "exception")).code == 201
        a, b = (server.client.get(f"{path}/exception").json()[part] for server in (ours, theirs))
        assert a != b, f"{kind}: remove it from INCOMPLETE"
        theirs.client("DELETE", f"{path}/exception?propagationPolicy=Background")


def test_names_and_versions_are_guarded_by_both(pair):
    """With two servers, names are unique and no update is lost."""
    ours, theirs, _ = pair
    path = KINDS["ConfigMap"][0]
    first = ours.client("POST", path, made("ConfigMap", "once")).json()
    assert theirs.client("POST", path, made("ConfigMap", "once")).code == 409
    assert theirs.client("PUT", f"{path}/once", {**first, "data": {"a": "theirs"}}).code == 200
    late = ours.client("PUT", f"{path}/once", {**first, "data": {"a": "ours"}})
    assert late.code == 409 and late.json()["reason"] == "Conflict"
    assert same_everywhere(ours, theirs, f"{path}/once")["data"] == {"a": "theirs"}


def test_addresses_of_services_are_not_given_twice(pair):
    ours, theirs, _ = pair
    path = KINDS["Service"][0]
    addresses = []
    for i in range(10):
        server = (ours, theirs)[i % 2]
        answer = server.client("POST", path, made("Service", f"address-{i}"))
        assert answer.code == 201, answer.body
        addresses.append(answer.json()["spec"]["clusterIP"])
    assert len(set(addresses)) == len(addresses)


def test_roles_written_by_one_hold_at_the_other(pair):
    ours, theirs, _ = pair
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    for user, server, other in (("ann", ours, theirs), ("bob", theirs, ours)):
        headers = {"Impersonate-User": user}
        assert other.client("GET", "/api/v1/nodes", headers=headers).code == 403
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": f"nodes-{user}"},
                "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]}
        binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": f"nodes-{user}"},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": f"nodes-{user}"}, "subjects": [{"kind": "User", "name": user}]}
        assert server.client("POST", f"{rbac}/clusterroles", role).code == 201
        assert server.client("POST", f"{rbac}/clusterrolebindings", binding).code == 201
        mesh.wait_until(lambda: other.client("GET", "/api/v1/nodes", headers=headers).code == 200, 10, f"{user} may list nodes at the other server")

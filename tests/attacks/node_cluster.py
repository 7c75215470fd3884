"""A cluster for attacks with the credential of a node. The node n1 has the permissions of a kubelet. The node n3 is also a cluster administrator by
RBAC, so that only NodeRestriction restricts it.

With APIMESH_REFERENCE_BINARY=/path/to/kube-apiserver the same requests are sent to the real kube-apiserver, which must give the same responses."""
import contextlib
import os
import types

import mesh

REFERENCE = os.environ.get("APIMESH_REFERENCE_BINARY")
NODES = {"n1": "system:node:n1", "n2": "system:node:n2", "n3": "system:node:n3", "nameless": "system:node:"}
PATCH_TYPES = {"json": "application/json-patch+json", "merge": "application/merge-patch+json", "strategic": "application/strategic-merge-patch+json",
               "apply": "application/apply-patch+yaml"}
MIRROR = {"kubernetes.io/config.mirror": "hash"}
PODS = "/api/v1/namespaces/default/pods"
CONTAINER = {"name": "c", "image": "i", "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}


def made(answer):
    assert answer.code in (200, 201), answer.body
    return answer.json()


def refused(answer, message, code=403):
    """Checks that the response is an error with exactly this message."""
    assert answer.code == code, answer.body
    assert answer.json()["message"] == message


def pod(name, node="n1", uid=None, **spec):
    """Returns a pod on a node. With the uid of that node, it is a mirror pod that the node owns."""
    metadata = {"name": name}
    if uid:
        metadata |= {"annotations": MIRROR, "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid, "controller": True}]}
    return {"metadata": metadata, "spec": {"nodeName": node, "containers": [CONTAINER], **spec}}


def volume(**source):
    return {"volumes": [{"name": "v", **source}]}


def grant(admin, name, user, role="cluster-admin"):
    made(admin("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}))


def fill(cluster):
    """Creates the objects that the attacks use."""
    admin = cluster.admin
    mesh.wait_until(lambda: admin.get("/api/v1/namespaces/default").code == 200, 20, "the namespace default exists")
    for name in ("n1", "n2", "n3"):
        cluster.uids[name] = made(admin("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": {"node-restriction.kubernetes.io/tenant": "a"}},
                                                                   "spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}}))["metadata"]["uid"]
    for ns in ("default", "kube-system"):
        made(admin("POST", f"/api/v1/namespaces/{ns}/secrets", {"metadata": {"name": "treasure"}, "stringData": {"gold": "1000"}}))
    made(admin("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "robot"}}))
    made(admin("POST", "/api/v1/namespaces/default/persistentvolumeclaims", {"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}))
    tokens = {"projected": {"sources": [{"serviceAccountToken": {"audience": "vault", "path": "t"}}]}}
    volumes = [{"name": "t", **tokens}, {"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    for name, node in (("mine", "n1"), ("other", "n2")):
        cluster.pods[name] = made(admin("POST", PODS, pod(name, node, serviceAccountName="robot", volumes=volumes[:1 if node == "n2" else 2])))
    for name in ("n1", "n2", "n3"):
        made(admin("POST", "/apis/storage.k8s.io/v1/csinodes", {"metadata": {"name": name}, "spec": {"drivers": []}}))
        made(admin("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", {"metadata": {"name": name}}))
    made(admin("POST", "/apis/resource.k8s.io/v1/resourceslices", resource_slice("slice-of-n2", "n2")))
    grant(admin, "strong-node", NODES["n3"])
    grant(admin, "nameless-node", NODES["nameless"])


def resource_slice(name, node):
    return {"metadata": {"name": name}, "spec": {"driver": "d.example.com", "nodeName": node, "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}}


@contextlib.contextmanager
def node_cluster(folder):
    """A cluster with three nodes, and a client for each."""
    store = mesh.Store(folder / "store")
    flags = ["--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
             "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,Priority,DefaultTolerationSeconds,StorageObjectInUseProtection"]
    server = mesh.KubeApiserver(folder, store.url, *flags, binary=REFERENCE)
    server.arguments.remove("--authorization-mode=RBAC")
    with open(folder / "tokens.csv", "a") as tokens:
        tokens.writelines(f'{name}-token,{user},{name}-uid,"system:nodes"\n' for name, user in NODES.items())
        tokens.write('impostor-token,mallory,m,"system:nodes"\n')
    server.start()
    clients = {name: mesh.Client(server.url, token=f"{name}-token") for name in (*NODES, "impostor")}
    cluster = types.SimpleNamespace(server=server, admin=server.client, uids={}, pods={}, **clients)
    fill(cluster)
    # Waits until the authorizer has received the pods and the bindings.
    mesh.wait_until(lambda: cluster.n1.get(f"{PODS}/mine").code == 200, 20, "the Node authorizer has received the pod")
    mesh.wait_until(lambda: cluster.n3.get("/api/v1/namespaces/default/secrets").code == 200, 20, "RBAC has received the binding")
    yield cluster
    server.stop()
    store.stop()

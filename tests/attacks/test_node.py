"""Attacks with the credential of a node: a compromised kubelet must not get access beyond its own node.

The Node authorizer allows a node to read the objects to which the pods on that node refer. This is safe only because the NodeRestriction admission
plugin prevents nodes from writing such references and from taking over other nodes, pods and tokens. `node_cluster.py`
has the cluster and its nodes."""
import pytest

import mesh
from node_cluster import CONTAINER, PATCH_TYPES, PODS, REFERENCE, made, node_cluster, pod, refused, resource_slice, volume


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with node_cluster(tmp_path_factory.mktemp("nodes")) as cluster:
        yield cluster


# References that a mirror pod must not have: the fields of its spec, and the resource in the error message.
REFERENCES = {
    "secret volume": (volume(secret={"secretName": "treasure"}), "secrets"),
    "projected secret": (volume(projected={"sources": [{"secret": {"name": "treasure"}}]}), "secrets"),
    "image pull secret": ({"imagePullSecrets": [{"name": "treasure"}]}, "secrets"),
    "environment": ({"containers": [{**CONTAINER, "envFrom": [{"secretRef": {"name": "treasure"}}]}]}, "secrets"),
    "variable": ({"initContainers": [{**CONTAINER, "name": "i", "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "treasure", "key": "gold"}}}]}]},
                 "secrets"),
    "config map": (volume(configMap={"name": "kube-root-ca.crt"}), "configmaps"),
    "service account": ({"serviceAccountName": "robot"}, "serviceaccounts"),
    "deprecated service account": ({"serviceAccount": "robot"}, "serviceaccounts"),
    "token": (volume(projected={"sources": [{"serviceAccountToken": {"path": "t"}}]}), "serviceaccounts (via projected volumes)"),
    "claim": (volume(persistentVolumeClaim={"claimName": "data"}), "persistentvolumeclaims"),
    "csi": (volume(csi={"driver": "d.example.com"}), "csidrivers (via CSI volumes)"),
    "resource claim": ({"resourceClaims": [{"name": "c", "resourceClaimName": "gpu"}]}, "resourceclaims"),
}


@pytest.mark.parametrize("namespace", ["default", "kube-system"])
def test_a_pod_on_the_own_node_does_not_open_a_secret(cluster, namespace):
    """Attack: create a pod on the own node, in any namespace, that mounts a Secret; then read the Secret.
    Expected: 403 for the pod and 403 for the Secret. Why: the Node authorizer allows a node to read the objects to which its pods refer."""
    path = f"/api/v1/namespaces/{namespace}"
    refused(cluster.n1("POST", f"{path}/pods", pod("thief", **volume(secret={"secretName": "treasure"}))),
            'pods "thief" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods')
    assert cluster.admin.get(f"{path}/pods/thief").code == 404
    assert cluster.n1.get(f"{path}/secrets/treasure").code == 403


@pytest.mark.parametrize("case", REFERENCES)
def test_a_mirror_pod_refers_to_nothing(cluster, case):
    """Attack: the same as a mirror pod, with each kind of reference. Expected: 403. Why: a node may create mirror pods."""
    spec, what = REFERENCES[case]
    answer = cluster.n1("POST", PODS, pod("thief", uid=cluster.uids["n1"], **spec))
    refused(answer, f'pods "thief" is forbidden: node "n1" can not create pods that reference {what}')
    assert cluster.n1.get("/api/v1/namespaces/default/secrets/treasure").code == 403


def test_a_mirror_pod_as_protobuf(cluster):
    """Attack: the same in the encoding that kubelets use. Expected: 403. Why: rules must not depend on the encoding."""
    protobuf = "application/vnd.kubernetes.protobuf"
    made(cluster.admin("POST", PODS, pod("encoded", uid=cluster.uids["n1"], **volume(secret={"secretName": "treasure"}))))
    body = cluster.admin.raw("GET", f"{PODS}/encoded", headers={"Accept": protobuf}).body
    assert cluster.admin("DELETE", f"{PODS}/encoded?gracePeriodSeconds=0").code == 200
    answer = cluster.n1("POST", PODS, body, {"Content-Type": protobuf, "Accept": "application/json"})
    refused(answer, 'pods "encoded" is forbidden: node "n1" can not create pods that reference secrets')


@pytest.mark.parametrize("change,message", [
    ({"nodeName": "n2"}, 'can only create pods with spec.nodeName set to itself'),
    ({"nodeName": None}, 'can only create pods with spec.nodeName set to itself'),
    ({"owner": {"name": "n2"}}, 'can only create pods with an owner reference set to itself'),
    ({"owner": {"kind": "Pod"}}, 'can only create pods with an owner reference set to itself'),
    ({"owner": {"controller": False}}, 'can only create pods with a controller owner reference set to itself'),
    ({"owner": {"blockOwnerDeletion": True}}, 'must not set blockOwnerDeletion on an owner reference'),
    ({"owner": None}, 'can only create pods with an owner reference set to itself'),
])
def test_a_mirror_pod_belongs_to_its_node(cluster, change, message):
    """Attack: mirror pods on other nodes, or with owners that the garbage collector acts on. Expected: 403.
    Why: a pod on another node runs there; an owner reference lets the garbage collector delete for the node."""
    body = pod("thief", uid=cluster.uids["n1"])
    if "nodeName" in change:
        body["spec"]["nodeName"] = change["nodeName"]
    elif change["owner"] is None:
        del body["metadata"]["ownerReferences"]
    else:
        body["metadata"]["ownerReferences"][0] |= change["owner"]
    refused(cluster.n1("POST", PODS, body), f'pods "thief" is forbidden: node "n1" {message}')


def test_cve_2025_4563_claim_statuses(cluster):
    """Attack (CVE-2025-4563): a mirror pod with resource claims and their statuses, or the statuses later, to read claims of others.
    Expected: 403. Why: the Node authorizer allows a node to read the claims in the status of its pods."""
    body = pod("thief", uid=cluster.uids["n1"], resourceClaims=[{"name": "c", "resourceClaimTemplateName": "t"}])
    body["status"] = {"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "gpu-of-another"}]}
    refused(cluster.n1("POST", PODS, body), 'pods "thief" is forbidden: node "n1" can not create pods that reference resourceclaims')
    patch = {"status": {"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "gpu-of-another"}]}}
    for kind in ("merge", "strategic"):
        answer = cluster.n1("PATCH", f"{PODS}/mine/status", patch, {"Content-Type": PATCH_TYPES[kind]})
        refused(answer, 'pods "mine" is forbidden: node "n1" cannot update resource claim statues')


# Fields of its own Node that a node must not change, and the error message.
NODE_CHANGES = {
    "owner": ({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1234"}]}},
              'nodes "n1" is forbidden: node "n1" is not allowed to modify ownerReferences'),
    "taints": ({"spec": {"taints": [{"key": "other", "effect": "NoSchedule"}]}}, 'nodes "n1" is forbidden: node "n1" is not allowed to modify taints'),
    "new label": ({"metadata": {"labels": {"node-role.kubernetes.io/control-plane": "x"}}},
                  'nodes "n1" is forbidden: is not allowed to modify labels: node-role.kubernetes.io/control-plane'),
    "changed label": ({"metadata": {"labels": {"node-restriction.kubernetes.io/tenant": "b"}}},
                      'nodes "n1" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/tenant'),
}


def merged(target, change):
    for key, value in change.items():
        target[key] = merged(target.get(key, {}), value) if isinstance(value, dict) else value
    return target


def write_node(cluster, client, kind, path, change):
    """Makes the change with an update or with a patch of this type."""
    if kind == "update":
        return client("PUT", path, merged(cluster.admin.get("/api/v1/nodes/n1").json(), change))
    body = change
    if kind == "json":
        (top, fields), = change.items()
        (field, value), = fields.items()
        body = [{"op": "add", "path": f"/{top}/{field}", "value": value}]
        if field == "labels":
            (label, text), = value.items()
            body = [{"op": "add", "path": f"/metadata/labels/{label.replace('/', '~1')}", "value": text}]
    if kind == "apply":
        body = merged({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}, change)
        path += "?fieldManager=mallory&force=true"
    return client("PATCH", path, body, {"Content-Type": PATCH_TYPES[kind]})


@pytest.mark.parametrize("subresource", ["", "/status"])
@pytest.mark.parametrize("kind", ["update", *PATCH_TYPES])
@pytest.mark.parametrize("case", NODE_CHANGES)
def test_cve_2025_5187_what_a_node_may_not_change_of_itself(cluster, case, kind, subresource):
    """Attack (CVE-2025-5187 for owners): change owner references, taints and reserved labels of the own Node or its status, with update, each type of
    patch and apply. Expected: 403, nothing changes. Why: the garbage collector deletes a Node whose owner does not exist; the node then registers again
    without its taints and labels, and gets pods that are meant for other nodes."""
    change, message = NODE_CHANGES[case]
    before = cluster.admin.get("/api/v1/nodes/n1").json()
    refused(write_node(cluster, cluster.n1, kind, f"/api/v1/nodes/n1{subresource}", change), message)
    assert cluster.admin.get("/api/v1/nodes/n1").json() == before


def test_a_node_removes_no_reserved_label_and_no_taint(cluster):
    """Attack: remove a reserved label and all taints. Expected: 403. Why: as above."""
    answer = cluster.n1("PATCH", "/api/v1/nodes/n1", {"metadata": {"labels": {"node-restriction.kubernetes.io/tenant": None}}},
                        {"Content-Type": PATCH_TYPES["merge"]})
    refused(answer, 'nodes "n1" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/tenant')
    answer = cluster.n1("PATCH", "/api/v1/nodes/n1", {"spec": {"taints": None}}, {"Content-Type": PATCH_TYPES["merge"]})
    refused(answer, 'nodes "n1" is forbidden: node "n1" is not allowed to modify taints')


def test_a_node_leaves_other_nodes_alone(cluster):
    """Attack: create, update, patch and delete other Nodes, and delete the own one. Expected: 403.
    Why: a node could drain other nodes, or register again without taints and labels."""
    refused(cluster.n1("POST", "/api/v1/nodes", {"metadata": {"name": "n9"}}), 'nodes "n9" is forbidden: node "n1" is not allowed to modify node "n9"')
    for path in ("/api/v1/nodes/n2", "/api/v1/nodes/n2/status"):
        answer = cluster.n1("PATCH", path, {"metadata": {"annotations": {"a": "b"}}}, {"Content-Type": PATCH_TYPES["merge"]})
        refused(answer, 'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"')
    for name in ("n1", "n2"):
        assert cluster.n1("DELETE", f"/api/v1/nodes/{name}").code == 403
    refused(cluster.n3("DELETE", "/api/v1/nodes/n2"), 'nodes "n2" is forbidden: node "n3" is not allowed to modify node "n2"')
    assert cluster.admin.get("/api/v1/nodes/n2").code == 200


@pytest.mark.parametrize("label,allowed", [
    ("node-restriction.kubernetes.io/x", False), ("a.node-restriction.kubernetes.io/x", False), ("kubernetes.io/x", False), ("k8s.io/x", False),
    ("a.k8s.io/x", False), ("node-role.kubernetes.io/x", False), ("kubernetes.io/hostname", True), ("node.kubernetes.io/x", True),
    ("a.kubelet.kubernetes.io/x", True), ("example.com/x", True), ("x", True)])
def test_labels_of_a_new_node(cluster, label, allowed):
    """Attack: register with labels that select the node for privileged pods. Expected: 403 for reserved labels; kubelets need the others."""
    cluster.admin("DELETE", "/api/v1/nodes/n2")
    answer = cluster.n2("POST", "/api/v1/nodes", {"metadata": {"name": "n2", "labels": {label: "v"}}})
    if allowed:
        assert answer.code == 201, answer.body
    else:
        refused(answer, f'nodes "n2" is forbidden: node "n2" is not allowed to set the following labels: {label}')
        made(cluster.admin("POST", "/api/v1/nodes", {"metadata": {"name": "n2"}}))


def test_a_node_does_not_touch_pods_of_other_nodes(cluster):
    """Attack: delete, evict or update the status of a pod on another node. Expected: 403, and the pod does not change. Why: denial of service;
    a false status removes a pod from its Service."""
    before = cluster.admin.get(f"{PODS}/other").json()
    refused(cluster.n1("DELETE", f"{PODS}/other"), 'pods "other" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself')
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "other"}}
    refused(cluster.n1("POST", f"{PODS}/other/eviction", eviction), 'pods "other" is forbidden: node n1 can only evict pods with spec.nodeName set to itself')
    for kind in ("merge", "strategic"):
        answer = cluster.n1("PATCH", f"{PODS}/other/status", {"status": {"phase": "Failed"}, "spec": {"nodeName": "n1"}}, {"Content-Type": PATCH_TYPES[kind]})
        refused(answer, 'pods "other" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself')
    refused(cluster.n1("PUT", f"{PODS}/other/status", before), 'pods "other" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself')
    assert cluster.n1("DELETE", PODS).code == 403
    assert cluster.admin.get(f"{PODS}/other").json() == before
    refused(cluster.n1("POST", f"{PODS}/none/eviction", eviction | {"metadata": {"name": "none"}}), 'pod "none" not found', 404)


def test_labels_of_the_own_pods(cluster):
    """Attack: give a pod on the own node the labels of a Service's pods, through its status. Expected: 403.
    Why: the node would get the traffic of that Service."""
    answer = cluster.n1("PATCH", f"{PODS}/mine/status", {"metadata": {"labels": {"app": "bank"}}}, {"Content-Type": PATCH_TYPES["merge"]})
    refused(answer, 'pods "mine" is forbidden: node "n1" cannot update labels through pod status')


STRONG_WRITES = {
    "update a pod": ("PATCH", f"{PODS}/mine", {"metadata": {"labels": {"a": "b"}}},
                     'pods "mine" is forbidden: unexpected operation "UPDATE", node "n3" can only create and delete mirror pods'),
    "ephemeral containers": ("PATCH", f"{PODS}/mine/ephemeralcontainers", {"spec": {"ephemeralContainers": [{**CONTAINER, "name": "e"}]}},
                             'pods "mine" is forbidden: unexpected pod subresource "ephemeralcontainers", only \'status\' and \'eviction\' are allowed'),
    "resize": ("PATCH", f"{PODS}/mine/resize", {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}},
               'pods "mine" is forbidden: unexpected pod subresource "resize", only \'status\' and \'eviction\' are allowed'),
    "binding": ("POST", f"{PODS}/unbound/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "unbound"}, "target": {"kind": "Node", "name": "n3"}},
                'pods "unbound" is forbidden: unexpected pod subresource "binding", only \'status\' and \'eviction\' are allowed'),
    "a claim": ("PATCH", "/api/v1/namespaces/default/persistentvolumeclaims/data", {"metadata": {"labels": {"a": "b"}}},
                'persistentvolumeclaims "data" is forbidden: may only update PVC status'),
    "a new claim": ("POST", "/api/v1/namespaces/default/persistentvolumeclaims",
                    {"metadata": {"name": "new"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
                    'persistentvolumeclaims "new" is forbidden: may only update PVC status'),
    "another lease": ("PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2", {"spec": {"holderIdentity": "n3"}},
                      'leases.coordination.k8s.io "n2" is forbidden: can only access node lease with the same name as the requesting node'),
    "a lease elsewhere": ("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", {"metadata": {"name": "n3"}},
                          'leases.coordination.k8s.io "n3" is forbidden: can only access leases in the "kube-node-lease" system namespace'),
    "another CSINode": ("DELETE", "/apis/storage.k8s.io/v1/csinodes/n2", None,
                        'csinodes.storage.k8s.io "n2" is forbidden: can only access CSINode with the same name as the requesting node'),
    "another slice": ("DELETE", "/apis/resource.k8s.io/v1/resourceslices/slice-of-n2", None,
                      'resourceslices.resource.k8s.io "slice-of-n2" is forbidden: can only delete ResourceSlice with the same NodeName as the requesting node'),
}


@pytest.mark.parametrize("case", STRONG_WRITES)
def test_rbac_does_not_lift_the_restriction(cluster, case):
    """Attack: the same with a node to which RBAC allows everything, with requests that the Node authorizer denies to other nodes. Expected: 403.
    Why: NodeRestriction must be sufficient alone, for every request."""
    method, path, body, message = STRONG_WRITES[case]
    if case == "binding" and cluster.admin.get(f"{PODS}/unbound").code == 404:
        made(cluster.admin("POST", PODS, {"metadata": {"name": "unbound"}, "spec": {"containers": [CONTAINER], "schedulerName": "none"}}))
    headers = {"Content-Type": PATCH_TYPES["strategic"]} if method == "PATCH" else None
    for query in ("?dryRun=All", ""):
        refused(cluster.n3(method, path + query, body, headers), message)


COLLECTIONS = {
    "/api/v1/nodes": 'nodes "Unknown" is forbidden: node "n3" is not allowed to modify node "n1"',
    PODS: 'pods "Unknown" is forbidden: node "n3" can only delete pods with spec.nodeName set to itself',
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases":
        'leases.coordination.k8s.io "Unknown" is forbidden: can only access node lease with the same name as the requesting node',
    "/apis/storage.k8s.io/v1/csinodes": 'csinodes.storage.k8s.io "Unknown" is forbidden: can only access CSINode with the same name as the requesting node',
    "/apis/resource.k8s.io/v1/resourceslices":
        'resourceslices.resource.k8s.io "Unknown" is forbidden: can only delete ResourceSlice with the same NodeName as the requesting node',
}


@pytest.mark.parametrize("path", COLLECTIONS)
def test_a_collection_is_checked_object_by_object(cluster, path):
    """Attack: delete collections that contain objects of other nodes, with all permissions by RBAC. Expected: 403, and nothing is deleted.
    Why: a deletecollection request has no object name, so each object must be checked. (kube-apiserver responds with 200 for pods, of which it
    deletes none.)"""
    before = [item["metadata"]["name"] for item in cluster.admin.get(path).json()["items"]]
    for query in ("?dryRun=All", ""):
        answer = cluster.n3("DELETE", path + query)
        if not REFERENCE:
            refused(answer, COLLECTIONS[path])
    assert [item["metadata"]["name"] for item in cluster.admin.get(path).json()["items"]] == before


def test_objects_that_belong_to_one_node(cluster):
    """Attack: write Leases, CSINodes and ResourceSlices of other nodes. Expected: 403. Why: renewing a Lease hides that a node is down; the others
    attract pods, or break volumes and devices of other nodes."""
    leases, csinodes, slices = ("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", "/apis/storage.k8s.io/v1/csinodes",
                                "/apis/resource.k8s.io/v1/resourceslices")
    refused(cluster.n1("POST", leases, {"metadata": {"name": "n9"}}),
            'leases.coordination.k8s.io "n9" is forbidden: can only access node lease with the same name as the requesting node')
    refused(cluster.n1("POST", leases, {"metadata": {"generateName": "n1"}}),
            'leases.coordination.k8s.io "n1" is forbidden: can only access node lease with the same name as the requesting node')
    refused(cluster.n1("POST", csinodes, {"metadata": {"name": "n9"}, "spec": {"drivers": []}}),
            'csinodes.storage.k8s.io "n9" is forbidden: can only access CSINode with the same name as the requesting node')
    message = 'resourceslices.resource.k8s.io "s" is forbidden: can only create ResourceSlice with the same NodeName as the requesting node'
    refused(cluster.n1("POST", slices, resource_slice("s", "n2")), message)
    everywhere = resource_slice("s", "n1")
    everywhere["spec"] |= {"nodeName": None, "allNodes": True}
    refused(cluster.n1("POST", slices, everywhere), message)
    for path in (f"{leases}/n2", f"{csinodes}/n2", f"{slices}/slice-of-n2"):
        assert cluster.n1("DELETE", path).code == 403
    made(cluster.n1("POST", slices, resource_slice("slice-of-n1", "n1")))
    made(cluster.n1("DELETE", f"{slices}?fieldSelector=spec.nodeName%3Dn1"))
    assert cluster.admin.get(f"{slices}/slice-of-n1").code == 404
    assert cluster.admin.get(f"{slices}/slice-of-n2").code == 200


def test_a_node_without_a_name(cluster):
    """Attack: a user with the name "system:node:" in the group system:nodes, to which RBAC allows everything. Expected: 403 for each write, in each server
    of the mesh. Why: no object belongs to this user."""
    refusal = 'is forbidden: could not determine node from user "system:node:"'
    for path, body, name in (
            ("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "c"}}, 'configmaps "c"'),
            ("/apis/apiregistration.k8s.io/v1/apiservices", {"metadata": {"name": "v1.example.com"}, "spec": {"group": "example.com", "version": "v1",
             "groupPriorityMinimum": 1, "versionPriority": 1, "service": {"namespace": "default", "name": "s"}, "insecureSkipTLSVerify": True}},
             'apiservices.apiregistration.k8s.io "v1.example.com"'),
            ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {"metadata": {"name": "foos.example.com"}, "spec": {
                "group": "example.com", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"}, "versions": [{
                    "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}},
             'customresourcedefinitions.apiextensions.k8s.io "foos.example.com"')):
        refused(cluster.nameless("POST", path, body), f"{name} {refusal}")


def test_a_group_does_not_make_a_node(cluster):
    """Attack: a member of system:nodes whose name is not that of a node. Expected: 403 from authorization. Why: such a user has no permissions of a node."""
    assert cluster.impostor("POST", PODS, pod("thief")).code == 403
    assert cluster.impostor.get("/api/v1/namespaces/default/secrets/treasure").code == 403


def test_the_life_of_a_kubelet(cluster):
    """Not an attack: all writes that a kubelet needs are allowed."""
    n1, uid = cluster.n1, cluster.uids["n1"]
    merge = {"Content-Type": PATCH_TYPES["merge"]}
    made(n1("PATCH", "/api/v1/nodes/n1", {"metadata": {"labels": {"kubernetes.io/os": "linux"}, "annotations": {"a": "b"}}}, merge))
    made(n1("PATCH", "/api/v1/nodes/n1/status", {"status": {"capacity": {"cpu": "4"}}}, {"Content-Type": PATCH_TYPES["strategic"]}))
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1"
    made(n1("PUT", lease, n1.get(lease).json() | {"spec": {"holderIdentity": "n1"}}))
    made(n1("PATCH", "/apis/storage.k8s.io/v1/csinodes/n1", {"metadata": {"annotations": {"a": "b"}}}, merge))
    made(n1("POST", PODS, pod("static-n1", uid=uid, **volume(hostPath={"path": "/etc"}))))
    made(n1("PATCH", f"{PODS}/static-n1/status", {"status": {"phase": "Running"}}, merge))
    assert n1("DELETE", f"{PODS}/static-n1?gracePeriodSeconds=0").code == 200
    made(cluster.admin("POST", PODS, pod("doomed")))
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "doomed"}, "deleteOptions": {"gracePeriodSeconds": 0}}
    made(n1("POST", f"{PODS}/doomed/eviction", eviction))
    claim = "/api/v1/namespaces/default/persistentvolumeclaims/data/status"
    made(n1("PATCH", claim, {"status": {"capacity": {"storage": "2Gi"}}}, merge))
    made(n1("POST", "/api/v1/namespaces/default/events", {"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}, "reason": "Started"}))


def test_what_a_node_may_not_change_of_a_claim(cluster):
    """Attack: change labels, finalizers or the phase of a claim through its status. Expected: 403. Why: a resize requires only capacity and conditions."""
    path = "/api/v1/namespaces/default/persistentvolumeclaims/data/status"
    for change in ({"metadata": {"labels": {"a": "b"}}}, {"metadata": {"finalizers": ["a/b"]}}, {"status": {"phase": "Lost"}}):
        answer = cluster.n1("PATCH", path, change, {"Content-Type": PATCH_TYPES["merge"]})
        assert answer.code == 403, answer.body
        assert answer.json()["message"].startswith('persistentvolumeclaims "data" is forbidden: node "n1" is not allowed to update fields other than '
                                                   "status.quantity and status.conditions: ")

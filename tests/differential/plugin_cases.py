"""Writes for the admission plugins that depend on the user, on nodes and on kinds that are off by default (test_plugins.py): at least eight that each plugin accepts
and, if it can refuse a write, eight that it refuses."""
import base64

import cases
import pki

API = "/api/v1/namespaces/$NS"
BRIEF = ["status", "header.warning", "body.message", "body.reason", "body.code", "body.details"]
CONTAINER = {"name": "c", "image": "i"}
RBAC = "/apis/rbac.authorization.k8s.io/v1"
CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
BUNDLES = "/apis/certificates.k8s.io/v1beta1/clustertrustbundles"
GROUPS = "/apis/scheduling.k8s.io/v1alpha2/namespaces/$NS"
JOBS = "/apis/batch/v1/namespaces/$NS/jobs"
CLIENT = "kubernetes.io/kube-apiserver-client"


def post(path, body, *parts, **options):
    return {"do": f"POST {path}", "body": body, "only": [*BRIEF, *parts], **options}


def patch(path, body, *parts, **options):
    return {"do": f"PATCH {path}", "body": body, "type": "merge", "only": [*BRIEF, *parts], **options}


def delete(path, **options):
    return {"do": f"DELETE {path}", "only": BRIEF, **options}


def setup(path, body, **options):
    return {"do": f"POST {path}", "body": body, "setup": True, **options}


def dry(path):
    return f"{path}?dryRun=All"


def pod(name="p", node="", meta=None, **spec):
    return {"metadata": {"name": name, **(meta or {})}, "spec": {"containers": [CONTAINER], **({"nodeName": node} if node else {}), **spec}}


def allow(user, *rules):
    """Gives a user these permissions in all namespaces."""
    name = {"name": f"{user}.$NS"}
    return [setup(f"{RBAC}/clusterroles", {"metadata": name, "rules": [{"apiGroups": ["*"], "verbs": verbs, "resources": resources, **({"resourceNames": names} if names else {})}
                                                                        for verbs, resources, names in rules]}),
            setup(f"{RBAC}/clusterrolebindings", {"metadata": name, "subjects": [{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}],
                                                  "roleRef": {"kind": "ClusterRole", **name, "apiGroup": "rbac.authorization.k8s.io"}}),
            setup(dry("/api/v1/namespaces/default/configmaps"), {"metadata": {"name": "probe"}}, user=user, until=201)]


CONFIG_MAPS = (["create"], ["configmaps"], None)
# Signers that the user of a certificate case may use, and others.
GOOD = ["good.example.com/a", "good.example.com/b", *[f"all.example.com/{name}" for name in "abcdef"]]
BAD = ["good.example.com/c", "good.example.com/aa", "other.example.com/a", "example.com/a", "all.example.net/a", "sub.all.example.com/a", "kubernetes.io/legacy", "a.b/c"]
SIGNERS = ["good.example.com/a", "good.example.com/b", "all.example.com/*"]


class Requests:
    """Certificate signing requests and certificates, made with the openssl command."""

    def __init__(self, folder):
        self.folder = folder
        self.authority = pki.Pki(folder, "anchor")
        self.anchor = self.authority.ca.read_text()
        self.certificate = base64.b64encode(self.authority.ca.read_bytes()).decode()

    def csr(self, subject):
        key = self.folder / "request.key"
        text = pki.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-subj", subject)
        return base64.b64encode(text).decode()


def request(name, signer, text):
    return {"metadata": {"name": name}, "spec": {"request": text, "signerName": signer, "usages": ["client auth"]}}


def decisions(requests, verb, user, subresource, change):
    text = requests.csr("/CN=jane")
    steps = allow(user, CONFIG_MAPS, (["get", "patch", "update"], ["certificatesigningrequests", f"certificatesigningrequests/{subresource}"], None), ([verb], ["signers"], SIGNERS))
    for number, signer in enumerate([*GOOD, *BAD]):
        name = f"$NS-{number}"
        steps += [setup(CSRS, request(name, signer, text)), patch(dry(f"{CSRS}/{name}/{subresource}"), change, "body.status.conditions.0.type", user=user)]
    return [*steps, patch(dry(f"{CSRS}/$NS-9/{subresource}"), {"metadata": {"labels": {"a": "b"}}}, user=user), patch(dry(f"{CSRS}/$NS-9/{subresource}"), change)]


def subjects(requests):
    masters, refused = "/O=system:masters", ["/O=system:masters", "/CN=a/O=system:masters", "/O=a/O=system:masters", "/O=system:masters/O=b", "/O=system:masters/CN=c",
                                             "/O=system:masters/OU=d", "/C=DE/O=system:masters", "/O=a/O=b/O=system:masters/CN=e"]
    accepted = ["/CN=a", "/O=a", "/O=system:master", "/O=System:masters", "/OU=system:masters", "/CN=system:masters", "/O=system:nodes/CN=n", "/O=system:masters2"]
    return [*[post(dry(CSRS), request("$NS", CLIENT, requests.csr(subject))) for subject in [*refused, *accepted]],
            *[post(dry(CSRS), request("$NS", signer, requests.csr(masters))) for signer in ("example.com/a", "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving")]]


def bundles(requests):
    user = "attester-$run"
    steps = allow(user, CONFIG_MAPS, (["create", "get", "patch", "update", "delete"], ["clustertrustbundles"], None), (["attest"], ["signers"], SIGNERS))

    def bundle(signer):
        return {"metadata": {"name": f"{signer.replace('/', ':')}:$NS"}, "spec": {"signerName": signer, "trustBundle": requests.anchor}}
    steps += [post(BUNDLES, bundle(signer), "body.spec.signerName", user=user) for signer in GOOD]
    steps += [post(BUNDLES, bundle(signer), user=user) for signer in BAD]
    steps += [post(dry(BUNDLES), {"metadata": {"name": "$NS"}, "spec": {"trustBundle": requests.anchor}}, user=user), setup(BUNDLES, bundle(BAD[0]))]
    names = [f"{signer.replace('/', ':')}:$NS" for signer in (GOOD[0], BAD[0])]
    return [*steps, *[patch(dry(f"{BUNDLES}/{name}"), {"metadata": {"labels": {"a": "b"}}}, user=user) for name in names], *[delete(f"{BUNDLES}/{name}", user=user) for name in names]]


# A user that NodeRestriction takes for the node n1. It may do everything else.
NODE = {"user": "system:node:n1-$run", "headers": {"Impersonate-Group": "system:nodes"}}
NODES = [setup(f"{RBAC}/clusterrolebindings", {"metadata": {"name": "nodes-may"}, "subjects": [{"kind": "Group", "name": "system:nodes", "apiGroup": "rbac.authorization.k8s.io"}],
                                               "roleRef": {"kind": "ClusterRole", "name": "cluster-admin", "apiGroup": "rbac.authorization.k8s.io"}}),
         *[setup("/api/v1/nodes", {"metadata": {"name": name, "labels": {"node-restriction.kubernetes.io/old": "x"}}}) for name in ("n1-$run", "n2-$run")],
         {"do": "GET /api/v1/nodes/n1-$run", "setup": True, "save": {"node": "metadata.uid"}},
         setup(dry(f"{API}/configmaps"), {"metadata": {"name": "probe"}}, until=201, **NODE)]
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n1-$run", "uid": "$node", "controller": True}


def mirror(owners=(OWNER,), node="n1-$run", **spec):
    return post(dry(f"{API}/pods"), pod("m", node, {"annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": list(owners)}, **spec), **NODE)


def label(name, **options):
    return patch(dry("/api/v1/nodes/n1-$run"), {"metadata": {"labels": {name: "v"}}}, **NODE, **options)


def volume(**source):
    return {"volumes": [{"name": "v", **source}]}


def lease(name, ns="kube-node-lease"):
    return post(dry(f"/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"), {"metadata": {"name": name}}, **NODE)


def slice_of(**spec):
    return {"metadata": {"name": "$NS"}, "spec": {"driver": "d.example.com", "pool": {"name": "p", "resourceSliceCount": 1}, **spec}}


def token(**reference):
    spec = {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", **reference}} if reference else {}
    return {**post(f"{API}/serviceaccounts/s/token", {"spec": spec}, **NODE), "only": ["status", "body.message", "body.reason"]}


def node_cases(requests):
    own, other = (requests.csr(f"/O=system:nodes/CN=system:node:{name}-{cases.RUN}") for name in ("n1", "n2"))
    csi, slices = "/apis/storage.k8s.io/v1/csinodes", "/apis/resource.k8s.io/v1/resourceslices"
    return {
        "node_restriction_nodes": [
            *NODES, *[label(name) for name in ("a", "example.com/b", "kubernetes.io/hostname", "kubernetes.io/arch", "topology.kubernetes.io/zone", "node.kubernetes.io/c", "kubelet.kubernetes.io/d",
                                               "node-restriction.kubernetes.io/e", "kubernetes.io/f", "x.k8s.io/g", "node-restriction.kubernetes.io/old", "node-role.kubernetes.io/h")],
            patch(dry("/api/v1/nodes/n1-$run/status"), {"status": {"capacity": {"cpu": "1"}}}, **NODE), patch(dry("/api/v1/nodes/n1-$run"), {"spec": {"unschedulable": True}}, **NODE),
            patch(dry("/api/v1/nodes/n1-$run"), {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}, **NODE),
            patch(dry("/api/v1/nodes/n1-$run"), {"metadata": {"ownerReferences": [OWNER]}}, **NODE), patch(dry("/api/v1/nodes/n2-$run"), {"metadata": {"labels": {"a": "b"}}}, **NODE),
            patch(dry("/api/v1/nodes/n2-$run/status"), {"status": {"capacity": {"cpu": "1"}}}, **NODE), delete(dry("/api/v1/nodes/n2-$run"), **NODE), delete(dry("/api/v1/nodes/n1-$run"), **NODE),
            *[post(dry("/api/v1/nodes"), {"metadata": {"name": name, "labels": labels}}, user="system:node:n3-$run", headers=NODE["headers"]) for name, labels in (
                ("n3-$run", {"a": "b", "kubernetes.io/os": "linux"}), ("n4-$run", {}), ("n3-$run", {"node-restriction.kubernetes.io/a": "b", "kubernetes.io/x": "y"}))],
            post(dry(f"{API}/configmaps"), {"metadata": {"name": "c"}}, user="system:node:", headers=NODE["headers"]),
        ],
        "node_restriction_pods": [
            *NODES, setup(f"{API}/serviceaccounts", {"metadata": {"name": "s"}}), setup(f"{API}/pods", pod("a", "n1-$run", serviceAccountName="s")), setup(f"{API}/pods", pod("b", "n2-$run", serviceAccountName="s")),
            *[{"do": f"GET {API}/pods/{name}", "setup": True, "save": {f"uid_{name}": "metadata.uid"}} for name in "ab"],
            {**mirror([{**OWNER, "uid": "u"}]), "setup": True, "until": "UID mismatch"}, post(dry(f"{API}/pods/b/eviction"), {"metadata": {"name": "b"}}, setup=True, until=403, **NODE),
            mirror(), mirror(hostNetwork=True), *[mirror(**volume(**source)) for source in ({"emptyDir": {}}, {"hostPath": {"path": "/x"}}, {"downwardAPI": {"items": []}})],
            patch(dry(f"{API}/pods/a/status"), {"status": {"phase": "Running"}}, **NODE), post(dry(f"{API}/pods/a/eviction"), {"metadata": {"name": "a"}}, **NODE), delete(dry(f"{API}/pods/a"), **NODE),
            mirror(node="n2-$run"), mirror(node=""), mirror([]), mirror([OWNER, {**OWNER, "uid": "u"}]), mirror([{**OWNER, "uid": "u"}]), mirror([{**OWNER, "kind": "Pod"}]),
            mirror([{**OWNER, "controller": False}]), mirror([{**OWNER, "blockOwnerDeletion": True}]), mirror(serviceAccountName="s"),
            *[mirror(**volume(**source)) for source in ({"secret": {"secretName": "s"}}, {"configMap": {"name": "c"}}, {"persistentVolumeClaim": {"claimName": "c"}})],
            mirror(containers=[{**CONTAINER, "envFrom": [{"secretRef": {"name": "s"}}]}]), mirror(imagePullSecrets=[{"name": "s"}]),
            post(dry(f"{API}/pods"), pod("n", "n1-$run"), **NODE), patch(dry(f"{API}/pods/a"), {"metadata": {"labels": {"a": "b"}}}, **NODE),
            patch(dry(f"{API}/pods/a/status"), {"metadata": {"labels": {"a": "b"}}}, **NODE), patch(dry(f"{API}/pods/b/status"), {"status": {"phase": "Running"}}, **NODE),
            post(dry(f"{API}/pods/b/eviction"), {"metadata": {"name": "b"}}, **NODE), delete(dry(f"{API}/pods/b"), **NODE), delete(dry(f"{API}/pods/gone"), **NODE),
            patch(dry(f"{API}/pods/a/ephemeralcontainers"), {"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}}, **NODE),
            token(name="a", uid="$uid_a"), token(), token(name="a"), token(name="b", uid="$uid_b"), token(name="a", uid="other"), token(name="gone", uid="u"), token(kind="Secret", name="a", uid="u"),
        ],
        "node_restriction_own": [
            *NODES, lease("n1-$run"), lease("n2-$run"), lease("n1-$run", "default"), lease("n1-$run", "$NS"),
            *[post(dry(csi), {"metadata": {"name": name}, "spec": {"drivers": []}}, **NODE) for name in ("n1-$run", "n2-$run")],
            *[step for name in ("n1-$run", "n2-$run") for step in (
                setup(csi, {"metadata": {"name": name}, "spec": {"drivers": []}}), patch(dry(f"{csi}/{name}"), {"metadata": {"labels": {"a": "b"}}}, **NODE), delete(dry(f"{csi}/{name}"), **NODE),
                setup(slices, {**slice_of(nodeName=name), "metadata": {"name": f"{name}-$NS"}}), patch(dry(f"{slices}/{name}-$NS"), {"metadata": {"labels": {"a": "b"}}}, **NODE),
                delete(dry(f"{slices}/{name}-$NS"), **NODE))],
            *[post(dry(slices), slice_of(**spec), **NODE) for spec in ({"nodeName": "n1-$run"}, {"nodeName": "n2-$run"}, {"allNodes": True})],
            *[post(dry(CSRS), {**request("$NS", signer, text), "spec": {**request("$NS", signer, text)["spec"], "usages": usages}}, **NODE) for signer, usages in (
                ("kubernetes.io/kubelet-serving", ["digital signature", "server auth"]), ("kubernetes.io/kube-apiserver-client-kubelet", ["digital signature", "client auth"]),
                ("example.com/a", ["client auth"])) for text in (own, other)],
            setup(f"{API}/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
            patch(dry(f"{API}/persistentvolumeclaims/c"), {"metadata": {"labels": {"a": "b"}}}, **NODE), delete(dry(f"{API}/persistentvolumeclaims/c"), **NODE),
            patch(dry(f"{API}/persistentvolumeclaims/c/status"), {"status": {"capacity": {"storage": "1Gi"}}}, **NODE), post(dry(f"{API}/configmaps"), {"metadata": {"name": "c"}}, **NODE),
        ],
    }


def pod_certificates(requests):
    """What a node may request for its pods."""
    path = "/apis/certificates.k8s.io/v1beta1/namespaces/$NS/podcertificaterequests"
    body = "".join(base64.b64decode(requests.csr("/")).decode().split("\n")[1:-2])  # DER
    right = {"signerName": "example.com/a", "podName": "a", "podUID": "$uid_a", "serviceAccountName": "s", "serviceAccountUID": "$uid_s", "nodeName": "n1-$run", "nodeUID": "$node",
             "stubPKCS10Request": body}
    wrong = ({"nodeName": "n2-$run"}, {"nodeName": "gone"}, {"nodeUID": "x"}, {"podName": "gone"}, {"podUID": "x"}, {"podName": "b", "podUID": "$uid_b"}, {"serviceAccountName": "default"},
             {"serviceAccountName": "t"}, {"serviceAccountUID": "x"}, {"stubPKCS10Request": "eHg="})
    return [*NODES, *[setup(f"{API}/serviceaccounts", {"metadata": {"name": name}}) for name in "st"], {"do": f"GET {API}/serviceaccounts/s", "setup": True, "save": {"uid_s": "metadata.uid"}},
            *[setup(f"{API}/pods", pod(name, f"n{number}-$run", serviceAccountName="s")) for number, name in ((1, "a"), (2, "b"))],
            *[{"do": f"GET {API}/pods/{name}", "setup": True, "save": {f"uid_{name}": "metadata.uid"}} for name in "ab"],
            post(dry(path), {"metadata": {"name": "c"}, "spec": right}, setup=True, until=201, **NODE),
            *[post(dry(path), {"metadata": {"name": "c"}, "spec": {**right, **changes}}, **NODE) for changes in ({}, *wrong)],
            setup(path, {"metadata": {"name": "c"}, "spec": right}, **NODE), patch(dry(f"{path}/c"), {"metadata": {"labels": {"a": "b"}}}, **NODE),
            patch(dry(f"{path}/c/status"), {"status": {"conditions": []}}, **NODE), delete(dry(f"{path}/c"), **NODE)]


def sized(cpu, memory="1Mi", **spec):
    return {"containers": [{**CONTAINER, "resources": {"requests": {"cpu": cpu, "memory": memory}}}], **spec}


def resize(name, cpu, memory="1Mi"):
    return {"do": f"PATCH {API}/pods/{name}/resize?dryRun=All", "type": "strategic", "only": BRIEF,
            "body": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]}}}


def resize_pod(name, **requests):
    return {"do": f"PATCH {API}/pods/{name}/resize?dryRun=All", "type": "strategic", "only": BRIEF, "body": {"spec": {"resources": {"requests": requests}}}}


LEVEL = "InPlacePodLevelResourcesVerticalScaling"
FEATURE_NODES = [("declares-$run", [LEVEL]), ("plain-$run", [])]
RESIZES = {
    "pod_resize": [
        *[step for name, labels in (("small-$run", {"kubernetes.io/os": "linux"}), ("unnamed-$run", {}), ("windows-$run", {"kubernetes.io/os": "windows"})) for step in (
            setup("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}}),
            patch(f"/api/v1/nodes/{name}/status", {"status": {"capacity": {"cpu": "2", "memory": "1Gi"}, "allocatable": {"cpu": "2", "memory": "1Gi"}}}, setup=True))],
        *[setup(f"{API}/pods", pod(name, node, **sized("1"))) for name, node in (("a", "small-$run"), ("b", "unnamed-$run"), ("c", "windows-$run"), ("d", "gone-$run"), ("e", ""))],
        {**resize("a", "3"), "setup": True, "until": 403}, {**resize("c", "1500m"), "setup": True, "until": 403}, {**resize("b", "2"), "setup": True, "until": 200},
        *[resize("a", cpu) for cpu in ("1", "500m", "2", "2001m", "3", "100")], *[resize("a", "1", memory) for memory in ("1Gi", "2Gi", "1025Mi")], resize("a", "3", "3Gi"),
        *[resize("b", cpu) for cpu in ("1", "2", "3")], *[resize("c", cpu) for cpu in ("1", "1100m", "3")], resize("d", "1"), resize("d", "2"), resize("e", "500m"), resize("e", "9"),
        patch(dry(f"{API}/pods/c"), {"metadata": {"labels": {"a": "b"}}}),
    ],
    "node_declared_features": [
        *[step for name, features in FEATURE_NODES for step in (
            setup("/api/v1/nodes", {"metadata": {"name": name}}),
            patch(f"/api/v1/nodes/{name}/status", {"status": {"capacity": {"cpu": "9", "memory": "9Gi"}, "allocatable": {"cpu": "9", "memory": "9Gi"}, "declaredFeatures": features}}, setup=True))],
        *[setup(f"{API}/pods", pod(name, node, **sized("1", resources={"requests": {"cpu": "1", "memory": "1Gi"}}))) for name, node in (
            ("a", "declares-$run"), ("b", "plain-$run"), ("c", "gone-$run"), ("d", ""))],
        {**resize_pod("a", cpu="2"), "setup": True, "until": 200}, {**resize_pod("b", cpu="2"), "setup": True, "until": 403},
        *[resize_pod(name, cpu=cpu) for name in "abcd" for cpu in ("1", "2", "1500m")], *[resize_pod(name, memory=memory) for name in "ab" for memory in ("1Gi", "2Gi", "3Gi")],
        *[resize(name, cpu) for name in "ab" for cpu in ("1", "500m", "900m")], resize_pod("b", cpu="2", memory="2Gi"), resize_pod("b", cpu="3"),
        *[patch(dry(f"{API}/pods/{name}"), {"metadata": {"labels": {"a": "b"}}}) for name in "ab"],
    ],
}
GANG, BASIC = {"schedulingPolicy": {"gang": {"minCount": 2}}}, {"schedulingPolicy": {"basic": {}}}


def group(name, spec=None, **meta):
    return {"metadata": {"name": name, **meta}, "spec": spec or BASIC}


def referring(workload, template):
    return {**BASIC, "podGroupTemplateRef": {"workload": {"workloadName": workload, "podGroupTemplateName": template}}}


def job(name, group_name=None):
    return {"metadata": {"name": name}, "spec": {"parallelism": 1, "template": {"spec": {
        "restartPolicy": "Never", "containers": [CONTAINER], **({"schedulingGroup": {"podGroupName": group_name}} if group_name else {})}}}}


def controlled(name, uid, **options):
    return [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid, "controller": True, **options}]


ALPHA = {
    "pod_group_protection": [
        post(dry(f"{GROUPS}/podgroups"), group("g", spec, **({"finalizers": finalizers} if finalizers is not None else {})), "body.metadata.finalizers")
        for spec in (BASIC, GANG) for finalizers in (None, [], ["scheduling.k8s.io/podgroup-protection"], ["example.com/a"], ["example.com/a", "scheduling.k8s.io/podgroup-protection"])],
    "pod_group_workload_exists": [
        *[setup(f"{GROUPS}/workloads", {"metadata": {"name": name, **meta}, "spec": {"podGroupTemplates": [{"name": template, **BASIC} for template in "ab"]}})
          for name, meta in (("w", {}), ("going", {"finalizers": ["example.com/a"]}))],
        {"do": f"DELETE {GROUPS}/workloads/going", "setup": True}, post(dry(f"{GROUPS}/podgroups"), group("g", referring("going", "a")), setup=True, until=403),
        post(dry(f"{GROUPS}/podgroups"), group("g")), post(dry(f"{GROUPS}/podgroups"), group("g", GANG)),
        *[post(dry(f"{GROUPS}/podgroups"), group(name, referring("w", template))) for name in "ghi" for template in "ab"],
        *[post(dry(f"{GROUPS}/podgroups"), group("g", referring(workload, template))) for workload, template in (
            ("w", "c"), ("w", "aa"), ("w", "b2"), ("gone", "a"), ("x", "b"), ("ww", "a"), ("going", "a"), ("going", "c"), ("gone", "gone"))],
    ],
    "job_validation": [
        *[setup(f"{GROUPS}/podgroups", group(name, spec)) for name, spec in (("gang", GANG), ("basic", BASIC))],
        *[setup(JOBS, job(name, group_name)) for name, group_name in (("a", "gang"), ("b", "basic"), ("c", "gone"), ("d", None), ("e", None), ("f", None))],
        *[{"do": f"GET {JOBS}/{name}", "setup": True, "save": {f"job_{name}": "metadata.uid"}} for name in "ef"],
        setup(f"{GROUPS}/podgroups", group("owned-gang", GANG, ownerReferences=controlled("e", "$job_e"))), setup(f"{GROUPS}/podgroups", group("owned", BASIC, ownerReferences=controlled("f", "$job_f"))),
        *[patch(dry(f"{JOBS}/{name}"), {"spec": {"parallelism": 2}}, setup=True, until=403) for name in "ae"],
        *[patch(dry(f"{JOBS}/{name}"), {"spec": {"parallelism": count}}) for name in "abcdef" for count in (2, 1, 0, 5, 9)],
        *[patch(dry(f"{JOBS}/{name}"), {"metadata": {"labels": {"x": "y"}}}) for name in "ae"], patch(dry(f"{JOBS}/a/status"), {"status": {"active": 1}}),
    ],
}
KINDS = [(API, "configmaps", {}), (API, "secrets", {}), (API, "serviceaccounts", {}), ("/apis/coordination.k8s.io/v1/namespaces/$NS", "leases", {}),
         (API, "limitranges", {"spec": {"limits": []}}), ("/apis/policy/v1/namespaces/$NS", "poddisruptionbudgets", {"spec": {"minAvailable": 1}}),
         ("/apis/networking.k8s.io/v1/namespaces/$NS", "networkpolicies", {"spec": {"podSelector": {}}}), (f"{RBAC}/namespaces/$NS", "roles", {})]


def everywhere(ns):
    """Creates, updates and deletes of several kinds in a namespace."""
    for prefix, plural, body in KINDS:
        path = f"{prefix.replace('$NS', ns)}/{plural}"
        yield from (post(dry(path), {"metadata": {"name": "x"}, **body}), patch(f"{path}/x", {"metadata": {"labels": {"a": "b"}}}), delete(f"{path}/x"))


NAMESPACES = {
    "namespace_lifecycle": [
        *everywhere("$NS"), *everywhere("missing-$run"), setup("/api/v1/namespaces", {"metadata": {"name": "ending-$run"}}), setup("/api/v1/namespaces/ending-$run/configmaps", {"metadata": {"name": "x"}}),
        {"do": "DELETE /api/v1/namespaces/ending-$run", "setup": True}, setup("/api/v1/namespaces/ending-$run/secrets?dryRun=All", {"metadata": {"name": "x"}}, until=403), *everywhere("ending-$run"),
        *[delete(f"/api/v1/namespaces/{name}") for name in ("default", "kube-system", "kube-public")], patch(dry("/api/v1/namespaces/default"), {"metadata": {"labels": {"a": "b"}}}),
        delete("/api/v1/namespaces/never-$run"), post(dry("/api/v1/namespaces"), {"metadata": {"name": "new-$run"}}),
    ],
}


def images(name, *names, **meta):
    return post(dry(f"{API}/pods"), {"metadata": {"name": name, **meta}, "spec": {"containers": [{"name": f"c{i}", "image": image} for i, image in enumerate(names)]}}, "body.metadata.annotations")


IMAGES = {
    "image_policy": [
        *[images("p", *names) for names in (("a",), ("a:1", "b:2"), ("registry.example.com/a:latest",), ("c",) * 3, ("d@sha256:" + "0" * 64,), ("e",), ("f",), ("g",))],
        *[images("p", *names) for names in (("bad",), ("a", "bad:1"), ("bad:1", "bad:2"), ("bad/a",), ("silent",), ("a", "silent"), ("bad", "silent"), ("b", "c", "bad:3"))],
        images("p", "bad", annotations={"x.image-policy.k8s.io/break": "glass"}), images("p", "bad", annotations={"x/break": "glass"}),
        post(dry(f"{API}/pods"), {"metadata": {"name": "p"}, "spec": {"initContainers": [{"name": "i", "image": "bad"}], "containers": [CONTAINER]}}),
        post("/apis/apps/v1/namespaces/$NS/deployments?dryRun=All", {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "bad"}]}}}}),
        setup(f"{API}/pods", pod("stored")), {"do": f"PATCH {API}/pods/stored?dryRun=All", "type": "strategic", "only": BRIEF, "body": {"spec": {"containers": [{"name": "c", "image": "bad"}]}}},
        {"do": f"PATCH {API}/pods/stored/ephemeralcontainers?dryRun=All", "type": "strategic", "only": BRIEF, "body": {"spec": {"ephemeralContainers": [{"name": "e", "image": "bad"}]}}},
    ],
}


def load(folder):
    requests = Requests(folder)
    everything = {
        "certificate_approval": decisions(requests, "approve", "approver-$run", "approval", {"status": {"conditions": [{"type": "Approved", "status": "True"}]}}),
        "certificate_signing": decisions(requests, "sign", "signer-$run", "status", {"status": {"certificate": requests.certificate}}),
        "certificate_subject_restriction": subjects(requests), "cluster_trust_bundle_attest": bundles(requests),
        "node_restriction_certificates": pod_certificates(requests), **node_cases(requests), **RESIZES, **ALPHA, **NAMESPACES, **IMAGES}
    return [cases.Case("plugins", name, {}, steps) for name, steps in everything.items()]

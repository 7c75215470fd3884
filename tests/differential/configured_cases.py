"""Writes for the admission plugins whose configuration test_admission.py leaves at its defaults (test_admission_configured.py)."""
import cases
import quota_cases
from plugin_cases import BRIEF, CONTAINER, RBAC, dry, patch, post, setup

API = "/api/v1/namespaces/$NS"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/$NS/ingresses"
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
DEFAULT_CLASS, DEFAULT_INGRESS = "storageclass.kubernetes.io/is-default-class", "ingressclass.kubernetes.io/is-default-class"
TLS = {"seccompProfile": {"type": "RuntimeDefault"}, "runAsNonRoot": True, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def pod(*parts, meta=None, name="p", ns="$NS", **spec):
    return post(dry(f"/api/v1/namespaces/{ns}/pods"), {"metadata": {"name": name, **(meta or {})}, "spec": {"containers": [CONTAINER], **spec}}, *parts)


def secure(**context):
    return pod(containers=[{**CONTAINER, "securityContext": {**TLS, **context}}])


def tolerating(*tolerations, ns="$NS", **spec):
    return pod("body.spec.tolerations", ns=ns, tolerations=list(tolerations), **spec)


def claim(size="1Gi", **spec):
    return post(dry(f"{API}/persistentvolumeclaims"), {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}},
                "body.spec.storageClassName")


def service(kind):
    return post(dry(f"{API}/services"), {"metadata": {"name": "s"}, "spec": {"type": kind, "ports": [{"port": 80}]}})


def event(number, user):
    return post(f"{API}/events", {"metadata": {"name": f"e{number}"}, "involvedObject": {"namespace": "$NS", "name": f"o{number}"}, "source": {"component": "c"}}, user=user)


def resize(name, cpu):
    return {"do": f"PATCH {API}/pods/{name}/resize?dryRun=All", "type": "strategic", "only": BRIEF, "body": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}}


def token(*audiences, pod_name="a"):
    spec = {"audiences": list(audiences), "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": pod_name, "uid": f"$uid_{pod_name}"}}
    return {"do": f"POST {API}/serviceaccounts/s/token?dryRun=All", "body": {"spec": spec}, "only": ["status", "body.message", "body.reason"],
            "headers": {"Impersonate-User": "system:node:node-$NS", "Impersonate-Group": "system:nodes"}}


def projected(*audiences):
    return {"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": f"t{i}", **({"audience": one} if one else {})}} for i, one in enumerate(audiences)]}}


def bound(name, *volumes):
    """A pod on the node of the case whose volumes ask for tokens."""
    body = {"metadata": {"name": name}, "spec": {"containers": [CONTAINER], "serviceAccountName": "s", "nodeName": "node-$NS", "volumes": list(volumes)}}
    return [setup(f"{API}/pods", body), {"do": f"GET {API}/pods/{name}", "setup": True, "save": {f"uid_{name}": "metadata.uid"}}]


RESIZABLE = {"metadata": {"name": "a"}, "spec": {"containers": [{**CONTAINER, "resources": {"requests": {"cpu": "1"}}}]}}
CASES = {
    # The limited resources of the configuration: claims of class gold, load balancers, pods of the priority class limited-class.
    "limited_resources": [
        claim(storageClassName="gold"), claim(storageClassName="silver"), service("LoadBalancer"), service("ClusterIP"), service("NodePort"),
        *quota_cases.quota({"silver.storageclass.storage.k8s.io/requests.storage": "1Gi", "services.nodeports": "1"}, name="other"),
        {**claim("2Gi", storageClassName="silver"), "setup": True, "until": 403},
        claim(storageClassName="gold"), service("LoadBalancer"), service("NodePort"),
        *quota_cases.quota({"gold.storageclass.storage.k8s.io/requests.storage": "5Gi", "services.loadbalancers": "1"}, name="covering"),
        {**claim("1Gi", storageClassName="gold"), "setup": True, "until": 201}, claim("5Gi", storageClassName="gold"), claim("6Gi", storageClassName="gold"), service("LoadBalancer"),
    ],
    "limited_scopes": [
        setup(PRIORITIES, {"metadata": {"name": "limited-class"}, "value": 5}), setup(PRIORITIES, {"metadata": {"name": "free-class"}, "value": 5}),
        {**pod(priorityClassName="free-class"), "setup": True, "until": 201}, {**pod(priorityClassName="limited-class"), "setup": True, "until": "insufficient quota"},
        pod(priorityClassName="limited-class"), pod(),
        *quota_cases.quota({"pods": "1"}, **quota_cases.selector("PriorityClass", "In", "limited-class")),
        {**pod(priorityClassName="limited-class"), "setup": True, "until": 201}, pod(priorityClassName="limited-class"), pod(priorityClassName="free-class"),
    ],
    "quota_on_resize": [
        *quota_cases.quota({"requests.cpu": "2"}), {**pod(), "setup": True, "until": 403}, setup(f"{API}/pods", RESIZABLE),
        *[resize("a", cpu) for cpu in ("1", "1500m", "2", "2001m", "3", "500m", "100")], quota_cases.used(),
        {"do": f"PATCH {API}/pods/a/resize", "type": "strategic", "only": BRIEF, "body": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1500m"}}}]}}},
        quota_cases.used(), resize("a", "2"), resize("a", "2500m"),
    ],
    "tolerations_of_the_file": [
        tolerating(), tolerating({"key": "allowed", "operator": "Exists"}), tolerating({"key": "allowed", "value": "v", "effect": "NoSchedule"}), tolerating({"key": "file-default", "operator": "Exists"}),
        tolerating({"key": "other", "operator": "Exists"}), tolerating({"operator": "Exists"}),
        post("/api/v1/namespaces", {"metadata": {"name": "own-$NS", "annotations": {"scheduler.alpha.kubernetes.io/defaultTolerations": '[{"key":"own","operator":"Exists"}]'}}}, setup=True),
        tolerating(ns="own-$NS"), tolerating({"key": "own", "operator": "Exists"}, ns="own-$NS"), tolerating({"key": "other", "operator": "Exists"}, ns="own-$NS"),
    ],
    "toleration_seconds_of_the_flags": [
        tolerating({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}), tolerating(containers=[{**CONTAINER, "resources": {"requests": {"cpu": "1"}}}]),
    ],
    "pod_security_defaults": [
        pod(), pod(hostNetwork=True), secure(), secure(privileged=True, allowPrivilegeEscalation=True), secure(runAsUser=0), pod(hostPID=True, containers=[{**CONTAINER, "securityContext": TLS}]),
        post("/api/v1/namespaces", {"metadata": {"name": "open-$NS", "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}}, setup=True), pod(ns="open-$NS", hostNetwork=True),
        post("/api/v1/namespaces", {"metadata": {"name": "shut-$NS", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}, setup=True), pod(ns="shut-$NS"),
        patch(dry("/api/v1/namespaces/open-$NS"), {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": None}}}),
        post(dry("/apis/apps/v1/namespaces/$NS/deployments"), {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"hostNetwork": True, "containers": [CONTAINER]}}}}),
    ],
    # 3 events per user and 8 per server at once; one more of each per second.
    "event_rates": [
        setup(f"{RBAC}/clusterrolebindings", {"metadata": {"name": "writers-$NS"}, "subjects": [{"kind": "Group", "name": "system:authenticated", "apiGroup": "rbac.authorization.k8s.io"}],
                                              "roleRef": {"kind": "ClusterRole", "name": "cluster-admin", "apiGroup": "rbac.authorization.k8s.io"}}),
        setup(dry("/api/v1/namespaces/default/configmaps"), {"metadata": {"name": "probe"}}, user="ann", until=201),
        *[event(number, user) for number, user in enumerate(["ann"] * 5 + ["bob"] * 4 + ["cid"] * 4)],
    ],
    "image_policy_backend_down": [pod("body.metadata.annotations", "body.spec.containers.0.image"), pod("body.metadata.annotations", meta={"annotations": {"x.image-policy.k8s.io/a": "b"}})],
    "priorities": [
        setup(PRIORITIES, {"metadata": {"name": "usual-$NS"}, "value": 50, "globalDefault": True, "preemptionPolicy": "Never"}), {**pod(), "setup": True, "until": '"priority":50'},
        pod("body.spec.priority", "body.spec.priorityClassName", "body.spec.preemptionPolicy"), post(dry(PRIORITIES), {"metadata": {"name": "second"}, "value": 60, "globalDefault": True}),
        post(dry(PRIORITIES), {"metadata": {"name": "second"}, "value": 60}), setup(PRIORITIES, {"metadata": {"name": "plain-$NS"}, "value": 70}),
        patch(dry(f"{PRIORITIES}/plain-$NS"), {"globalDefault": True}), patch(dry(f"{PRIORITIES}/usual-$NS"), {"globalDefault": True, "description": "d"}),
        pod("body.spec.priority", "body.spec.preemptionPolicy", priorityClassName="plain-$NS"), pod(priority=50), pod(priority=0), pod(preemptionPolicy="PreemptLowerPriority"),
        patch(f"{PRIORITIES}/usual-$NS", {"globalDefault": False}), {**pod(), "setup": True, "until": '"priority":0'}, patch(dry(f"{PRIORITIES}/plain-$NS"), {"globalDefault": True}),
        {"do": f"DELETE {PRIORITIES}/usual-$NS", "setup": True},
    ],
    "token_audiences": [
        setup(f"{RBAC}/clusterroles", {"metadata": {"name": "nodes-$NS"}, "rules": [
            {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]}, {"apiGroups": [""], "resources": ["granted"], "verbs": ["request-serviceaccounts-token-audience"]}]}),
        setup(f"{RBAC}/clusterrolebindings", {"metadata": {"name": "nodes-$NS"}, "subjects": [{"kind": "Group", "name": "system:nodes", "apiGroup": "rbac.authorization.k8s.io"}],
                                              "roleRef": {"kind": "ClusterRole", "name": "nodes-$NS", "apiGroup": "rbac.authorization.k8s.io"}}),
        setup(f"{API}/serviceaccounts", {"metadata": {"name": "s"}}), setup("/api/v1/nodes", {"metadata": {"name": "node-$NS"}}),
        setup("/apis/storage.k8s.io/v1/csidrivers", {"metadata": {"name": "csi-$NS.example.com"}, "spec": {"volumeLifecycleModes": ["Ephemeral"], "tokenRequests": [{"audience": "of-the-driver"}]}}),
        *bound("a", projected("vault")), *bound("b", projected("", "vault")), *bound("c"), *bound("d", {"name": "v", "csi": {"driver": "csi-$NS.example.com"}}),
        {**token("vault"), "setup": True, "until": 201}, {**token("of-the-driver", pod_name="d"), "setup": True, "until": 201},
        token("vault"), token("other"), token("granted"), token(), token("vault", "other"), token("https://kubernetes.default.svc"), token("vault", pod_name="b"), token(pod_name="b"), token("other", pod_name="b"),
        token("vault", pod_name="c"), token(pod_name="c"), token("of-the-driver", pod_name="d"), token("vault", pod_name="d"), token("of-the-driver"),
    ],
    # The newest default class counts; "a" is also the first by name, if both are of the same second.
    "several_default_classes": [
        *[setup(CLASSES, {"metadata": {"name": f"{name}-$NS", "annotations": {DEFAULT_CLASS: "true"}}, "provisioner": "x"}) for name in "ba"],
        *[setup("/apis/networking.k8s.io/v1/ingressclasses", {"metadata": {"name": f"{name}-$NS", "annotations": {DEFAULT_INGRESS: "true"}}, "spec": {"controller": "a.b/c"}}) for name in "ba"],
        {**claim(), "setup": True, "until": '"storageClassName":"a-'}, claim(), claim(storageClassName=""), claim(storageClassName="b-$NS"),
        setup(dry(INGRESSES), {"metadata": {"name": "i"}, "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}, until="a-$NS"),
        post(dry(INGRESSES), {"metadata": {"name": "i"}, "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}, "body.spec.ingressClassName"),
        patch(f"{CLASSES}/a-$NS", {"metadata": {"annotations": {DEFAULT_CLASS: "false"}}}), {**claim(), "setup": True, "until": '"storageClassName":"b-'}, claim(),
        *[{"do": f"DELETE {path}/{name}-$NS", "setup": True} for path in (CLASSES, "/apis/networking.k8s.io/v1/ingressclasses") for name in "ab"],
    ],
}
# For a pair of servers whose image policy is defaultAllow: false.
REFUSING = {"image_policy_refuses": [pod(), pod(meta={"annotations": {"x.image-policy.k8s.io/break": "glass"}}), post(dry(f"{API}/configmaps"), {"metadata": {"name": "c"}})]}


def load(named):
    return [cases.Case("configured", name, {}, steps) for name, steps in named.items()]

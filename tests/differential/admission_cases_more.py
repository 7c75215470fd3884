"""More writes for admission plugins, so that each has at least eight that it accepts and, if it can refuse a write, eight that it refuses."""
CONTAINER = {"name": "c", "image": "i"}
API = "/api/v1/namespaces/$NS"
BRIEF = ["status", "header.warning", "body.message", "body.reason", "body.code", "body.details"]
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
ACCOUNT = {"do": f"POST {API}/serviceaccounts", "body": {"metadata": {"name": "default"}}, "setup": True}


def post(path, body, *parts, **options):
    return {"do": f"POST {path}", "body": body, "only": [*BRIEF, *parts]} | options


def patch(path, body, *parts, **options):
    return {"do": f"PATCH {path}", "body": body, "type": "merge", "only": [*BRIEF, *parts]} | options


def setup(path, body):
    return {"do": f"POST {path}", "body": body, "setup": True}


def pod(spec, *parts, **options):
    return post(f"{API}/pods?dryRun=All", {"metadata": {"name": "p"}, "spec": {"containers": [CONTAINER], **spec}}, *parts, **options)


def anti_affinity(*keys, selector=None):
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": key, "labelSelector": selector or {}} for key in keys]}}}


NO_WARNINGS = ["status", "body.message", "body.reason", "body.spec.externalIPs"]  # the warnings about external addresses are those of the kind


def service(ips, **spec):
    return post(f"{API}/services?dryRun=All", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "externalIPs": ips, **spec}}, only=NO_WARNINGS)


def event(ns, name, about, **fields):
    return post(f"/api/v1/namespaces/{ns}/events", {"metadata": {"name": name}, "involvedObject": {"namespace": ns, "name": about}, "source": {"component": "c"}, **fields})


def node(*taints, **spec):
    return post("/api/v1/nodes?dryRun=All", {"metadata": {"name": "n"}, "spec": {"taints": [
        {"key": key, "effect": effect} for key, effect in taints], **spec}}, "body.spec.taints")


def owner(kind="ConfigMap", version="v1", blocks=True, **fields):
    return {"apiVersion": version, "kind": kind, "name": "o", "uid": "u", "blockOwnerDeletion": blocks, **fields}


def owned(*owners, name="c"):
    return post(f"{API}/configmaps?dryRun=All", {"metadata": {"name": name, "ownerReferences": list(owners)}}, user="owner-user-more")


HOST = "kubernetes.io/hostname"
NOT_READY = "node.kubernetes.io/not-ready"
STORAGE_CLASSES, CLASS = "/apis/storage.k8s.io/v1/storageclasses", "storageclass.kubernetes.io/is-default-class"
TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"

CASES = {
    "limit_pod_hard_anti_affinity_topology_more": [
        ACCOUNT, *[pod(anti_affinity(*keys)) for keys in (("zone",), ("topology.kubernetes.io/zone",), ("topology.kubernetes.io/region",), (HOST, "rack"), ("rack", HOST),
                                                           ("rack", "zone"), ("Kubernetes.io/hostname",), ("beta.kubernetes.io/hostname",), (HOST, HOST, "zone"), (HOST,) * 3, (HOST,))],
        *[pod(anti_affinity(HOST, selector={"matchLabels": {"a": value}})) for value in "abc"], pod({}), pod({"affinity": {}}), pod({"affinity": {"podAntiAffinity": {}}}),
        pod({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {}}]}}}),
        post("/apis/apps/v1/namespaces/$NS/deployments?dryRun=All", {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER], **anti_affinity("zone")}}}}),
    ],
    "deny_service_external_ips_more": [
        *[service(ips, clusterIP="None") for ips in (["1.1.1.1"], ["8.8.8.8", "9.9.9.9"], ["2001:db8::1"], ["1.1.1.1", "1.1.1.1"], [])],
        *[service(["1.1.1.1"], type=kind, **({"externalName": "a.b"} if kind == "ExternalName" else {})) for kind in ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")],
        *[service([], type=kind, **({"externalName": "a.b"} if kind == "ExternalName" else {})) for kind in ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")],
        setup(f"{API}/services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "clusterIP": "None"}}),
        *[patch(f"{API}/services/s?dryRun=All", body, only=NO_WARNINGS) for body in (
            {"metadata": {"labels": {"a": "b"}}}, {"spec": {"externalIPs": []}}, {"spec": {"externalIPs": ["1.1.1.1"]}}, {"spec": {"ports": [{"port": 81}]}},
            {"spec": {"externalIPs": ["1.1.1.1"], "ports": [{"port": 81}]}}, {"metadata": {"annotations": {"a": "b"}}, "spec": {"externalIPs": ["1.1.1.2", "1.1.1.3"]}})],
    ],
    # The limits allow one more event per second, so that the requests to one namespace must not take longer.
    "event_rate_limit_more": [
        *[step for ns in ("events-a-$run", "events-b-$run", "events-c-$run") for step in (
            setup("/api/v1/namespaces", {"metadata": {"name": ns}}), *[event(ns, f"e{i}", about) for i, about in enumerate(("a", "a", "a", "b", "c"))],
            {"do": f"POST /apis/events.k8s.io/v1/namespaces/{ns}/events", "only": ["status"], "body": {
                "metadata": {"name": "new"}, "eventTime": "2026-01-02T03:04:05.000000Z", "reportingController": "a.b/c", "reportingInstance": "i", "action": "a", "reason": "r",
                "type": "Normal", "regarding": {"namespace": ns, "name": "x"}}},
            post(f"/api/v1/namespaces/{ns}/events?dryRun=All", {"metadata": {"name": "dry"}, "involvedObject": {"namespace": ns}}))],
    ],
    "namespace_auto_provision_more": [
        *[post(f"{prefix}/namespaces/made-{i}-$run/{plural}", body) for i, (prefix, plural, body) in enumerate((
            ("/api/v1", "configmaps", {"metadata": {"name": "a"}}), ("/api/v1", "secrets", {"metadata": {"name": "a"}}), ("/api/v1", "serviceaccounts", {"metadata": {"name": "a"}}),
            ("/apis/coordination.k8s.io/v1", "leases", {"metadata": {"name": "a"}}), ("/apis/networking.k8s.io/v1", "networkpolicies", {"metadata": {"name": "a"}, "spec": {"podSelector": {}}}),
            ("/apis/policy/v1", "poddisruptionbudgets", {"metadata": {"name": "a"}, "spec": {"minAvailable": 1}}), ("/api/v1", "limitranges", {"metadata": {"name": "a"}, "spec": {"limits": []}}),
            ("/apis/rbac.authorization.k8s.io/v1", "roles", {"metadata": {"name": "a"}})))],
        *[{"do": f"GET /api/v1/namespaces/made-{i}-$run", "only": ["status", "body.metadata.name", "body.metadata.labels", "body.status"]} for i in range(8)],
        *[post(f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": "a"}}) for name in ("UPPER", "a.b", "-a", "a-", "a_b", "a" * 64, "a~", "1.")],
        patch("/api/v1/namespaces/never-$run/configmaps/a", {"data": {"a": "b"}}), {"do": "GET /api/v1/namespaces/never-$run", "only": BRIEF},
        {"do": "GET /api/v1/namespaces/never-$run/configmaps", "only": ["status"]}, {"do": "DELETE /api/v1/namespaces/never-$run/configmaps/a", "only": BRIEF},
    ],
    "taint_nodes_by_condition_more": [
        node(), node(("a", "NoSchedule"), ("b", "NoExecute")), node((NOT_READY, "NoSchedule")), node((NOT_READY, "NoExecute")), node((NOT_READY, "PreferNoSchedule")),
        node((NOT_READY, "NoExecute"), (NOT_READY, "NoSchedule")), node(unschedulable=True), node(("node.kubernetes.io/unreachable", "NoSchedule")), node(podCIDR="10.1.0.0/24"),
    ],
    "storage_object_in_use_protection_more": [
        *[post("/api/v1/persistentvolumes?dryRun=All", {"metadata": {"name": "v", "finalizers": finalizers}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}}, "body.metadata.finalizers") for finalizers in (
                [], ["kubernetes.io/pv-protection"], ["example.com/a"], ["example.com/a", "kubernetes.io/pv-protection"])],
        *[post(f"{API}/persistentvolumeclaims?dryRun=All", {"metadata": {"name": "v", "finalizers": finalizers}, "spec": CLAIM}, "body.metadata.finalizers") for finalizers in (
            [], ["kubernetes.io/pvc-protection"], ["example.com/a"], ["kubernetes.io/pvc-protection", "example.com/a"])],
        *[post("/apis/storage.k8s.io/v1/volumeattributesclasses?dryRun=All", {"metadata": {"name": "v", "finalizers": finalizers}, "driverName": "a.b", "parameters": {"a": "b"}}, "body.metadata.finalizers")
          for finalizers in ([], ["kubernetes.io/vac-protection"], ["example.com/a"])],
    ],
    "extended_resource_toleration_more": [
        ACCOUNT, *[pod({"containers": [{**CONTAINER, "resources": {"limits": amounts}}], **spec}, "body.spec.tolerations") for amounts, spec in (
            ({"a.com/x": "1"}, {}), ({"a.com/x": "1", "b.com/y": "2"}, {}), ({"a.com/x": "0"}, {}), ({"cpu": "1"}, {}), ({"cpu": "1", "a.com/x": "1"}, {}),
            ({"a.com/x": "1"}, {"tolerations": [{"key": "a.com/x", "operator": "Exists"}]}), ({"a.com/x": "1"}, {"tolerations": [{"key": "a.com/x", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]}),
            ({}, {"initContainers": [{**CONTAINER, "name": "i", "resources": {"limits": {"a.com/z": "1"}}}]}), ({"ephemeral-storage": "1"}, {}))],
    ],
    "always_pull_images_more": [
        ACCOUNT, *[pod({"containers": [{**CONTAINER, **fields}]}, "body.spec.containers") for fields in (
            {}, {"imagePullPolicy": "Never"}, {"imagePullPolicy": "IfNotPresent"}, {"imagePullPolicy": "Always"}, {"image": "i:1"}, {"image": "i:latest", "imagePullPolicy": "Never"})],
        pod({"containers": [CONTAINER, {**CONTAINER, "name": "d", "imagePullPolicy": "Never"}]}, "body.spec.containers"),
        pod({"initContainers": [{**CONTAINER, "name": "i", "imagePullPolicy": "IfNotPresent"}]}, "body.spec.initContainers"),
        pod({"volumes": [{"name": "v", "image": {"reference": "r", "pullPolicy": "Never"}}]}, "body.spec.volumes"),
        pod({"volumes": [{"name": "v", "image": {"reference": "r"}}]}, "body.spec.volumes"),
    ],
    "default_classes_more": [
        *[post("/apis/networking.k8s.io/v1/namespaces/$NS/ingresses?dryRun=All", {"metadata": {"name": "i"}, "spec": {
            "defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}, "ingressClassName": name}}, "body.spec.ingressClassName") for name in ("a", "b.c", "web", "")],
        *[post("/apis/networking.k8s.io/v1/namespaces/$NS/ingresses?dryRun=All", {"metadata": {"name": "i"}, "spec": {
            "rules": [{"http": {"paths": [{"path": path, "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}}, "body.spec.ingressClassName")
          for path in ("/", "/a", "/b")],
        *[post(f"{API}/persistentvolumeclaims?dryRun=All", {"metadata": {"name": "c"}, "spec": {**CLAIM, **spec}}, "body.spec.storageClassName") for spec in (
            {"storageClassName": "named"}, {"storageClassName": ""}, {"volumeName": "v", "storageClassName": "x"}, {"volumeMode": "Block", "storageClassName": "y"},
            {"selector": {"matchLabels": {"a": "b"}}, "storageClassName": ""})],
    ],
    "persistent_volume_claim_resize_more": [
        setup(STORAGE_CLASSES, {"metadata": {"name": "grows-more-$run"}, "provisioner": "x", "allowVolumeExpansion": True}),
        setup(STORAGE_CLASSES, {"metadata": {"name": "fixed-more-$run"}, "provisioner": "x", "allowVolumeExpansion": False}),
        *[step for name, storage_class in (("a", "grows-more-$run"), ("b", "fixed-more-$run"), ("c", ""), ("d", "gone")) for step in (
            setup(f"{API}/persistentvolumeclaims", {"metadata": {"name": name}, "spec": {**CLAIM, "storageClassName": storage_class, "volumeName": "v"}}),
            {"do": f"PATCH {API}/persistentvolumeclaims/{name}/status", "type": "merge", "body": {"status": {"phase": "Bound", "capacity": {"storage": "2Gi"}}}, "setup": True},
            *([patch(f"{API}/persistentvolumeclaims/{name}?dryRun=All", {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}, setup=True, until=200)] if name == "a" else []),
            *[patch(f"{API}/persistentvolumeclaims/{name}?dryRun=All", {"spec": {"resources": {"requests": {"storage": size}}}}, "body.spec.resources") for size in ("2Gi", "3Gi", "2049Mi")],
            patch(f"{API}/persistentvolumeclaims/{name}?dryRun=All", {"metadata": {"labels": {"a": "b"}}}))],
    ],
    "owner_references_more": [
        setup("/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/roles", {"metadata": {"name": "r"}, "rules": [
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "update", "patch", "get"]},
            {"apiGroups": ["apps"], "resources": ["deployments/finalizers", "statefulsets/finalizers"], "verbs": ["update"]},
            {"apiGroups": [""], "resources": ["pods/finalizers"], "resourceNames": ["o"], "verbs": ["update"]}]}),
        setup("/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/rolebindings", {"metadata": {"name": "r"}, "subjects": [
            {"kind": "User", "name": "owner-user-more", "apiGroup": "rbac.authorization.k8s.io"}], "roleRef": {"kind": "Role", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}}),
        post(f"{API}/configmaps", {"metadata": {"name": "mine"}}, user="owner-user-more", setup=True, until=201),
        owned(), owned(owner(blocks=False)), owned(owner("Deployment", "apps/v1")), owned(owner("StatefulSet", "apps/v1")), owned(owner("Pod")), owned(owner("Pod", name="p")),
        owned(owner("Node", blocks=False)), owned(owner("Node")), owned(owner("ReplicaSet", "apps/v1")), owned(owner("Deployment", "apps/v1beta9")), owned(owner("Nope", "example.com/v1")),
        owned(owner("Deployment", "apps/v1"), owner("ReplicaSet", "apps/v1", uid="w")), owned(owner("Secret")), owned(owner("ConfigMap")), owned(owner("Namespace")),
        owned(owner("Deployment", "apps/v1"), owner("StatefulSet", "apps/v1", uid="w")), owned(owner("DaemonSet", "apps/v1", blocks=None)),
        *[patch(f"{API}/configmaps/mine?dryRun=All", {"metadata": metadata}, user="owner-user-more") for metadata in (
            {"labels": {"a": "b"}}, {"ownerReferences": []}, {"ownerReferences": [owner("Deployment", "apps/v1")]}, {"ownerReferences": [owner(blocks=False)]})],
    ],
    "pod_toleration_restriction_more": [
        setup("/api/v1/namespaces", {"metadata": {"name": "tolerates-$run", "annotations": {TOLERATIONS: (
            '[{"key":"a","operator":"Exists"},{"key":"b","operator":"Equal","value":"x","effect":"NoSchedule"},'
            '{"key":"node.kubernetes.io/not-ready","operator":"Exists"},{"key":"node.kubernetes.io/unreachable","operator":"Exists"}]')}}}),
        setup("/api/v1/namespaces/tolerates-$run/serviceaccounts", {"metadata": {"name": "default"}}),
        *[post("/api/v1/namespaces/tolerates-$run/pods?dryRun=All", {"metadata": {"name": "p"}, "spec": {"containers": [CONTAINER], "tolerations": tolerations}}, "body.spec.tolerations")
          for tolerations in (
              [], [{"key": "a", "operator": "Exists"}], [{"key": "a", "operator": "Exists", "effect": "NoExecute"}], [{"key": "a", "operator": "Equal", "value": "v"}],
              [{"key": "b", "operator": "Equal", "value": "x", "effect": "NoSchedule"}], [{"key": "a", "operator": "Exists"}, {"key": "b", "value": "x", "effect": "NoSchedule"}],
              [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 7}], [{"key": "a", "operator": "Exists", "effect": "PreferNoSchedule"}],
              [{"key": "b", "operator": "Exists"}], [{"key": "b", "operator": "Equal", "value": "y", "effect": "NoSchedule"}], [{"key": "b", "operator": "Equal", "value": "x"}],
              [{"key": "b", "operator": "Equal", "value": "x", "effect": "NoExecute"}], [{"key": "c", "operator": "Exists"}], [{"operator": "Exists"}],
              [{"key": "a", "operator": "Exists"}, {"key": "c", "operator": "Exists"}], [{"operator": "Exists", "effect": "NoSchedule"}], [{"key": "A", "operator": "Exists"}])],
    ],
    "pod_topology_labels_more": [
        ACCOUNT, setup("/api/v1/nodes", {"metadata": {"name": "labelled-$run", "labels": {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", "a": "b"}}}),
        setup("/api/v1/nodes", {"metadata": {"name": "zone-$run", "labels": {"topology.kubernetes.io/zone": "z"}}}), setup("/api/v1/nodes", {"metadata": {"name": "bare-$run"}}),
        *[pod({"nodeName": name}, setup=True, until='"topology.kubernetes.io/zone":"z"') for name in ("labelled-$run", "zone-$run")],
        *[step for i, name in enumerate(("labelled-$run", "zone-$run", "bare-$run")) for labels in ({}, {"topology.kubernetes.io/zone": "own"}, {"x": "y"}) for step in (
            post(f"{API}/pods?dryRun=All", {"metadata": {"name": f"p{i}", "labels": labels}, "spec": {"containers": [CONTAINER], "nodeName": name}}, "body.metadata.labels"),)],
    ],
}

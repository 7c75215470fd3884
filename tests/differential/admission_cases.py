"""Writes for each admission plugin: what it changes, what it accepts and what it refuses."""
import admission_cases_more
import cases
import pod_security_cases
import quota_cases

PODS = "/api/v1/namespaces/$NS/pods"
CONTAINER = {"name": "c", "image": "i"}
HOST, ZONE = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}}, {"topologyKey": "zone", "labelSelector": {}}


def post(path, body, **options):
    return {"do": f"POST {path}", "body": body, **options}


def setup(path, body, **options):
    return post(path, body, setup=True, **options)


def pod(spec=None, ns="$NS", meta=None, **options):
    """A pod that is not stored, so that all pods may have the same name."""
    return post(f"/api/v1/namespaces/{ns}/pods?dryRun=All", {"metadata": {"name": "p", **(meta or {})}, "spec": {"containers": [CONTAINER], **(spec or {})}}, **options)


def container(**fields):
    return pod({"containers": [{**CONTAINER, **fields}]})


def resources(requests=None, limits=None):
    return container(resources={"requests": requests or {}, "limits": limits or {}})


def context(**fields):
    return container(securityContext=fields)


def account(name="default", ns="$NS", **fields):
    return setup(f"/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": name, **fields.pop("metadata", {})}, **fields})


def namespace(name, labels=None, annotations=None, **options):
    return post("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}}}, **options)


def security(**labels):
    return {f"pod-security.kubernetes.io/{name.replace('_', '-')}": value for name, value in labels.items()}


def patch(path, body, **options):
    return {"do": f"PATCH {path}", "body": body, "type": "merge", **options}


def with_secret(ns="$NS", **fields):
    return pod({"serviceAccountName": "strict", **fields})


ENV = [{"name": "E", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}]
MIRROR = {"annotations": {"kubernetes.io/config.mirror": "x"}}
STRICT = {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}
TOKEN = {"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}

CASES = {
    "service_account": [
        account(), account("quiet", automountServiceAccountToken=False), account("pulls", imagePullSecrets=[{"name": "a"}, {"name": "b"}]),
        account("strict", metadata=STRICT, secrets=[{"name": "mine"}], imagePullSecrets=[{"name": "pull"}]),
        pod(), pod({"initContainers": [{"name": "i", "image": "i"}]}), pod({"serviceAccountName": "quiet"}), pod({"serviceAccount": "quiet"}),
        pod({"serviceAccountName": "quiet", "automountServiceAccountToken": True}), pod({"automountServiceAccountToken": False}),
        pod({"serviceAccountName": "pulls"}), pod({"serviceAccountName": "pulls", "imagePullSecrets": [{"name": "own"}]}),
        container(volumeMounts=[{"name": "v", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]),
        pod({"volumes": [{"name": "kube-api-access-own", "emptyDir": {}}]}),
        with_secret(volumes=[{"name": "v", "secret": {"secretName": "mine"}}]), with_secret(imagePullSecrets=[{"name": "pull"}]),
        pod({"serviceAccountName": "gone"}), pod({"serviceAccountName": "Not/Valid"}),
        pod({"serviceAccountName": "default"}, meta=MIRROR), pod({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}, meta=MIRROR),
        pod({"volumes": [TOKEN]}, meta=MIRROR), pod({"serviceAccount": "default"}, meta=MIRROR), with_secret(volumes=[{"name": "v", "secret": {"secretName": "other"}}]),
        with_secret(containers=[{**CONTAINER, "env": ENV}]), with_secret(initContainers=[{**CONTAINER, "name": "i", "env": ENV}]),
        with_secret(containers=[{**CONTAINER, "envFrom": [{"secretRef": {"name": "other"}}]}]), with_secret(imagePullSecrets=[{"name": "other"}]),
    ],
    "priority": [
        account(), setup("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"}),
        setup("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "plain"}, "value": 7}),
        pod({"priorityClassName": "plain"}, setup=True, until=201), pod({"priorityClassName": "high"}, setup=True, until=201),
        pod(), pod({"priorityClassName": "high"}), pod({"priorityClassName": "plain"}), pod({"priorityClassName": "system-node-critical"}),
        pod({"priority": 0}), pod({"priorityClassName": "high", "priority": 1000}), pod({"priorityClassName": "high", "preemptionPolicy": "Never"}),
        pod({"preemptionPolicy": "PreemptLowerPriority"}),
        pod({"priorityClassName": "gone"}), pod({"priorityClassName": "Not/Valid"}), pod({"priority": 1}), pod({"priority": -1}),
        pod({"priorityClassName": "high", "priority": 999}), pod({"preemptionPolicy": "Never"}),
        pod({"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"}),
        pod({"priorityClassName": "system-node-critical", "priority": 5}),
    ],
    "default_toleration_seconds": [
        account(), pod(), pod({"tolerations": [{"key": "a", "operator": "Exists"}]}), pod({"tolerations": [{"operator": "Exists"}]}),
        pod({"tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]}), pod({"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}),
        pod({"tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]}),
        pod({"tolerations": [{"key": "node.kubernetes.io/unreachable", "operator": "Exists"}]}),
        pod({"tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoSchedule"}]}),
    ],
    "limit_ranger": [
        account(), setup("/api/v1/namespaces/$NS/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [
            {"type": "Container", "min": {"cpu": "50m"}, "max": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "4"}, "default": {"cpu": "1"}, "defaultRequest": {"cpu": "500m"}},
            {"type": "Pod", "max": {"memory": "600Mi"}}, {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "10Gi"}}]}}),
        container(resources={"limits": {"memory": "1Mi"}}), resources({"memory": "1Mi"}, {"memory": "100Mi"}),
        resources({"cpu": "1", "memory": "1Mi"}, {"cpu": "2", "memory": "600Mi"}), resources({"cpu": "50m"}, {"cpu": "200m", "memory": "1Mi"}),
        pod({"containers": [{**CONTAINER, "resources": {"limits": {"memory": "1Mi"}}}], "initContainers": [{**CONTAINER, "name": "i", "resources": {"limits": {"memory": "2Mi"}}}]}),
        pod({"containers": [{**CONTAINER, "resources": {"limits": {"memory": "1Mi"}}}, {**CONTAINER, "name": "d", "resources": {"limits": {"memory": "2Mi"}}}]}),
        resources({"cpu": "40m"}, {"cpu": "100m", "memory": "1Mi"}), resources({"cpu": "2"}, {"cpu": "2001m", "memory": "1Mi"}),
        resources({"cpu": "100m"}, {"cpu": "500m", "memory": "1Mi"}), resources({"cpu": "1"}, {"cpu": "1", "memory": "1Gi"}), pod(),
        resources({"cpu": "500m", "memory": "100Mi"}, {"cpu": "500m", "memory": "601Mi"}),
        *[post("/api/v1/namespaces/$NS/persistentvolumeclaims?dryRun=All",
               {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}})
          for size in ("1Gi", "10Gi", "5Gi", "1023Mi", "11Gi", "1")],
    ],
    "taint_nodes_by_condition": [
        *[post("/api/v1/nodes?dryRun=All", {"metadata": {"name": "n"}, "spec": {"taints": taints}}) for taints in (
            [], [{"key": "a", "effect": "NoSchedule"}], [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}],
            [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}], [{"key": "node.kubernetes.io/not-ready", "value": "v", "effect": "NoSchedule"}])],
        post("/api/v1/nodes?dryRun=All", {"metadata": {"name": "n"}}),
    ],
    "storage_object_in_use_protection": [
        post("/api/v1/persistentvolumes?dryRun=All", {"metadata": {"name": "v"}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}}, only=["status", "body.metadata.finalizers"]),
        post("/api/v1/namespaces/$NS/persistentvolumeclaims?dryRun=All", {"metadata": {"name": "c", "finalizers": ["example.com/f"]}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
    ],
    "runtime_class": [
        account(), setup("/apis/node.k8s.io/v1/runtimeclasses", {"metadata": {"name": "vm"}, "handler": "h", "overhead": {"podFixed": {"cpu": "1", "memory": "1Gi"}}}),
        setup("/apis/node.k8s.io/v1/runtimeclasses", {"metadata": {"name": "gpu"}, "handler": "h", "scheduling": {
            "nodeSelector": {"gpu": "yes"}, "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]}}),
        pod({"runtimeClassName": "vm"}), pod({"runtimeClassName": "gpu"}), pod({"runtimeClassName": "gpu", "nodeSelector": {"a": "b"}}),
        pod({"runtimeClassName": "vm", "overhead": {"cpu": "1000m", "memory": "1Gi"}}), pod({"runtimeClassName": "gpu", "nodeSelector": {"gpu": "yes"}}),
        pod({"runtimeClassName": "gpu", "tolerations": [{"operator": "Exists"}]}), pod(), pod({"runtimeClassName": "gpu", "tolerations": [{"key": "x", "operator": "Exists"}]}),
        pod({"runtimeClassName": "gone"}), pod({"runtimeClassName": "Not/Valid"}), pod({"runtimeClassName": "vm", "overhead": {"cpu": "2"}}),
        pod({"overhead": {"cpu": "1"}}), pod({"runtimeClassName": "gpu", "overhead": {"cpu": "1"}}), pod({"runtimeClassName": "gpu", "nodeSelector": {"gpu": "no"}}),
        pod({"runtimeClassName": "vm", "overhead": {"cpu": "1", "memory": "1Gi", "example.com/x": "1"}}),
        pod({"runtimeClassName": "vm", "overhead": {"cpu": "1"}}), pod({"runtimeClassName": "vm", "overhead": {"cpu": "1", "memory": "2Gi"}}),
    ],
    "always_pull_images": [
        account(), pod(), container(imagePullPolicy="Never"), container(imagePullPolicy="IfNotPresent"), container(image="i:latest"),
        pod({"initContainers": [{"name": "i", "image": "i", "imagePullPolicy": "Never"}]}),
    ],
    "limit_pod_hard_anti_affinity_topology": [
        account(), *[pod({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}) for terms in (
            [], [HOST], [HOST, HOST], [ZONE], [HOST, ZONE], [ZONE, HOST], [{"topologyKey": "", "labelSelector": {}}])],
        pod({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [ZONE]}}}),
        pod({"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": ZONE}]}}}),
    ],
    "extended_resource_toleration": [
        account(), *[resources(amounts, amounts) for amounts in (
            {"example.com/gpu": "1"}, {"example.com/gpu": "1", "a.com/b": "2"}, {"cpu": "1"}, {"hugepages-2Mi": "2Mi", "cpu": "1"})],
        pod({"containers": [{**CONTAINER, "resources": {"limits": {"example.com/gpu": "1"}}}], "tolerations": [
            {"key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]}),
    ],
    "deny_service_external_ips": [
        *[post("/api/v1/namespaces/$NS/services?dryRun=All", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "clusterIP": "None", "externalIPs": ips}},
               only=["status", "body.message", "body.reason", "body.spec.externalIPs"]) for ips in ([], ["1.1.1.1"], ["1.1.1.1", "2.2.2.2"], ["2001:db8::1"])],
    ],
    "event_rate_limit": [
        *[post("/api/v1/namespaces/$NS/events", {"metadata": {"name": f"e{i}"}, "involvedObject": {"namespace": "$NS", "name": name}, "source": {"component": "c"}},
               only=["status", "body.message", "body.reason", "body.code"]) for i, name in enumerate(("a", "a", "a", "b", "c", "d"))],
    ],
    "namespace_auto_provision": [
        post("/api/v1/namespaces/provisioned-$run/configmaps", {"metadata": {"name": "c"}}), {"do": "GET /api/v1/namespaces/provisioned-$run", "without": ["manager"]},
        post("/api/v1/namespaces/dry-$run/configmaps?dryRun=All", {"metadata": {"name": "c"}}), post("/api/v1/namespaces/Not_Valid/configmaps", {"metadata": {"name": "c"}}),
    ],
    "pod_node_selector": [
        namespace("blue-$run", annotations={"scheduler.alpha.kubernetes.io/node-selector": "color=blue"}), account(ns="blue-$run"),
        namespace("broken-$run", annotations={"scheduler.alpha.kubernetes.io/node-selector": "color"}), account(ns="broken-$run"),
        namespace("invalid-$run", annotations={"scheduler.alpha.kubernetes.io/node-selector": "a b=c"}), account(ns="invalid-$run"),
        setup("/api/v1/namespaces", {"metadata": {"name": "selector-limited"}}), account(ns="selector-limited"), account(),
        pod(), pod({"nodeSelector": {"x": "y"}}), pod(ns="blue-$run"), pod({"nodeSelector": {"color": "blue"}}, ns="blue-$run"), pod({"nodeSelector": {"a": "b"}}, ns="blue-$run"),
        pod(ns="selector-limited"), pod({"nodeSelector": {"size": "big"}}, ns="selector-limited"), pod({"nodeSelector": {"size": "big", "color": "blue"}}, ns="selector-limited"),
        pod({"nodeSelector": {"color": "red"}}, ns="blue-$run"), pod({"nodeSelector": {"color": ""}}, ns="blue-$run"), pod({"nodeSelector": {"size": "small"}}, ns="selector-limited"),
        pod({"nodeSelector": {"disk": "ssd"}}, ns="selector-limited"), pod({"nodeSelector": {"size": "big", "x": "y"}}, ns="selector-limited"), pod(ns="broken-$run"),
        pod(ns="invalid-$run"), pod({"nodeSelector": {"color": "red", "a": "b"}}, ns="blue-$run"),
    ],
    "pod_toleration_restriction": [
        namespace("tolerant-$run", annotations={
            "scheduler.alpha.kubernetes.io/defaultTolerations": '[{"key":"d","operator":"Exists"}]',
            "scheduler.alpha.kubernetes.io/tolerationsWhitelist": '[{"key":"d","operator":"Exists"},{"key":"s","operator":"Exists","effect":"NoExecute","tolerationSeconds":60},'
                                                                  '{"key":"node.kubernetes.io/not-ready","operator":"Exists"},{"key":"node.kubernetes.io/unreachable","operator":"Exists"}]'}),
        account(ns="tolerant-$run"), namespace("untolerant-$run", annotations={"scheduler.alpha.kubernetes.io/defaultTolerations": "{}"}), account(ns="untolerant-$run"),
        *[pod({"tolerations": tolerations}, ns="tolerant-$run") for tolerations in (
            [], [{"key": "d", "operator": "Exists"}], [{"key": "d", "operator": "Equal", "value": "v", "effect": "NoSchedule"}],
            [{"key": "s", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}], [{"key": "s", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 61}],
            [{"key": "s", "operator": "Exists", "effect": "NoExecute"}], [{"key": "x", "operator": "Exists"}], [{"operator": "Exists"}])],
        post("/api/v1/namespaces/tolerant-$run/pods?dryRun=All", {"metadata": {"name": "p"}, "spec": {"containers": [{**CONTAINER, "resources": {"requests": {"cpu": "1"}}}]}}),
        pod(ns="untolerant-$run"),
    ],
    "default_classes": [
        setup("/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}, "provisioner": "x"}),
        setup("/apis/networking.k8s.io/v1/ingressclasses", {"metadata": {"name": "web", "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}, "spec": {"controller": "a.b/c"}}),
        setup("/api/v1/namespaces/$NS/persistentvolumeclaims?dryRun=All", {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
              until='"storageClassName":"fast"'),
        setup("/apis/networking.k8s.io/v1/namespaces/$NS/ingresses?dryRun=All", {"metadata": {"name": "i"}, "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}},
              until='"ingressClassName":"web"'),
        *[post("/api/v1/namespaces/$NS/persistentvolumeclaims?dryRun=All", {"metadata": {"name": "c", "annotations": annotations}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}}) for annotations, spec in (
                ({}, {}), ({}, {"storageClassName": ""}), ({}, {"storageClassName": "other"}), ({"volume.beta.kubernetes.io/storage-class": "x"}, {}))],
        *[post("/apis/networking.k8s.io/v1/namespaces/$NS/ingresses?dryRun=All", {"metadata": {"name": "i", "annotations": annotations}, "spec": {
            "defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}, **spec}}, without=["Warning"]) for annotations, spec in (
                ({}, {}), ({}, {"ingressClassName": "other"}), ({"kubernetes.io/ingress.class": "x"}, {}))],
    ],
    "persistent_volume_claim_resize": [
        setup("/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "grows"}, "provisioner": "x", "allowVolumeExpansion": True}),
        setup("/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "fixed"}, "provisioner": "x"}),
        *[step for name, storage_class in (("a", "grows"), ("b", "fixed"), ("c", "")) for step in (
            setup("/api/v1/namespaces/$NS/persistentvolumeclaims", {"metadata": {"name": name}, "spec": {
                "storageClassName": storage_class, "accessModes": ["ReadWriteOnce"], "volumeName": "v", "resources": {"requests": {"storage": "2Gi"}}}}),
            patch(f"/api/v1/namespaces/$NS/persistentvolumeclaims/{name}/status", {"status": {"phase": "Bound", "capacity": {"storage": "2Gi"}}}, setup=True),
            *([patch(f"/api/v1/namespaces/$NS/persistentvolumeclaims/{name}?dryRun=All", {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}, setup=True, until=200)]
              if storage_class == "grows" else []),
            patch(f"/api/v1/namespaces/$NS/persistentvolumeclaims/{name}?dryRun=All", {"spec": {"resources": {"requests": {"storage": "3Gi"}}}},
                  only=["status", "body.message", "body.reason", "body.spec.resources"]),
            patch(f"/api/v1/namespaces/$NS/persistentvolumeclaims/{name}?dryRun=All", {"metadata": {"labels": {"a": "b"}}}, only=["status", "body.message"]))],
    ],
    "owner_references": [
        setup("/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/roles", {"metadata": {"name": "r"}, "rules": [
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "update", "patch", "get"]}, {"apiGroups": ["apps"], "resources": ["deployments/finalizers"], "verbs": ["update"]},
            {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["mine"], "verbs": ["delete"]}]}),
        setup("/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/rolebindings", {"metadata": {"name": "r"}, "subjects": [
            {"kind": "User", "name": "owner-user", "apiGroup": "rbac.authorization.k8s.io"}], "roleRef": {"kind": "Role", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}}),
        post("/api/v1/namespaces/$NS/configmaps", {"metadata": {"name": "mine"}}, user="owner-user", setup=True, until=201), setup("/api/v1/namespaces/$NS/configmaps", {"metadata": {"name": "other"}}),
        *[post("/api/v1/namespaces/$NS/configmaps?dryRun=All", {"metadata": {"name": "c", "ownerReferences": [
            {"apiVersion": version, "kind": kind, "name": "o", "uid": "u", "blockOwnerDeletion": blocks}]}}, user="owner-user") for version, kind, blocks in (
                ("v1", "ConfigMap", False), ("apps/v1", "Deployment", True), ("apps/v1", "ReplicaSet", True), ("v1", "Node", True), ("example.com/v1", "Nope", True))],
        *[patch(f"/api/v1/namespaces/$NS/configmaps/{name}?dryRun=All", {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u"}]}}, user="owner-user")
          for name in ("mine", "other")],
    ],
    "pod_topology_labels": [
        account(), setup("/api/v1/nodes", {"metadata": {"name": "topology-node", "labels": {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", "a": "b"}}}),
        pod({"nodeName": "topology-node"}, setup=True, until='"topology.kubernetes.io/zone":"z"'), pod({"nodeName": "topology-node"}), pod({"nodeName": "topology-node"}, meta={"labels": {"topology.kubernetes.io/zone": "x"}}),
        pod({"nodeName": "gone"}), pod(),
    ],
    "pod_security_namespaces": [
        *[namespace(f"ps-{i}-$run", labels=labels) for i, labels in enumerate((
            security(enforce="baseline"), security(enforce="restricted", enforce_version="v1.24"), security(warn="baseline", audit="restricted", audit_version="latest"),
            security(enforce="high"), security(warn="Baseline"), security(audit=""), security(enforce_version="1.24"), security(warn_version="v1.01"),
            security(audit_version="v2.0"), security(enforce="x", warn="y", audit="z")))],
        namespace("exempt", labels=security(enforce="restricted")),
        namespace("ps-pods-$run"), account(ns="ps-pods-$run"),
        *[setup("/api/v1/namespaces/ps-pods-$run/pods", {"metadata": {"name": name}, "spec": {"containers": [CONTAINER], **spec}}) for name, spec in (
            ("a", {"hostNetwork": True}), ("b", {"hostNetwork": True}), ("c", {"hostPID": True}))],
        patch("/api/v1/namespaces/ps-pods-$run?dryRun=All", {"metadata": {"labels": security(enforce="baseline")}}, setup=True, until="and 2 other pods"),
        *[patch("/api/v1/namespaces/ps-pods-$run?dryRun=All", {"metadata": {"labels": labels}}) for labels in (
            security(enforce="baseline"), security(enforce="restricted"), security(enforce="privileged"), security(warn="baseline"), security(enforce="nope"))],
    ],
    "pod_security_baseline": [
        namespace("baseline-$run", labels=security(enforce="baseline"), setup=True), account(ns="baseline-$run"),
        *[{**step, "do": step["do"].replace("$NS", "baseline-$run")} for step in (
            pod(), pod({"hostNetwork": True}), pod({"hostPID": True, "hostIPC": True}), context(privileged=True), context(privileged=False),
            context(capabilities={"add": ["CHOWN"]}), context(capabilities={"add": ["SYS_ADMIN", "NET_RAW"]}), container(ports=[{"containerPort": 80}]),
            container(ports=[{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 81}]), pod({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}),
            context(procMount="Default"), context(seLinuxOptions={"type": "container_t"}), context(seLinuxOptions={"type": "x", "user": "u", "role": "r"}),
            context(seccompProfile={"type": "Unconfined"}), context(seccompProfile={"type": "RuntimeDefault"}), context(appArmorProfile={"type": "Unconfined"}),
            pod({"securityContext": {"sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}]}}), pod({"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}),
            container(livenessProbe={"httpGet": {"host": "h", "port": 80}}), container(lifecycle={"preStop": {"httpGet": {"host": "h", "port": 80}}}),
            pod({"initContainers": [{**CONTAINER, "name": "i", "securityContext": {"privileged": True}}]}), {**pod({"hostNetwork": True}), "user": "exempt-user", "only": ["status"]},
        )],
        post("/apis/apps/v1/namespaces/baseline-$run/deployments?dryRun=All", {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"hostNetwork": True, "containers": [CONTAINER]}}}}, only=["status", "headers"]),
    ],
    "pod_security_restricted": [
        *[step for version in ("latest", "v1.0", "v1.8", "v1.19", "v1.22", "v1.23", "v1.24", "v1.25", "v1.34", "v1.35", "v1.99") for step in (
            namespace(f"restricted-{version.replace('.', '-')}-$run", labels=security(enforce="restricted", enforce_version=version), setup=True),
            account(ns=f"restricted-{version.replace('.', '-')}-$run"),
            *[{**one, "do": one["do"].replace("$NS", f"restricted-{version.replace('.', '-')}-$run")} for one in (
                pod(), pod({"volumes": [{"name": "v", "nfs": {"server": "s", "path": "/"}}, {"name": "w", "emptyDir": {}}]}),
                pod({"securityContext": {"runAsNonRoot": True, "runAsUser": 0, "seccompProfile": {"type": "Localhost", "localhostProfile": "p"}}}),
                pod({"securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}, "containers": [
                    {**CONTAINER, "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}}]}),
                pod({"os": {"name": "windows"}, "securityContext": {"runAsNonRoot": True}}))])],
    ],
    "pod_security_warn": [
        namespace("warned-$run", labels=security(warn="restricted", audit="baseline"), setup=True), account(ns="warned-$run"), pod(ns="warned-$run"),
        pod({"hostNetwork": True}, ns="warned-$run"), pod({"hostNetwork": True}, ns="warned-$run", user="exempt-user", only=["status"]),
    ],
}
BRIEF = ["status", "header.warning", "body.message", "body.reason"]
STORED = {"metadata": {"name": "p"}, "spec": {"containers": [{**CONTAINER, "securityContext": {"privileged": True}, "resources": {"requests": {"cpu": "1"}}}]}}
CASES |= {
    "updates_of_pods": [
        account(), setup(PODS, STORED), patch("/api/v1/namespaces/$NS", {"metadata": {"labels": security(enforce="baseline")}}, only=BRIEF),
        post(f"{PODS}?dryRun=All", STORED | {"metadata": {"name": "q"}}, setup=True, until=403),
        *[patch(f"{PODS}/p", body, only=BRIEF) for body in (
            {"metadata": {"labels": {"a": "b"}}}, {"spec": {"priority": None}}, {"spec": {"preemptionPolicy": None}})],
        patch(f"{PODS}/p", {"spec": {"priority": 5}}, only=["status", "body.reason"]),
        {"do": f"PATCH {PODS}/p", "type": "strategic", "body": {"spec": {"containers": [{"name": "c", "image": "j"}]}}, "only": BRIEF},
        patch(f"{PODS}/p/status", {"status": {"message": "m"}}, only=BRIEF),
        {"do": f"PATCH {PODS}/p/ephemeralcontainers", "type": "strategic", "body": {"spec": {"ephemeralContainers": [
            {"name": "d", "image": "i", "securityContext": {"privileged": True}}]}}, "only": BRIEF},
        {"do": f"PATCH {PODS}/p/ephemeralcontainers", "type": "strategic", "body": {"spec": {"ephemeralContainers": [{"name": "d", "image": "i"}]}}, "only": BRIEF},
        {"do": f"GET {PODS}/p", "only": ["status", "body.spec.priority", "body.spec.preemptionPolicy", "body.spec.tolerations"]},
        {"do": f"DELETE {PODS}/p?gracePeriodSeconds=0", "only": BRIEF},
    ],
    "ephemeral_containers": [
        account("strict", metadata=STRICT, secrets=[{"name": "mine"}]), setup(PODS, {"metadata": {"name": "p"}, "spec": {"serviceAccountName": "strict", "containers": [CONTAINER]}}),
        *[{"do": f"PATCH {PODS}/p/ephemeralcontainers?dryRun=All", "type": "strategic", "body": {"spec": {"ephemeralContainers": [{"name": "d", "image": "i", **fields}]}}, "only": BRIEF}
          for fields in ({}, {"env": ENV}, {"envFrom": [{"secretRef": {"name": "other"}}]}, {"envFrom": [{"secretRef": {"name": "mine"}}]})],
    ],
    "bindings": [
        account(), setup("/api/v1/nodes", {"metadata": {"name": "bound-node", "labels": {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r"}}}),
        pod({"nodeName": "bound-node"}, setup=True, until='"topology.kubernetes.io/zone":"z"'), setup(PODS, {"metadata": {"name": "p"}, "spec": {"containers": [CONTAINER]}}),
        post(f"{PODS}/p/binding", {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "bound-node"}}, only=["status"]),
        {"do": f"GET {PODS}/p", "only": ["status", "body.metadata.labels", "body.spec.nodeName"]},
    ],
    "updates_of_services": [
        setup("/api/v1/namespaces/$NS/services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "clusterIP": "None"}}),
        *[patch("/api/v1/namespaces/$NS/services/s?dryRun=All", body, only=["status", "body.message", "body.reason"]) for body in (
            {"spec": {"externalIPs": ["1.1.1.1"]}}, {"spec": {"externalIPs": []}}, {"metadata": {"labels": {"a": "b"}}})],
    ],
}
# What only the kind of the object decides is compared elsewhere.
PARTS = {"service_account": ["status", "header", "body.spec", "body.message", "body.reason", "body.code"],
         "limit_ranger": ["status", "header", "body.spec", "body.message", "body.metadata.annotations"],
         "storage_object_in_use_protection": ["status", "body.metadata.finalizers"],
         "default_classes": ["status", "body.spec", "body.message"]}
for name, parts in PARTS.items():
    CASES[name] = [step if step.get("setup") else {"only": parts, **step} for step in CASES[name]]
CASES |= admission_cases_more.CASES | pod_security_cases.CASES | quota_cases.CASES
CASES = [cases.Case("admission", name, {}, steps) for name, steps in CASES.items()]

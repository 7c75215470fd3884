"""Writes that ResourceQuota accepts and refuses. No controller runs, so the cases write the status of the quotas themselves."""
BRIEF = ["status", "header.warning", "body.message", "body.reason", "body.code", "body.details"]
CONTAINER = {"name": "c", "image": "i"}
API = "/api/v1/namespaces/$NS"
GIB = "1Gi"


def post(path, body, **options):
    return {"do": f"POST {path}", "body": body, "only": BRIEF, **options}


def setup(path, body, **options):
    return {"do": f"POST {path}", "body": body, "setup": True, **options}


def patch(path, body, **options):
    return {"do": f"PATCH {path}", "body": body, "type": "merge", "only": BRIEF, **options}


def quota(hard, used=None, name="q", **spec):
    """A quota as the quota controller leaves it; without `used`, nothing is used."""
    used = {amount: "0" for amount in hard} if used is None else used
    return [setup(f"{API}/resourcequotas", {"metadata": {"name": name}, "spec": {"hard": hard, **spec}}),
            {"do": f"PATCH {API}/resourcequotas/{name}/status", "type": "merge", "body": {"status": {"hard": hard, "used": used}}, "setup": True}]


def used(name="q"):
    return {"do": f"GET {API}/resourcequotas/{name}", "only": ["status", "body.status"]}


ACCOUNT = setup(f"{API}/serviceaccounts", {"metadata": {"name": "default"}})
SELECTED = "scopeSelector"


def selector(scope, operator, *values):
    return {SELECTED: {"matchExpressions": [{"scopeName": scope, "operator": operator, **({"values": list(values)} if values else {})}]}}


def pod(requests=None, limits=None, spec=None, name="p", store=False, meta=None, **options):
    resources = {"resources": {"requests": requests or {}, "limits": limits or {}}}
    body = {"metadata": {"name": name, **(meta or {})}, "spec": {"containers": [{**CONTAINER, **resources}], **(spec or {})}}
    return {**post(f"{API}/pods{'' if store else '?dryRun=All'}", body), **options}


def until_refused(step):
    """Waits until both servers know the quota."""
    return {**{key: value for key, value in step.items() if key != "only"}, "setup": True, "until": 403}


def service(kind="ClusterIP", ports=1, name="s", store=False, **spec):
    return post(f"{API}/services{'' if store else '?dryRun=All'}", {"metadata": {"name": name}, "spec": {
        "type": kind, "ports": [{"name": f"p{i}", "port": 80 + i} for i in range(ports)], **spec}})


def claim(size, name="c", store=False, meta=None, **spec):
    return post(f"{API}/persistentvolumeclaims{'' if store else '?dryRun=All'}", {"metadata": {"name": name, **(meta or {})}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}})


def config_map(name="c", store=False, **options):
    return post(f"{API}/configmaps{'' if store else '?dryRun=All'}", {"metadata": {"name": name}}, **options)


def device_claim(*requests, name="d", store=False):
    return post(f"/apis/resource.k8s.io/v1/namespaces/$NS/resourceclaims{'' if store else '?dryRun=All'}", {"metadata": {"name": name}, "spec": {"devices": {"requests": [
        {"name": f"r{i}", **request} for i, request in enumerate(requests)]}}})


def exactly(count, device_class="gpu-$run", **fields):
    return {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count, **fields}


SIDECAR = {"name": "s", "image": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "300m"}}}
INIT = {"name": "i", "image": "i", "resources": {"requests": {"cpu": "1900m"}}}
CROSS = {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "namespaces": ["other"], "labelSelector": {}}]}}}
DEVICE_CLASS = setup("/apis/resource.k8s.io/v1/deviceclasses", {"metadata": {"name": "gpu-$run"}, "spec": {"extendedResourceName": "example.com/gpu-$run"}})
DEVICE_CLAIMS = [
    device_claim({"exactly": exactly(3)}), device_claim({"exactly": exactly(2)}, {"exactly": exactly(3)}), device_claim({"exactly": {"deviceClassName": "gpu-$run", "allocationMode": "All"}}),
    device_claim({"firstAvailable": [{"name": "a", **exactly(2)}, {"name": "b", **exactly(4)}, {"name": "c", **exactly(3, "other")}]}),
    device_claim({"firstAvailable": [{"name": "a", **exactly(2)}, {"name": "b", "deviceClassName": "gpu-$run", "allocationMode": "All"}]})]
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

CASES = {
    "quota_pods": [
        ACCOUNT, *quota({"pods": "3", "requests.cpu": "2", "requests.memory": "2Gi", "limits.cpu": "4", "limits.memory": "4Gi"}),
        until_refused(pod()), pod(), pod({"cpu": "1"}), pod({"cpu": "1", "memory": GIB}, {"cpu": "1"}),
        pod({"cpu": "1", "memory": GIB}, {"cpu": "2", "memory": GIB}), pod({"cpu": "2001m", "memory": GIB}, {"cpu": "4", "memory": GIB}),
        pod({"cpu": "3", "memory": "3Gi"}, {"cpu": "5", "memory": "5Gi"}), pod({"cpu": "0", "memory": "0"}, {"cpu": "0", "memory": "0"}),
        pod({"cpu": "1", "memory": GIB}, {"cpu": "2", "memory": GIB}, {"initContainers": [{"name": "i", "image": "i"}]}),
        pod(spec={"resources": {"requests": {"cpu": "1", "memory": GIB}, "limits": {"cpu": "2", "memory": GIB}}}),
        pod(spec={"resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "9"}}}),
        pod({"cpu": "1500m", "memory": GIB}, {"cpu": "1500m", "memory": GIB}, name="a", store=True), used(),
        pod({"cpu": "600m", "memory": "500M"}, {"cpu": "600m", "memory": "500M"}), pod({"cpu": "500m", "memory": "500M"}, {"cpu": "500m", "memory": "500M"}, name="b", store=True), used(),
        pod({"cpu": "0", "memory": "1"}, {"cpu": "0", "memory": "2"}, name="c", store=True), used(), pod({"cpu": "0", "memory": "0"}, {"cpu": "0", "memory": "0"}, name="d", store=True),
        pod({"cpu": "0", "memory": "0"}, {"cpu": "0", "memory": "0"}, meta={"name": "", "generateName": "g-"}, only=["status", "body.reason"]),
        patch(f"{API}/pods/a", {"metadata": {"labels": {"a": "b"}}}), patch(f"{API}/pods/a/status", {"status": {"phase": "Succeeded"}}), used(),
        {"do": f"DELETE {API}/pods/b?gracePeriodSeconds=0", "only": BRIEF}, used(),
    ],
    "quota_pod_amounts": [
        ACCOUNT, *quota({"cpu": "2", "requests.example.com/gpu": "2", "requests.hugepages-2Mi": "4Mi", "hugepages-2Mi": "4Mi", "ephemeral-storage": "1Gi",
                         "limits.ephemeral-storage": "2Gi", "count/pods": "3"}),
        until_refused(pod({"cpu": "3"})), pod({"cpu": "1"}, name="a", store=True), used(),
        pod({"cpu": "100m", "example.com/gpu": "2"}, {"example.com/gpu": "2"}), pod({"cpu": "100m", "example.com/gpu": "3"}, {"example.com/gpu": "3"}),
        pod({"cpu": "100m", "hugepages-2Mi": "4Mi"}, {"hugepages-2Mi": "4Mi"}), pod({"cpu": "100m", "hugepages-2Mi": "6Mi"}, {"hugepages-2Mi": "6Mi"}),
        pod({"cpu": "100m", "ephemeral-storage": "1Gi"}, {"ephemeral-storage": "2Gi"}), pod({"cpu": "100m", "ephemeral-storage": "2Gi"}, {"ephemeral-storage": "2Gi"}),
        pod({"cpu": "100m"}, {"ephemeral-storage": "3Gi"}), pod({"cpu": "600m"}, spec={"initContainers": [SIDECAR]}), pod({"cpu": "800m"}, spec={"initContainers": [SIDECAR]}),
        pod({"cpu": "100m"}, spec={"initContainers": [INIT]}), pod({"cpu": "100m"}, spec={"initContainers": [{**INIT, "resources": {"requests": {"cpu": "900m"}}}]}),
        pod({"cpu": "100m"}, spec={"initContainers": [SIDECAR, {**INIT, "resources": {"requests": {"cpu": "800m"}}}]}),
        pod({"cpu": "100m", "example.com/gpu": "2"}, {"example.com/gpu": "2"}, name="b", store=True), used(),
    ],
    "quota_scopes": [
        ACCOUNT, setup("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "quota-$run"}, "value": 5}),
        pod(spec={"priorityClassName": "quota-$run"}, setup=True, until=201),
        *quota({"pods": "0"}, name="terminating", scopes=["Terminating"]), *quota({"pods": "0"}, name="best", scopes=["BestEffort", "NotTerminating"]),
        *quota({"pods": "0"}, name="class", **selector("PriorityClass", "In", "quota-$run", "other")), *quota({"pods": "0"}, name="cross", **selector("CrossNamespacePodAffinity", "Exists")),
        *[until_refused(pod({"cpu": "1"}, spec=spec)) for spec in ({"activeDeadlineSeconds": 5}, {"priorityClassName": "quota-$run"}, CROSS)], until_refused(pod()),
        pod(), pod({"cpu": "1"}), pod({"cpu": "0"}), pod({"cpu": "1"}, spec={"activeDeadlineSeconds": 5}), pod(spec={"activeDeadlineSeconds": 5}),
        pod({"cpu": "1"}, spec={"priorityClassName": "quota-$run"}), pod({"cpu": "1"}, spec={"priorityClassName": "system-node-critical"}), pod({"cpu": "1"}, spec=CROSS),
        pod({"cpu": "1"}, spec={"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "namespaceSelector": {}, "labelSelector": {}}}]}}}),
        pod({"example.com/gpu": "1"}, {"example.com/gpu": "1"}), service(), config_map(),
        pod({"cpu": "1"}, name="a", store=True), patch(f"{API}/pods/a", {"spec": {"activeDeadlineSeconds": 5}}), used("terminating"),
    ],
    "quota_scope_operators": [
        ACCOUNT, setup("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "quota-operator-$run"}, "value": 5}),
        pod(spec={"priorityClassName": "quota-operator-$run"}, setup=True, until=201),
        *quota({"pods": "1"}, name="not-in", **selector("PriorityClass", "NotIn", "quota-operator-$run")), *quota({"pods": "1"}, name="without", **selector("PriorityClass", "DoesNotExist")),
        *quota({"pods": "1"}, name="with", **selector("PriorityClass", "Exists")), *quota({"pods": "9"}, name="best", scopes=["NotBestEffort"]), *quota({"configmaps": "0"}, name="until"),
        until_refused(config_map()),
        pod(name="a", store=True), *[used(name) for name in ("not-in", "without", "with", "best")], pod(name="b", store=True, only=["status"]),  # two quotas are exceeded; the error names one of them
        pod({"cpu": "1"}, spec={"priorityClassName": "quota-operator-$run"}, name="c", store=True), *[used(name) for name in ("not-in", "without", "with", "best")],
        pod(spec={"priorityClassName": "system-node-critical"}, name="d", store=True, only=["status"]), pod(spec={"priorityClassName": "quota-operator-$run"}, name="e", store=True),
    ],
    "quota_invalid_scope_value": [
        ACCOUNT, *quota({"pods": "5"}, **selector("PriorityClass", "In", "not valid!", "a")), *quota({"configmaps": "0"}, name="until"), until_refused(config_map()), pod(), pod(name="b", store=True),
    ],
    "quota_services": [
        *quota({"services": "3", "services.nodeports": "3", "services.loadbalancers": "1", "count/services": "3"}), until_refused(service("NodePort", 4)),
        service(), service("NodePort", 3), service("NodePort", 4), service("LoadBalancer", 3), service("LoadBalancer", 4), service("LoadBalancer", 4, allocateLoadBalancerNodePorts=False),
        service("LoadBalancer", 1, name="a", store=True), used(), service("LoadBalancer", 1), service("NodePort", 2, name="b", store=True), used(), service("NodePort", 1),
        patch(f"{API}/services/b?dryRun=All", {"spec": {"type": "LoadBalancer"}}), service("ClusterIP", 1, name="c", store=True), used(), service(), service("ExternalName", 1, externalName="a.b"),
        patch(f"{API}/services/c", {"spec": {"type": "NodePort"}}), patch(f"{API}/services/c", {"metadata": {"labels": {"a": "b"}}}),
        patch(f"{API}/services/b", {"spec": {"type": "ClusterIP"}}, only=["status"]), used(), {"do": f"DELETE {API}/services/a", "only": ["status"]}, used(),
    ],
    "quota_claims": [
        setup("/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "quota-$run"}, "provisioner": "x", "allowVolumeExpansion": True}),
        *quota({"persistentvolumeclaims": "3", "requests.storage": "10Gi", "quota-$run.storageclass.storage.k8s.io/requests.storage": "3Gi",
                "quota-$run.storageclass.storage.k8s.io/persistentvolumeclaims": "1", "count/persistentvolumeclaims": "3"}),
        *quota({"persistentvolumeclaims": "1", "requests.storage": "1Gi"}, name="attributes", **selector("VolumeAttributesClass", "In", "fast")),
        until_refused(claim("11Gi", storageClassName="")), until_refused(claim("2Gi", storageClassName="", volumeAttributesClassName="fast")),
        claim("10Gi", storageClassName=""), claim("11Gi", storageClassName=""), claim("3Gi", storageClassName="quota-$run"), claim("4Gi", storageClassName="quota-$run"),
        claim("4Gi", meta={"annotations": {"volume.beta.kubernetes.io/storage-class": "quota-$run"}}), claim("1.5", storageClassName=""), claim("1500m", storageClassName="", name="r", store=True), used(),
        claim("2Gi", storageClassName="", volumeAttributesClassName="fast"), claim("1Gi", storageClassName="", volumeAttributesClassName="fast"),
        claim("2Gi", storageClassName="", volumeAttributesClassName="slow"),
        claim("2Gi", name="a", store=True, storageClassName="quota-$run", volumeName="v"), used(), claim("1Gi", storageClassName="quota-$run"),
        patch(f"{API}/persistentvolumeclaims/a/status", {"status": {"phase": "Bound", "capacity": {"storage": "2Gi"}}}),
        *[patch(f"{API}/persistentvolumeclaims/a", {"spec": {"resources": {"requests": {"storage": size}}}}) for size in ("4Gi", "3Gi")], used(),
        patch(f"{API}/persistentvolumeclaims/a/status", {"status": {"allocatedResources": {"storage": "5Gi"}}}), used(),
    ],
    "quota_counts": [
        *quota({"configmaps": "2", "count/configmaps": "1", "secrets": "0", "count/deployments.apps": "0", "resourcequotas": "2", "count/leases.coordination.k8s.io": "1", "count/events": "0"}),
        until_refused(post(f"{API}/secrets?dryRun=All", {"metadata": {"name": "s"}})),
        config_map(), config_map("a", store=True), config_map("b"), used(), post(f"{API}/secrets", {"metadata": {"name": "s"}}),
        post("/apis/apps/v1/namespaces/$NS/deployments?dryRun=All", {"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}}}),
        post("/apis/coordination.k8s.io/v1/namespaces/$NS/leases", {"metadata": {"name": "l"}}), post("/apis/coordination.k8s.io/v1/namespaces/$NS/leases", {"metadata": {"name": "m"}}),
        post(f"{API}/events", {"metadata": {"name": "e"}, "involvedObject": {"namespace": "$NS"}}), post(f"{API}/resourcequotas", {"metadata": {"name": "r"}, "spec": {"hard": {"pods": "1"}}}),
        used(), config_map("a"), patch(f"{API}/configmaps/a", {"data": {"a": "b"}}),
        {"do": f"PUT {API}/configmaps/created", "body": {"metadata": {"name": "created"}}, "only": BRIEF},
        {"do": f"PATCH {API}/configmaps/applied?fieldManager=f", "type": "apply", "body": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}}, "only": BRIEF},
        post("/apis/authorization.k8s.io/v1/namespaces/$NS/localsubjectaccessreviews", {"spec": {"user": "u", "resourceAttributes": {"namespace": "$NS", "verb": "get"}}}, only=["status"]),
    ],
    "quota_unknown_usage": [
        ACCOUNT, *quota({"pods": "5", "requests.cpu": "5", "count/pods": "5"}, used={"pods": "0"}), *quota({"configmaps": "0"}, name="until"), until_refused(config_map()),
        pod(), pod({"cpu": "1"}), service(), config_map("x"), claim("1Gi"), post(f"{API}/secrets?dryRun=All", {"metadata": {"name": "s"}}),
    ],
    "quota_without_status": [
        setup(f"{API}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"configmaps": "0"}}}), *quota({"secrets": "0"}, name="until"),
        until_refused(post(f"{API}/secrets?dryRun=All", {"metadata": {"name": "s"}})), config_map(), config_map("a", store=True),
    ],
    "quota_several": [
        *quota({"configmaps": "1"}, name="a"), *quota({"configmaps": "5"}, name="b"), *quota({"count/configmaps": "5", "secrets": "1"}, name="c", used={"count/configmaps": "2", "secrets": "1"}),
        until_refused(post(f"{API}/secrets?dryRun=All", {"metadata": {"name": "s"}})), config_map("x", store=True), *[used(name) for name in "abc"],
        config_map("y", store=True), *[used(name) for name in "abc"], {"do": f"DELETE {API}/resourcequotas/a", "setup": True},
        {**{key: value for key, value in config_map().items() if key != "only"}, "setup": True, "until": 201}, config_map("y", store=True), *[used(name) for name in "bc"],
        {"do": f"GET {API}/resourcequotas/b", "only": ["status", "body.metadata.managedFields"]},
    ],
    "quota_custom_resources": [
        setup(CRD, {"metadata": {"name": "quotums.quota-$run.example.com"}, "spec": {
            "group": "quota-$run.example.com", "scope": "Namespaced", "names": {"plural": "quotums", "kind": "Quotum"}, "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}),
        {"do": "GET /apis/quota-$run.example.com/v1/namespaces/$NS/quotums", "setup": True, "until": 200}, *quota({"count/quotums.quota-$run.example.com": "2"}),
        *quota({"count/quotums.quota-$run.example.com": "0"}, name="until"),
        until_refused(post("/apis/quota-$run.example.com/v1/namespaces/$NS/quotums?dryRun=All", {"apiVersion": "quota-$run.example.com/v1", "kind": "Quotum", "metadata": {"name": "x"}})),
        {"do": f"DELETE {API}/resourcequotas/until", "setup": True},
        {"do": "POST /apis/quota-$run.example.com/v1/namespaces/$NS/quotums?dryRun=All", "setup": True, "until": 201,
         "body": {"apiVersion": "quota-$run.example.com/v1", "kind": "Quotum", "metadata": {"name": "x"}}},
        *[post("/apis/quota-$run.example.com/v1/namespaces/$NS/quotums", {"apiVersion": "quota-$run.example.com/v1", "kind": "Quotum", "metadata": {"name": name}}) for name in "abc"], used(),
        {"do": f"GET {API}/resourcequotas/q", "only": ["status", "body.metadata.managedFields"]},
    ],
    # The reference names any one of several exceeded quotas, so each case has only one that can be exceeded.
    "quota_devices": [
        DEVICE_CLASS, *quota({"count/resourceclaims.resource.k8s.io": "3", "gpu-$run.deviceclass.resource.k8s.io/devices": "40"}),
        *quota({"requests.example.com/gpu-$run": "50"}, name="extended"), *quota({"requests.deviceclass.resource.kubernetes.io/gpu-$run": "4"}, name="implicit"),
        until_refused(device_claim({"exactly": exactly(5)})), *DEVICE_CLAIMS, device_claim({"exactly": exactly(9, "other")}),
        device_claim({"exactly": exactly(3)}, name="a", store=True), *[used(name) for name in ("q", "extended", "implicit")],
        device_claim({"exactly": exactly(2)}), device_claim({"exactly": exactly(1)}), device_claim({"exactly": exactly(1, "other")}, name="b", store=True),
        device_claim({"exactly": exactly(1, "other")}, name="c", store=True), device_claim({"exactly": exactly(1, "other")}, name="d", store=True), used(),
        patch("/apis/resource.k8s.io/v1/namespaces/$NS/resourceclaims/a", {"metadata": {"labels": {"a": "b"}}}),
    ],
    **{f"quota_devices_{name}": [
        DEVICE_CLASS, *quota({amount: "4"}), until_refused(device_claim({"exactly": exactly(5)})), *DEVICE_CLAIMS,
        device_claim({"exactly": exactly(3)}, name="a", store=True), used(), device_claim({"exactly": exactly(2)}), device_claim({"exactly": exactly(1)}),
    ] for name, amount in (("of_class", "gpu-$run.deviceclass.resource.k8s.io/devices"), ("extended", "requests.example.com/gpu-$run"))},
}

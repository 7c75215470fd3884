#!/usr/bin/env python3
"""Sends a sequence of writes to a real kube-apiserver and prints its responses as test cases for golden_test.cc.

usage: make_goldens.py https://127.0.0.1:PORT TOKEN > goldens.json
Each case has the input of our functions (live object, request, manager) and the response of the server.
"""
import copy, json, ssl, sys, urllib.request, urllib.error

SERVER, TOKEN = sys.argv[1], sys.argv[2]
CONTEXT = ssl._create_unverified_context()
NS = "/api/v1/namespaces/default"
cases = []


def call(method, path, body=None, kind="application/json", agent="golden"):
    request = urllib.request.Request(SERVER + path, method=method, data=None if body is None else json.dumps(body).encode())
    request.add_header("Authorization", "Bearer " + TOKEN)
    request.add_header("Content-Type", kind)
    request.add_header("User-Agent", agent)
    try:
        with urllib.request.urlopen(request, context=CONTEXT) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


def step(name, op, path, body, definition, manager, live=None, subresource="", reset=(), force=False):
    """Sends one write, adds it to the cases and returns the response. `op` is create, update, apply, merge, strategic or json."""
    before = live
    query = "?fieldManager=" + manager + ("&force=true" if force else "")
    if op == "create":
        answer = call("POST", path.rsplit("/", 1)[0] + query, body)
    elif op == "update":
        answer = call("PUT", path + ("/" + subresource if subresource else "") + query, body)
    else:
        kind = {"apply": "application/apply-patch+yaml", "merge": "application/merge-patch+json",
                "strategic": "application/strategic-merge-patch+json", "json": "application/json-patch+json"}[op]
        answer = call("PATCH", path + ("/" + subresource if subresource else "") + query, body, kind)
    if "causes" in answer.get("details", {}):  # conflicts with several managers are reported in random order
        answer["details"]["causes"].sort(key=lambda cause: (cause["message"], cause["field"]))
    cases.append({"name": name, "op": op, "definition": definition, "manager": manager, "subresource": subresource,
                  "reset": list(reset), "force": force, "live": before, "request": copy.deepcopy(body), "answer": answer})
    return answer


def config_maps():
    definition = "io.k8s.api.core.v1.ConfigMap"
    path = NS + "/configmaps/golden"
    call("DELETE", path)
    base = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "golden", "namespace": "default"}}
    cm = step("CreateConfigMap", "create", path, {**base, "data": {"a": "1", "b": "2"}}, definition, "creator")
    cm = step("UpdateOneKey", "update", path, {**cm, "data": {"a": "1", "b": "3", "c": "4"}}, definition, "updater", cm)
    cm = step("UpdateWithoutChange", "update", path, cm, definition, "third", cm)
    step("ApplyConflict", "apply", path, {**base, "data": {"b": "9"}}, definition, "applier", cm)
    step("ApplyManyConflicts", "apply", path, {**base, "data": {"a": "8", "b": "9"}}, definition, "applier", cm)
    cm = step("ApplyForced", "apply", path, {**base, "data": {"b": "9", "d": "5"}, "metadata": {**base["metadata"], "labels": {"x": "y"}}},
              definition, "applier", cm, force=True)
    cm = step("ApplySameBySecondManager", "apply", path, {**base, "data": {"d": "5"}}, definition, "second", cm)
    cm = step("ApplyFewerFieldsKeepsCoOwned", "apply", path, {**base, "data": {"b": "9"}}, definition, "applier", cm)
    cm = step("ApplyFewerFieldsRemoves", "apply", path, {**base}, definition, "second", cm)
    cm = step("ApplyAgainWithoutChange", "apply", path, {**base, "data": {"b": "9"}}, definition, "applier", cm)
    cm = step("MergePatchRemovesAll", "merge", path, {"data": None}, definition, "patcher", cm)
    reset = {**cm, "metadata": {**cm["metadata"], "managedFields": [{}]}}
    cm = step("ResetManagedFields", "update", path, reset, definition, "resetter", cm)
    cm = step("UpdateUntracked", "update", path, {**cm, "data": {"z": "1"}}, definition, "untracked", cm)
    cm = step("ApplyBeforeFirstApply", "apply", path, {**base, "data": {"y": "1"}}, definition, "applier", cm)
    step("ApplyUnknownField", "apply", path, {**base, "nope": 1}, definition, "applier", cm)
    step("ApplyWrongType", "apply", path, {**base, "data": "x"}, definition, "applier", cm)
    step("ApplyOtherKind", "apply", path, {**base, "kind": "Secret"}, definition, "applier", cm)
    for i in range(12):
        cm = step("ManyUpdaters%d" % i, "update", path, {**cm, "data": {**cm["data"], "k%d" % i: "v"}}, definition, "m%d" % i, cm)
    call("DELETE", path)


def last_applied():
    definition = "io.k8s.api.core.v1.ConfigMap"
    path = NS + "/configmaps/golden-csa"
    call("DELETE", path)
    base = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "golden-csa", "namespace": "default"}}
    last = json.dumps({**base, "data": {"a": "1"}})
    made = {**base, "data": {"a": "1", "b": "2"}}
    made["metadata"] = {**base["metadata"], "annotations": {"kubectl.kubernetes.io/last-applied-configuration": last}}
    cm = step("CreateByClientSideApply", "create", path, made, definition, "kubectl-client-side-apply")
    step("KubectlConflictOutsideLastApplied", "apply", path, {**base, "data": {"a": "2", "b": "3"}}, definition, "kubectl", cm)
    cm = step("KubectlTakesItsOwnFields", "apply", path, {**base, "data": {"a": "2"}}, definition, "kubectl", cm)
    call("DELETE", path)


def services():
    definition = "io.k8s.api.core.v1.Service"
    path = NS + "/services/golden"
    call("DELETE", path)
    base = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "golden", "namespace": "default"}}
    port = lambda n, p: {"name": n, "port": p}
    svc = step("ApplyCreatesService", "apply", path, {**base, "spec": {"selector": {"a": "b"}, "ports": [port("x", 80), port("y", 443)]}},
               definition, "applier", {**base}, reset=["status"])
    svc = step("ApplyAddsPort", "apply", path, {**base, "spec": {"ports": [{"name": "z", "port": 8080, "protocol": "TCP"}]}}, definition,
               "second", svc, reset=["status"])
    step("ApplyDuplicatePorts", "apply", path, {**base, "spec": {"ports": [port("a", 1), {**port("b", 1), "protocol": "TCP"}]}},
         definition, "applier", svc, reset=["status"])
    svc = step("ApplyRemovesPort", "apply", path, {**base, "spec": {"selector": {"a": "b"}, "ports": [port("y", 443)]}}, definition,
               "applier", svc, reset=["status"])
    svc = step("UpdateServiceStatus", "update", path, {**svc, "status": {"conditions": [
        {"type": "X", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}, definition,
               "lb", svc, "status", reset=["spec"])
    svc = step("UpdateService", "update", path, {**svc, "spec": {**svc["spec"], "sessionAffinity": "ClientIP"}}, definition, "updater", svc,
               reset=["status"])
    call("DELETE", path)


def deployments():
    definition = "io.k8s.api.apps.v1.Deployment"
    path = "/apis/apps/v1/namespaces/default/deployments/golden"
    call("DELETE", path)
    base = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "golden", "namespace": "default"}}
    container = {"name": "c", "image": "i:1", "ports": [{"containerPort": 80}, {"containerPort": 443, "name": "tls"}],
                 "env": [{"name": "A", "value": "1"}], "resources": {"limits": {"cpu": "1"}}, "args": ["a", "b"]}
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}},
                         "spec": {"containers": [container, {"name": "d", "image": "j"}],
                                  "volumes": [{"name": "v", "emptyDir": {}}],
                                  "tolerations": [{"key": "t", "operator": "Exists"}]}}}
    dep = step("CreateDeployment", "create", path, {**base, "spec": spec}, definition, "creator", reset=["status"])
    dep = step("ScaleDeployment", "strategic", path, {"spec": {"replicas": 3}}, definition, "scaler", dep, reset=["status"])
    dep = step("PatchImage", "strategic", path, {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}}}, definition,
               "imager", dep, reset=["status"])
    dep = step("PatchDeletesContainer", "strategic", path,
               {"spec": {"template": {"spec": {"$setElementOrder/containers": [{"name": "c"}],
                                               "containers": [{"name": "d", "$patch": "delete"}]}}}},
               definition, "deleter", dep, reset=["status"])
    dep = step("PatchWithReplaceAndRetainKeys", "strategic", path,
               {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"},
                         "template": {"metadata": {"labels": {"$patch": "replace", "a": "b", "n": "m"}}}}},
               definition, "replacer", dep, reset=["status"])
    dep = step("JsonPatchEnv", "json", path,
               [{"op": "test", "path": "/spec/replicas", "value": 3},
                {"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "B", "value": "2"}},
                {"op": "copy", "from": "/spec/template/metadata/labels/n", "path": "/spec/template/metadata/labels/o"},
                {"op": "remove", "path": "/spec/template/spec/containers/0/args/0"}],
               definition, "jsonist", dep, reset=["status"])
    applied = {**base, "spec": {"template": {"spec": {"containers": [{"name": "c", "env": [{"name": "Z", "value": "9"}]}]}}}}
    dep = step("ApplyEnv", "apply", path, applied, definition, "applier", dep, reset=["status"])
    applied["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "Y", "value": "9"}, {"name": "A", "value": "1"}]
    dep = step("ApplyOtherEnv", "apply", path, applied, definition, "applier", dep, reset=["status"])
    dep = step("UpdateStatus", "update", path, {**dep, "status": {"replicas": 1, "observedGeneration": 1}}, definition, "controller", dep,
               "status", reset=["spec", "metadata.labels"])
    call("DELETE", path)


def created(definition, path, body, reset=(), later=()):
    """Adds a case that creates an object: it covers the list types, keys and always-written fields of a kind.

    `later` lists the fields that admission and the strategy of the kind add after the owners of fields were recorded.
    """
    call("DELETE", path)
    step("Create" + body["kind"], "create", path, {**body, "metadata": {**body.get("metadata", {}), "name": "golden"}}, definition, "creator",
         reset=reset)
    cases[-1]["later"] = list(later)
    call("DELETE", path + "?gracePeriodSeconds=0")


def many_kinds():
    probe = {"httpGet": {"path": "/", "port": 80}}
    pod = {"containers": [{"name": "c", "image": "i", "livenessProbe": probe, "securityContext": {"capabilities": {"add": ["X"]}},
                           "env": [{"name": "E", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
                           "volumeMounts": [{"name": "v", "mountPath": "/v"}], "lifecycle": {"preStop": {"exec": {"command": ["x"]}}}}],
           "initContainers": [{"name": "i", "image": "i", "ports": [{"containerPort": 5, "hostPort": 6, "protocol": "UDP"}]}],
           "volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "s"}}, {"configMap": {"name": "c"}}]}}],
           "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
               {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}}},
           "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule",
                                          "labelSelector": {"matchLabels": {"a": "b"}}}],
           "hostAliases": [{"ip": "1.2.3.4", "hostnames": ["h"]}], "imagePullSecrets": [{"name": "p"}], "securityContext": {"sysctls": []},
           "automountServiceAccountToken": False, "dnsConfig": {"nameservers": ["1.1.1.1"], "options": [{"name": "ndots", "value": "1"}]}}
    call("POST", NS + "/serviceaccounts", {"metadata": {"name": "default"}})
    created("io.k8s.api.core.v1.Pod", NS + "/pods/golden", {"apiVersion": "v1", "kind": "Pod", "spec": pod}, ["status"],
            ["spec.preemptionPolicy", "spec.priority", "spec.serviceAccount", "spec.serviceAccountName", "spec.tolerations"])
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    selector = {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]}
    apps = "/apis/apps/v1/namespaces/default/"
    claim = {"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    created("io.k8s.api.apps.v1.StatefulSet", apps + "statefulsets/golden", {"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {
        "serviceName": "s", "selector": selector, "template": template, "volumeClaimTemplates": [claim]}}, ["status"])
    created("io.k8s.api.apps.v1.DaemonSet", apps + "daemonsets/golden", {"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": {
        "selector": selector, "template": template}}, ["status"])
    created("io.k8s.api.batch.v1.CronJob", "/apis/batch/v1/namespaces/default/cronjobs/golden", {"apiVersion": "batch/v1", "kind": "CronJob",
            "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": {**template["spec"], "restartPolicy": "Never"}}}}}},
            ["status"])
    net = "/apis/networking.k8s.io/v1/namespaces/default/"
    created("io.k8s.api.networking.v1.Ingress", net + "ingresses/golden", {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "spec": {
        "rules": [{"host": "h", "http": {"paths": [{"path": "/", "pathType": "Prefix",
                                                     "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}],
        "tls": [{"hosts": ["h"], "secretName": "t"}]}}, ["status"])
    created("io.k8s.api.networking.v1.NetworkPolicy", net + "networkpolicies/golden", {
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "spec": {"podSelector": {}, "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 80}]}]}})
    created("io.k8s.api.rbac.v1.ClusterRole", "/apis/rbac.authorization.k8s.io/v1/clusterroles/golden", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})
    created("io.k8s.api.rbac.v1.RoleBinding", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/golden", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "subjects": [{"kind": "User", "name": "u"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "x"}})
    created("io.k8s.api.core.v1.Secret", NS + "/secrets/golden", {"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "b"}, "immutable": True})
    created("io.k8s.api.core.v1.ServiceAccount", NS + "/serviceaccounts/golden", {
        "apiVersion": "v1", "kind": "ServiceAccount", "secrets": [{"name": "s"}], "imagePullSecrets": [{"name": "p"}]})
    created("io.k8s.api.core.v1.Node", "/api/v1/nodes/golden", {"apiVersion": "v1", "kind": "Node", "spec": {
        "taints": [{"key": "k", "effect": "NoSchedule"}], "podCIDRs": ["10.0.0.0/24"], "podCIDR": "10.0.0.0/24"}}, ["status"])
    created("io.k8s.api.core.v1.Namespace", "/api/v1/namespaces/golden", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"labels": {"a": "b"}}},
            ["status"], ["spec.finalizers"])
    created("io.k8s.api.core.v1.Event", NS + "/events/golden", {"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "default"},
            "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "r", "message": "m", "type": "Normal",
            "firstTimestamp": "2026-01-01T00:00:00Z", "count": 1})
    created("io.k8s.api.coordination.v1.Lease", "/apis/coordination.k8s.io/v1/namespaces/default/leases/golden", {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"holderIdentity": "h", "leaseDurationSeconds": 5,
                                                                          "renewTime": "2026-01-01T00:00:00.000000Z"}})
    created("io.k8s.api.core.v1.PersistentVolumeClaim", NS + "/persistentvolumeclaims/golden", {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": claim["spec"]}, ["status"], ["metadata.finalizers"])
    created("io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/golden", {
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": {
            "maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 5}}}]}}, ["status"])
    created("io.k8s.api.policy.v1.PodDisruptionBudget", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/golden", {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}}, ["status"])


many_kinds(); config_maps(); last_applied(); services(); deployments()
print("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]")

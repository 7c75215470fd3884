"""What users ask of controllers and the scheduler. Each function gets the API and a namespace of its own, and waits for what must happen."""
import base64
import subprocess
import tempfile
import time

from cluster import Api, Fault

APPS, BATCH, CORE = "/apis/apps/v1", "/apis/batch/v1", "/api/v1"


def pod_spec(**fields):
    return {"containers": [{"name": "main", "image": "example.com/work:1", "resources": {"requests": {"cpu": "10m", "memory": "8Mi"}}}],
            "terminationGracePeriodSeconds": 1, **fields}


def template(labels, **fields):
    return {"metadata": {"labels": labels}, "spec": pod_spec(**fields)}


def workload(labels, **fields):
    return {"selector": {"matchLabels": labels}, "template": template(labels), **fields}


def at(item, *path, default=0):
    for part in path:
        item = (item or {}).get(part)
    return default if item is None else item


def rolled_out(item):
    wanted, status = at(item, "spec", "replicas"), at(item, "status", default={})
    return item and at(status, "observedGeneration") >= item["metadata"]["generation"] and wanted == at(status, "updatedReplicas") == at(status, "replicas") == \
        at(status, "availableReplicas")


def condition(kind):
    return lambda item: any(one["type"] == kind and one["status"] == "True" for one in at(item, "status", "conditions", default=[]))


def no_pods(api, ns, labels):
    path = f"{CORE}/namespaces/{ns}/pods?labelSelector={labels}"
    api.until(path, lambda found: not found["items"], "the pods are gone")


def deployments(api, ns):
    path = f"{APPS}/namespaces/{ns}/deployments"
    api.create(path, "apps/v1", "Deployment", "web", workload({"app": "web"}, replicas=3))
    api.create(f"{CORE}/namespaces/{ns}/services", "v1", "Service", "web", {"selector": {"app": "web"}, "ports": [{"port": 80}]})
    api.until(f"{path}/web", rolled_out, "the deployment is available")
    slices = f"/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dweb"
    api.until(slices, lambda found: sum(len(one["endpoints"] or []) for one in found["items"]) == 3, "the slices have three endpoints")
    api.until(f"{CORE}/namespaces/{ns}/endpoints/web", lambda found: any(len(s.get("addresses", [])) == 3 for s in at(found, "subsets", default=[])), "the endpoints are ready")
    api.patch(f"{path}/web", {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "example.com/work:2"}]}}}}, "strategic")
    api.until(f"{path}/web", rolled_out, "the second version is available")
    api.patch(f"{path}/web/scale", {"spec": {"replicas": 1}})
    api.until(f"{path}/web", rolled_out, "the deployment is scaled")
    if len(api.list(f"{APPS}/namespaces/{ns}/replicasets")) != 2:
        raise Fault("a deployment with two versions does not have two ReplicaSets")
    api.delete(f"{path}/web", "Foreground")
    api.gone(f"{path}/web")
    no_pods(api, ns, "app=web")


def jobs(api, ns):
    path = f"{BATCH}/namespaces/{ns}/jobs"
    done = template({"ends": "Succeeded"}, restartPolicy="Never")
    api.create(path, "batch/v1", "Job", "plain", {"template": done})
    api.create(path, "batch/v1", "Job", "indexed", {"completions": 3, "parallelism": 2, "completionMode": "Indexed", "template": done})
    api.create(path, "batch/v1", "Job", "bad", {"backoffLimit": 0, "template": template({"ends": "Failed"}, restartPolicy="Never")})
    rule = {"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [3]}}
    api.create(path, "batch/v1", "Job", "policy", {"podFailurePolicy": {"rules": [rule]}, "template": template({"ends": "Failed"}, restartPolicy="Never")})
    api.create(path, "batch/v1", "Job", "short-lived", {"ttlSecondsAfterFinished": 1, "template": done})
    api.create(path, "batch/v1", "Job", "suspended", {"suspend": True, "template": done})
    api.until(f"{path}/plain", condition("Complete"), "the job is complete")
    indexed = api.until(f"{path}/indexed", condition("Complete"), "the indexed job is complete")
    if at(indexed, "status", "completedIndexes") != "0-2":
        raise Fault(f"completedIndexes is {at(indexed, 'status', 'completedIndexes')}")
    api.until(f"{path}/bad", condition("Failed"), "the job has failed")
    api.until(f"{path}/policy", condition("Failed"), "the job has failed because of its policy")
    api.gone(f"{path}/short-lived")
    api.until(f"{path}/suspended", condition("Suspended"), "the job is suspended")
    api.patch(f"{path}/suspended", {"spec": {"suspend": False}})
    api.until(f"{path}/suspended", condition("Complete"), "the resumed job is complete")
    api.delete(f"{path}/plain")
    no_pods(api, ns, "job-name=plain")


def cron_jobs(api, ns):
    path = f"{BATCH}/namespaces/{ns}/cronjobs"
    api.create(path, "batch/v1", "CronJob", "tick", {"schedule": "* * * * *", "timeZone": "Europe/Berlin", "successfulJobsHistoryLimit": 1,
                                                     "jobTemplate": {"spec": {"template": template({"ends": "Succeeded"}, restartPolicy="OnFailure")}}})
    api.until(f"{path}/tick", lambda found: at(found, "status", "lastSuccessfulTime"), "a job of the cron job has ended")
    api.patch(f"{path}/tick", {"spec": {"suspend": True}})
    api.delete(f"{path}/tick", "Foreground")
    api.gone(f"{path}/tick")


def stateful_sets(api, ns):
    path, volumes = f"{APPS}/namespaces/{ns}/statefulsets", f"{CORE}/persistentvolumes"
    for i in range(2):
        claim = {"kind": "PersistentVolumeClaim", "namespace": ns, "name": f"data-db-{i}"}
        api.create(volumes, "v1", "PersistentVolume", f"{ns}-{i}", {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "claimRef": claim,
                                                                    "storageClassName": "", "hostPath": {"path": "/data"}})
    claims = [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}}]
    api.create(path, "apps/v1", "StatefulSet", "db", workload({"app": "db"}, serviceName="db", replicas=2, volumeClaimTemplates=claims,
                                                              persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete", "whenDeleted": "Delete"}))
    api.until(f"{path}/db", rolled_out, "the stateful set is available")
    api.patch(f"{path}/db", {"spec": {"replicas": 1}})
    api.until(f"{path}/db", lambda found: at(found, "status", "replicas") == 1, "the stateful set is scaled")
    api.gone(f"{CORE}/namespaces/{ns}/persistentvolumeclaims/data-db-1")
    api.until(f"{volumes}/{ns}-1", lambda found: at(found, "status", "phase") == "Released", "the volume is released")
    api.delete(f"{path}/db")
    api.gone(f"{CORE}/namespaces/{ns}/persistentvolumeclaims/data-db-0")
    for i in range(2):
        api.delete(f"{volumes}/{ns}-{i}")
        api.gone(f"{volumes}/{ns}-{i}")


def daemon_sets(api, ns):
    path = f"{APPS}/namespaces/{ns}/daemonsets"
    api.create(path, "apps/v1", "DaemonSet", "agent", workload({"app": "agent"}))

    def ready(found):
        status = at(found, "status", default={})
        wanted = at(status, "desiredNumberScheduled")
        return at(status, "observedGeneration") == found["metadata"]["generation"] and wanted > 0 and wanted == at(status, "numberAvailable") == at(status, "updatedNumberScheduled")
    api.until(f"{path}/agent", ready, "the daemon set is available")
    api.patch(f"{path}/agent", {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}})
    api.until(f"{path}/agent", ready, "the second version is available")
    api.delete(f"{path}/agent", "Foreground")
    api.gone(f"{path}/agent")


def quotas(api, ns):
    path, maps = f"{CORE}/namespaces/{ns}/resourcequotas", f"{CORE}/namespaces/{ns}/configmaps"
    api.create(path, "v1", "ResourceQuota", "all", {"hard": {"pods": "1", "requests.cpu": "1", "count/configmaps": "3"}})
    api.create(path, "v1", "ResourceQuota", "short", {"hard": {"pods": "1"}, "scopes": ["NotTerminating"]})
    api.until(f"{path}/all", lambda found: at(found, "status", "used", "count/configmaps") == "1", "the quota is counted")
    api.until(f"{path}/short", lambda found: at(found, "status", "hard", "pods") == "1", "the quota with a scope is counted")
    pods = f"{CORE}/namespaces/{ns}/pods"
    api.create(pods, "v1", "Pod", "one", pod_spec())
    refused = api.do("POST", pods, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "two"}, "spec": pod_spec()}, want=(403,))
    if "exceeded quota" not in refused["message"]:
        raise Fault(f"the second pod was refused with {refused['message']}")
    for name in "ab":
        api.create(maps, "v1", "ConfigMap", name)
    api.do("POST", maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}, want=(403,))
    api.delete(f"{maps}/a")
    api.delete(f"{pods}/one")
    api.until(f"{path}/all", lambda found: at(found, "status", "used") == {"pods": "0", "requests.cpu": "0", "count/configmaps": "2"}, "deletions are given back")


def volumes(api, ns):
    path, claims = f"{CORE}/persistentvolumes", f"{CORE}/namespaces/{ns}/persistentvolumeclaims"
    classes = "/apis/storage.k8s.io/v1/storageclasses"
    api.create(classes, "storage.k8s.io/v1", "StorageClass", ns, provisioner="kubernetes.io/no-provisioner", volumeBindingMode="WaitForFirstConsumer")
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["node-1"]}]}]}}
    room = {"capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"]}
    api.create(path, "v1", "PersistentVolume", f"{ns}-local", {**room, "storageClassName": ns, "local": {"path": "/disk"}, "nodeAffinity": affinity})
    api.create(path, "v1", "PersistentVolume", f"{ns}-now", {**room, "storageClassName": f"{ns}-manual", "hostPath": {"path": "/data"}})
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    api.create(claims, "v1", "PersistentVolumeClaim", "now", {**wanted, "storageClassName": f"{ns}-manual"})
    api.create(claims, "v1", "PersistentVolumeClaim", "later", {**wanted, "storageClassName": ns})
    api.until(f"{claims}/now", lambda found: at(found, "status", "phase") == "Bound", "the claim is bound")
    api.create(f"{CORE}/namespaces/{ns}/pods", "v1", "Pod", "user", pod_spec(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "later"}}]))
    pod = api.until(f"{CORE}/namespaces/{ns}/pods/user", lambda found: at(found, "status", "phase") == "Running", "the pod with the claim runs")
    if pod["spec"]["nodeName"] != "node-1":
        raise Fault(f"the pod was bound to {pod['spec']['nodeName']}, not to the node of its volume")
    api.delete(f"{claims}/later")
    api.until(f"{claims}/later", lambda found: found and found["metadata"].get("deletionTimestamp"), "a claim in use is kept")
    api.delete(f"{CORE}/namespaces/{ns}/pods/user")
    api.delete(f"{claims}/now")
    for name, claim in (("local", "later"), ("now", "now")):
        api.gone(f"{claims}/{claim}")
        api.until(f"{path}/{ns}-{name}", lambda found: at(found, "status", "phase") == "Released", "the volume is released")
        api.delete(f"{path}/{ns}-{name}")
        api.gone(f"{path}/{ns}-{name}")
    api.delete(f"{classes}/{ns}")


def autoscalers(api, ns):
    """Custom resources stand in for the metrics API."""
    path, scalers = f"{APPS}/namespaces/{ns}/deployments", f"/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers"
    api.create(path, "apps/v1", "Deployment", "web", workload({"app": "web"}, replicas=1))
    api.until(f"{path}/web", rolled_out, "the deployment is available")
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    api.create(f"/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers", "autoscaling/v1", "HorizontalPodAutoscaler", "web",
               {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50})

    def measure(cpu):
        metrics = f"/apis/metrics.k8s.io/v1beta1/namespaces/{ns}/pods"
        for pod in api.list(f"{CORE}/namespaces/{ns}/pods", "app=web"):
            name = pod["metadata"]["name"]
            fields = {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "window": "10s",
                      "containers": [{"name": "main", "usage": {"cpu": cpu, "memory": "4Mi"}}]}
            if api.call("GET", f"{metrics}/{name}")[0] == 404:
                api.create(metrics, "metrics.k8s.io/v1beta1", "PodMetrics", name, labels={"app": "web"}, **fields)
            else:
                api.patch(f"{metrics}/{name}", fields)

    def scaled(replicas, cpu):
        def check(found):
            measure(cpu)
            return at(found, "spec", "replicas") == replicas
        return check
    api.until(f"{path}/web", scaled(3, "20m"), "the deployment is scaled up")
    api.patch(f"{scalers}/web", {"spec": {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}}}})
    api.until(f"{path}/web", scaled(1, "1m"), "the deployment is scaled down")
    api.until(f"{scalers}/web", condition("ScalingActive"), "the autoscaler is active")
    api.delete(f"{path}/web")


def certificates(api, ns):
    """Signs a certificate for a user, and logs in with it."""
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    with tempfile.TemporaryDirectory() as folder:
        key, csr, cert = f"{folder}/key", f"{folder}/csr", f"{folder}/cert"
        subprocess.run(["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", f"/O=writers/CN={ns}", "-keyout", key, "-out", csr], check=True, capture_output=True)
        with open(csr, "rb") as file:
            request = base64.b64encode(file.read()).decode()
        spec = {"request": request, "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"], "expirationSeconds": 3600}
        for name, verdict in ((f"{ns}-yes", "Approved"), (f"{ns}-no", "Denied")):
            made = api.create(path, "certificates.k8s.io/v1", "CertificateSigningRequest", name, spec)
            made["status"]["conditions"] = [{"type": verdict, "status": "True", "reason": "Asked", "message": "by the driver"}]
            api.do("PUT", f"{path}/{name}/approval", made)
        signed = api.until(f"{path}/{ns}-yes", lambda found: at(found, "status", "certificate"), "the certificate is signed")
        with open(cert, "wb") as file:
            file.write(base64.b64decode(signed["status"]["certificate"]))
        who = Api(api.port, None, (cert, key)).create("/apis/authentication.k8s.io/v1/selfsubjectreviews", "authentication.k8s.io/v1", "SelfSubjectReview", "")
        if at(who, "status", "userInfo", "username") != ns:
            raise Fault(f"the certificate is for {at(who, 'status', 'userInfo')}")
    if at(api.get(f"{path}/{ns}-no"), "status", "certificate"):
        raise Fault("a denied request was signed")
    for name in ("yes", "no"):
        api.delete(f"{path}/{ns}-{name}")


def service_accounts(api, ns):
    path, secrets = f"{CORE}/namespaces/{ns}/serviceaccounts", f"{CORE}/namespaces/{ns}/secrets"
    api.create(path, "v1", "ServiceAccount", "robot")
    token = api.do("POST", f"{path}/robot/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}})["status"]["token"]
    api.create(secrets, "v1", "Secret", "robot", annotations={"kubernetes.io/service-account.name": "robot"}, type="kubernetes.io/service-account-token")
    secret = api.until(f"{secrets}/robot", lambda found: at(found, "data", "token"), "the secret has a token")
    for one in (token, base64.b64decode(secret["data"]["token"]).decode()):
        Api(api.port, one).create("/apis/authentication.k8s.io/v1/selfsubjectreviews", "authentication.k8s.io/v1", "SelfSubjectReview", "")
    api.delete(f"{path}/robot")
    api.gone(f"{secrets}/robot")
    api.delete(f"{path}/default")
    api.until(f"{path}/default", lambda found: found, "the default account is made again")


def disruptions(api, ns):
    budgets, path = f"/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", f"{CORE}/namespaces/{ns}"
    api.create(f"{path}/replicationcontrollers", "v1", "ReplicationController", "old",
               {"replicas": 2, "selector": {"app": "old"}, "template": template({"app": "old"})})
    api.create(budgets, "policy/v1", "PodDisruptionBudget", "old", {"minAvailable": 1, "selector": {"matchLabels": {"app": "old"}}})
    api.until(f"{budgets}/old", lambda found: at(found, "status", "disruptionsAllowed") == 1, "one disruption is allowed")
    first = api.list(f"{path}/pods", "app=old")[0]["metadata"]["name"]
    api.do("POST", f"{path}/pods/{first}/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": first}})
    api.gone(f"{path}/pods/{first}")
    api.until(f"{path}/replicationcontrollers/old", lambda found: at(found, "status", "availableReplicas") == 2, "the evicted pod is replaced")
    api.delete(f"{path}/replicationcontrollers/old", "Orphan")
    api.gone(f"{path}/replicationcontrollers/old")
    if len(api.list(f"{path}/pods", "app=old")) != 2:
        raise Fault("the pods were not orphaned")


def garbage(api, ns):
    """Owners and dependents, also of a kind that is defined here."""
    maps, things = f"{CORE}/namespaces/{ns}/configmaps", f"/apis/soak.example.com/v1/namespaces/{ns}/things"
    owner = api.create(things, "soak.example.com/v1", "Thing", "owner")
    reference = {"apiVersion": "soak.example.com/v1", "kind": "Thing", "name": "owner", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
    for i in range(5):
        api.do("POST", maps, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{i}", "ownerReferences": [reference]}})
    api.do("POST", things, {"apiVersion": "soak.example.com/v1", "kind": "Thing", "metadata": {"name": "child", "ownerReferences": [reference]}})
    api.delete(f"{things}/owner", "Foreground")
    api.gone(f"{things}/owner")
    api.gone(f"{things}/child")
    for i in range(5):
        api.gone(f"{maps}/m{i}")


def scheduling(api, ns):
    pods = f"{CORE}/namespaces/{ns}/pods"
    api.create(pods, "v1", "Pod", "gated", pod_spec(schedulingGates=[{"name": "example.com/wait"}]))
    api.create(pods, "v1", "Pod", "nowhere", pod_spec(nodeSelector={"place": ns}))

    def unscheduled(reason):
        return lambda found: any(one["reason"] == reason for one in at(found, "status", "conditions", default=[]) if one["type"] == "PodScheduled")
    api.until(f"{pods}/gated", unscheduled("SchedulingGated"), "the pod is gated")
    api.until(f"{pods}/nowhere", unscheduled("Unschedulable"), "the pod cannot be scheduled")
    api.patch(f"{pods}/gated", [{"op": "remove", "path": "/spec/schedulingGates"}], "json")
    api.until(f"{pods}/gated", lambda found: at(found, "status", "phase") == "Running", "the pod without gates runs")
    api.patch(f"{CORE}/nodes/node-2", {"metadata": {"labels": {"place": ns}}})
    api.until(f"{pods}/nowhere", lambda found: at(found, "status", "phase") == "Running", "the pod runs on the labelled node")
    spread = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "spread"}}}
    for i in range(3):
        api.do("POST", pods, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"s{i}", "labels": {"app": "spread"}}, "spec": pod_spec(topologySpreadConstraints=[spread])})
    used = {api.until(f"{pods}/s{i}", lambda found: at(found, "spec", "nodeName"), "the pod is bound")["spec"]["nodeName"] for i in range(3)}
    if len(used) != 3:
        raise Fault(f"the pods were spread over {used}")


def devices(api, ns):
    path = "/apis/resource.k8s.io/v1"
    api.create(f"{path}/deviceclasses", "resource.k8s.io/v1", "DeviceClass", ns, {"selectors": [{"cel": {"expression": f"device.driver == '{ns}.example.com'"}}]})
    api.create(f"{path}/resourceslices", "resource.k8s.io/v1", "ResourceSlice", ns,
               {"driver": f"{ns}.example.com", "nodeName": "node-0", "pool": {"name": "node-0", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "d0"}]})
    request = {"name": "one", "exactly": {"deviceClassName": ns}}
    api.create(f"{path}/namespaces/{ns}/resourceclaimtemplates", "resource.k8s.io/v1", "ResourceClaimTemplate", "device", {"spec": {"devices": {"requests": [request]}}})
    pod = f"{CORE}/namespaces/{ns}/pods/user"
    api.create(f"{CORE}/namespaces/{ns}/pods", "v1", "Pod", "user", pod_spec(resourceClaims=[{"name": "device", "resourceClaimTemplateName": "device"}]))
    api.until(pod, lambda found: at(found, "status", "phase") == "Running", "the pod with a device runs")
    claim = api.list(f"{path}/namespaces/{ns}/resourceclaims")[0]
    if not at(claim, "status", "allocation") or not at(claim, "status", "reservedFor"):
        raise Fault(f"the claim is not allocated: {claim.get('status')}")
    api.delete(pod)
    api.gone(f"{path}/namespaces/{ns}/resourceclaims/{claim['metadata']['name']}")
    api.delete(f"{path}/resourceslices/{ns}")
    api.delete(f"{path}/deviceclasses/{ns}")


def roles(api, ns):
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    api.create(path, "rbac.authorization.k8s.io/v1", "ClusterRole", f"{ns}-part", labels={"part-of": ns}, rules=[rule])
    api.create(path, "rbac.authorization.k8s.io/v1", "ClusterRole", ns, aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"part-of": ns}}]}, rules=[])
    api.until(f"{path}/{ns}", lambda found: at(found, "rules", default=[]) == [rule], "the role is aggregated")
    for name in (f"{ns}-part", ns):
        api.delete(f"{path}/{name}")


def policies(api, ns):
    """kube-controller-manager checks the types of the expressions of a policy against the kinds that it matches."""
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    rules = [{"operations": ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}]
    # The policy has no binding, so it has no effect on the other scenarios.
    api.create(path, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", ns, {
        "matchConstraints": {"resourceRules": rules}, "validations": [{"expression": "object.spec.nope > 1"}, {"expression": "object.spec.replicas < 100"}]})
    checked = api.until(f"{path}/{ns}", lambda found: found and at(found, "status", "observedGeneration") == 1, "the policy is checked")
    warnings = at(checked, "status", "typeChecking", "expressionWarnings", default=[])
    if [one["fieldRef"] for one in warnings] != ["spec.validations[0].expression"] or "undefined field 'nope'" not in warnings[0]["warning"]:
        raise Fault(f"the warnings are {warnings}")
    api.patch(f"{path}/{ns}", {"spec": {"validations": [{"expression": "object.spec.replicas < 100"}]}})
    api.until(f"{path}/{ns}", lambda found: at(found, "status", "observedGeneration") == 2 and
              not at(found, "status", "typeChecking", "expressionWarnings", default=[]), "the repaired policy has no warnings")
    api.delete(f"{path}/{ns}")


SCENARIOS = (deployments, jobs, cron_jobs, stateful_sets, daemon_sets, quotas, volumes, autoscalers, certificates, service_accounts, disruptions, garbage, scheduling,
             devices, roles, policies)


def definitions(api):
    """Defines the kinds that the scenarios use."""
    path, fields = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    for group, version, kind, plural in (("soak.example.com", "v1", "Thing", "things"), ("metrics.k8s.io", "v1beta1", "PodMetrics", "pods")):
        spec = {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
                "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": fields}}]}
        api.create(path, "apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}", spec,
                   annotations={"api-approved.kubernetes.io": "unapproved, a stand-in for tests"})
        api.until(f"{path}/{plural}.{group}", condition("Established"), "the kind is served")

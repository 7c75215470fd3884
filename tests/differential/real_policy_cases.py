"""Policies that clusters commonly have: the subjects of the policy libraries of Gatekeeper, Kyverno and Kubernetes' documentation, restated for admission policies.
All policies of a case are in effect at the same time. Each object violates at most one of them, because kube-apiserver reports any one of several violations."""
from policy_cases import DRY, GROUP, MAPS, binding, constraints, effective, mutations, policy, post, rule, setup

PODS = "/api/v1/namespaces/$NS/pods?dryRun=All"
APPS = "/apis/apps/v1/namespaces/$NS/deployments?dryRun=All"
SERVICES = "/api/v1/namespaces/$NS/services"
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/$NS/ingresses?dryRun=All"
BUDGETS = "/apis/policy/v1/namespaces/$NS/poddisruptionbudgets?dryRun=All"
CLAIMS = "/api/v1/namespaces/$NS/persistentvolumeclaims?dryRun=All"
CRON_JOBS = "/apis/batch/v1/namespaces/$NS/cronjobs?dryRun=All"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All"

CONTAINERS = {"name": "containers", "expression": "object.spec.containers + object.spec.?initContainers.orValue([]) + object.spec.?ephemeralContainers.orValue([])"}
WORKLOADS = {"name": "template", "expression": "object.kind == 'Pod' ? object.spec : object.kind == 'CronJob' ? object.spec.jobTemplate.spec.template.spec : object.spec.template.spec"}
PARAMETERS = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}


def one(resources, groups, validation, *more, operations=("CREATE", "UPDATE"), **spec):
    return {"matchConstraints": constraints(resources, groups, operations), "validations": [validation, *more], **spec}


def deny(expression, message=None, computed=None, reason=None):
    return {"expression": expression, **({"message": message} if message else {}), **({"messageExpression": computed} if computed else {}), **({"reason": reason} if reason else {})}


VALIDATING = {
    "required-labels": one(("deployments", "services", "configmaps"), ("", "apps"), deny(
        "variables.missing.size() == 0", computed="'missing labels: ' + variables.missing.join(', ')"), **PARAMETERS, matchConditions=[
            {"name": "not-exempt", "expression": "object.metadata.?annotations[?'policy.example.com/exempt'].orValue('no') != 'yes' && object.metadata.name != 'probe'"}],
        variables=[{"name": "labels", "expression": "object.metadata.?labels.orValue({})"},
                   {"name": "missing", "expression": "params.data.labels.split(',').map(l, l.trim()).filter(l, !(l in variables.labels) || variables.labels[l] == '')"}]),
    "no-latest-tag": one(("pods",), ("",), deny("variables.containers.all(c, c.image.matches('@sha256:[0-9a-f]{64}$') || (c.image.matches(':[^/]+$') && !c.image.endsWith(':latest')))",
                         computed="'images without a fixed tag: ' + variables.containers.filter(c, !c.image.matches(':[^/]+$') || c.image.endsWith(':latest')).map(c, c.image).join(', ')"),
                         variables=[CONTAINERS]),
    "allowed-registries": one(("pods",), ("",), deny("variables.containers.all(c, ['registry.example.com/', 'mirror.example.com/library/'].exists(p, c.image.startsWith(p)))",
                              "images must come from a trusted registry"), variables=[CONTAINERS]),
    "no-host-namespaces": one(("pods",), ("",), deny("!object.spec.?hostNetwork.orValue(false)", "hostNetwork is not allowed"),
                              deny("!object.spec.?hostPID.orValue(false) && !object.spec.?hostIPC.orValue(false)", "host processes must not be visible", reason="Forbidden")),
    "no-privileged-containers": one(("pods",), ("",), deny("variables.containers.all(c, !c.?securityContext.?privileged.orValue(false))"), deny(
        "variables.containers.all(c, c.?securityContext.?capabilities.?add.orValue([]).all(a, a in ['NET_BIND_SERVICE', 'CHOWN']))", "only NET_BIND_SERVICE and CHOWN may be added"), variables=[CONTAINERS]),
    "memory-limits": one(("pods",), ("",), deny("object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && 'memory' in c.resources.limits)", "a memory limit is required"), deny(
        "object.spec.containers.all(c, quantity(c.?resources.?limits[?'memory'].orValue('0')).compareTo(quantity('4Gi')) <= 0)",
        computed="'the limit is 4Gi, not ' + object.spec.containers.map(c, c.?resources.?limits[?'memory'].orValue('none')).join('+')")),
    "no-host-paths": one(("pods",), ("",), deny("object.spec.?volumes.orValue([]).all(v, !has(v.hostPath) || ['/var/log', '/etc/ssl'].exists(p, v.hostPath.path == p || v.hostPath.path.startsWith(p + '/')))",
                         "only logs and certificates of the host may be mounted")),
    "no-default-token": one(("pods",), ("",), deny("object.spec.?serviceAccountName.orValue('default') != 'default' || !object.spec.?automountServiceAccountToken.orValue(true)", reason="Unauthorized")),
    "replicas": one(("deployments", "deployments/scale"), ("apps",), deny("namespaceObject.metadata.?labels.?stage.orValue('') == 'test' || object.spec.replicas in [2, 3, 4, 5]",
                    computed="'replicas must be 2 to 5 in ' + namespaceObject.metadata.name.replace('$NS', 'here') + ', not ' + string(object.spec.replicas)")),
    "probes": one(("deployments",), ("apps",), deny("variables.template.containers.all(c, has(c.readinessProbe) && (!has(c.livenessProbe) || c.readinessProbe != c.livenessProbe))",
                  "a readiness probe is required that differs from the liveness probe"), variables=[WORKLOADS]),
    "service-types": one(("services",), ("",), deny("object.spec.type != 'NodePort'"), deny("object.spec.?externalIPs.orValue([]).size() == 0", "no external addresses"), deny(
        "object.spec.type != 'LoadBalancer' || object.metadata.?annotations[?'example.com/internal'].orValue('') == 'true'", "load balancers must be internal")),
    "ingress-hosts": one(("ingresses",), ("networking.k8s.io",), deny("object.spec.?rules.orValue([]).all(r, r.?host.orValue('').matches('^([a-z0-9-]+[.])+example[.]com$'))",
                         computed="'hosts outside of example.com: ' + object.spec.rules.map(r, r.?host.orValue('*')).join(',')"),
                         deny("object.spec.?rules.orValue([]).all(r, object.spec.?tls.orValue([]).exists(t, r.host in t.?hosts.orValue([])))", "every host needs TLS")),
    "disruption-budgets": one(("poddisruptionbudgets",), ("policy",), deny(
        "!has(object.spec.maxUnavailable) || (type(object.spec.maxUnavailable) == int ? object.spec.maxUnavailable > 0 : int(object.spec.maxUnavailable.replace('%', '')) >= 10)", "pods must be evictable")),
    "claim-sizes": one(("persistentvolumeclaims",), ("",), deny("!quantity(object.spec.resources.requests['storage']).isGreaterThan(quantity('100Gi'))"),
                       deny("!('ReadWriteMany' in object.spec.accessModes)", "ReadWriteMany is not supported")),
    "cron-jobs": one(("cronjobs",), ("batch",), deny("object.spec.concurrencyPolicy != 'Allow'", "two runs must not overlap"), deny("!object.spec.schedule.startsWith('* ')", "not every minute"),
                     deny("variables.template.restartPolicy == 'Never'", "restartPolicy must be Never"), variables=[WORKLOADS]),
    "owners-stay": one(("configmaps",), ("",), deny("object.metadata.?labels.?team.orValue('') == oldObject.metadata.?labels.?team.orValue('')", "the team cannot change"), operations=("UPDATE",)),
    "protected": one(("configmaps",), ("",), deny("oldObject.metadata.?annotations[?'example.com/protected'].orValue('') != 'true' || request.userInfo.username == 'cleaner'",
                     computed="'\"' + oldObject.metadata.name + '\" is protected from ' + request.operation"), operations=("DELETE",)),
    "no-exec": one(("pods/exec",), ("",), deny("!('sh' in object.?command.orValue([]))", "no shells", reason="Forbidden"), operations=("CONNECT",)),
    "no-wildcards": {"matchConstraints": {"resourceRules": [rule(("clusterroles",), ("rbac.authorization.k8s.io",), ("CREATE", "UPDATE"))]},
                     "matchConditions": [{"name": "of-this-case", "expression": "object.metadata.name.endsWith('$NS')"}],
                     "validations": [deny("object.?rules.orValue([]).all(r, !('*' in r.verbs) && !('*' in r.?resources.orValue([])))", "rules must be explicit"), deny(
                         "object.?rules.orValue([]).all(r, !r.?resources.orValue([]).exists(x, x in ['secrets', 'pods/exec']) || r.?resourceNames.orValue([]).size() > 0)",
                         computed="'sensitive resources need names: ' + object.rules.map(r, r.?resources.orValue([])).flatten().distinct().sort().join(' ')")]},
}

GOOD = {"name": "c", "image": "registry.example.com/app:1.2", "resources": {"limits": {"memory": "512Mi"}}}
DIGEST = "registry.example.com/app@sha256:" + "0123456789abcdef" * 4
PROBE = {"readinessProbe": {"httpGet": {"path": "/ready", "port": 80}}}
LABELS = {"labels": {"app.kubernetes.io/name": "x", "team": "t"}}


def pod(container=None, **spec):
    return post(PODS, {"metadata": {"name": "p"}, "spec": {"automountServiceAccountToken": False, "containers": [{**GOOD, **(container or {})}], **spec}}, without=["uid"])


def deployment(replicas=2, container=None, meta=None):
    return post(APPS, {"metadata": {"name": "d", **LABELS, **(meta or {})}, "spec": {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}}, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{**GOOD, **PROBE, **(container or {})}]}}}}, without=["uid"])


def service(meta=None, **spec):
    return post(f"{SERVICES}?dryRun=All", {"metadata": {"name": "s", **LABELS, **(meta or {})}, "spec": {"ports": [{"port": 80}], "clusterIP": "None", **spec}}, only=["status", "body.message", "body.reason", "body.code"])


def ingress(*hosts, tls=()):
    backend = {"service": {"name": "s", "port": {"number": 80}}}
    rules = [{**({"host": host} if host else {}), "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}} for host in hosts]
    return post(INGRESSES, {"metadata": {"name": "i"}, "spec": {"rules": rules, **({"tls": [{"hosts": list(tls), "secretName": "s"}]} if tls else {})}}, without=["uid"])


def claim(size, mode="ReadWriteOnce"):
    return post(CLAIMS, {"metadata": {"name": "c"}, "spec": {"accessModes": [mode], "resources": {"requests": {"storage": size}}}}, without=["uid"])


def cron_job(policy_of_runs="Forbid", schedule="0 * * * *", restart="Never"):
    return post(CRON_JOBS, {"metadata": {"name": "c"}, "spec": {"schedule": schedule, "concurrencyPolicy": policy_of_runs, "jobTemplate": {"spec": {"template": {"spec": {
        "restartPolicy": restart, "containers": [GOOD]}}}}}}, without=["uid"])


def config_map(name, labels=None, annotations=None, **options):
    return post(MAPS, {"metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}}}, without=["uid"], **options)


def role(*rules):
    return post(ROLES, {"metadata": {"name": "r.$NS"}, "rules": [{"apiGroups": [""], **fields} for fields in rules]}, without=["uid"])


def change(path, body, **options):
    return {"do": f"PATCH {path}", "type": "merge", "body": body, "without": ["uid"], **options}


def bound(kind, name, spec):
    reference = {"paramRef": {"name": "parameters", "namespace": "$NS", "parameterNotFoundAction": "Deny"}} if "paramKind" in spec else {}
    return [policy(kind, f"{name}.$NS", spec, setup=True), binding(kind, f"{name}.$NS", reference, setup=True)]


ALLOW_ALL = {"name": "everybody.$NS"}
USERS = [setup("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": ALLOW_ALL, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete"]}]}),
         setup("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {"metadata": ALLOW_ALL, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", **ALLOW_ALL},
                                                                          "subjects": [{"kind": "User", "name": name} for name in ("cleaner", "visitor")]}),
         {"do": f"DELETE {MAPS}/none", "setup": True, "user": "cleaner", "until": 404}]

MUTATING = {
    "labels": mutations("Object{metadata: Object.metadata{labels: {'team': namespaceObject.metadata.name == '$NS' ? 'here' : 'elsewhere', 'managed': 'yes'}}}"),
    "pull-policy": mutations("object.spec.containers.filter(c, !has(c.imagePullPolicy) || c.imagePullPolicy != 'Always').size() == 0 ? [] : [JSONPatch{op: 'add', path: '/spec/containers/0/imagePullPolicy', value: 'Always'}]"),
    "sidecar": mutations("Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'mesh-proxy', image: 'registry.example.com/proxy:1', restartPolicy: 'Always', args: ['--for', object.metadata.name]}]}}",
                         matchConditions=[{"name": "no-proxy-yet", "expression": "!object.spec.?initContainers.orValue([]).exists(c, c.name == 'mesh-proxy')"},
                                          {"name": "wanted", "expression": "object.metadata.?annotations[?'example.com/mesh'].orValue('') == 'on'"}], reinvocationPolicy="IfNeeded"),
    "security-context": mutations("Object{spec: Object.spec{securityContext: Object.spec.securityContext{runAsNonRoot: true, seccompProfile: Object.spec.securityContext.seccompProfile{type: 'RuntimeDefault'}}}}",
                                  matchConditions=[{"name": "none-yet", "expression": "!has(object.spec.securityContext) || !has(object.spec.securityContext.runAsNonRoot)"}]),
    "tolerations": mutations("[JSONPatch{op: 'add', path: '/spec/tolerations', value: has(object.spec.tolerations) ? object.spec.tolerations + [{'key': 'batch', 'operator': 'Exists'}] : "
                             "[{'key': 'batch', 'operator': 'Exists'}]}]", matchConditions=[{"name": "batch", "expression": "object.metadata.name.startsWith('batch-')"}]),
    "environment": mutations("Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, env: [Object.spec.containers.env{name: 'POD', value: object.metadata.name}]})}}",
                             reinvocationPolicy="IfNeeded"),
}

CASES = {
    "common_rules": [
        setup(MAPS, {"metadata": {"name": "parameters"}, "data": {"labels": "app.kubernetes.io/name, team"}}), *USERS,
        *[step for name, spec in VALIDATING.items() for step in bound("validating", name, spec)], *effective("validating"),
        {**deployment(meta={"labels": {}}), "setup": True, "until": "missing labels"},  # the parameters are known
        pod(), pod({"image": DIGEST}), pod({"image": "mirror.example.com/library/nginx:1"}), pod(initContainers=[{"name": "i", "image": "registry.example.com/team/x"}]),
        pod({"image": "registry.example.com/app"}), pod({"image": "registry.example.com/app:latest"}), pod({"image": "docker.example.org/app:1"}), pod(initContainers=[{"name": "i", "image": "other/x:1"}]),
        pod(hostNetwork=True), pod(hostPID=True), pod(hostIPC=True), pod({"securityContext": {"privileged": True}}), pod({"securityContext": {"privileged": False, "capabilities": {"add": ["CHOWN"]}}}),
        pod({"securityContext": {"capabilities": {"add": ["CHOWN", "SYS_ADMIN"]}}}), pod({"resources": {}}), pod({"resources": {"limits": {"cpu": "1"}}}), pod({"resources": {"limits": {"memory": "5Gi"}}}),
        pod({"resources": {"limits": {"memory": "4096Mi"}}}), *[pod(volumes=[{"name": "v", "hostPath": {"path": path}}]) for path in ("/var/log", "/var/log/pods", "/var/logs", "/")],
        pod(volumes=[{"name": "v", "emptyDir": {}}]), pod(automountServiceAccountToken=True), pod(automountServiceAccountToken=True, serviceAccountName="own"),
        *[deployment(count) for count in (2, 5, 1, 6)], deployment(container={"livenessProbe": PROBE["readinessProbe"]}), deployment(container={"readinessProbe": None}),
        deployment(meta={"labels": {}}), deployment(meta={"labels": {"team": "t"}}), deployment(meta={"labels": {"team": "", "app.kubernetes.io/name": "x"}}),
        deployment(meta={"labels": {}, "annotations": {"policy.example.com/exempt": "yes"}}),
        service(), service(type="NodePort", clusterIP=""), service(externalIPs=["192.0.2.1"]), service(type="LoadBalancer", clusterIP=""),
        service({"annotations": {"example.com/internal": "true"}}, type="LoadBalancer", clusterIP=""), service({"labels": {"team": "x"}}),
        ingress("a.example.com", tls=["a.example.com"]), ingress("a.b.example.com", "c.example.com", tls=["a.b.example.com", "c.example.com"]), ingress("a.example.org", tls=["a.example.org"]),
        ingress("a.example.com", "c.example.com", tls=["a.example.com"]),
        *[post(BUDGETS, {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, **spec}}, without=["uid"]) for spec in (
            {"maxUnavailable": 1}, {"maxUnavailable": "20%"}, {"minAvailable": 1}, {"maxUnavailable": 0}, {"maxUnavailable": "5%"})],
        claim("100Gi"), claim("101Gi"), claim("1Ti"), claim("1Gi", "ReadWriteMany"), cron_job(), cron_job("Allow"), cron_job(schedule="* * * * *"), cron_job(restart="OnFailure"),
        config_map("mine", LABELS["labels"]), config_map("kept", LABELS["labels"], {"example.com/protected": "true"}), config_map("unlabelled"),
        change(f"{MAPS}/mine", {"metadata": {"labels": {"team": "other"}}}), change(f"{MAPS}/mine", {"data": {"a": "b"}}),
        *[{"do": f"DELETE {MAPS}/{name}", "user": user, "without": ["uid"]} for name, user in (("mine", "visitor"), ("kept", "visitor"), ("kept", "cleaner"))],
        {"do": "POST /api/v1/namespaces/$NS/pods/p/exec?command=sh&command=-c"}, role({"resources": ["pods"], "verbs": ["get"]}), role({"resources": ["*"], "verbs": ["get"]}),
        role({"resources": ["pods"], "verbs": ["*"]}), role({"resources": ["secrets", "pods"], "verbs": ["get"]}), role({"resources": ["secrets"], "resourceNames": ["one"], "verbs": ["get"]}),
        role({"resources": ["services"], "verbs": ["list"]}, {"resources": ["secrets", "pods/exec"], "verbs": ["create"]}),
    ],
    "common_changes": [
        *[step for name, spec in MUTATING.items() for step in bound("mutating", name, {**spec, "matchConstraints": constraints(("pods",), ("",), ("CREATE",))})], *effective("mutating"),
        *[post(PODS, {"metadata": {"name": name, **meta}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}, without=["uid"]) for name, meta, spec in (
            ("plain", {}, {}), ("meshed", {"annotations": {"example.com/mesh": "on"}}, {}), ("batch-1", {}, {}), ("batch-2", {}, {"tolerations": [{"key": "a", "operator": "Exists"}]}),
            ("labelled", {"labels": {"team": "own"}}, {}), ("never", {}, {"containers": [{"name": "c", "image": "i", "imagePullPolicy": "Never"}, {"name": "d", "image": "j", "env": [{"name": "POD", "value": "x"}, {"name": "E", "value": "f"}]}]}),
            ("secure", {}, {"securityContext": {"runAsNonRoot": False}}), ("user", {}, {"securityContext": {"runAsUser": 5}}),
            ("proxied", {"annotations": {"example.com/mesh": "on"}}, {"initContainers": [{"name": "mesh-proxy", "image": "own"}]}),
            ("more", {"annotations": {"example.com/mesh": "on"}}, {"initContainers": [{"name": "setup", "image": "s"}]}))],
    ],
}

"""Both servers audit the same requests with the admission plugins on that annotate audit events: webhooks, admission policies and PodSecurity. The events must be equal, and
after the same requests the metrics of admission have the same names, labels and buckets."""
import json
import re

import pytest

import audit_cases
import conftest
import mesh
import test_audit
import webhook_server
from test_webhooks import CONFIGURATIONS, webhook

POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, users: ["system:apiserver"]}
- {level: Metadata, namespaces: [metadata]}
- {level: RequestResponse, namespaces: [response], omitStages: [RequestReceived]}
- {level: None}
"""
SECTION = """apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    exemptions: {usernames: [exempt]}
"""
OFF = "DefaultTolerationSeconds,ServiceAccount,TaintNodesByCondition"
LEVELS = {f"pod-security.kubernetes.io/{mode}": level for mode, level in (("enforce", "baseline"), ("audit", "restricted"), ("warn", "restricted"))}
RULES = [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]
# (webhook, failurePolicy, further fields) by the label "hook" of the objects that it matches.
MUTATING = {"annotate": ("/annotate", "Fail", {}), "allow": ("/allow", "Fail", {}), "open": ("/garbage", "Ignore", {}), "closed": ("/garbage", "Fail", {}),
            "again": ("/annotate", "Fail", {"reinvocationPolicy": "IfNeeded"}), "bad-patch": ("/patch-missing-path", "Ignore", {}), "both": ("/annotate", "Fail", {})}
VALIDATING = {"remark": ("/warn", "Fail", {}), "deny": ("/deny-message", "Fail", {}), "validating-open": ("/s500", "Ignore", {}), "both": ("/warn", "Fail", {})}
# The spec and the actions of policies, by the label "policy" of the objects that they match.
POLICIES = {
    "audited": ({"validations": [{"expression": "false", "message": "never"}, {"expression": "object.data.size() > 100", "messageExpression": "'only ' + string(object.data.size())"}],
                 "auditAnnotations": [{"key": "why", "valueExpression": "'the name is ' + object.metadata.name"}, {"key": "none", "valueExpression": "null"}]}, ["Audit"]),
    "denied": ({"validations": [{"expression": "false", "reason": "Forbidden"}], "auditAnnotations": [{"key": "who", "valueExpression": "request.userInfo.username"}]}, ["Deny", "Audit"]),
    "warned": ({"validations": [{"expression": "object.data.a == 'x'", "message": "a is not x"}]}, ["Warn", "Audit"]),
    "error": ({"validations": [{"expression": "object.data.missing == 'x'"}]}, ["Audit"]),
    "ignored": ({"validations": [{"expression": "object.data.missing == 'x'"}], "failurePolicy": "Ignore"}, ["Deny", "Audit"]),
    "passed": ({"validations": [{"expression": "true"}], "auditAnnotations": [{"key": "size", "valueExpression": "string(object.data.size())"}]}, ["Deny", "Audit"]),
    "bad-annotation": ({"validations": [{"expression": "true"}], "auditAnnotations": [{"key": "a", "valueExpression": "string(object.data.missing)"}]}, ["Deny", "Audit"]),
}


def config_map(name, **labels):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}, "data": {"a": "b"}}


def pod(name, **context):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i", "securityContext": context}]}}


def deployment(name, **context):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod("x", **context)["spec"]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}


def requests(namespace):
    maps, pods = f"/api/v1/namespaces/{namespace}/configmaps", f"/api/v1/namespaces/{namespace}/pods"
    found = {f"hook {hook}": audit_cases.Request("POST", maps, config_map(hook, hook=hook)) for hook in {**MUTATING, **VALIDATING}}
    found |= {f"policy {policy}": audit_cases.Request("POST", maps, config_map(policy, policy=policy)) for policy in POLICIES}
    merge = {"Content-Type": "application/merge-patch+json"}
    return found | {
        "update": audit_cases.Request("PATCH", f"{maps}/annotate", '{"metadata":{"annotations":null}}', merge), "update audited": audit_cases.Request("PATCH", f"{maps}/audited", '{"data":{"a":"c"}}', merge),
        "delete": audit_cases.Request("DELETE", f"{maps}/allow"), "hook and policy": audit_cases.Request("POST", maps, config_map("two", hook="annotate", policy="audited")),
        "restricted pod": audit_cases.Request("POST", pods, pod("plain")), "privileged pod": audit_cases.Request("POST", pods, pod("privileged", privileged=True)),
        "exempt pod": audit_cases.Request("POST", pods, pod("exempt", privileged=True), {"Impersonate-User": "exempt", "Impersonate-Group": "system:masters"}),
        "deployment": audit_cases.Request("POST", f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment("d", privileged=True)),
        "status of a pod": audit_cases.Request("PATCH", f"{pods}/plain/status", '{"status":{"phase":"Running"}}', merge),
    }


def configure(side, recorder):
    client = mesh.Client(f"https://{side.address}")
    for name in ("metadata", "response"):
        assert client("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": LEVELS}}).code == 201
    for spec_name, (spec, actions) in POLICIES.items():
        condition = {"name": "label", "expression": f"object.metadata.?labels['policy'].orValue('') == '{spec_name}'"}
        spec = {"matchConstraints": {"resourceRules": [{**RULES[0], "operations": ["CREATE", "UPDATE"]}]}, "matchConditions": [condition], **spec}
        for kind, body in (("policies", spec), ("policybindings", {"policyName": f"{spec_name}.audit.test", "validationActions": actions})):
            answer = client("POST", f"{CONFIGURATIONS}/validatingadmission{kind}", {"metadata": {"name": f"{spec_name}.audit.test"}, "spec": body})
            assert answer.code == 201, answer.body
    for kind, hooks in (("mutating", MUTATING), ("validating", VALIDATING)):
        made = [webhook(recorder, path, f"{label}.webhooks.test", failurePolicy=policy, rules=RULES, timeoutSeconds=10, objectSelector={"matchLabels": {"hook": label}}, **more)
                for label, (path, policy, more) in hooks.items()]
        assert client("POST", f"{CONFIGURATIONS}/{kind}webhookconfigurations", {"metadata": {"name": "audited"}, "webhooks": made}).code == 201

    def refused(**labels):
        return client("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", config_map("probe", **labels)).code >= 400
    # The policy of "passed" and "bad-annotation" have no other effect than annotations, and are created before the webhooks.
    mesh.wait_until(lambda: refused(policy="denied") and refused(hook="closed") and refused(hook="deny"), 30, f"{side.name} has the configurations")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit-admission")
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "admission.yaml").write_text(SECTION)
    recorder = webhook_server.Recorder(folder)
    flags = [f"--audit-policy-file={folder}/policy.yaml", f"--audit-log-path={folder}/audit.log", f"--disable-admission-plugins={OFF}", f"--admission-control-config-file={folder}/admission.yaml"]
    with conftest.server_pair(folder, *flags) as sides:
        for side in sides:
            configure(side, recorder)
        yield test_audit.World(folder, sides, None)
    recorder.stop()


@pytest.mark.parametrize("namespace", ["metadata", "response"])
def test_events_of_requests(world, namespace):
    failures, annotated = [], set()
    for name, request in requests(namespace).items():
        try:
            annotated |= test_audit.compare(world, f"{namespace} {name}", request)
        except AssertionError as error:
            failures.append(f"{name}: {error}")
    assert not failures, "\n\n".join(failures)
    # The requests must reach the plugins, or the comparison says nothing.
    kinds = {re.split(r"[./]", key)[0] for key in annotated}
    assert {"mutation", "failed-open", "validation", "pod-security", "audited", "denied", "passed", "remark"} <= kinds, kinds
    assert ("patch" in kinds) == (namespace == "response")


FAMILIES = ("apiserver_admission_", "apiserver_validating_admission_policy_", "apiserver_mutating_admission_policy_", "pod_security_")
# Also counts the writes of the server itself, which depend on when its plugins are ready.
OF_ALL_WRITES = ("apiserver_admission_controller_", "apiserver_admission_step_")


def series(side):
    """Returns {family: {labels of a series}}. Of metrics that count all writes, only the names of the labels and the buckets are returned."""
    found = {}
    for line in mesh.Client(f"https://{side.address}").get("/metrics").body.splitlines():
        # The summary has no quantiles here (docs/differences.md).
        if line.startswith(FAMILIES) and 'quantile="' not in line:
            family, _, labels = line.rpartition(" ")[0].partition("{")
            if family.startswith(OF_ALL_WRITES):
                labels = re.sub(r'(?<!\ble)="[^"]*"', "", labels)
            found.setdefault(family, set()).add(labels)
    return found


def test_metrics_have_the_same_names_labels_and_buckets(world):
    ours, theirs = map(series, world.sides)
    assert sorted(ours) == sorted(theirs)
    different = {family: {"ours": sorted(ours[family] - theirs[family])[:6], "reference": sorted(theirs[family] - ours[family])[:6]} for family in theirs if ours[family] != theirs[family]}
    assert not different, json.dumps(different, indent=1)
    # The requests of the other tests must be counted, or the comparison says nothing.
    assert {"apiserver_admission_webhook_rejection_count", "apiserver_admission_webhook_fail_open_count", "apiserver_validating_admission_policy_check_total",
            "pod_security_evaluations_total", "pod_security_exemptions_total"} <= set(ours)

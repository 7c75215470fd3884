"""Compares /metrics with that of the real kube-apiserver, after the same requests to both."""
import json
import time

import conftest
import mesh
import metrics_text
import pytest
from pki import Pki

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "measures.metrics.example.com"},
    "spec": {"group": "metrics.example.com", "scope": "Namespaced", "names": {"plural": "measures", "kind": "Measure"},
             "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                 "spec": {"type": "object", "properties": {"n": {"type": "integer"}},
                          "x-kubernetes-validations": [{"rule": "self.n < 100"}]}}}}}]}}
API_SERVICE = {
    "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.missing.example.com"},
    "spec": {"group": "missing.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": True,
             "service": {"namespace": "default", "name": "missing"}}}
WEBHOOK = {
    "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "unreachable"},
    "webhooks": [{"name": "unreachable.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
                  "timeoutSeconds": 1, "clientConfig": {"url": "https://127.0.0.1:1/x"},
                  "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["podtemplates"], "operations": ["CREATE"]}]}]}
TEMPLATE = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "t"},
            "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
TEMPLATES = "/api/v1/namespaces/metrics/podtemplates"
MEASURES = "/apis/metrics.example.com/v1/namespaces/metrics/measures"
WATCH_LIST = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1"

# Metrics of the reference that have no counterpart here; docs/differences.md gives the reasons.
MISSING = {"apiserver_validation_declarative_validation_mismatch_total", "apiserver_validation_declarative_validation_panic_total"}

# The metrics in the alerts, recording rules and the dashboard of kubernetes-mixin for the API server (job kube-apiserver).
MIXIN = """
aggregator_unavailable_apiservice apiserver_client_certificate_expiration_seconds apiserver_request_sli_duration_seconds
apiserver_request_terminations_total apiserver_request_total kubernetes_build_info process_cpu_seconds_total process_resident_memory_bytes
rest_client_requests_total workqueue_adds_total workqueue_depth workqueue_queue_duration_seconds
""".split()
# Those of them that do not exist yet; docs/differences.md names the alerts.
MIXIN_MISSING = ["rest_client_requests_total"]
MIXIN_AFTER_FAILURES = ["aggregator_unavailable_apiservice_total"]  # appears when an APIService has become unavailable


def send(side, method, target, body=None, content_type="application/json"):
    headers = [("Authorization", f"Bearer {side.token}")] + ([("Content-Type", content_type)] if body is not None else [])
    return side.request(method, target, headers, json.dumps(body).encode() if body is not None else None)


def measured(side, certificate):
    """Sends requests of all kinds, and returns the metrics."""
    for path, body in (("/api/v1/namespaces", {"metadata": {"name": "metrics"}}), (TEMPLATES, TEMPLATE),
                       ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION), ("/apis/apiregistration.k8s.io/v1/apiservices", API_SERVICE),
                       ("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", WEBHOOK)):
        assert send(side, "POST", path, body).status == 201, path
    mesh.wait_until(lambda: send(side, "GET", MEASURES).status == 200, 20, "the custom resource is served")
    time.sleep(1)  # until the webhook is in effect
    second = TEMPLATE | {"metadata": {"name": "u"}}
    assert send(side, "POST", TEMPLATES, second).status == 201
    assert send(side, "POST", TEMPLATES + "?dryRun=All", TEMPLATE | {"metadata": {"name": "v"}}).status == 201
    assert send(side, "POST", TEMPLATES + "?dryRun=x", TEMPLATE).status == 422
    for name in ("t", "missing"):
        send(side, "GET", f"{TEMPLATES}/{name}")
    for target in (TEMPLATES, "/api/v1/podtemplates", TEMPLATES + "?fieldSelector=metadata.name%3Dt", TEMPLATES + "?watch=1&timeoutSeconds=1",
                   f"{TEMPLATES}?{WATCH_LIST}", f"/api/v1/podtemplates?{WATCH_LIST}", "/api/v1/namespaces/metrics/endpoints"):
        assert send(side, "GET", target).status == 200, target
    updated = TEMPLATE | {"metadata": {"name": "t", "labels": {"a": "b"}}}
    assert send(side, "PUT", f"{TEMPLATES}/t", updated).status == 200
    assert send(side, "PATCH", f"{TEMPLATES}/t", {"metadata": {"labels": {"a": "c"}}}, "application/merge-patch+json").status == 200
    assert send(side, "PATCH", f"{TEMPLATES}/t?fieldManager=x&force=true", updated, "application/apply-patch+yaml").status == 200
    assert send(side, "GET", "/api/v1/namespaces/metrics/pods/missing/log").status == 404
    assert send(side, "POST", MEASURES, {"apiVersion": "metrics.example.com/v1", "kind": "Measure", "metadata": {"name": "m"}, "spec": {"n": 3}}).status == 201
    assert send(side, "GET", MEASURES).status == 200
    assert send(side, "DELETE", f"{TEMPLATES}/t").status == 200
    assert send(side, "DELETE", TEMPLATES).status == 200
    assert send(side, "GET", "/livez").status == 200
    assert mesh.Client(f"https://{side.address}", token=None, cert=certificate).get("/version").code == 200
    mesh.wait_until(lambda: send(side, "GET", "/api/v1/pods?timeout=1ms").status == 504, 20, "a request takes longer than its limit")
    time.sleep(1)  # the series of requests are updated after their responses
    return metrics_text.read(send(side, "GET", "/metrics").body.decode())


@pytest.fixture(scope="module")
def families(tmp_path_factory, both):
    folder = tmp_path_factory.mktemp("metrics")
    pki = Pki(folder / "pki")
    certificate = pki.issue("alice", "/CN=alice/O=system:masters")
    with conftest.server_pair(folder, f"--client-ca-file={pki.ca}", "--feature-gates=APIServerIdentity=true",
                              "--disabled-metrics=apiserver_response_sizes") as sides:
        yield both(sides, lambda side: measured(side, certificate))


def firm(reference):
    """The stable and beta metrics of the reference that have series."""
    return {name: family for name, family in reference.items() if family.help.startswith(("[STABLE]", "[BETA]")) and family.samples}


def test_stable_and_beta_metrics_have_the_same_form(families):
    ours, reference = families
    names = set(firm(reference)) - MISSING
    assert len(names) > 25
    assert sorted(name for name in names if name not in ours) == []
    different = {}
    for name in sorted(names):
        theirs = reference[name]
        for what, mine, other in (("type", ours[name].kind, theirs.kind), ("labels", ours[name].label_names(), theirs.label_names()),
                                  ("buckets", ours[name].buckets(), theirs.buckets())):
            if mine != other:
                different[name, what] = (mine, other)
    assert different == {}


def test_alpha_metrics_that_exist_here_have_the_same_form(families):
    ours, reference = families
    names = {name for name, family in reference.items() if family.help.startswith("[ALPHA]") and family.samples and name in ours and ours[name].samples}
    names -= {name for name in names if name.startswith(("process_", "apiserver_admission_"))}
    different = {}
    for name in sorted(names):
        theirs, mine = reference[name], ours[name]
        if (mine.kind, mine.label_names(), mine.buckets()) != (theirs.kind, theirs.label_names(), theirs.buckets()):
            different[name] = [(one.kind, one.label_names(), one.buckets()) for one in (mine, theirs)]
    assert different == {}


@pytest.mark.parametrize("resource", ["podtemplates", "endpoints", "measures"])
@pytest.mark.parametrize("name", ["apiserver_request_total", "apiserver_request_duration_seconds", "apiserver_request_sli_duration_seconds",
                                  "apiserver_longrunning_requests", "apiserver_request_body_size_bytes", "apiserver_watch_events_total",
                                  "apiserver_watch_events_sizes", "apiserver_watch_list_duration_seconds", "apiserver_requested_deprecated_apis"])
def test_requests_have_the_same_series(families, name, resource):
    def of_resource(side):
        found = side[name].series(without=("le",)) if name in side else set()
        # The servers themselves write Endpoints. A custom resource is refused with 429 until its storage is ready.
        return {labels for labels in found if dict(labels).get("resource") == resource
                and dict(labels).get("code") != "429" and not (resource == "endpoints" and dict(labels).get("verb") not in (None, "LIST"))}
    ours, reference = (of_resource(side) for side in families)
    if name == "apiserver_requested_deprecated_apis" and resource == "endpoints":
        assert reference
    assert ours == reference


def test_terminated_requests_have_the_same_series(families):
    ours, reference = ({labels for labels in side["apiserver_request_terminations_total"].series() if dict(labels)["resource"] == "pods"} for side in families)
    assert ours == reference and reference


def test_health_requests_have_the_same_series(families):
    ours, reference = ({labels for labels in side["apiserver_request_total"].series() if dict(labels)["subresource"] == "/livez"} for side in families)
    assert ours == reference and reference


def test_feature_gates(families):
    ours, reference = ({tuple(sorted(labels.items())): value for _, labels, value in side["kubernetes_feature_enabled"].samples} for side in families)
    assert {labels: (ours.get(labels), reference.get(labels)) for labels in {*ours, *reference} if ours.get(labels) != reference.get(labels)} == {}


def test_disabled_metrics_are_left_out(families):
    for side in families:
        assert "apiserver_response_sizes" not in side
        assert side["disabled_metrics_total"].samples[0][2] == 1


def test_the_alerts_of_kubernetes_mixin_find_their_metrics(families):
    ours, reference = families
    assert [name for name in MIXIN if not (name in ours and ours[name].samples)] == MIXIN_MISSING
    assert [name for name in MIXIN if not (name in reference and reference[name].samples)] == []
    for name in MIXIN_AFTER_FAILURES:
        assert (name in ours) == (name in reference)
    unavailable = {labels["name"]: value for _, labels, value in ours["aggregator_unavailable_apiservice"].samples}
    assert unavailable["v1.missing.example.com"] == 1 and unavailable["v1.apps"] == 0
    assert ours["kubernetes_build_info"].samples[0][1]["git_version"].startswith("v1.36.")

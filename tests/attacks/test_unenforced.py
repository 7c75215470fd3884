"""Controls that are stored and do nothing: whoever writes one is told so, and cannot rely on it by mistake."""
import mesh
import pytest

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
ENDING = " are stored but not enforced by this server: they have no effect"
WEBHOOK = {"name": "a.example.com", "clientConfig": {"url": "https://example.com/"}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
           "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]}
MATCH = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]}
MUTATION = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}


def warnings(answer):
    return [text for text in answer.headers.get_all("Warning") or [] if ENDING in text]


def crd(name, schema, **spec):
    return {"metadata": {"name": f"{name}.unenforced.example.com"}, "spec": {
        "group": "unenforced.example.com", "scope": "Namespaced", "names": {"plural": name, "kind": name.capitalize()}, **spec,
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", **schema}}}]}}


RULE = {"x-kubernetes-validations": [{"rule": "self.size() > 0"}]}
CONVERSION = {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://example.com/"}, "conversionReviewVersions": ["v1"]}}}
# (collection, object, what the warning names)
CONTROLS = {
    "validating-webhook": (f"{ADMISSION}/validatingwebhookconfigurations", {"webhooks": [WEBHOOK]}, "validatingwebhookconfigurations"),
    "mutating-webhook": (f"{ADMISSION}/mutatingwebhookconfigurations", {"webhooks": [WEBHOOK]}, "mutatingwebhookconfigurations"),
    "validating-policy": (f"{ADMISSION}/validatingadmissionpolicies", {"spec": {"matchConstraints": MATCH, "validations": [{"expression": "false"}]}},
                          "validatingadmissionpolicies"),
    "validating-binding": (f"{ADMISSION}/validatingadmissionpolicybindings", {"spec": {"policyName": "p", "validationActions": ["Deny"]}},
                           "validatingadmissionpolicybindings"),
    "mutating-policy": (f"{ADMISSION}/mutatingadmissionpolicies", {"spec": {"matchConstraints": MATCH, "mutations": [MUTATION], "reinvocationPolicy": "Never"}},
                        "mutatingadmissionpolicies"),
    "mutating-binding": (f"{ADMISSION}/mutatingadmissionpolicybindings", {"spec": {"policyName": "p"}}, "mutatingadmissionpolicybindings"),
    "quota": ("/api/v1/namespaces/default/resourcequotas", {"spec": {"hard": {"pods": "0"}}}, "resourcequotas"),
    "limits": ("/api/v1/namespaces/default/limitranges", {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}}, "limitranges"),
    "flow-schema": ("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
                    {"spec": {"priorityLevelConfiguration": {"name": "global-default"}, "matchingPrecedence": 9000}}, "flowschemas"),
    "priority-level": ("/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", {"spec": {"type": "Limited", "limited": {
        "nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}}}}, "prioritylevelconfigurations"),
    "pod-security": ("/api/v1/namespaces", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}, "pod-security.kubernetes.io labels"),
    "mountable-secrets": ("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}},
                          "kubernetes.io/enforce-mountable-secrets annotations"),
}
CRDS = {
    "rules": (crd("rules", {"properties": {"spec": {"type": "object", "additionalProperties": {"type": "string", **RULE}}}}), "x-kubernetes-validations rules"),
    "conversion": (crd("webhooks", {}, **CONVERSION), "conversion webhooks"),
}


def check(client, collection, body, what):
    """Create and update warn; a deletion and a read do not."""
    path = f"{collection}/{body['metadata']['name']}"
    created = client("POST", collection, body)
    assert created.code == 201, created.body
    assert warnings(created) == [f'299 - "{what}{ENDING}"']
    patched = client("PATCH", path, {"metadata": {"labels": {"more": "x"}}}, {"Content-Type": "application/merge-patch+json"})
    assert patched.code == 200 and warnings(patched) == warnings(created), patched.body
    replaced = client("PUT", path, client.get(path).json())
    assert replaced.code == 200 and warnings(replaced) == warnings(created), replaced.body
    assert not warnings(client.get(path))
    assert not warnings(client("DELETE", path))


@pytest.mark.parametrize("control", CONTROLS)
def test_unenforced_controls_warn(server, control):
    """Attack: rely on a control that the server accepts, and use what it should have forbidden.
    Expected: every write of it answers with a Warning that says that it has no effect.
    Why: a 201 without a word is understood as protection."""
    collection, body, what = CONTROLS[control]
    if collection.startswith("/apis/"):
        what += "." + collection.split("/")[2]
    check(server.client, collection, {**body, "metadata": {**body.get("metadata", {}), "name": f"unenforced-{control}"}}, what)


@pytest.mark.parametrize("part", CRDS)
def test_unenforced_parts_of_definitions_warn(server, part):
    """The same for rules and conversion webhooks of CustomResourceDefinitions."""
    body, what = CRDS[part]
    check(server.client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body, what)


def test_what_is_enforced_does_not_warn(server):
    """A warning on every write would be read by nobody."""
    for collection, body in (("/api/v1/namespaces", {"metadata": {"name": "unenforced-plain", "labels": {"a": "b"}}}),
                             ("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "unenforced-plain"}}),
                             ("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "unenforced-plain"}}),
                             ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd("plains", {}))):
        answer = server.client("POST", collection, body)
        assert answer.code == 201 and not warnings(answer), answer.body
    assert mesh.wait_until(lambda: server.client.answers("/apis/unenforced.example.com/v1/plains"), 10, "the resource is served")

"""CustomResourceDefinitions and custom resources, with kubectl and with HTTP clients."""
import json
import threading
import time

import pytest

import mesh

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "foos.e2e.example.com"},
    "spec": {
        "group": "e2e.example.com", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo"], "categories": ["every"]},
        "versions": [
            {"name": "v1", "served": True, "storage": True,
             "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                 "spec": {"type": "object", "properties": {
                     "replicas": {"type": "integer", "default": 2, "maximum": 5, "description": "how many"}, "color": {"type": "string"},
                     "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                               "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "string"}}}}}},
                 "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}},
             "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
             "selectableFields": [{"jsonPath": ".spec.color"}],
             "additionalPrinterColumns": [
                 {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"}, {"name": "Color", "type": "string", "priority": 1, "jsonPath": ".spec.color"},
                 {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
                 {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]},
            {"name": "v1beta1", "served": True, "storage": False, "deprecated": True,
             "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NS = "/apis/e2e.example.com/v1/namespaces/crd-test/foos"


def foo(name, **spec):
    return {"apiVersion": "e2e.example.com/v1", "kind": "Foo", "metadata": {"name": name}, "spec": spec}


@pytest.fixture(scope="module")
def foos(server):
    server.client("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "crd-test"}})
    server.kubectl("create", "-f", "-", stdin=json.dumps(CRD))
    server.kubectl("wait", "--for=condition=Established", "crd/foos.e2e.example.com", "--timeout=10s")
    yield server
    server.kubectl("delete", "crd", "foos.e2e.example.com", "--ignore-not-found")


def test_established_means_served(server):
    """The first request after the condition Established succeeds."""
    crd = json.loads(json.dumps(CRD).replace("e2e.example.com", "fast.example.com"))
    began = time.monotonic()
    assert server.client("POST", CRDS, crd).code == 201

    def established():
        conditions = server.client.get(f"{CRDS}/foos.fast.example.com").json()["status"].get("conditions") or []
        return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

    mesh.wait_until(established, 5, "Established")
    assert server.client.get("/apis/fast.example.com/v1/foos").code == 200
    assert time.monotonic() - began < 2
    assert server.client("DELETE", f"{CRDS}/foos.fast.example.com").code == 200
    mesh.wait_until(lambda: server.client.get("/apis/fast.example.com/v1/foos").code == 404, 5, "gone")


def test_replicas_have_time_before_a_definition_is_established(tmp_path):
    """With several replicas, a definition is served at once, but Established only after 5 s, when all of them know it."""
    with mesh.running_server(tmp_path, "--apiserver-count=2") as server:
        foos = "/apis/e2e.example.com/v1/namespaces/default/foos"
        began = time.monotonic()
        assert server.client("POST", CRDS, CRD).code == 201
        mesh.wait_until(lambda: server.client.get(foos).code == 200, 20, "the definition is served")

        def established():
            conditions = server.client.get(f"{CRDS}/foos.e2e.example.com").json().get("status", {}).get("conditions") or []  # null at first
            return next(({"status": one["status"], "reason": one["reason"]} for one in conditions if one["type"] == "Established"), None)

        mesh.wait_until(established, 5, "there is a condition")
        assert established() == {"status": "False", "reason": "Installing"} or time.monotonic() - began > 5
        mesh.wait_until(lambda: established()["status"] == "True", 20, "the definition is established")
        assert time.monotonic() - began > 5 and established()["reason"] == "InitialNamesAccepted"


def test_create_get_scale_patch_delete(foos):
    foos.kubectl("create", "-n", "crd-test", "-f", "-", stdin=json.dumps(foo("a", color="red")))
    assert foos.client.get(f"{NS}/a").json()["spec"] == {"color": "red", "replicas": 2}
    wide = foos.kubectl("get", "fo", "-n", "crd-test", "-o", "wide").stdout.splitlines()
    assert wide[0].split() == ["NAME", "REPLICAS", "COLOR", "READY", "AGE"]
    assert wide[1].split()[:3] == ["a", "2", "red"]
    foos.kubectl("scale", "foos/a", "--replicas=4", "-n", "crd-test")
    assert foos.kubectl("get", "foo", "a", "-n", "crd-test", "-o", "jsonpath={.spec.replicas} {.metadata.generation}").stdout == "4 2"
    foos.kubectl("patch", "foo", "a", "-n", "crd-test", "--type=merge", "-p", '{"spec":{"color":"blue"}}')
    foos.kubectl("patch", "foo", "a", "-n", "crd-test", "--subresource=status", "--type=merge", "-p", '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}')
    assert foos.kubectl("get", "foo", "a", "-n", "crd-test", "--no-headers").stdout.split()[:3] == ["a", "4", "True"]
    assert [i["metadata"]["name"] for i in foos.client.get("/apis/e2e.example.com/v1/foos?fieldSelector=spec.color%3Dblue").json()["items"]] == ["a"]
    assert foos.client.get("/apis/e2e.example.com/v1/foos?fieldSelector=spec.nope%3Dblue").code == 400
    foos.kubectl("delete", "foo", "a", "-n", "crd-test")
    assert foos.client.get(f"{NS}/a").code == 404


def test_apply_by_list_types(foos):
    mine, theirs = foo("ssa", items=[{"k": "x", "v": "1"}]), foo("ssa", items=[{"k": "y", "v": "2"}])
    foos.kubectl("apply", "--server-side", "--field-manager=one", "-n", "crd-test", "-f", "-", stdin=json.dumps(mine))
    foos.kubectl("apply", "--server-side", "--field-manager=two", "-n", "crd-test", "-f", "-", stdin=json.dumps(theirs))
    assert sorted(i["k"] for i in foos.client.get(f"{NS}/ssa").json()["spec"]["items"]) == ["x", "y"]
    foos.kubectl("apply", "-n", "crd-test", "-f", "-", stdin=json.dumps(foo("csa", color="red")))
    foos.kubectl("apply", "-n", "crd-test", "-f", "-", stdin=json.dumps(foo("csa", color="green")))
    assert foos.client.get(f"{NS}/csa").json()["spec"]["color"] == "green"


def test_unknown_fields_and_bad_values(foos):
    assert foos.client("POST", NS, foo("pruned", zz=1)).json()["spec"] == {"replicas": 2}
    strict = foos.client("POST", NS + "?fieldValidation=Strict", foo("strict", zz=1))
    assert strict.code == 400 and 'strict decoding error: unknown field "spec.zz"' in strict.json()["message"]
    bad = foos.client("POST", NS, foo("bad", replicas=9))
    assert bad.code == 422
    assert bad.json()["message"] == 'Foo.e2e.example.com "bad" is invalid: spec.replicas: Invalid value: 9: spec.replicas in body should be less than or equal to 5'
    assert foos.client("POST", CRDS, {**CRD, "metadata": {"name": "x"}}).code == 422


def test_versions_and_scope(foos):
    foos.client("POST", NS, foo("versions", color="red"))
    old = foos.client.get("/apis/e2e.example.com/v1beta1/namespaces/crd-test/foos/versions")
    assert old.json()["apiVersion"] == "e2e.example.com/v1beta1"
    assert old.headers.get("Warning") == '299 - "e2e.example.com/v1beta1 Foo is deprecated; use e2e.example.com/v1 Foo"'
    assert foos.client.get("/apis/e2e.example.com/v1/foos/versions").code == 404  # the resource is namespaced
    assert foos.client.get("/apis/e2e.example.com/v1/bars").body == "404 page not found\n"
    assert foos.client.get(f"{NS}/versions/nope").json()["reason"] == "NotFound"
    assert foos.client.get(f"{NS}/versions", headers={"Accept": "application/vnd.kubernetes.protobuf"}).code == 406


def test_discovery_and_explain(foos):
    assert "foos" in foos.kubectl("api-resources", "--api-group=e2e.example.com", "-o", "name").stdout
    assert "how many" in foos.kubectl("explain", "foo.spec.replicas").stdout


def test_watch_sees_events(foos):
    seen = []

    def watch():
        run = foos.kubectl("get", "foo", "-n", "crd-test", "-w", "--output-watch-events", "--no-headers", "--request-timeout=4s", check=False)
        seen.extend(line.split()[:2] for line in run.stdout.splitlines())

    thread = threading.Thread(target=watch)
    thread.start()
    time.sleep(1.5)
    foos.client("POST", NS, foo("watched"))
    foos.client("DELETE", f"{NS}/watched")
    thread.join()
    assert ["ADDED", "watched"] in seen and ["DELETED", "watched"] in seen


def test_deleting_a_definition_deletes_its_objects(server):
    crd = json.loads(json.dumps(CRD).replace("e2e.example.com", "gone.example.com"))
    server.client("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "crd-test"}})
    server.kubectl("create", "-f", "-", stdin=json.dumps(crd))
    server.kubectl("wait", "--for=condition=Established", "crd/foos.gone.example.com", "--timeout=10s")
    objects = "/apis/gone.example.com/v1/namespaces/crd-test/foos"
    body = json.loads(json.dumps(foo("held")).replace("e2e.", "gone."))
    body["metadata"]["finalizers"] = ["example.com/wait"]
    assert server.client("POST", objects, body).code == 201
    server.kubectl("delete", "crd", "foos.gone.example.com", "--wait=false")
    held = mesh.wait_until(lambda: server.client.get(f"{objects}/held").json()["metadata"].get("deletionTimestamp"), 5, "the object is being deleted")
    assert held
    assert server.client("POST", objects, {**body, "metadata": {"name": "late"}}).code == 403
    assert server.client.get(f"{CRDS}/foos.gone.example.com").code == 200
    server.kubectl("patch", "foos.gone.example.com", "held", "-n", "crd-test", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    mesh.wait_until(lambda: server.client.get(f"{CRDS}/foos.gone.example.com").code == 404, 5, "the CRD is deleted")
    server.kubectl("create", "-f", "-", stdin=json.dumps(crd))
    server.kubectl("wait", "--for=condition=Established", "crd/foos.gone.example.com", "--timeout=10s")
    assert server.client.get(objects).json()["items"] == []
    server.kubectl("delete", "crd", "foos.gone.example.com")


def test_metadata_does_not_change_the_generation(server):
    """`minimum` is a number, which is an integer in the stored text."""
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "bounds.bound.example.com"}, "spec": {
        "group": "bound.example.com", "scope": "Cluster", "names": {"plural": "bounds", "kind": "Bound"}, "versions": [{"name": "v1", "served": True, "storage": True, "schema": {
            "openAPIV3Schema": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 7.5}}}}}]}}
    assert server.client("POST", CRDS, definition).code == 201
    one = f"{CRDS}/bounds.bound.example.com"
    patched = server.client("PATCH", one, {"metadata": {"labels": {"a": "b"}}}, headers={"Content-Type": "application/merge-patch+json"}).json()
    assert (patched["metadata"]["labels"], patched["metadata"]["generation"]) == ({"a": "b"}, 1)
    assert server.client("DELETE", one).code == 200


def large_schema(levels, width):
    """Returns a schema of about a megabyte, whose patterns take long to compile."""
    texts = {f"field{i}": {"type": "string", "pattern": f"^[a-z]{{1,{i + 1}}}$", "description": "A text with some words that say what it is for."} for i in range(width)}
    schema = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {**texts, "next": schema}}
    return schema


def test_a_large_definition_does_not_delay_other_resources(server, foos):
    name = "larges.large.example.com"
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name}, "spec": {
        "group": "large.example.com", "scope": "Namespaced", "names": {"plural": "larges", "kind": "Large"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": large_schema(levels=100, width=90)}}]}}
    assert 1_000_000 < len(json.dumps(definition)) < 1_500_000
    created = threading.Thread(target=lambda: server.client("POST", CRDS, definition, timeout=60))
    worst, end = 0, time.monotonic() + 60
    created.start()
    while time.monotonic() < end:
        begin = time.monotonic()
        assert server.client.get(NS).code == 200
        worst = max(worst, time.monotonic() - begin)
        if server.client.get("/apis/large.example.com/v1/larges").code == 200:
            break
    else:
        raise AssertionError("the definition is not served")
    created.join()
    assert worst < 0.4 * mesh.SLOWDOWN  # compiling the schema takes longer
    assert server.client("DELETE", f"{CRDS}/{name}").code == 200

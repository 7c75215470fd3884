"""AlwaysDeny refuses every write on both servers. The objects are created by servers without the plugin, which end before those with it start: with the plugin, kube-apiserver
cannot even create its own roles."""
import signal

import pytest

import cases
import conftest
import mesh
import test_requests

NS = "/api/v1/namespaces/denied"
FOOS = "/apis/example.com/v1/namespaces/denied/foos"
DEPLOYMENTS = "/apis/apps/v1/namespaces/denied/deployments"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = {"metadata": {"name": "foos.example.com"}, "spec": {
    "group": "example.com", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"},
    "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                  "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
SERVICE = {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
DEPLOYMENT = {"metadata": {"name": "d"}, "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}},
                                                  "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
FOO = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "f"}, "spec": {"size": 1}}
NODE = {"metadata": {"name": "n"}}
OBJECTS = [(f"{NS}/configmaps", {"metadata": {"name": "m"}, "data": {"a": "b"}}), (f"{NS}/pods", POD), (f"{NS}/services", SERVICE), (f"{NS}/serviceaccounts", {"metadata": {"name": "a"}}),
           ("/api/v1/nodes", NODE), (DEPLOYMENTS, DEPLOYMENT), (FOOS, FOO)]


def step(do, body=None, **options):
    return {"do": do, **({"body": body} if body is not None else {}), **options}


def merge(path, body):
    return step(f"PATCH {path}", body, type="merge")


REVIEW = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
CASES = {
    "create": [
        step(f"POST {NS}/configmaps", {"metadata": {"name": "new"}}), step(f"POST {NS}/configmaps?dryRun=All", {"metadata": {"name": "new"}}),
        step(f"POST {NS}/configmaps", {"metadata": {"name": "m"}}), step(f"POST {NS}/configmaps", {"metadata": {"name": "not valid"}}),
        step("POST /api/v1/namespaces", {"metadata": {"name": "new"}}), step("POST /api/v1/nodes", {"metadata": {"name": "new"}}),
        step(f"POST {DEPLOYMENTS}", {**DEPLOYMENT, "metadata": {"name": "new"}}), step(f"POST {CRDS}", {**CRD, "metadata": {"name": "bars.example.com"}}),
        step(f"PATCH {NS}/configmaps/new?fieldManager=m", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}, type="apply"),
        step("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", REVIEW)],
    "update": [
        step(f"PUT {NS}/configmaps/m", {"metadata": {"name": "m"}, "data": {"a": "c"}}), merge(f"{NS}/configmaps/m", {"data": {"a": "c"}}), merge(f"{NS}/configmaps/m", {}),
        step(f"PATCH {NS}/configmaps/m", [{"op": "add", "path": "/data/k", "value": "v"}], type="jsonpatch"),
        step(f"PATCH {NS}/configmaps/m?fieldManager=m&force=true", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "c"}}, type="apply"),
        merge(f"{NS}/pods/p/status", {"status": {"phase": "Running"}}), merge(f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 3}}), merge("/api/v1/nodes/n", {"spec": {"unschedulable": True}}),
        merge("/api/v1/namespaces/denied", {"metadata": {"labels": {"a": "b"}}}), merge(f"{NS}/configmaps/missing", {})],
    "delete": [
        step(f"DELETE {NS}/configmaps/m"), step(f"DELETE {NS}/configmaps/m?dryRun=All"), step(f"DELETE {NS}/pods/p?gracePeriodSeconds=0"), step("DELETE /api/v1/nodes/n"),
        step("DELETE /api/v1/namespaces/denied"), step("DELETE /api/v1/namespaces/default"), step(f"DELETE {CRDS}/foos.example.com"), step(f"DELETE {NS}/configmaps/missing"),
        step(f"DELETE {NS}/configmaps?labelSelector=x"), step(f"DELETE {NS}/services?fieldSelector=metadata.name%3Ds"), step(f"DELETE {NS}/pods?fieldSelector=metadata.name%3Dp")],
    "actions": [
        step(f"POST {NS}/pods/p/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}}),
        step(f"POST {NS}/pods/p/binding", {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"name": "n"}}),
        step(f"POST {NS}/serviceaccounts/a/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": ["a"]}})],
    "connect": [
        step(f"POST {NS}/pods/p/exec?command=ls&stdout=1"), step(f"POST {NS}/pods/p/attach?stdout=1"), step(f"POST {NS}/pods/p/portforward?ports=80"), step(f"GET {NS}/pods/p/proxy/path"),
        step(f"GET {NS}/services/s/proxy"), step("GET /api/v1/nodes/n/proxy/metrics"), step(f"GET {NS}/pods/missing/proxy")],
    "custom_resources": [
        step(f"POST {FOOS}", {**FOO, "metadata": {"name": "new"}}), step(f"PUT {FOOS}/f", {**FOO, "spec": {"size": 2}}), merge(f"{FOOS}/f", {"spec": {"size": 2}}),
        step(f"PATCH {FOOS}/f?fieldManager=m&force=true", {**FOO, "spec": {"size": 3}}, type="apply"), merge(f"{FOOS}/f/status", {"status": {"a": "b"}}), step(f"DELETE {FOOS}/f"),
        step(f"DELETE {FOOS}?labelSelector=x"), step(f"DELETE {FOOS}?fieldSelector=metadata.name%3Df"), step(f"DELETE {FOOS}/missing")],
    "api_services": [
        step("POST /apis/apiregistration.k8s.io/v1/apiservices", {"metadata": {"name": "v1.denied.test"}, "spec": {
            "group": "denied.test", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1, "insecureSkipTLSVerify": True, "service": {"namespace": "denied", "name": "s"}}}),
        merge("/apis/apiregistration.k8s.io/v1/apiservices/v1.apps", {"metadata": {"labels": {"a": "b"}}}), step("DELETE /apis/apiregistration.k8s.io/v1/apiservices/v1.missing")],
    "reads": [
        step(f"GET {NS}/configmaps/m", only=["status", "body.data"]), step(f"GET {FOOS}/f", only=["status", "body.spec"]), step(f"GET {NS}/configmaps/missing"),
        step(f"GET {NS}/services?fieldSelector=metadata.name%3Ds", only=["status", "body.kind"]), step(f"GET {NS}/pods/p/log?container=none")],
}


@pytest.fixture(scope="module")
def denying_sides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("denied")
    with conftest.store_pair(folder) as stores:
        (folder / "first").mkdir()
        with conftest.server_pair(folder / "first", "--disable-admission-plugins=ServiceAccount", stores=stores) as pair:
            for side in pair:
                client = mesh.Client(f"https://{side.address}")
                assert client("POST", CRDS, CRD).code == 201
                mesh.wait_until(lambda: client.answers(FOOS), 20, "the custom resource is served")
                assert client("POST", "/api/v1/namespaces", {"metadata": {"name": "denied"}}).code == 201
                for path, body in OBJECTS:
                    assert client("POST", path, body).code == 201, path
        (folder / "second").mkdir()
        # They are killed at the end, because kube-apiserver waits until it has deleted its lease, which the plugin does not allow.
        with conftest.server_pair(folder / "second", "--disable-admission-plugins=ServiceAccount", "--enable-admission-plugins=AlwaysDeny", stores=stores, end=signal.SIGKILL) as pair:
            for side in pair:
                mesh.wait_until(lambda: mesh.Client(f"https://{side.address}").answers(FOOS), 20, "the custom resource is served")
            yield pair


@pytest.mark.parametrize("name", CASES)
def test_same_answers(name, denying_sides, both, known_differences):
    test_requests.compare_case(cases.Case("always_deny", name, {}, CASES[name]), denying_sides, both, known_differences)


def test_everything_is_refused(denying_sides):
    """The plugin must be on: a valid write without side effects is refused by both."""
    for side in denying_sides:
        answer = mesh.Client(f"https://{side.address}")("POST", f"{NS}/configmaps?dryRun=All", {"metadata": {"name": "new"}})
        assert answer.code == 403 and answer.json()["message"] == 'configmaps "new" is forbidden: admission control is denying all modifications'

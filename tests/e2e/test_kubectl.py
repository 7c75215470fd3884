"""Basic commands of several versions of kubectl."""
import json
import os
import subprocess

import pytest

import mesh

ALL = [mesh.KUBECTL, *mesh.older_kubectls()]


@pytest.fixture(scope="module", params=ALL, ids=lambda path: os.path.basename(path))
def kubectl(request, server):
    """Returns a function that runs one version of kubectl in its own namespace."""
    namespace = "k-" + os.path.basename(request.param).replace(".", "-")

    def run(*arguments, **options):
        return server.kubectl("-n", namespace, *arguments, binary=request.param, **options).stdout

    run("create", "namespace", namespace)
    yield run
    run("delete", "namespace", namespace, "--wait=false")


def test_system_namespaces_are_there(kubectl):
    names = kubectl("get", "namespaces", "-o", "name").split()
    assert {f"namespace/{n}" for n in ("default", "kube-system", "kube-public", "kube-node-lease")} <= set(names)


def test_kubernetes_service_has_the_first_address_of_the_range(kubectl):
    assert kubectl("-n", "default", "get", "service", "kubernetes", "-o", "jsonpath={.spec.clusterIP}") == "10.0.0.1"


def test_api_resources(kubectl):
    listed = kubectl("api-resources")
    for resource in ("pods", "deployments", "clusterroles", "leases"):
        assert resource in listed


def test_create_get_delete(kubectl):
    kubectl("create", "configmap", "c", "--from-literal=a=b")
    assert json.loads(kubectl("get", "configmap", "c", "-o", "json"))["data"] == {"a": "b"}
    kubectl("create", "deployment", "d", "--image=nginx")
    assert "0/1" in kubectl("get", "deployments")
    kubectl("delete", "configmap/c", "deployment/d")
    assert "configmap/c" not in kubectl("get", "configmaps", "-o", "name")


def test_apply_twice_with_validation(kubectl):
    manifest = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "1"}})
    assert "created" in kubectl("apply", "-f", "-", stdin=manifest)
    assert "configured" in kubectl("apply", "-f", "-", stdin=manifest.replace('"1"', '"2"'))
    assert "unchanged" in kubectl("apply", "-f", "-", stdin=manifest.replace('"1"', '"2"'))


def test_explain(kubectl):
    assert "containers" in kubectl("explain", "pod.spec")


def test_who_may_do_what(kubectl):
    assert kubectl("auth", "can-i", "create", "pods").strip() == "yes"
    assert kubectl("auth", "can-i", "create", "pods", "--as=nobody", check=False).strip().endswith("no")
    assert "pods" in kubectl("auth", "can-i", "--list") or "*.*" in kubectl("auth", "can-i", "--list")


def test_token_of_a_service_account_is_its_identity(kubectl, server):
    kubectl("create", "serviceaccount", "s")
    token = kubectl("create", "token", "s").strip()
    review = mesh.Client(server.url, token=token)("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body={
        "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    assert review.code == 201, review.body
    assert review.json()["status"]["userInfo"]["username"].endswith(":s")


def test_watch_shows_what_is_created(kubectl, server):
    arguments = [mesh.KUBECTL, f"--kubeconfig={server.kubeconfig()}", "-n", "default", "get", "configmaps", "-w", "-o", "name"]
    watch = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    try:
        kubectl("-n", "default", "create", "configmap", "seen", "--from-literal=a=b")
        assert any("configmap/seen" in line for line in iter(watch.stdout.readline, ""))
    finally:
        watch.kill()
        watch.wait()
        kubectl("-n", "default", "delete", "configmap", "seen")


@pytest.mark.parametrize("hook", ["start-system-namespaces-controller", "rbac/bootstrap-roles", "bootstrap-controller",
                                  "scheduling/bootstrap-system-priority-classes", "priority-and-fairness-config-producer"])
def test_post_start_hooks_are_shown(server, hook):
    assert server.client.get(f"/readyz/poststarthook/{hook}").body == "ok"


def test_openid_documents(server):
    assert server.client.get("/.well-known/openid-configuration").json()["issuer"] == "https://kubernetes.default.svc"
    assert server.client.get("/openid/v1/jwks").json()["keys"]

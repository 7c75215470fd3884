"""The following commands with every version of kubectl that is found: create, get, describe, edit, label, annotate, patch, apply, diff, replace,
scale, rollout, wait, explain, api-resources, delete. No controllers run, so the tests write the objects that controllers would write."""
import json
import re
import subprocess
import threading

import pytest

import mesh

ALL = list(dict.fromkeys([mesh.KUBECTL, *mesh.older_kubectls()]))
LABELS = {"app": "web"}


def version_of(path):
    text = subprocess.run([path, "version", "--client", "-o", "json"], capture_output=True, text=True).stdout
    return int(re.match(r"\d+", json.loads(text)["clientVersion"]["minor"])[0])


@pytest.fixture(scope="module", params=ALL, ids=lambda path: f"1.{version_of(path)}")
def minor(request):
    return request.param, version_of(request.param)


@pytest.fixture
def kubectl(minor, server, request):
    """Returns a function that runs one version of kubectl in a namespace of this test."""
    path, number = minor
    test = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower()).strip("-")
    namespace = f"v{number}-{test}"

    def run(*arguments, **options):
        return server.kubectl("-n", namespace, *arguments, binary=path, **options).stdout

    server.client("POST", "/api/v1/namespaces", body={"metadata": {"name": namespace}})
    run.namespace, run.minor, run.path = namespace, number, path
    yield run
    server.client("DELETE", f"/api/v1/namespaces/{namespace}")


def deployment(image="web:1", replicas=2, **metadata):
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "web", "image": image, "ports": [{"containerPort": 80}]}]}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", **metadata},
            "spec": {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template}}


def manifest(value):
    return json.dumps(value)


def test_create_and_get(kubectl):
    kubectl("create", "-f", "-", stdin=manifest(deployment()))
    kubectl("create", "configmap", "c", "--from-literal=a=b")
    kubectl("create", "secret", "generic", "s", "--from-literal=p=q")
    kubectl("create", "service", "clusterip", "svc", "--tcp=80:8080")
    kubectl("create", "serviceaccount", "sa")
    kubectl("create", "role", "r", "--verb=get", "--resource=pods")
    kubectl("create", "rolebinding", "rb", "--role=r", "--user=u")
    kubectl("run", "p", "--image=i", "--restart=Never")
    wide = kubectl("get", "deployments", "-o", "wide")
    assert re.search(r"^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\nweb +0/2 +0 +0 +\S+ +web +web:1 +app=web$", wide, re.M), wide
    assert "image: web:1" in kubectl("get", "deployment", "web", "-o", "yaml")
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "2"
    assert kubectl("get", "cm/c", "-o", "go-template={{.data.a}}") == "b"
    assert kubectl("get", "all", "-o", "name").split() == ["pod/p", "service/svc", "deployment.apps/web"]
    assert "No resources found" in kubectl("get", "pods", "-l", "none=such") or kubectl("get", "pods", "-l", "none=such") == ""
    assert kubectl("get", "pods", "--field-selector=metadata.name=p", "-o", "name") == "pod/p\n"
    assert "c" in kubectl("get", "cm", "--sort-by=.metadata.name", "-o", "custom-columns=N:.metadata.name")


def test_get_watches(kubectl, server):
    kubectl("create", "configmap", "first", "--from-literal=a=b")
    watch = subprocess.Popen([kubectl.path, f"--kubeconfig={server.kubeconfig()}", "-n", kubectl.namespace, "get", "cm", "-w", "-o", "name"],
                             stdout=subprocess.PIPE, text=True)
    stop = threading.Timer(60, watch.kill)
    stop.start()
    try:
        lines = iter(watch.stdout.readline, "")
        assert next(lines) == "configmap/first\n"
        kubectl("create", "configmap", "second", "--from-literal=a=b")
        assert next(lines) == "configmap/second\n"
        kubectl("label", "cm", "first", "x=y")
        assert next(lines) == "configmap/first\n"
    finally:
        stop.cancel()
        watch.kill()
        watch.wait()


def test_describe(kubectl):
    kubectl("create", "-f", "-", stdin=manifest(deployment()))
    kubectl("run", "p", "--image=i")
    kubectl("create", "service", "clusterip", "svc", "--tcp=80:8080")
    assert re.search(r"Replicas: +2 desired \| 0 updated", kubectl("describe", "deployment", "web"))
    assert re.search(r"Image: +i$", kubectl("describe", "pod", "p"), re.M)
    assert re.search(r"Port: +80-8080 +80/TCP", kubectl("describe", "svc", "svc"))
    assert "Status:" in kubectl("describe", "namespace", kubectl.namespace)
    assert "cluster-admin" in kubectl("describe", "clusterrolebinding", "cluster-admin")


def test_edit(kubectl, tmp_path, monkeypatch):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/before/after/" "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("KUBE_EDITOR", str(editor))
    kubectl("create", "configmap", "c", "--from-literal=k=before")
    assert "edited" in kubectl("edit", "cm", "c")
    assert kubectl("get", "cm", "c", "-o", "jsonpath={.data.k}") == "after"


def test_label_and_annotate(kubectl):
    kubectl("create", "configmap", "c")
    assert "labeled" in kubectl("label", "cm", "c", "a=1")
    refused = kubectl("label", "cm", "c", "a=2", check=False)
    assert kubectl("get", "cm", "c", "-o", "jsonpath={.metadata.labels.a}") == "1", refused
    kubectl("label", "cm", "c", "a=2", "--overwrite")
    kubectl("annotate", "cm", "c", "note=text")
    kubectl("annotate", "cm", "--all", "note-")
    kubectl("label", "cm", "-l", "a=2", "b=3")
    assert json.loads(kubectl("get", "cm", "c", "-o", "json"))["metadata"]["labels"] == {"a": "2", "b": "3"}


def test_patch(kubectl):
    kubectl("create", "-f", "-", stdin=manifest(deployment()))
    kubectl("patch", "deployment", "web", "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"}]}}}}')
    kubectl("patch", "deployment", "web", "--type=merge", "-p", '{"spec":{"replicas":3}}')
    kubectl("patch", "deployment", "web", "--type=json", "-p", '[{"op":"add","path":"/metadata/labels","value":{"x":"y"}}]')
    got = json.loads(kubectl("get", "deployment", "web", "-o", "json"))
    container = got["spec"]["template"]["spec"]["containers"][0]
    assert (container["image"], container["ports"][0]["containerPort"], got["spec"]["replicas"]) == ("web:2", 80, 3)
    assert got["metadata"]["labels"] == {"x": "y"}


def test_apply_by_the_client(kubectl):
    assert "created" in kubectl("apply", "-f", "-", stdin=manifest(deployment()))
    assert "unchanged" in kubectl("apply", "-f", "-", stdin=manifest(deployment()))
    assert "configured" in kubectl("apply", "-f", "-", stdin=manifest(deployment(image="web:2")))
    without_ports = deployment(image="web:2")
    del without_ports["spec"]["template"]["spec"]["containers"][0]["ports"]
    kubectl("apply", "-f", "-", stdin=manifest(without_ports))
    container = json.loads(kubectl("get", "deployment", "web", "-o", "json"))["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "web:2" and "ports" not in container
    assert "last-applied" in kubectl("get", "deployment", "web", "-o", "yaml")
    kubectl("apply", "view-last-applied", "deployment/web")


def test_apply_by_the_server(kubectl):
    assert "serverside-applied" in kubectl("apply", "--server-side", "-f", "-", stdin=manifest(deployment()))
    other = kubectl("apply", "--server-side", "--field-manager=other", "-f", "-", stdin=manifest(deployment(image="web:2")), check=False)
    assert other == "" or "serverside-applied" not in other
    kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=other", "-f", "-", stdin=manifest(deployment(image="web:2")))
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}") == "web:2"
    assert "created (server dry run)" in kubectl("apply", "--dry-run=server", "-f", "-", stdin=manifest(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "never"}}))


def test_diff(kubectl):
    kubectl("apply", "-f", "-", stdin=manifest(deployment()))
    assert kubectl("diff", "-f", "-", stdin=manifest(deployment())) == ""
    shown = kubectl("diff", "-f", "-", stdin=manifest(deployment(image="web:2")), check=False)
    assert re.search(r"^- +- image: web:1$", shown, re.M) and re.search(r"^\+ +- image: web:2$", shown, re.M), shown
    shown = kubectl("diff", "--server-side", "--force-conflicts", "-f", "-", stdin=manifest(deployment(image="web:3")), check=False)
    assert re.search(r"^\+ +- image: web:3$", shown, re.M), shown


def test_replace(kubectl):
    kubectl("create", "configmap", "c", "--from-literal=a=b")
    replacement = manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"new": "1"}})
    assert "replaced" in kubectl("replace", "-f", "-", stdin=replacement)
    uid = kubectl("get", "cm", "c", "-o", "jsonpath={.metadata.uid}")
    assert "replaced" in kubectl("replace", "--force", "-f", "-", stdin=replacement)
    assert kubectl("get", "cm", "c", "-o", "jsonpath={.metadata.uid}") != uid


def test_scale(kubectl):
    kubectl("create", "-f", "-", stdin=manifest(deployment()))
    assert "scaled" in kubectl("scale", "deployment/web", "--replicas=5")
    assert "scaled" in kubectl("scale", "--current-replicas=5", "--replicas=6", "deployment/web")
    kubectl("scale", "--current-replicas=5", "--replicas=7", "deployment/web", check=False)
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "6"


def set_status(server, namespace, resource, name, status):
    answer = server.client("PATCH", f"/apis/apps/v1/namespaces/{namespace}/{resource}/{name}/status", body=json.dumps({"status": status}),
                           headers={"Content-Type": "application/merge-patch+json"})
    assert answer.code == 200, answer.body


def revision(kubectl, server, number, image):
    """Creates the ReplicaSet that the Deployment controller would create."""
    owner = json.loads(kubectl("get", "deployment", "web", "-o", "json"))
    labels = {**LABELS, "pod-template-hash": f"h{number}"}
    template = deployment(image=image)["spec"]["template"]
    template["metadata"]["labels"] = labels
    kubectl("create", "-f", "-", stdin=manifest({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": f"web-h{number}", "labels": labels, "annotations": {"deployment.kubernetes.io/revision": str(number)},
                     "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": owner["metadata"]["uid"],
                                          "controller": True, "blockOwnerDeletion": True}]},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}}))
    kubectl("annotate", "deployment", "web", f"deployment.kubernetes.io/revision={number}", "--overwrite")


def test_rollout(kubectl, server):
    kubectl("create", "-f", "-", stdin=manifest(deployment(image="web:1")))
    revision(kubectl, server, 1, "web:1")
    assert "image updated" in kubectl("set", "image", "deployment/web", "web=web:2")
    revision(kubectl, server, 2, "web:2")
    history = kubectl("rollout", "history", "deployment/web")
    assert re.findall(r"^(\d+) ", history, re.M) == ["1", "2"], history
    assert "web:1" in kubectl("rollout", "history", "deployment/web", "--revision=1")
    assert "rolled back" in kubectl("rollout", "undo", "deployment/web", "--to-revision=1")
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}") == "web:1"
    assert "paused" in kubectl("rollout", "pause", "deployment/web")
    assert "resumed" in kubectl("rollout", "resume", "deployment/web")
    assert "restarted" in kubectl("rollout", "restart", "deployment/web")
    generation = int(kubectl("get", "deployment", "web", "-o", "jsonpath={.metadata.generation}"))
    set_status(server, kubectl.namespace, "deployments", "web", {"observedGeneration": generation, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2,
                                                                 "availableReplicas": 2})
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/web", "--timeout=20s")


def test_wait(kubectl, server):
    kubectl("create", "-f", "-", stdin=manifest(deployment()))
    kubectl("create", "configmap", "c")
    set_status(server, kubectl.namespace, "deployments", "web", {"replicas": 1, "conditions": [{"type": "Available", "status": "True"}]})
    assert "condition met" in kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=20s")
    timer = threading.Timer(3, lambda: server.client("DELETE", f"/api/v1/namespaces/{kubectl.namespace}/configmaps/c"))
    timer.start()
    kubectl("wait", "--for=delete", "configmap/c", "--timeout=60s")  # prints nothing if the object is already deleted
    timer.join()
    assert kubectl("get", "cm", "-o", "name") == ""


def test_explain_and_api_resources(kubectl):
    explained = kubectl("explain", "deployment.spec.strategy.rollingUpdate")
    assert "maxSurge" in explained and "maxUnavailable" in explained
    assert "KIND:" in explained and "Deployment" in explained
    assert re.search(r"^\s+containers\s+<\[\](Container|Object)>", kubectl("explain", "pods", "--recursive"), re.M)
    listed = kubectl("api-resources", "-o", "wide")
    assert re.search(r"^deployments +deploy +apps/v1 +true +Deployment +\[?create[ ,]delete", listed, re.M), listed
    assert {"pods", "configmaps"} <= set(kubectl("api-resources", "--namespaced=true", "--verbs=list", "-o", "name").split())
    assert "apps/v1\n" in kubectl("api-versions")


@pytest.mark.parametrize("cascade", ["background", "foreground", "orphan"])
def test_delete(kubectl, server, cascade):
    kubectl("create", "-f", "-", stdin=manifest(deployment()))
    kubectl("delete", "deployment", "web", f"--cascade={cascade}", "--wait=false")
    path = f"/apis/apps/v1/namespaces/{kubectl.namespace}/deployments/web"
    left = server.client.get(path)
    if cascade == "background":
        assert left.code == 404
    else:  # the garbage collector would remove the finalizer, but does not run here
        assert left.json()["metadata"]["finalizers"] == ["foregroundDeletion" if cascade == "foreground" else "orphan"]
        server.client("PATCH", path, body='{"metadata":{"finalizers":null}}', headers={"Content-Type": "application/merge-patch+json"})
    kubectl("create", "configmap", "c")
    kubectl("delete", "cm", "c", "--now")
    kubectl("run", "p", "--image=i")
    kubectl("delete", "pod", "p", "--force", "--grace-period=0")
    kubectl("create", "configmap", "d", "--from-literal=a=b")
    kubectl("delete", "cm", "--all")
    assert kubectl("get", "cm,pods", "-o", "name") == ""

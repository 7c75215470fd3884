"""`apimesh migrate`: the data of the real kube-apiserver, protobuf in the real etcd, is taken over by a mesh."""
import base64
import json
import os
import shutil
import signal
import subprocess

import pytest

import mesh
from raw_etcd import RawEtcd

REFERENCE = os.environ.get("APIMESH_REFERENCE") or shutil.which("kube-apiserver-reference", path=f"{mesh.ROOT}/.venv/bin")
needs_reference = pytest.mark.skipif(REFERENCE is None, reason="no real kube-apiserver: run ./apimesh test, which builds it, or set APIMESH_REFERENCE to a kube-apiserver v1.36")
APIMESH = mesh.BIN / "apimesh"
ENCRYPTION = ("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers:\n"
              f"  - secretbox: {{keys: [{{name: k, secret: {base64.b64encode(b'0123456789abcdef0123456789abcdef').decode()}}}]}}\n")
SELECTOR = {"matchLabels": {"app": "x"}}
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "0.5"}}}]}}
WIDGETS = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
           "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
OBJECTS = {
    "/api/v1/namespaces/default/configmaps": {"data": {"key": "value"}},
    "/api/v1/namespaces/default/secrets": {"stringData": {"password": "secret"}},
    "/api/v1/namespaces/default/services": {"spec": {"ports": [{"port": 80}], "selector": {"app": "x"}}},
    "/api/v1/namespaces/default/events": {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "R", "message": "m"},
    "/apis/apps/v1/namespaces/default/deployments": {"spec": {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE}},
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers": {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "D", "name": "d", "apiVersion": "apps/v1"}}},
    "/apis/rbac.authorization.k8s.io/v1/clusterroles": {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": WIDGETS,
    "/apis/example.com/v1/namespaces/default/widgets": {"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"size": 3}},
}


def migrate(*arguments, **options):
    return subprocess.run([str(APIMESH), "migrate", *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def problems_of(report):
    return {(problem["problem"], problem["resource"]): problem for problem in report["problems"]}


class Source:
    """The etcd of a kube-apiserver that has stopped, and what its clients saw last."""

    def __init__(self, folder, etcd):
        self.encryption = folder / "encryption.yaml"
        self.encryption.write_text(ENCRYPTION)
        self.etcd = mesh.Store(folder / "etcd", binary=etcd)
        server = mesh.KubeApiserver(folder / "reference", self.etcd.url, f"--encryption-provider-config={self.encryption}", binary=REFERENCE).start()
        for path, thing in OBJECTS.items():
            if path.startswith("/apis/example.com"):
                mesh.wait_until(lambda: server.client.answers(path), 30, "widgets are served")
            made = server.client("POST", path, {"metadata": {"name": "migrated"}, **thing})
            assert made.code == 201, made.body
        self.before = {path: server.client.get(path).json() for path in OBJECTS}
        server.stop(signal.SIGKILL)


@pytest.fixture(scope="module")
def source(tmp_path_factory, etcd_path):
    source = Source(tmp_path_factory.mktemp("source"), etcd_path)
    yield source
    source.etcd.stop()


def compare(before, client):
    """Every object is served as before, with its uid, resourceVersion and managedFields."""
    for path, expected in before.items():
        served = {item["metadata"]["name"]: item for item in client.get(path).json()["items"]}
        for item in expected["items"]:
            found = served[item["metadata"]["name"]]
            if found["metadata"]["resourceVersion"] == item["metadata"]["resourceVersion"]:  # not changed by a controller of the mesh since
                assert found == item, path
            assert found["metadata"]["uid"] == item["metadata"]["uid"]
        assert "migrated" in served or path.endswith("customresourcedefinitions")


@needs_reference
def test_a_mesh_serves_the_copied_objects_and_clients_list_again(source, tmp_path):
    folder = tmp_path / "mesh"
    refused = migrate("--from", source.etcd.url, "--dir", folder)
    assert refused.returncode == 1 and "nothing was changed, because 1 objects cannot be read" in refused.stderr, refused.stderr
    assert "1 objects of secrets cannot be read:\n  secrets/default/migrated: " in refused.stdout
    assert [path.name for path in folder.iterdir() if path.name.startswith("data")] == ["data"] and not any((folder / "data").iterdir())

    done = migrate("--from", source.etcd.url, "--dir", folder, "--encryption-provider-config", source.encryption, "--output", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["problems"] == [] and report["protobuf"] > 50 and report["encrypted"] == 1 and report["resources"]["widgets.example.com"] == 1
    assert "--service-cluster-ip-range=10.0.0.0/24" in report["next"] and f"--encryption-provider-config={source.encryption}" in report["next"]

    port, (_, up, *arguments) = mesh.free_port(), report["next"].split()
    started = subprocess.run([str(APIMESH), up, "--detach", "--front-proxy=none", f"--port={port}", *arguments], capture_output=True, text=True, timeout=60)
    assert started.returncode == 0, started.stdout + started.stderr
    try:
        client = mesh.Client(f"https://127.0.0.1:{port}", token=None, cert=(folder / "pki/admin.crt", folder / "pki/admin.key"))
        compare(source.before, client)
        names = subprocess.run([mesh.KUBECTL, f"--kubeconfig={folder}/kubeconfig", f"--cache-dir={tmp_path}/cache", "get", "configmap,secret,deployment,widget", "-o", "name"],
                               capture_output=True, text=True, timeout=60).stdout.split()
        assert {"configmap/migrated", "secret/migrated", "deployment.apps/migrated", "widget.example.com/migrated"} <= set(names)
        path = "/api/v1/namespaces/default/configmaps"
        seen = source.before[path]["metadata"]["resourceVersion"]
        event = json.loads(client.get(f"{path}?watch=true&resourceVersion={seen}").body.splitlines()[0])
        assert (event["type"], event["object"]["code"]) == ("ERROR", 410), "a client that resumes a watch would miss changes"
        assert int(client.get(path).json()["metadata"]["resourceVersion"]) > int(seen) + 10**8
    finally:
        subprocess.run([str(APIMESH), "down", "--dir", str(folder)], check=True, capture_output=True)


@needs_reference
def test_in_place_nothing_is_written(source):
    raw = RawEtcd(source.etcd.url)
    before = raw.revision()
    done = migrate("--from", source.etcd.url, "--in-place", "--encryption-provider-config", source.encryption)
    assert done.returncode == 0, done.stderr
    assert f"Next: ./apimesh up --etcd-servers={source.etcd.url} -- --service-cluster-ip-range=10.0.0.0/24 --encryption-provider-config=" in done.stdout
    assert raw.revision() == before


@needs_reference
@pytest.mark.skipif(not shutil.which("etcdutl", path=f"{mesh.ROOT}/.venv/bin"), reason="needs etcdutl, which ./apimesh test builds")
def test_another_etcd_gets_a_snapshot(source, tmp_path, etcd_path):
    file = tmp_path / "snapshot.db"
    done = migrate("--from", source.etcd.url, "--snapshot", file, "--encryption-provider-config", source.encryption, "-o", "json")
    assert done.returncode == 0, done.stderr
    program, *arguments = json.loads(done.stdout)["next"].replace("=DIR", f"={tmp_path}/etcd").split()
    restored = subprocess.run([f"{mesh.ROOT}/.venv/bin/{program}", *arguments], capture_output=True, text=True, timeout=60)
    assert restored.returncode == 0, restored.stderr
    assert list(tmp_path.glob("snapshot.db*")) == [file]
    etcd = mesh.Store(tmp_path / "etcd", binary=etcd_path)
    server = mesh.KubeApiserver(tmp_path / "server", etcd.url, f"--encryption-provider-config={source.encryption}").start()
    try:
        compare(source.before, server.client)
    finally:
        server.stop()
        etcd.stop()


@pytest.fixture(scope="module")
def foreign(tmp_path_factory, etcd_path):
    """An etcd with objects that nobody can serve, and with those of another program."""
    etcd = mesh.Store(tmp_path_factory.mktemp("foreign") / "etcd", binary=etcd_path)
    raw = RawEtcd(etcd.url)
    config_map = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "good", "namespace": "default"}, "data": {"k": "v" * 1000}}
    raw.put_all((f"/registry/configmaps/default/good-{i}", json.dumps(config_map)) for i in range(3000))
    raw.put("/registry/configmaps/default/bad", "k8s\0nonsense")
    raw.put("/registry/podsecuritypolicy/old", '{"kind":"PodSecurityPolicy","apiVersion":"policy/v1beta1"}')
    raw.put("/registry/example.com/things/default/orphan", '{"kind":"Thing","apiVersion":"example.com/v1"}')
    raw.put("/coreos.com/network/config", "{}")
    yield etcd
    etcd.stop()


def test_every_problem_is_reported(foreign, tmp_path):
    refused = migrate("--from", foreign.url, "--dir", tmp_path / "mesh", "-o", "json")
    assert refused.returncode == 1 and "--accept-problems" in refused.stderr
    report = json.loads(refused.stdout)
    found = problems_of(report)
    assert set(found) == {("unreadable", "configmaps"), ("notServed", "podsecuritypolicy"), ("notServed", "things.example.com")}
    assert found["unreadable", "configmaps"]["examples"][0]["key"] == "configmaps/default/bad"
    assert (report["objects"], report["foreign"]) == (3003, 1)
    accepted = migrate("--from", foreign.url, "--dir", tmp_path / "mesh", "--accept-problems")
    assert accepted.returncode == 0 and "1 keys are not those of the API server" in accepted.stdout, accepted.stderr


def test_an_aborted_migration_leaves_the_data_as_it_was(foreign, tmp_path):
    folder = tmp_path / "mesh"
    assert migrate("--from", foreign.url, "--dir", folder, "--accept-problems").returncode == 0

    def data():
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name not in ("lock.mdb", "lock")}

    before = data()
    for how, leftover in ((signal.SIGTERM, False), (signal.SIGKILL, True)):
        running = subprocess.Popen([str(APIMESH), "migrate", "--from", foreign.url, "--dir", str(folder), "--accept-problems"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        mesh.wait_until(lambda: (folder / "data.migrating").exists() or running.poll() is not None, 20, "the copy begins")
        running.send_signal(how)
        running.communicate(timeout=30)
        assert running.returncode != 0, "the migration was faster than the signal"
        if leftover:  # the next migration removes it, and it is never used
            shutil.rmtree(folder / "data.migrating", ignore_errors=True)
        assert data() == before


def test_mistakes_are_explained(foreign, tmp_path):
    unreachable = migrate("--from", f"http://127.0.0.1:{mesh.free_port()}", "--dir", tmp_path / "mesh")
    assert unreachable.returncode == 1 and "check --from and the certificates" in unreachable.stderr
    prefix = migrate("--from", foreign.url, "--in-place", "--etcd-prefix", "/other")
    assert prefix.returncode == 1 and "no objects with the prefix /other/" in prefix.stderr
    both = migrate("--from", foreign.url, "--in-place", "--snapshot", "x")
    assert both.returncode != 0 and "excludes" in both.stderr

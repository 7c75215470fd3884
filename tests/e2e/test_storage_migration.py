"""Storage versions: objects are moved to a new storage version or encryption key by updates that change nothing, also by those of the real kube-controller-manager."""
import json
import os
import pathlib
import subprocess

import pytest

import mesh
from conversion_webhook import ConversionWebhook, box, definition, group_of
from pki import Pki
from test_encryption import World, configuration, create, keys, replace, value_of, writes_with

REFERENCE = os.environ.get("APIMESH_REFERENCE")
CONTROLLER_MANAGER = os.environ.get("APIMESH_CONTROLLER_MANAGER") or (REFERENCE and str(pathlib.Path(REFERENCE).with_name("kube-controller-manager")))
needs_controllers = pytest.mark.skipif(not CONTROLLER_MANAGER or not os.path.exists(CONTROLLER_MANAGER),
                                       reason="no kube-controller-manager v1.36: set APIMESH_CONTROLLER_MANAGER")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MIGRATIONS = "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations"
SWAP = [{"op": "replace", "path": f"/spec/versions/{i}/storage", "value": i == 1} for i in (0, 1)]


@pytest.fixture
def world(tmp_path, etcd_path):
    world = World(tmp_path, etcd_path)
    yield world
    world.stop()


@pytest.fixture
def webhook(tmp_path):
    made = ConversionWebhook(Pki(tmp_path / "webhook"))
    yield made
    made.stop()


def path(plural, version, name=""):
    return f"/apis/{group_of(plural)}/{version}/namespaces/default/{plural}" + (f"/{name}" if name else "")


def define(server, webhook, plural, strategy):
    crd = definition(plural, {"url": webhook.url(), "caBundle": webhook.ca_bundle()})
    if strategy == "None":
        del crd["spec"]["conversion"]
        for version in crd["spec"]["versions"]:
            version["schema"]["openAPIV3Schema"]["properties"]["spec"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    made = server.client("POST", CRDS, crd)
    assert made.code == 201, made.body
    mesh.wait_until(lambda: server.client.get(path(plural, "v1")).code == 200, 20, "the definition is served")


def stored_version(world, plural, name):
    return json.loads(world.raw.get(f"/registry/{group_of(plural)}/{plural}/default/{name}"))["apiVersion"].split("/")[1]


def use_v2(server, plural):
    """Makes v2 the storage version, and waits until new objects are stored in it."""
    crd = f"{CRDS}/{plural}.{group_of(plural)}"
    before = discovery_hash(server, plural)
    assert server.client("PATCH", crd, SWAP, headers={"Content-Type": "application/json-patch+json"}).code == 200
    mesh.wait_until(lambda: discovery_hash(server, plural) != before, 20, "the new storage version is in use")
    assert server.client.get(crd).json()["status"]["storedVersions"] == ["v1", "v2"]


def discovery_hash(server, plural):
    found = server.client.get(f"/apis/{group_of(plural)}/v1").json()["resources"]
    return next(one["storageVersionHash"] for one in found if one["name"] == plural)


@pytest.mark.parametrize("strategy", ["None", "Webhook"])
def test_an_update_that_changes_nothing_moves_an_object(world, webhook, strategy):
    world.file.write_text(configuration("identity: {}"))
    server = world.start()
    define(server, webhook, "boxes", strategy)
    assert server.client("POST", path("boxes", "v1"), box("boxes", "a")).code == 201
    use_v2(server, "boxes")
    assert stored_version(world, "boxes", "a") == "v1"
    before = server.client.get(path("boxes", "v1", "a")).json()
    moved = server.client("PUT", path("boxes", "v1", "a"), before).json()
    assert stored_version(world, "boxes", "a") == "v2"
    assert moved["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]
    before["spec"].pop("defaultv1", None)  # the webhook removes what the other version does not have
    assert moved["spec"] == before["spec"]
    assert moved["metadata"]["generation"] == before["metadata"]["generation"]
    # In versions with different defaults the second update is written, too, as in kube-apiserver: v1 gets its default again, which the webhook removes.
    if strategy == "None":
        again = server.client("PUT", path("boxes", "v1", "a"), moved).json()
        assert again["metadata"]["resourceVersion"] == moved["metadata"]["resourceVersion"]


@needs_controllers
def test_kube_controller_manager_migrates(world, webhook):
    """Its storage version migrator moves custom resources to another version, and secrets to another key."""
    world.file.write_text(configuration(f"aesgcm: {keys('k1')}"))
    server = world.start("--encryption-provider-config-automatic-reload=true", "--runtime-config=storagemigration.k8s.io/v1beta1=true",
                         "--feature-gates=StorageVersionMigrator=true")
    for plural, strategy in (("plains", "None"), ("hooked", "Webhook")):
        define(server, webhook, plural, strategy)
        for i in range(5):
            assert server.client("POST", path(plural, "v1"), box(plural, f"b{i}")).code == 201
        use_v2(server, plural)
    for i in range(5):
        create(server, f"s{i}")
    replace(world.file, configuration(f"aesgcm: {keys('k2', 'k1')}"))
    mesh.wait_until(lambda: writes_with(world, server, "k2"), 30, "writes use the new key")
    for name, group, resource in (("plains", group_of("plains"), "plains"), ("hooked", group_of("hooked"), "hooked"), ("secrets", "", "secrets")):
        made = server.client("POST", MIGRATIONS, {"apiVersion": "storagemigration.k8s.io/v1beta1", "kind": "StorageVersionMigration", "metadata": {"name": name},
                                                  "spec": {"resource": {"group": group, "resource": resource}}})
        assert made.code == 201, made.body
    log = world.folder / "controllers.log"
    controllers = subprocess.Popen([CONTROLLER_MANAGER, f"--kubeconfig={server.kubeconfig()}", "--leader-elect=false", "--feature-gates=StorageVersionMigrator=true",
                                    "--controllers=garbage-collector-controller,storage-version-migrator-controller", "--secure-port=0"],
                                   stdout=open(log, "wb"), stderr=subprocess.STDOUT)
    try:
        mesh.wait_until(lambda: all(succeeded(server, name) for name in ("plains", "hooked", "secrets")), 150, "the migrations succeed")
    finally:
        controllers.terminate()
        controllers.wait(20)
    for i in range(5):
        assert stored_version(world, "plains", f"b{i}") == "v2" and stored_version(world, "hooked", f"b{i}") == "v2"
        assert world.stored(f"s{i}").startswith(b"k8s:enc:aesgcm:v1:k2:") and value_of(server, f"s{i}") == "plain as day"
    # Now the old version can be removed from the definition.
    crd = f"{CRDS}/plains.{group_of('plains')}"
    done = server.client("PATCH", f"{crd}/status", {"status": {"storedVersions": ["v2"]}}, headers={"Content-Type": "application/merge-patch+json"})
    assert done.code == 200, done.body
    removed = server.client("PATCH", crd, [{"op": "remove", "path": "/spec/versions/0"}], headers={"Content-Type": "application/json-patch+json"})
    assert removed.code == 200, removed.body
    assert len(server.client.get(path("plains", "v2")).json()["items"]) == 5


def succeeded(server, name):
    conditions = server.client.get(f"{MIGRATIONS}/{name}").json().get("status", {}).get("conditions", [])
    assert not [one for one in conditions if one["type"] == "Failed" and one["status"] == "True"], conditions
    return any(one["type"] == "Succeeded" and one["status"] == "True" for one in conditions)

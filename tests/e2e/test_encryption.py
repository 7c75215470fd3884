"""Encryption at rest: the contents of etcd, key rotation, damaged values, KMS v2, and the real kube-apiserver with the same data."""
import base64
import json
import os
import shutil
import signal
import subprocess
import time

import pytest

import mesh
from raw_etcd import RawEtcd

REFERENCE = os.environ.get("APIMESH_REFERENCE") or shutil.which("kube-apiserver-reference", path=f"{mesh.ROOT}/.venv/bin")
needs_reference = pytest.mark.skipif(REFERENCE is None, reason="no real kube-apiserver: run ./apimesh test, which builds it, or set APIMESH_REFERENCE to a kube-apiserver v1.36")
SECRETS = "/api/v1/namespaces/default/secrets"
KEYS = {"k1": "0123456789abcdef0123456789abcdef", "k2": "fedcba9876543210fedcba9876543210"}


def keys(*names):
    return "{keys: [" + ", ".join(f"{{name: {name}, secret: {base64.b64encode(KEYS[name].encode()).decode()}}}" for name in names) + "]}"


def configuration(*providers, resources="secrets"):
    return ("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
            f"- resources: ['{resources}']\n  providers: [{', '.join('{' + provider + '}' for provider in providers)}]\n")


def replace(path, text):
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


def secret(name, value="plain as day"):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"key": value}}


def create(server, name, value="plain as day"):
    made = server.client("POST", SECRETS, secret(name, value))
    assert made.code == 201, made.body
    return made.json()


def value_of(server, name):
    got = server.client.get(f"{SECRETS}/{name}")
    assert got.code == 200, got.body
    return base64.b64decode(got.json()["data"]["key"]).decode()


class World:
    """An etcd, a configuration file, and the servers that use them."""

    def __init__(self, folder, etcd_path):
        self.folder, self.file, self.servers = folder, folder / "encryption.yaml", []
        self.etcd = mesh.Store(folder / "etcd", binary=etcd_path)
        self.raw = RawEtcd(self.etcd.url)

    def start(self, *extra, name="ours", binary=None):
        server = mesh.KubeApiserver(self.folder / name, self.etcd.url, f"--encryption-provider-config={self.file}", *extra, binary=binary)
        self.servers.append(server.start())
        return server

    def stored(self, name):
        return self.raw.get(f"/registry/secrets/default/{name}")

    def stop(self):
        for server in self.servers:
            server.stop(signal.SIGKILL if server.process.poll() is None and "reference" in str(server.folder) else signal.SIGTERM)
        self.etcd.stop()


@pytest.fixture
def world(tmp_path, etcd_path):
    world = World(tmp_path, etcd_path)
    yield world
    world.stop()


@pytest.mark.parametrize("provider", ["aescbc", "aesgcm", "secretbox"])
def test_etcd_holds_no_plain_text(world, provider):
    world.file.write_text(configuration(f"{provider}: {keys('k1')}", "identity: {}"))
    server = world.start()
    create(server, "sealed")
    stored = world.stored("sealed")
    assert stored.startswith(f"k8s:enc:{provider}:v1:k1:".encode()) and b"plain" not in stored and b"sealed" not in stored
    assert value_of(server, "sealed") == "plain as day"
    server.client("POST", "/api/v1/namespaces/default/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "open"}})
    assert world.raw.get("/registry/configmaps/default/open").startswith(b"{"), "only secrets may be encrypted"


def test_everything_is_sealed_by_a_wildcard(world):
    """A wildcard covers the objects of all three servers: built-in kinds, CRDs and custom resources, APIServices."""
    world.file.write_text(configuration(f"secretbox: {keys('k1')}", resources="*.*"))
    server = world.start()
    foos = mesh.serve_foos(server)
    assert server.client("POST", foos, {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}, "text": "plain"}).code == 201
    create(server, "a")
    pairs = world.raw.pairs("/registry/")
    for key in ("/registry/secrets/default/a", "/registry/example.com/foos/default/a", "/registry/apiextensions.k8s.io/customresourcedefinitions/foos.example.com",
                "/registry/apiregistration.k8s.io/apiservices/v1.example.com"):
        assert pairs[key].startswith(b"k8s:enc:secretbox:v1:k1:"), key
    assert not [key for key, value in pairs.items() if value and not value.startswith(b"k8s:enc:")]
    server.stop()
    again = world.start(name="again")  # reads and decrypts all of it
    assert value_of(again, "a") == "plain as day" and again.client.get(f"{foos}/a").json()["text"] == "plain"


def writes_with(world, server, key):
    """Returns whether a new secret is encrypted with this key."""
    server.client("DELETE", f"{SECRETS}/probe")
    create(server, "probe")
    return world.stored("probe").startswith(f"k8s:enc:aesgcm:v1:{key}:".encode())


def test_keys_are_rotated_without_a_restart(world):
    world.file.write_text(configuration(f"aesgcm: {keys('k1')}"))
    server = world.start("--encryption-provider-config-automatic-reload=true")
    create(server, "old")
    replace(world.file, configuration(f"aesgcm: {keys('k2', 'k1')}"))
    mesh.wait_until(lambda: writes_with(world, server, "k2"), 30, "writes use the new key")
    assert world.stored("old").startswith(b"k8s:enc:aesgcm:v1:k1:") and value_of(server, "old") == "plain as day"
    # The usual step after a rotation: all secrets are written again without a change.
    assert server.client("PUT", f"{SECRETS}/old", server.client.get(f"{SECRETS}/old").json()).code == 200
    assert world.stored("old").startswith(b"k8s:enc:aesgcm:v1:k2:")
    # A file that is invalid or has no key changes nothing.
    replace(world.file, configuration("aesgcm: {keys: []}"))
    mesh.wait_until(lambda: "error processing encryption config" in server.log.read_text(), 30, "the log reports the error of the file")
    assert value_of(server, "old") == "plain as day" and writes_with(world, server, "k2")
    ready = server.client.get("/readyz?verbose").body
    assert "[+]kms-providers ok" in ready and "[+]poststarthook/start-encryption-provider-config-automatic-reload ok" in ready


@pytest.mark.parametrize("text, complaint", [
    ("resources: [", "error decoding encryption provider configuration file"),
    ("", "is empty"),
    (configuration("aesgcm: {keys: [{name: k, secret: YWJj}]}"), "secret is not of the expected length"),
    (configuration("rot13: {}"), "rot13"),
])
def test_a_wrong_file_ends_the_start(world, text, complaint):
    world.file.write_text(text)
    server = mesh.KubeApiserver(world.folder / "refused", world.etcd.url, f"--encryption-provider-config={world.file}").start(wait=False)
    assert server.process.wait(20) == 1
    assert complaint in server.log.read_text(), server.log.read_text()[-2000:]


def test_reload_needs_a_file(world):
    server = mesh.KubeApiserver(world.folder / "refused", world.etcd.url, "--encryption-provider-config-automatic-reload=true").start(wait=False)
    assert server.process.wait(20) == 1
    assert "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config" in server.log.read_text()


def test_a_flipped_bit(world):
    world.file.write_text(configuration(f"aesgcm: {keys('k1')}"))
    audit, policy = world.folder / "audit.log", world.folder / "audit.yaml"
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata, verbs: [delete]}]\n")
    server = world.start(f"--audit-policy-file={policy}", f"--audit-log-path={audit}")
    for name in ("broken", "whole"):
        create(server, name)
    key = "/registry/secrets/default/broken"
    stored = world.raw.get(key)
    world.raw.put(key, stored[:-1] + bytes([stored[-1] ^ 1]))

    got = mesh.wait_until(lambda: (answer := server.client.get(f"{SECRETS}/broken")).code != 200 and answer, 10, "the object can't be read")
    assert got.code == 500 and key in got.json()["message"] and "plain" not in got.body
    listed = server.client.get(SECRETS)
    assert listed.code == 200 and [item["metadata"]["name"] for item in listed.json()["items"]] == ["whole"]
    assert "1 stored object(s) cannot be read and are missing from this list: default/broken" in listed.headers["Warning"]
    assert server.client.get("/api/v1/namespaces/kube-system/secrets").headers["Warning"] is None, "a list without damaged objects has a warning"

    # Deleting an unreadable object requires a permission and an explicit option.
    assert server.client("DELETE", f"{SECRETS}/broken").code == 500
    unsafe = "?ignoreStoreReadErrorWithClusterBreakingPotential=true"
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "deleter"},
            "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["delete"]}]}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "deleter"},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "deleter"}, "subjects": [{"kind": "User", "name": "someone"}]}
    for kind, thing in (("clusterroles", role), ("clusterrolebindings", binding)):
        assert server.client("POST", f"/apis/rbac.authorization.k8s.io/v1/{kind}", thing).code == 201
    someone = {"Impersonate-User": "someone"}
    mesh.wait_until(lambda: server.client("DELETE", f"{SECRETS}/nothing", headers=someone).code == 404, 10, "someone may delete secrets")
    refused = server.client("DELETE", f"{SECRETS}/broken{unsafe}", headers=someone)
    assert refused.code == 403 and 'secrets "broken" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors"' in refused.json()["message"]
    role["rules"][0]["verbs"].append("unsafe-delete-ignore-read-errors")
    assert server.client("PUT", "/apis/rbac.authorization.k8s.io/v1/clusterroles/deleter", role).code == 200
    mesh.wait_until(lambda: server.client("DELETE", f"{SECRETS}/broken{unsafe}&dryRun=All", headers=someone).code == 200, 10, "the user may ignore read errors")

    wrong = server.client("DELETE", f"{SECRETS}/broken{unsafe}&gracePeriodSeconds=0", headers=someone)
    assert wrong.code == 422 and "cannot be set together with .gracePeriodSeconds" in wrong.json()["message"]
    assert server.client("DELETE", f"{SECRETS}{unsafe}").code == 422, "the option must be rejected for collections"
    assert server.client("DELETE", f"{SECRETS}/whole{unsafe}&dryRun=All", headers=someone).code == 200
    assert server.client("DELETE", f"{SECRETS}/whole{unsafe}", headers=someone).code == 200, "the option has no effect on a readable object, as in kube-apiserver"
    assert server.client("DELETE", f"{SECRETS}/broken{unsafe}&dryRun=All", headers=someone).code == 200 and world.raw.get(key)
    gone = server.client("DELETE", f"{SECRETS}/broken{unsafe}", headers=someone)
    assert gone.code == 200 and gone.json()["status"] == "Success", gone.body
    assert world.raw.get(key) is None and server.client.get(f"{SECRETS}/broken").code == 404
    assert server.client.get(SECRETS).headers["Warning"] is None
    assert gone.headers.get("x-apimesh-audit-annotation") is None, "headers of the mesh must not reach clients"

    def attempts():  # one entry per attempt, as in kube-apiserver, written after the response
        events = [json.loads(line) for line in audit.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [(event["responseStatus"]["code"], event["annotations"]["authorization.k8s.io/decision"]) for event in events
                if event["annotations"].get("apiserver.k8s.io/unsafe-delete-ignore-read-error") == ""]

    mesh.wait_until(lambda: (200, "allow") in attempts()[-1:] and (403, "allow") in attempts(), 5, "the audit log has the attempts")
    assert 422 not in dict(attempts()) and 404 not in dict(attempts()), "only attempts with a valid option have the annotation"


@needs_reference
@pytest.mark.parametrize("provider", ["aescbc", "aesgcm", "secretbox"])
def test_kube_apiserver_reads_ours_and_we_read_its(world, provider):
    world.file.write_text(configuration(f"{provider}: {keys('k1')}"))
    ours, theirs = world.start(), world.start(name="reference", binary=REFERENCE)
    create(ours, "by-us", "from apimesh")
    create(theirs, "by-them", "from kube-apiserver")
    prefix = f"k8s:enc:{provider}:v1:k1:".encode()
    assert world.stored("by-us").startswith(prefix) and world.stored("by-them").startswith(prefix)
    assert value_of(theirs, "by-us") == "from apimesh" and value_of(ours, "by-them") == "from kube-apiserver"
    for server, name in ((ours, "by-them"), (theirs, "by-us")):  # each server can change the secrets of the other
        assert server.client("PATCH", f"{SECRETS}/{name}", {"stringData": {"key": "changed"}}, headers={"Content-Type": "application/merge-patch+json"}).code == 200
    assert value_of(theirs, "by-them") == value_of(ours, "by-us") == "changed"


class KmsPlugin:
    def __init__(self, folder):
        self.socket, self.key_file = folder / "kms.sock", folder / "kms.key"
        self.key_file.write_text("first-key")
        self.process = None

    def start(self):
        self.socket.unlink(missing_ok=True)
        self.process = subprocess.Popen([mesh.BIN / "test-kms-plugin", self.socket, self.key_file])
        mesh.wait_until(self.socket.exists, 10, "the plugin listens")

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def plugin(tmp_path_factory):
    plugin = KmsPlugin(tmp_path_factory.mktemp("kms"))
    plugin.start()
    yield plugin
    plugin.stop()


def kms(plugin):
    return configuration(f"kms: {{apiVersion: v2, name: p, endpoint: 'unix://{plugin.socket}', timeout: 1s}}")


def test_kms_keys_and_health(world, plugin):
    world.file.write_text(kms(plugin))
    server = world.start()
    create(server, "sealed")
    stored = world.stored("sealed")
    assert stored.startswith(b"k8s:enc:kms:v2:p:") and b"plain" not in stored
    assert server.client.answers("/readyz/kms-providers") and server.client.answers("/healthz/kms-providers")
    assert server.client.get("/livez/kms-providers").code == 404, "livez must not contain the check, because a restart would not repair the plugin"
    # A new server decrypts the seed with the plugin. Without the plugin it waits and is not ready.
    server.stop()
    plugin.stop()
    again = mesh.KubeApiserver(world.folder / "again", world.etcd.url, f"--encryption-provider-config={world.file}").start(wait=False)
    world.servers.append(again)
    # As in kube-apiserver, /livez also waits for the hooks that run after the start; they need the store.
    mesh.wait_until(lambda: again.client.answers("/livez/ping"), 20, "the server is alive")
    assert again.client.get("/readyz/kms-providers").code == 500 and again.client.get("/readyz").code == 500
    plugin.start()
    mesh.wait_until(lambda: again.client.answers("/readyz"), 30, "the server is ready after the restart of the plugin")
    assert value_of(again, "sealed") == "plain as day"


def test_a_new_key_of_the_kms(world, plugin):
    """The server requests the status of the plugin every minute. A new key id causes a new seed. Objects of the old seed stay readable, and are encrypted
    with the new one when they are written."""
    world.file.write_text(kms(plugin))
    server = world.start()
    for name in ("old", "untouched"):
        create(server, name)
    before = world.stored("old")
    assert b"first-key" in before
    plugin.key_file.write_text("second-key")
    number = iter(range(1000))

    def sealed_anew():
        name = f"new{next(number)}"
        create(server, name)
        return b"second-key" in world.stored(name) or time.sleep(2)

    mesh.wait_until(sealed_anew, 90, "new objects are encrypted with the new key")
    assert b"first-key" not in world.stored(f"new{next(number) - 1}"), "a new object still refers to the old key"
    assert value_of(server, "old") == "plain as day" and world.stored("old") == before
    old = server.client.get(f"{SECRETS}/old").json()
    again = server.client("PUT", f"{SECRETS}/old", old)  # an unchanged object is written, because its key is old
    assert again.code == 200 and again.json()["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"], again.body
    assert b"second-key" in world.stored("old") and b"first-key" not in world.stored("old")
    third = server.client("PUT", f"{SECRETS}/old", again.json())
    assert third.json()["metadata"]["resourceVersion"] == again.json()["metadata"]["resourceVersion"], "an unchanged object with the current key is not written"
    server.stop()
    other = world.start(name="other")  # has no seed and decrypts both with the plugin
    assert value_of(other, "old") == value_of(other, "untouched") == "plain as day"
    assert b"first-key" in world.stored("untouched")


@needs_reference
def test_kms_with_kube_apiserver(world, plugin):
    world.file.write_text(kms(plugin))
    ours, theirs = world.start(), world.start(name="reference", binary=REFERENCE)
    create(ours, "by-us", "from apimesh")
    create(theirs, "by-them", "from kube-apiserver")
    assert world.stored("by-us").startswith(b"k8s:enc:kms:v2:p:") and world.stored("by-them").startswith(b"k8s:enc:kms:v2:p:")
    assert value_of(theirs, "by-us") == "from apimesh" and value_of(ours, "by-them") == "from kube-apiserver"
    for server in (ours, theirs):
        assert server.client.get("/healthz/kms-providers").body == "ok"

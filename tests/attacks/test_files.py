"""Other users of the machine try to read keys, tokens and secrets in the files of the mesh. Every test runs with umask 0, so that only the
modes that the processes request protect the files."""
import json
import os
import pathlib
import stat
import subprocess

import pytest

import mesh

PUBLIC = (".crt", ".pub")  # certificates and public keys
POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]\n"


@pytest.fixture(autouse=True)
def no_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def open_to_others(folder):
    """Returns {path: mode} of the folder and everything in it that the group or others can access. Symbolic links are skipped: their mode has
    no effect."""
    paths = [path for path in (pathlib.Path(folder), *pathlib.Path(folder).rglob("*")) if not path.is_symlink()]
    return {str(path): oct(mode(path)) for path in paths if mode(path) & 0o077 and path.suffix not in PUBLIC}


def find_envoy():
    return os.environ.get("APIMESH_ENVOY") or mesh.shutil.which("envoy")


@pytest.mark.parametrize("front_proxy", ["none", "envoy"])
def test_nothing_that_up_writes_is_for_others(tmp_path, front_proxy):
    """Attack: read keys, the kubeconfig, logs, the store or the sockets of `apimesh up` as another user.

    Expected: folders are 0700 and files 0600; only certificates and the public key of tokens may be readable. Readable logs of an earlier
    version are changed to 0600. Why: logs contain users and objects, and the store contains every Secret."""
    if front_proxy == "envoy" and not find_envoy():
        pytest.skip("Envoy is not installed; run ./apimesh deps")
    folder, port = tmp_path / "mesh", mesh.free_port()
    (folder / "logs").mkdir(parents=True, mode=0o755)
    old = folder / "logs/aggregator.log"
    old.write_text("")
    old.chmod(0o644)
    folder.chmod(0o700)

    def apimesh(*arguments):
        return subprocess.run([mesh.BIN / "apimesh", *arguments, "--dir", folder], capture_output=True, text=True, timeout=60)

    up = apimesh("up", "--detach", "--port", str(port), "--front-proxy", front_proxy)
    try:
        assert up.returncode == 0, up.stdout + up.stderr
        pki = folder / "pki"
        assert mesh.Client(f"https://127.0.0.1:{port}", token=None, cert=(pki / "admin.crt", pki / "admin.key")).get("/api/v1/secrets").code == 200
        assert {"store.log", "launcher.log", "aggregator.log"} <= {path.name for path in (folder / "logs").iterdir()}
        assert open_to_others(folder) == {}
        sockets = {pathlib.Path(process["listens"][5:]).parent for process in json.loads(apimesh("status", "--json").stdout)["processes"]
                   if process["listens"].startswith("unix:")}
        assert sockets
        for socket_folder in sockets:
            assert open_to_others(socket_folder) == {}
    finally:
        apimesh("down")


def test_nothing_that_pki_writes_is_for_others(tmp_path):
    """Attack: read the keys that `apimesh pki` creates for the processes of a mesh as another user.

    Expected: as above; the configuration of Envoy, which has no secrets, may be readable. Why: a key of the mesh is the identity of a process."""
    folder = tmp_path / "deep/pki"
    subprocess.run([mesh.BIN / "apimesh", "pki", "--dir", folder, "--name", "core-api"], check=True, capture_output=True, timeout=60)
    assert list(folder.rglob("*.key"))
    assert set(open_to_others(folder)) <= {path for path in map(str, folder.rglob("envoy*.json"))}
    assert mode(folder.parent) == 0o700


def test_nothing_that_the_store_writes_is_for_others(tmp_path):
    """Attack: read the data of the store or a snapshot of it as another user.

    Expected: as with etcd, folders are 0700 and files 0600. Why: they contain every Secret."""
    store = mesh.Store(tmp_path / "data")
    try:
        server = mesh.KubeApiserver(tmp_path / "server", store.url).start()
        server.client("POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}})
        server.stop()
        snapshot = tmp_path / "snapshot.db"
        save = subprocess.run([mesh.BIN / "store", "snapshot", "save", snapshot, "--endpoints", store.url], capture_output=True, text=True, timeout=60)
        assert save.returncode == 0, save.stderr
        assert mode(snapshot) == 0o600
        restored = tmp_path / "restored"
        subprocess.run([mesh.BIN / "store", "snapshot", "restore", snapshot, "--data-dir", restored], check=True, capture_output=True, timeout=60)
        assert open_to_others(restored) == {}
        assert (store.folder / "base/data.mdb").exists()
        assert open_to_others(store.folder) == {}
    finally:
        store.stop()


def test_self_signed_key_is_for_its_owner(own_server):
    """Attack: read the key of the self-signed serving certificate as another user. Expected: 0600, as in kube-apiserver; the certificate is
    public. Why: with the key, an attacker can impersonate the server."""
    assert mode(own_server.folder / "certs/apiserver.key") == 0o600
    assert mode(own_server.folder / "certs/apiserver.crt") == 0o644


def write_much(server, megabytes):
    for i in range(megabytes * 4):
        body = {"metadata": {"name": f"large-{i}"}, "data": {"text": "x" * 300_000}}
        assert server.client("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", body).code == 201


@pytest.mark.parametrize("existing", [None, 0o640], ids=["new", "existing"])
def test_audit_log_is_for_its_owner(tmp_path, existing):
    """Attack: read requests and responses in the audit log, or in a rotated file, as another user.

    Expected: the file and rotated files are 0600, missing folders are 0700. A file that the operator created with another mode, for example for
    the group of a log collector, keeps that mode, as does the next file after a rotation. kube-apiserver does the same. Why: audit events
    contain the bodies of requests."""
    policy, log = tmp_path / "policy.yaml", tmp_path / "audit/logs/audit.log"
    policy.write_text(POLICY)
    if existing:
        log.parent.mkdir(parents=True)
        log.touch()
        log.chmod(existing)
    store = mesh.Store(tmp_path / "store")
    server = mesh.KubeApiserver(tmp_path / "server", store.url, f"--audit-policy-file={policy}", f"--audit-log-path={log}", "--audit-log-maxsize=1").start()
    try:
        write_much(server, 2)
        files = mesh.wait_until(lambda: len(found := list(log.parent.iterdir())) > 1 and found, 10, "the audit log is rotated")
        assert {mode(path) for path in files} == {existing or 0o600}
        if not existing:
            assert (mode(log.parent), mode(log.parent.parent)) == (0o700, 0o700)
    finally:
        server.stop()
        store.stop()

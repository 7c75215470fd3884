"""`apimesh up`: the whole mesh with its store and Envoy, as a new user starts it."""
import json
import os
import signal
import subprocess

import pytest

import mesh

APIMESH = mesh.BIN / "apimesh"


def find_envoy():
    return os.environ.get("APIMESH_ENVOY") or mesh.shutil.which("envoy")


class Up:
    def __init__(self, folder, front_proxy):
        self.folder, self.port = folder, mesh.free_port()
        run = self.run("up", "--detach", "--port", str(self.port), "--front-proxy", front_proxy)
        assert run.returncode == 0, run.stdout + run.stderr + self.logs()

    def run(self, *arguments, **kw):
        return subprocess.run([str(APIMESH), *arguments, "--dir", str(self.folder)], capture_output=True, text=True, timeout=60, **kw)

    def logs(self):
        return "".join(f"--- {p.name}\n{p.read_text()[-2000:]}" for p in sorted(self.folder.glob("logs/*.log")))

    def kubectl(self, *arguments, stdin=None):
        run = subprocess.run([mesh.KUBECTL, f"--kubeconfig={self.folder}/kubeconfig", f"--cache-dir={self.folder}/cache", *arguments],
                             capture_output=True, text=True, timeout=90, input=stdin)
        assert run.returncode == 0, run.stdout + run.stderr + self.logs()
        return run.stdout

    def client(self):
        pki = self.folder / "pki"
        return mesh.Client(f"https://127.0.0.1:{self.port}", token=None, cert=(pki / "admin.crt", pki / "admin.key"))


@pytest.fixture(params=["none", "envoy"])
def up(request, tmp_path):
    if request.param == "envoy":
        assert find_envoy(), "no Envoy: ./apimesh deps installs it"
    up = Up(tmp_path / "mesh", request.param)
    yield up
    assert up.run("down").returncode == 0


def test_kubectl_works_with_the_kubeconfig(up):
    assert "default" in up.kubectl("get", "namespaces", "-o", "name")
    up.kubectl("create", "configmap", "hello", "--from-literal=a=b")
    assert json.loads(up.kubectl("get", "configmap", "hello", "-o", "json"))["data"] == {"a": "b"}


def test_status_says_what_is_up(up):
    status = json.loads(up.run("status", "--json").stdout)
    assert status["ready"]
    names = {process["name"] for process in status["processes"] if process["running"]}
    assert {"store", *mesh.SERVICES} <= names


def test_nothing_is_lost_by_down_and_up(tmp_path):
    up = Up(tmp_path / "mesh", "none")
    up.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    assert up.run("down").returncode == 0
    again = Up(tmp_path / "mesh", "none")
    try:
        assert again.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}") == "b"
    finally:
        assert again.run("down").returncode == 0


def test_second_up_in_the_same_folder_is_refused(up):
    second = up.run("up", "--port", str(mesh.free_port()), "--front-proxy", "none")
    assert second.returncode == 1 and "already runs" in second.stderr


def test_clients_can_not_forge_identity(up):
    """XFCC and identity headers count only on the port that demands Envoy's certificate."""
    headers = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters",
               "X-Forwarded-Client-Cert": 'By=x;Hash=y;Subject="O=system:masters,CN=admin"'}
    stranger = mesh.Client(f"https://127.0.0.1:{up.port}", token=None)
    assert stranger.get("/api/v1/namespaces", headers=headers).code == 403


def test_envoy_speaks_h2(tmp_path):
    assert find_envoy(), "no Envoy: ./apimesh deps installs it"
    up = Up(tmp_path / "mesh", "envoy")
    try:
        pki = up.folder / "pki"
        run = subprocess.run(["curl", "-sk", "--http2", "--cert", pki / "admin.crt", "--key", pki / "admin.key", "-o", "/dev/null", "-w",
                              "%{http_version} %{http_code}", f"https://127.0.0.1:{up.port}/api/v1/namespaces"], capture_output=True, text=True)
        assert run.stdout == "2 200"
        # Envoy itself is restarted too.
        before = {p["name"]: p["pid"] for p in json.loads(up.run("status", "--json").stdout)["processes"]}
        os.kill(before["envoy"], signal.SIGKILL)
        mesh.wait_until(lambda: up.client().answers("/readyz"), 5, "Envoy is back")
    finally:
        assert up.run("down").returncode == 0


def test_nodes_are_restricted(up):
    """The Node authorizer is on, so NodeRestriction has to be."""
    node = {"Impersonate-User": "system:node:n1", "Impersonate-Group": "system:nodes"}
    body = {"metadata": {"name": "p"}, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}],
                                                "volumes": [{"name": "v", "secret": {"secretName": "s"}}]}}
    answer = up.client()("POST", "/api/v1/namespaces/default/pods", body, node)
    assert answer.code == 403 and 'node "n1" can only create mirror pods' in answer.json()["message"]

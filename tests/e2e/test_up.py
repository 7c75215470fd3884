"""`apimesh up`: the complete mesh with its store and Envoy, as a new user starts it."""
import json
import os
import shutil
import signal
import ssl
import subprocess
import tempfile

import pytest

import mesh

APIMESH = mesh.BIN / "apimesh"


def find_envoy():
    return os.environ.get("APIMESH_ENVOY") or mesh.shutil.which("envoy")


class Up:
    def __init__(self, folder, front_proxy, *arguments):
        self.folder, self.port = folder, mesh.free_port()
        run = self.run("up", "--detach", "--port", str(self.port), "--front-proxy", front_proxy, *arguments)
        assert run.returncode == 0, run.stdout + run.stderr + self.logs()

    def run(self, *arguments, **kw):
        end = arguments.index("--") if "--" in arguments else len(arguments)
        command = [*arguments[:end], "--dir", str(self.folder), *arguments[end:]]
        return subprocess.run([str(APIMESH), *command], capture_output=True, text=True, timeout=90, **kw)

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
        assert find_envoy(), "Envoy is not installed; run ./apimesh deps"
    up = Up(tmp_path / "mesh", request.param)
    yield up
    assert up.run("down").returncode == 0


def test_kubectl_works_with_the_kubeconfig(up):
    assert "default" in up.kubectl("get", "namespaces", "-o", "name")
    up.kubectl("create", "configmap", "hello", "--from-literal=a=b")
    assert json.loads(up.kubectl("get", "configmap", "hello", "-o", "json"))["data"] == {"a": "b"}


def test_top_shows_the_load_of_processes_and_groups(up):
    client = up.client()
    with subprocess.Popen([str(APIMESH), "top", "--dir", str(up.folder), "--json", "--interval", "1"], stdout=subprocess.PIPE, text=True) as top:
        def load_with_requests():
            client.get("/api/v1/namespaces/default/configmaps")
            load = json.loads(top.stdout.readline())
            return load if any(group["group"] == "core" and group["requestsPerSecond"] > 0 for group in load["groups"]) else None
        load = mesh.wait_until(load_with_requests, 30, "the requests are shown")
        top.send_signal(signal.SIGINT)
        assert top.wait(10) == 0
    assert {"core-api", "aggregator", "store"} <= {process["name"] for process in load["processes"] if process["rssKilobytes"] > 0}
    assert "GROUP" in up.run("top", "--once", "--interval", "1").stdout


def test_status_says_what_is_up(up):
    status = json.loads(up.run("status", "--json").stdout)
    assert status["ready"]
    names = {process["name"] for process in status["processes"] if process["running"]}
    assert {"store", *mesh.SERVICES} <= names


def test_doctor_says_what_is_wrong(up):
    findings = json.loads(up.run("doctor", "--json").stdout)
    assert not [finding for finding in findings if finding["level"] == "problem"]
    assert {"mesh", "API", "certificates", "webhooks", "clock", "disk", "space", "memory", "files", "kernel", "programs"} == {finding["subject"] for finding in findings}
    (up.folder / "pki" / "old.crt").write_text("no certificate")
    run = up.run("doctor")
    assert run.returncode == 1 and "old.crt has expired or can't be read" in run.stdout and "Restart the mesh" in run.stdout


def test_certificates_are_rotated_while_the_mesh_runs(up):
    """The server presents the new certificate without a restart, and clients with the old and the new kubeconfig are accepted."""
    old_admin = (up.folder / "pki" / "admin.crt").read_text()
    before = {file["file"] for file in json.loads(up.run("certs", "show", "--json").stdout)}
    assert {str(up.folder / "pki" / name) for name in ("ca.crt", "admin.crt", "apiserver.crt")} <= before
    authority = (up.folder / "pki" / "ca.crt").read_text()
    presented = ssl.get_server_certificate(("127.0.0.1", up.port))
    rotated = up.run("certs", "rotate")
    assert rotated.returncode == 0 and "renewed apiserver" in rotated.stdout, rotated.stdout + rotated.stderr
    mesh.wait_until(lambda: ssl.get_server_certificate(("127.0.0.1", up.port)) != presented, 30, "the new certificate is presented")
    assert (up.folder / "pki" / "admin.crt").read_text() != old_admin and (up.folder / "pki" / "ca.crt").read_text() == authority
    assert "default" in up.kubectl("get", "namespaces", "-o", "name")


def test_status_names_webhooks_that_fail(tmp_path):
    """A webhook that has failed for 30 seconds is listed with the command that lets requests pass, and the command works."""
    up = Up(tmp_path / "mesh", "none")
    try:
        client = up.client()
        webhook = {"name": "down.webhooks.test", "clientConfig": {"url": f"https://127.0.0.1:{mesh.free_port()}/"}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
                   "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["*"], "resources": ["configmaps"]}]}
        configuration = {"metadata": {"name": "down"}, "webhooks": [webhook]}
        assert client("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", configuration).code == 201

        def create(code):
            return lambda: client("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", {"metadata": {"name": "m"}}).code == code

        mesh.wait_until(create(500), 10, "the webhook is called")
        assert "The webhook" not in up.run("status").stdout
        status = mesh.wait_until(lambda: json.loads(up.run("status", "--json").stdout)["failingWebhooks"], 60, "the webhook is listed")
        assert status[0].pop("failingSeconds") >= 30
        assert status == [{"name": "down.webhooks.test", "configuration": "down", "mutating": False, "failurePolicy": "Fail"}]
        command = next(line for line in up.run("status").stdout.splitlines() if "kubectl annotate" in line)
        up.kubectl(*subprocess.run(["bash", "-c", f"printf '%s\\n' {command.partition('kubectl ')[2]}"], capture_output=True, text=True, check=True).stdout.split())
        mesh.wait_until(create(201), 10, "failures are ignored")
    finally:
        assert up.run("down").returncode == 0


def test_nothing_is_lost_by_down_and_up(tmp_path):
    up = Up(tmp_path / "mesh", "none")
    up.kubectl("create", "configmap", "kept", "--from-literal=a=b")
    assert up.run("down").returncode == 0
    again = Up(tmp_path / "mesh", "none")
    try:
        assert again.kubectl("get", "configmap", "kept", "-o", "jsonpath={.data.a}") == "b"
    finally:
        assert again.run("down").returncode == 0


def test_backup_and_restore(tmp_path):
    """A restored mesh has the objects of the backup, and its resource versions continue above those that clients have seen."""
    up, file = Up(tmp_path / "mesh", "none"), tmp_path / "backup.db"
    maps = "/api/v1/namespaces/default/configmaps"
    try:
        assert up.client()("POST", maps, {"metadata": {"name": "saved"}, "data": {"a": "1"}}).code == 201
        saved = up.run("backup", str(file))
        assert saved.returncode == 0, saved.stderr
        assert file.stat().st_mode & 0o777 == 0o600
        seen = up.client()("POST", maps, {"metadata": {"name": "later"}}).json()["metadata"]["resourceVersion"]
        refused = up.run("restore", str(file))
        assert refused.returncode == 1 and "stop it first" in refused.stderr
    finally:
        assert up.run("down").returncode == 0
    broken = tmp_path / "broken.db"
    broken.write_bytes(file.read_bytes()[:-100] + bytes(100))
    assert up.run("restore", str(broken)).returncode != 0
    restored = up.run("restore", str(file))
    assert restored.returncode == 0, restored.stderr
    kept = restored.stdout.split("The previous data is in ")[1].split(";")[0]
    assert os.listdir(kept)
    again = Up(tmp_path / "mesh", "none")
    try:
        client = again.client()
        assert client.get(f"{maps}/saved").json()["data"] == {"a": "1"}
        assert client.get(f"{maps}/later").code == 404
        made = client("POST", maps, {"metadata": {"name": "new"}}).json()["metadata"]["resourceVersion"]
        assert int(made) > int(seen)
        gone = client.get(f"{maps}?watch=1&resourceVersion={seen}&timeoutSeconds=5")
        assert '"code":410' in gone.body and "too old resource version" in gone.body
    finally:
        assert again.run("down").returncode == 0


def test_second_up_in_the_same_folder_is_refused(up):
    second = up.run("up", "--port", str(mesh.free_port()), "--front-proxy", "none")
    assert second.returncode == 1 and "already runs" in second.stderr


def test_a_taken_port_is_refused_at_once(up, tmp_path):
    """The process that has the port is named, nothing is started, and nothing claims to be ready."""
    second = Up.__new__(Up)
    second.folder = tmp_path / "second"
    for detach in (["--detach"], []):
        refused = second.run("up", "--port", str(up.port), "--front-proxy", "none", *detach)
        assert refused.returncode == 1 and "Ready" not in refused.stdout
        assert f"port {up.port} is already used by " in refused.stderr and "--port" in refused.stderr
    name, pid = refused.stderr.split("already used by ")[1].split(")")[0].split(" (pid ")
    assert {"name": name, "pid": int(pid)} in [{"name": p["name"], "pid": p["pid"]} for p in json.loads(up.run("status", "--json").stdout)["processes"]]


def test_unknown_commands_get_suggestions():
    run = subprocess.run([str(APIMESH), "stauts"], capture_output=True, text=True, timeout=10)
    assert run.returncode == 2 and 'no command "stauts". Did you mean: status?' in run.stderr
    assert "store" in subprocess.run([str(APIMESH), "--help"], capture_output=True, text=True, timeout=10).stdout


@pytest.mark.parametrize("arguments,text", [
    (["up", "--prot", "3"], 'apimesh up: there is no option or argument "--prot". Did you mean: --port?\nHelp: ./apimesh up --help\n'),
    (["status", "--josn=1"], 'apimesh status: there is no option or argument "--josn". Did you mean: --json?\nHelp: ./apimesh status --help\n'),
    (["migrate"], "apimesh migrate: --from is required\nHelp: ./apimesh migrate --help\n"),
    (["certs"], "apimesh certs: a command is missing: show, rotate\nHelp: ./apimesh certs --help\n"),
    (["certs", "show", "--nothing-like-it"], 'apimesh certs show: there is no option or argument "--nothing-like-it".\nHelp: ./apimesh certs show --help\n'),
])
def test_mistakes_in_a_command_line_are_named(arguments, text):
    run = subprocess.run([str(APIMESH), *arguments], capture_output=True, text=True, timeout=10)
    assert run.returncode != 0 and run.stderr == text


def test_up_says_that_it_waits_for_etcd_and_takes_a_free_port(tmp_path):
    etcd = f"http://127.0.0.1:{mesh.free_port()}"
    with subprocess.Popen([APIMESH, "up", "--detach", "--dir", tmp_path, "--port", "0", "--front-proxy", "none", "--etcd-servers", etcd], stderr=subprocess.PIPE, text=True) as up:
        assert f"not ready after 10 s. Does etcd answer at {etcd}?" in up.stderr.readline()
        assert not json.loads(subprocess.run([APIMESH, "status", "--dir", tmp_path, "--json"], capture_output=True, text=True, timeout=60).stdout)["server"].endswith(":0")
        subprocess.run([APIMESH, "down", "--dir", tmp_path], capture_output=True, timeout=90)
        assert up.wait(30) == 1


def test_output_for_people_and_for_programs(tmp_path):
    """JSON by --output json, text without colours, and the commands that follow a first start only once."""
    up = Up.__new__(Up)
    up.folder, ports = tmp_path / "mesh", ["--port", str(mesh.free_port()), "--front-proxy", "none"]
    shown = []
    for _ in range(2):
        shown.append(up.run("up", "--detach", *ports).stdout)
        try:
            shown.append(up.run("status").stdout)
            assert json.loads(up.run("status", "--output", "json").stdout)["ready"]
            assert isinstance(json.loads(up.run("doctor", "-o", "json").stdout), list)
            unknown = up.run("logs", "core")
            assert unknown.returncode == 1 and "those of: aggregator, authn-authz, core-api" in unknown.stderr
        finally:
            assert up.run("down").returncode == 0
    assert ["Next:" in text for text in shown] == [True, False, False, False]
    assert all("Ready at https://" in text and "\x1b" not in text for text in shown)
    assert up.run("status", "--output", "xml").returncode != 0
    assert "start the mesh first" in subprocess.run([APIMESH, "logs", "--dir", tmp_path / "other"], capture_output=True, text=True, timeout=60).stderr


def test_up_says_why_it_did_not_start(tmp_path):
    up = Up.__new__(Up)
    up.folder = tmp_path / "mesh"
    refused = subprocess.run([APIMESH, "up", "--detach", "--dir", up.folder, "--port", str(mesh.free_port()), "--front-proxy", "none", "--", "--enable-admission-plugins=Unknown"],
                             capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1 and "Ready" not in refused.stdout
    assert "the mesh did not start: " in refused.stderr and "The logs are in " in refused.stderr
    assert "Unknown" in refused.stderr + up.logs()
    wrong = subprocess.run([APIMESH, "up", "--detach", "--dir", up.folder, "--port", str(mesh.free_port()), "--", "--no-such-flag"], capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 1 and "the mesh did not start: unknown flag: --no-such-flag" in wrong.stderr


def test_clients_can_not_forge_identity(up):
    """XFCC and identity headers have an effect only on the listener that requires the certificate of Envoy."""
    headers = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters",
               "X-Forwarded-Client-Cert": 'By=x;Hash=y;Subject="O=system:masters,CN=admin"'}
    stranger = mesh.Client(f"https://127.0.0.1:{up.port}", token=None)
    assert stranger.get("/api/v1/namespaces", headers=headers).code == 403


def test_envoy_speaks_h2(tmp_path):
    assert find_envoy(), "Envoy is not installed; run ./apimesh deps"
    up = Up(tmp_path / "mesh", "envoy")
    try:
        pki = up.folder / "pki"
        run = subprocess.run(["curl", "-sk", "--http2", "--cert", pki / "admin.crt", "--key", pki / "admin.key", "-o", "/dev/null", "-w",
                              "%{http_version} %{http_code}", f"https://127.0.0.1:{up.port}/api/v1/namespaces"], capture_output=True, text=True)
        assert run.stdout == "2 200"
        # The launcher also restarts Envoy.
        before = {p["name"]: p["pid"] for p in json.loads(up.run("status", "--json").stdout)["processes"]}
        os.kill(before["envoy"], signal.SIGKILL)
        mesh.wait_until(lambda: up.client().answers("/readyz"), 5, "Envoy is restarted")
    finally:
        assert up.run("down").returncode == 0


def test_nodes_are_restricted(up):
    """The Node authorizer is enabled, so NodeRestriction must be enabled, too."""
    node = {"Impersonate-User": "system:node:n1", "Impersonate-Group": "system:nodes"}
    body = {"metadata": {"name": "p"}, "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}],
                                                "volumes": [{"name": "v", "secret": {"secretName": "s"}}]}}
    up.client()("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})  # no controller creates it
    answer = up.client()("POST", "/api/v1/namespaces/default/pods", body, node)
    assert answer.code == 403 and 'node "n1" can only create mirror pods' in answer.json()["message"]


class Elsewhere:
    """Runs `apimesh` in an empty folder, with a separate runtime folder, so that it finds only its own meshes."""

    def __init__(self, folder):
        self.folder = folder
        self.runtime = tempfile.mkdtemp(prefix="am-", dir="/tmp")  # the paths of sockets must be short
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": self.runtime}
        self.environment.pop("APIMESH_DIR", None)

    def run(self, *arguments):
        return subprocess.run([str(APIMESH), *arguments], capture_output=True, text=True, timeout=60, cwd=self.folder, env=self.environment)

    def up(self, folder):
        run = self.run("up", "--detach", "--dir", str(folder), "--port", str(mesh.free_port()), "--front-proxy", "none")
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    def next_commands(self, shown):
        """Returns the next commands that `up` prints, without ./apimesh."""
        return [line.split("./apimesh ")[1].split() for line in shown.splitlines() if "./apimesh " in line]


@pytest.fixture
def elsewhere(tmp_path):
    here = tmp_path / "empty"
    here.mkdir()
    elsewhere = Elsewhere(here)
    yield elsewhere
    shutil.rmtree(elsewhere.runtime)


def test_commands_find_the_mesh_that_runs(elsewhere, tmp_path):
    assert elsewhere.run("status").returncode == 3
    one, two = tmp_path / "one", tmp_path / "two"
    shown = elsewhere.up(one)
    try:
        kubectl, down = elsewhere.next_commands(shown)
        assert kubectl[0] == "kubectl" and down == ["down", "--dir", str(one)]
        assert "kube-system" in elsewhere.run(*kubectl).stdout
        # Without --dir and .apimesh, the commands use the only mesh that runs.
        assert "kube-system" in elsewhere.run("kubectl", "get", "namespaces").stdout
        assert json.loads(elsewhere.run("status", "--json").stdout)["ready"]
        assert "serving" in elsewhere.run("logs", "aggregator").stdout

        elsewhere.up(two)
        try:
            for command in (["kubectl", "get", "namespaces"], ["status"], ["logs"], ["down"]):
                refused = elsewhere.run(*command)
                assert refused.returncode == 1, command
                assert f"--dir {one}" in refused.stderr and f"--dir {two}" in refused.stderr
            assert "kube-system" in elsewhere.run("kubectl", "--dir", str(two), "get", "namespaces").stdout
        finally:
            assert elsewhere.run("down", "--dir", str(two)).returncode == 0
    finally:
        assert elsewhere.run("down").returncode == 0  # now it is the only mesh again
    assert elsewhere.run("status").returncode == 3

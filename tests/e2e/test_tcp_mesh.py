"""The mesh over TCP with mTLS, as Compose and Kubernetes run it, and two core-api servers with different API groups."""
import signal
import ssl
import subprocess
import urllib.error
import urllib.request

import pytest

import mesh


class TcpMesh:
    """`shards` has the API groups of each core-api process; [] means one process that serves all groups."""

    def __init__(self, folder, shards=()):
        self.folder, self.processes = folder, {}
        self.port = mesh.free_port()
        subprocess.run([str(mesh.BIN / "apimesh"), "pki", f"--dir={folder}/pki", f"--server=https://127.0.0.1:{self.port}", "--name=localhost"], check=True,
                       capture_output=True)
        cores = ["core-api", *[f"core-api-{number}" for number in range(1, len(shards))]]
        self.ports = {name: mesh.free_port() for name in ("store", *mesh.SERVICES, *cores)}
        at = {name: f"localhost:{port}" for name, port in self.ports.items()}
        pki = f"{folder}/pki"

        def member(name):
            return [f"--mesh-ca-file={pki}/{name}/mesh-ca.crt", f"--mesh-cert-file={pki}/{name}/mesh.crt", f"--mesh-key-file={pki}/{name}/mesh.key"]

        def etcd(name):
            return [f"--etcd-servers=https://{at['store']}", f"--etcd-cafile={pki}/{name}/etcd-ca.crt", f"--etcd-certfile={pki}/{name}/etcd.crt",
                    f"--etcd-keyfile={pki}/{name}/etcd.key"]

        tokens = ["--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki}/sa.pub", f"--client-ca-file={pki}/ca.crt",
                  "--authorization-mode=RBAC"]
        self.start("store", f"--data-dir={folder}/data", f"--listen-client-urls=https://{at['store']}", f"--advertise-client-urls=https://{at['store']}",
                   "--client-cert-auth", f"--trusted-ca-file={pki}/store/etcd-ca.crt", f"--cert-file={pki}/store/etcd.crt", f"--key-file={pki}/store/etcd.key")
        for core, groups in zip(cores, shards or [""]):
            self.start(core, f"--listen={at[core]}", *member("core-api"), *etcd("core-api"), *tokens, f"--service-account-signing-key-file={pki}/sa.key",
                       f"--extensions-api={at['extensions-api']}", f"--authn-authz={at['authn-authz']}", "--service-cluster-ip-range=10.96.0.0/12",
                       *([f"--api-groups={groups}"] if groups else []), binary="core-api")
        self.start("extensions-api", f"--listen={at['extensions-api']}", *member("extensions-api"), *etcd("extensions-api"), f"--authn-authz={at['authn-authz']}",
                   f"--core-api={at['core-api']}")
        self.start("authn-authz", f"--listen={at['authn-authz']}", *member("authn-authz"), *tokens, f"--core-api={at['core-api']}")
        self.start("aggregator", "--bind-address=127.0.0.1", f"--secure-port={self.port}", f"--tls-cert-file={pki}/apiserver.crt",
                   f"--tls-private-key-file={pki}/apiserver.key", f"--client-ca-file={pki}/ca.crt", f"--core-api={','.join(at[core] for core in cores)}",
                   f"--extensions-api={at['extensions-api']}", f"--authn-authz={at['authn-authz']}", f"--mesh-port={self.ports['aggregator']}", "--mesh-bind-address=127.0.0.1",
                   *member("aggregator"), *etcd("aggregator"))
        self.client = mesh.Client(f"https://127.0.0.1:{self.port}", token=None, cert=(f"{pki}/admin.crt", f"{pki}/admin.key"))

    def start(self, name, *flags, binary=None):
        self.processes[name] = subprocess.Popen([str(mesh.BIN / (binary or name)), *flags], stdout=open(self.folder / f"{name}.log", "wb"), stderr=subprocess.STDOUT)

    def stop(self):
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def tcp_mesh(tmp_path):
    running = TcpMesh(tmp_path)
    yield running
    running.stop()


def test_serves_over_tcp_and_refuses_strangers(tcp_mesh):
    mesh.wait_until(lambda: tcp_mesh.client.answers("/readyz"), 20, "the mesh is ready")
    made = tcp_mesh.client("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "over-tcp"}, "data": {"a": "b"}})
    assert made.code == 201, made.body
    # A client without a mesh certificate gets no response from any process of the mesh.
    for name in ("core-api", "extensions-api", "authn-authz", "store"):
        context = ssl._create_unverified_context()
        with pytest.raises((OSError, urllib.error.URLError)):
            urllib.request.urlopen(f"https://127.0.0.1:{tcp_mesh.ports[name]}/", context=context, timeout=3)


def test_a_shard_without_the_core_group_counts_usage_of_quotas(tmp_path):
    running = TcpMesh(tmp_path, shards=["core,rbac.authorization.k8s.io,admissionregistration.k8s.io,flowcontrol.apiserver.k8s.io,scheduling.k8s.io", "apps,coordination.k8s.io"])
    try:
        mesh.wait_until(lambda: running.client.answers("/readyz"), 20, "the mesh is ready")
        quotas, leases = "/api/v1/namespaces/default/resourcequotas", "/apis/coordination.k8s.io/v1/namespaces/default/leases"
        hard = {"count/leases.coordination.k8s.io": "1"}
        assert running.client("POST", quotas, {"metadata": {"name": "q"}, "spec": {"hard": hard}}).code == 201
        for used, code in (("1", 403), ("0", 201)):
            status = {"status": {"hard": hard, "used": {"count/leases.coordination.k8s.io": used}}}
            assert running.client("PATCH", f"{quotas}/q/status", status, {"Content-Type": "application/merge-patch+json"}).code == 200
            mesh.wait_until(lambda: running.client("POST", f"{leases}?dryRun=All", {"metadata": {"name": "l"}}).code == code, 10, f"a lease is answered with {code}")
        assert [running.client("POST", leases, {"metadata": {"name": name}}).code for name in ("a", "b")] == [201, 403]
        assert running.client.get(f"{quotas}/q").json()["status"]["used"] == hard
    finally:
        running.stop()

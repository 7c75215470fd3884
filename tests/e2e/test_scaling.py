"""`apimesh scale`: API groups are moved to processes of their own and back while clients use them, and shards fail."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import types

import pytest

import mesh
import watching
from test_up import Up

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "history"))
from check import check  # noqa: E402
from clients import Kind, Lister, Reader, Run, Watcher, Writer  # noqa: E402
from history import CRD, Etcd  # noqa: E402
from record import Record  # noqa: E402

LABELS = {"app": "scaled"}
DEPLOYMENT = {"spec": {"replicas": 0, "selector": {"matchLabels": LABELS},
                       "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
KINDS = [Kind("/apis/apps/v1/namespaces/h/deployments", "/registry/deployments/h/", "apps/v1", "Deployment", DEPLOYMENT),
         Kind("/apis/example.com/v1/namespaces/h/widgets", "/registry/example.com/widgets/h/", "example.com/v1", "Widget"),
         Kind("/api/v1/namespaces/h/configmaps", "/registry/configmaps/h/", "v1", "ConfigMap")]
MOVES = [("apps", 1), ("example.com", 2), ("apps", 2), ("example.com", 0), ("apps", 0), ("example.com", 1), ("apps", 1), ("apps", 0), ("example.com", 0)]


class Scaled(Up):
    def __init__(self, folder, *arguments):
        folder.mkdir(parents=True)
        (folder / "tokens.csv").write_text(f'{mesh.ADMIN_TOKEN},admin,admin-uid,"system:masters"\n')
        super().__init__(folder, "none", *arguments, "--", f"--token-auth-file={folder}/tokens.csv")

    def scale(self, group, replicas):
        run = self.run("scale", group, f"--replicas={replicas}")
        assert run.returncode == 0, run.stdout + run.stderr + self.logs()

    def status(self):
        return json.loads(self.run("status", "--json").stdout)

    def pids(self, prefix):
        return [process["pid"] for process in self.status()["processes"] if process["name"].startswith(prefix) and process["running"]]

    def documents(self):
        """Returns the ETags of discovery and OpenAPI."""
        aggregated = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
        client = self.client()
        return [client.get(path, headers=headers).headers["ETag"] for path, headers in
                (("/apis", aggregated), ("/api", aggregated), ("/openapi/v2", {}), ("/openapi/v3", {}))]


@pytest.fixture
def etcd(tmp_path, etcd_path):
    etcd = Etcd(tmp_path, etcd_path)
    yield etcd
    etcd.process.kill()
    etcd.process.wait()


def test_groups_move_while_clients_read_write_and_watch(tmp_path, etcd):
    """No request fails, no read is stale, no watch misses or repeats an event, and discovery does not change."""
    up = Scaled(tmp_path / "mesh", f"--etcd-servers=http://127.0.0.1:{etcd.port}")
    stop, stop_record = threading.Event(), threading.Event()
    try:
        client = up.client()
        assert client("POST", "/api/v1/namespaces", {"metadata": {"name": "h"}}).code == 201
        assert client("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD).code == 201
        mesh.wait_until(lambda: client.answers(KINDS[1].path), 30, "widgets are served")
        record = Record(etcd, [kind.prefix for kind in KINDS], stop_record, compact_every=1000)
        record.seen = record.newest()
        record.start()
        run = Run([types.SimpleNamespace(port=up.port, client=types.SimpleNamespace(token=mesh.ADMIN_TOKEN))], KINDS, stop)
        workers = [worker(run, kind, number) for number, (kind, worker) in enumerate((kind, worker) for kind in KINDS
                                                                                     for worker in (Writer, Reader, Reader, Lister, Watcher, Watcher))]
        watches = [watching.Watch(client, kind.path) for kind in KINDS[:2]]  # stay open during all moves
        documents = up.documents()
        for worker in workers:
            worker.start()
        for group, replicas in MOVES:
            up.scale(group, replicas)
            groups = {one["group"]: one["ready"] for one in up.status()["groups"]}
            assert groups.get(group, 0) == replicas
            assert up.documents() == documents
            before = len(run.reads)
            mesh.wait_until(lambda: len(run.reads) > before + 30, 30, "clients read")
        stop.set()
        for worker in workers:
            worker.join(60)
        assert not [type(worker).__name__ for worker in workers if worker.is_alive()]
        assert record.complete(60)
        assert check(run, record) == []
        codes = sum((worker.api.codes for worker in workers), start=workers[0].api.codes.__class__())
        assert run.writes > 100 and len(run.reads) > 200 and len(run.lists) > 20 and sum(len(watch[3]) for watch in run.watches) > 100
        assert {code for code in codes if code not in (200, 201, 404, 409)} == set(), codes
        assert sum(worker.api.failures for worker in workers if not isinstance(worker, Watcher)) == 0
        for watch, kind in zip(watches, KINDS):
            marker = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "last", "annotations": {"n": "0"}}, **kind.fields}
            assert client("POST", kind.path, marker).code == 201
            watch.wait_for("last", "ADDED")
            versions = [int(thing["metadata"]["resourceVersion"]) for _, thing in watch.events]
            assert versions == sorted(set(versions)) and not watch.over
            watch.close()
    finally:
        stop.set()
        stop_record.set()
        assert up.run("down").returncode == 0


def test_a_shard_that_fails_affects_only_its_groups(tmp_path):
    up = Scaled(tmp_path / "mesh")
    client, others, deployments = up.client(), "/api/v1/configmaps", "/apis/apps/v1/deployments"
    try:
        up.scale("apps", 1)
        launcher = up.status()["launcher"]
        shard, = up.pids("core-api-apps-")

        def refused():
            began = time.monotonic()
            answer = client.get(deployments)
            assert client.get(others).code == 200
            if answer.code == 200:
                return False
            assert answer.code == 503 and answer.headers["Retry-After"], answer.body
            return time.monotonic() - began < 1

        # The launcher is suspended, so that the shard is not restarted at once.
        mesh.suspend(launcher)
        os.kill(shard, signal.SIGKILL)
        mesh.wait_until(refused, 5, "requests for the group are refused")
        assert all(refused() for _ in range(20))
        os.kill(launcher, signal.SIGCONT)
        mesh.wait_until(lambda: client.get(deployments).code == 200, 20, "the shard is restarted")

        shard, = up.pids("core-api-apps-")
        mesh.suspend(shard)
        mesh.wait_until(refused, 20, "a shard that does not respond is detected")
        assert all(refused() for _ in range(20))
        os.kill(shard, signal.SIGCONT)
        mesh.wait_until(lambda: client.get(deployments).code == 200, 20, "the shard responds again")
        assert client("POST", "/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "after"}, **DEPLOYMENT}).code == 201
    finally:
        for pid in (up.status()["launcher"], *up.pids("core-api-apps-")):
            os.kill(pid, signal.SIGCONT)
        assert up.run("down").returncode == 0


def test_scale_refuses_what_it_cannot_do_and_keeps_the_layout(tmp_path):
    up = Scaled(tmp_path / "mesh")
    try:
        for group, reason in (("nowhere.example.com", "there is no API group"), ("apiregistration.k8s.io", "cannot be scaled"), ("apiextensions.k8s.io", "cannot be scaled")):
            refused = up.run("scale", group)
            assert refused.returncode == 1 and reason in refused.stderr, refused.stderr
        control = up.folder / "state.json"
        socket = pathlib.Path(json.loads(control.read_text())["control"])
        assert socket.stat().st_mode & 0o777 == 0o600 and socket.parent.stat().st_mode & 0o777 == 0o700
        up.scale("batch", 1)
        assert "batch" in up.run("status").stdout
        assert up.run("down").returncode == 0
        started = up.run("up", "--detach", "--port", str(up.port), "--front-proxy", "none")
        assert started.returncode == 0, started.stderr
        mesh.wait_until(lambda: up.status()["groups"] == [{"group": "batch", "process": "core-api", "replicas": 1, "ready": 1}], 30, "the shard is started again")
        assert up.client().get("/apis/batch/v1/jobs").code == 200
    finally:
        up.run("down")

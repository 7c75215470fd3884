"""deploy/compose in a Docker engine, as its README describes: replicas, killed containers, an ordered stop, and a start with all data."""
import json
import pathlib
import time

import pytest
import yaml

import engine
import mesh
import watching

REASON = engine.why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


class Composed:
    def __init__(self, docker, folder):
        self.docker, self.port = docker, mesh.free_port()
        document = yaml.safe_load((mesh.ROOT / "deploy/compose/compose.yaml").read_text())
        document.pop("name")  # the project has another name, so that the test does not touch a mesh of this machine
        document.pop("x-service")
        for name, service in document["services"].items():
            service.pop("build", None)
            service["image"] = engine.ENVOY_IMAGE if name == "envoy" else engine.IMAGE
        document["services"]["envoy"]["ports"] = [f"127.0.0.1:{self.port}:6443"]
        # Compose 1.29 ignores `configs` without a swarm.
        shards = mesh.ROOT / "deploy/compose" / document.pop("configs")["shards"]["file"]
        for config in document["services"]["aggregator"].pop("configs"):
            document["services"]["aggregator"]["volumes"].append(f"{shards}:{config['target']}:ro")
        self.file = folder / "compose.yaml"
        self.file.write_text(yaml.safe_dump({"version": "3.9", **document} if engine.compose_command() == ["docker-compose"] else document))
        self.folder = folder

    def compose(self, *arguments):
        return self.docker.run("compose", "-f", self.file, "-p", "apimesh-install-test", *arguments)

    def up(self, *scales):
        """Starts the services with these replicas. Those of shards are given explicitly, because Compose 1.29 ignores `deploy`."""
        self.compose("up", "-d", *(word for scale in ("core-api-apps=0", "extensions-api-example=0", *scales) for word in ("--scale", scale)))

    def containers(self, service):
        """Returns the ids of the containers of a service that run."""
        return self.docker.run("ps", "-q", "--filter", "label=com.docker.compose.project=apimesh-install-test", "--filter", f"label=com.docker.compose.service={service}").split()

    def inspect(self, container):
        return json.loads(self.docker.run("inspect", container))[0]

    def client(self):
        made = self.docker.run("ps", "-aq", "--filter", "label=com.docker.compose.project=apimesh-install-test", "--filter", "label=com.docker.compose.service=pki").split()[0]
        for name in ("admin.crt", "admin.key"):
            self.docker.run("cp", f"{made}:/pki/{name}", self.folder / name)
        return mesh.Client(f"https://127.0.0.1:{self.port}", token=None, cert=(self.folder / "admin.crt", self.folder / "admin.key"))

    def connections_from_envoy(self):
        """Returns the number of established connections to port 8443 of all aggregators."""
        tables = [pathlib.Path(f"/proc/{self.inspect(container)['State']['Pid']}/net/tcp").read_text() for container in self.containers("aggregator")]
        rows = [line.split() for table in tables for line in table.splitlines()[1:]]
        return sum(row[3] == "01" and row[1].endswith(f":{8443:04X}") for row in rows)


@pytest.fixture(scope="module")
def composed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compose")
    docker = engine.Engine()
    try:
        docker.make_images()
        composed = Composed(docker, folder)
        composed.up("core-api=3", "aggregator=2")
        try:
            composed.admin = composed.client()
            mesh.wait_until(lambda: composed.admin.answers("/readyz"), 120, "the mesh is ready through Envoy")
            yield composed
        finally:
            composed.compose("down", "-v", "-t", "20")
    finally:
        docker.stop()


def test_replicas_share_the_work_and_watches_share_connections(composed):
    assert [len(composed.containers(service)) for service in ("core-api", "aggregator", "extensions-api")] == [3, 2, 1]
    before = composed.connections_from_envoy()
    watches = [watching.Watch(composed.admin, CONFIG_MAPS) for _ in range(20)]
    try:
        assert composed.admin("POST", CONFIG_MAPS, {"metadata": {"name": "watched"}}).code == 201
        for watch in watches:
            watch.wait_for("watched", "ADDED")
        assert composed.connections_from_envoy() - before < 10, "watches cross by HTTP/2 between the containers"
    finally:
        for watch in watches:
            watch.close()


def test_killed_replicas_are_not_noticed(composed):
    for service in ("core-api", "aggregator"):
        composed.docker.run("kill", composed.containers(service)[0])
    answers = [composed.admin.get(CONFIG_MAPS).code for _ in range(30)]
    written = [composed.admin("POST", CONFIG_MAPS, {"metadata": {"name": f"written-{i}"}}).code for i in range(10)]
    assert answers == [200] * 30 and written == [201] * 10
    composed.up("core-api=3", "aggregator=2")
    assert len(composed.containers("core-api")) == 3


def test_a_group_moves_to_its_own_processes_and_back(composed):
    deployments = "/apis/apps/v1/namespaces/default/deployments"

    def serving():
        assert composed.admin.get(deployments).code == 200
        return 'apimesh_shard_serving{shard="core-api-apps"} 1' in composed.admin.get("/metrics").body

    composed.up("core-api=3", "aggregator=2", "core-api-apps=2")
    mesh.wait_until(serving, 60, "the group has its own processes")
    composed.up("core-api=3", "aggregator=2")
    mesh.wait_until(lambda: not serving() and not composed.containers("core-api-apps"), 60, "the group is given back")


def test_all_processes_stop_in_order_and_start_with_their_data(composed):
    assert composed.admin("POST", CONFIG_MAPS, {"metadata": {"name": "kept"}}).code == 201
    running = [container for service in ("store", *mesh.SERVICES) for container in composed.containers(service)]
    began = time.monotonic()
    composed.compose("stop", "-t", "60")
    assert time.monotonic() - began < 60
    assert {composed.inspect(container)["State"]["ExitCode"] for container in running} == {0}
    composed.compose("start")
    mesh.wait_until(lambda: composed.admin.answers(f"{CONFIG_MAPS}/kept"), 120, "the data is served again")

"""deploy/compose: runs the command lines of the Compose file, with only names, ports and folders replaced. test_chart.py has the tests of the chart."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
import yaml

import mesh
import watching

COMPOSE = yaml.safe_load((mesh.ROOT / "deploy/compose/compose.yaml").read_text())
OURS = ("store", *mesh.SERVICES)
SHARDS = ("core-api-apps", "extensions-api-example")


def command_of(name):
    return COMPOSE["services"][name].get("entrypoint", []) + COMPOSE["services"][name]["command"]


def flags_of(binary):
    command = [str(mesh.BIN / "apimesh"), "pki"] if binary == "apimesh" else [str(mesh.BIN / binary)]
    text = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=20).stdout
    return set(re.findall(r"--[a-z][a-z0-9-]*", text))


def names_of(arguments):
    return {argument.split("=")[0] for argument in arguments if argument.startswith("--")}


def test_compose_is_whole():
    services = COMPOSE["services"]
    assert set(OURS) | set(SHARDS) | {"pki", "envoy"} == set(services)
    for name, service in services.items():
        for needed in service.get("depends_on", []):
            assert needed in services, f"{name} depends on {needed}, which does not exist"
        for volume in service.get("volumes", []):
            assert volume.split(":")[0] in COMPOSE["volumes"], f"{name} mounts {volume}, which does not exist"
        for network in service.get("networks", []):
            assert network in COMPOSE["networks"]


@pytest.mark.parametrize("name", ["pki", *OURS, *SHARDS])
def test_compose_gives_only_flags_that_exist(name):
    binary, *arguments = command_of(name)
    assert names_of(arguments) <= flags_of(binary)


def packages_of(libraries):
    """Returns {library: its Debian package}."""
    # /lib is a symbolic link to /usr/lib, and dpkg knows a file by one of the two names.
    names = {library: {variant for path in (library, os.path.realpath(library)) for variant in (path, path.removeprefix("/usr"))} for library in libraries}
    printed = subprocess.run(["dpkg-query", "-S", *sorted(set().union(*names.values()))], capture_output=True, text=True).stdout
    owner = {path: package.split(":")[0] for package, path in (line.split(": ", 1) for line in printed.splitlines())}
    return {library: next((owner[name] for name in names[library] if name in owner), None) for library in libraries}


def brought_by(packages):
    """Returns the packages and all packages that they depend on."""
    known, new = set(), set(packages)
    while new:
        known |= new
        printed = subprocess.run(["dpkg-query", "-W", "-f", "${Pre-Depends}, ${Depends}, ", *sorted(new)], capture_output=True, text=True).stdout
        new = {re.split(r"[ :(]", each.strip())[0] for each in re.split(r"[,|]", printed) if each.strip()} - known
    return known


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="needs dpkg-query, to find the package of a library")
def test_the_image_has_every_library_its_programs_load():
    run = re.search(r"FROM debian:12-slim\nRUN .*?install (.*?) &&", (mesh.ROOT / "deploy/compose/Dockerfile").read_text(), re.DOTALL)[1]
    packages = brought_by(word for word in run.split() if not word.startswith(("-", "\\")))
    loads = "".join(subprocess.run(["ldd", str(mesh.BIN / name)], capture_output=True, text=True, check=True).stdout for name in ("apimesh", *OURS))
    missing = {library for library, package in packages_of(set(re.findall(r"=> (/\S+)", loads))).items() if package not in packages}
    assert not missing, f"no package of the image contains {missing}"


class Composed:
    """The processes that Compose would start, each on a port of this machine."""

    def __init__(self, folder, commands=None):
        """`commands` has the command line of each process, with the ports and folders of containers."""
        self.commands = commands or {name: command_of(name) for name in COMPOSE["services"]}
        self.folder, self.processes = folder, []
        ports = self.ports = {name: mesh.free_port() for name in ("store:2379", "core-api:7443", "extensions-api:7443", "authn-authz:7443", *(f"{name}:7443" for name in SHARDS), "6443", "8443", "envoy")}
        pki = folder / "pki"
        self.make_certificates()
        (folder / "config").mkdir()
        (folder / "config/shards.json").write_text(self.local("aggregator", self.shards(), ports))
        for name in OURS:
            self.start_service(name)
        envoy = pki / "envoy/envoy.json"
        text = envoy.read_text().replace('"address":"aggregator"', '"address":"127.0.0.1"').replace("8443", str(ports["8443"]))
        envoy.write_text(text.replace("6443", str(ports["envoy"])).replace("/dev/stdout", f"{folder}/access.log"))
        binary = os.environ.get("APIMESH_ENVOY") or shutil.which("envoy")
        assert binary, "Envoy is not installed; run ./apimesh deps"
        assert self.commands["envoy"] in (["envoy", "-c", "/pki/envoy.json"], ["envoy", "-c", "/envoy/envoy.json"])
        self.start("envoy", [binary, "-c", str(envoy), "--disable-hot-restart", "--concurrency", "1"])
        admin = (f"{pki}/admin.crt", f"{pki}/admin.key")
        self.client = mesh.Client(f"https://127.0.0.1:{ports['envoy']}", token=None, cert=admin)

    def shards(self):
        """Returns the contents of /config/shards.json of the aggregator."""
        return (mesh.ROOT / "deploy/compose" / COMPOSE["configs"]["shards"]["file"]).read_text()

    def make_certificates(self):
        """Writes the folders of the processes below pki/, and admin.crt and admin.key."""
        run = [self.local("pki", argument, self.ports) for argument in self.commands["pki"]]
        run = [str(mesh.BIN / run[0]), *(argument for argument in run[1:] if not argument.startswith("--owner"))]
        subprocess.run(run, check=True, capture_output=True)

    def local(self, name, argument, ports):
        # Each container has its own folder mounted at /pki. The container pki has all of them, and --mounted-at is the path in the container of Envoy.
        volume = COMPOSE["services"][name]["volumes"][0].split(":")[0]
        seen = f"{self.folder}/pki" if name == "pki" else f"{self.folder}/pki/{volume.removeprefix('pki-')}"
        if argument.startswith("--mounted-at"):
            seen = f"{self.folder}/pki/envoy"
        argument = argument.replace("/pki", seen).replace("/data", f"{self.folder}/data").replace("/config", f"{self.folder}/config")
        argument = argument.replace("0.0.0.0:7443", f"127.0.0.1:{ports.get(name + ':7443')}").replace("0.0.0.0:2379", f"127.0.0.1:{ports['store:2379']}")
        for there, port in ports.items():
            if ":" in there:
                argument = argument.replace(there, f"localhost:{port}")
        return argument.replace("=6443", f"={ports['6443']}").replace("=8443", f"={ports['8443']}")

    def start(self, name, command):
        self.processes.append(subprocess.Popen(command, stdout=open(self.folder / f"{name}.log", "wb"), stderr=subprocess.STDOUT))
        return self.processes[-1]

    def start_service(self, name):
        binary, *arguments = self.commands[name]
        return self.start(name, [str(mesh.BIN / binary), *(self.local(name, argument, self.ports) for argument in arguments)])

    def run_readiness_test(self, host):
        """Runs the command of the chart's `helm test`, and returns its exit code."""
        pod = yaml.safe_load(re.sub(r"{{.*?}}", "image", (mesh.ROOT / "deploy/k8s/templates/tests/ready.yaml").read_text()))
        container = pod["spec"]["containers"][0]
        script = container["args"][0].replace("apimesh:6443", self.client.url.removeprefix("https://")).replace("/pki/", f"{self.folder}/pki/aggregator/")
        assert "apimesh.$NAMESPACE.svc" in script
        return subprocess.run([*container["command"], script.replace("apimesh.$NAMESPACE.svc", host)], capture_output=True, timeout=30).returncode

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


def check_that_watches_share_connections(composed):
    """Between Envoy and the aggregator, many watches use few connections, because they cross by HTTP/2."""
    def connections():
        established = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "01"]
        return sum(fields[2].endswith(f":{composed.ports['8443']:04X}") for fields in established)

    before = connections()
    path = "/api/v1/namespaces/default/configmaps"
    watches = [watching.Watch(composed.client, path) for _ in range(20)]
    try:
        composed.client("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "watched"}})
        for watch in watches:
            watch.wait_for("watched", "ADDED")
        assert connections() - before < 10
    finally:
        for watch in watches:
            watch.close()


def check_that_a_shard_takes_over(composed, name, path):
    """The group of a shard is moved to its process when it starts, and back when it stops. The requests in between succeed."""
    def serving():
        assert composed.client.get(path).code == 200
        shard = COMPOSE["services"][name]["entrypoint"][2].partition("=")[2]
        return f'apimesh_shard_serving{{shard="{COMPOSE["services"][name]["entrypoint"][0]}-{shard}"}} 1' in composed.client.get("/metrics").body

    assert not serving()
    process = composed.start_service(name)
    mesh.wait_until(serving, 20, f"{name} serves its group")
    process.send_signal(signal.SIGTERM)
    mesh.wait_until(lambda: not serving(), 20, f"{name} gives its group back")
    mesh.wait_until(lambda: composed.client.get(path).code == 200 and process.poll() is not None, 20, f"{name} ends")
    assert process.returncode == 0


def test_compose_commands_make_a_mesh(tmp_path):
    composed = Composed(tmp_path)
    try:
        mesh.wait_until(lambda: composed.client.answers("/readyz"), 40, "the mesh is ready through Envoy")
        made = composed.client("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "composed"}, "data": {"key": "value"}})
        assert made.code == 201, made.body
        assert made.json()["metadata"]["managedFields"], "the client certificate did not reach the aggregator through Envoy"
        check_that_watches_share_connections(composed)
        check_that_a_shard_takes_over(composed, "core-api-apps", "/apis/apps/v1/deployments")
        for host, expected in (("localhost", 0), ("another.host", 1)):
            assert composed.run_readiness_test(host) == expected, f"the readiness test of the chart, if the server is expected to be {host}"
    finally:
        composed.stop()

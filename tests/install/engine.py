"""A Docker engine with the images of deploy/compose, which are made without a registry."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import clean_root
import mesh

IMAGE, ENVOY_IMAGE = "apimesh-install-test", "apimesh-install-test-envoy"


def envoy_binary():
    """Returns the path of the program itself: what ./apimesh deps installs as `envoy` is a script that runs it."""
    packaged = sorted((mesh.ROOT / ".venv").glob("lib/python3*/site-packages/envoy/_bin/envoy"))
    return str(packaged[0]) if packaged else os.environ.get("APIMESH_ENVOY") or shutil.which("envoy")


def compose_command():
    if subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0:
        return ["docker", "compose"]
    return ["docker-compose"] if shutil.which("docker-compose") else None


def why_not():
    """Returns why no engine can run here; None if one can."""
    if not shutil.which("docker") or not compose_command():
        return "needs docker and Compose"
    if not envoy_binary():
        return "needs Envoy, which ./apimesh deps installs"
    if subprocess.run(["docker", "info"], capture_output=True, timeout=60).returncode == 0:
        return clean_root.why_not()
    return clean_root.why_not() or (None if shutil.which("dockerd") else "no Docker engine runs, and there is no dockerd to start")


class Engine:
    def __init__(self):
        # Not a temporary folder of pytest, which cannot remove the mounts of an engine that was killed.
        self.folder, self.process = pathlib.Path(tempfile.mkdtemp(prefix="apimesh-docker-")), None
        self.environment = dict(os.environ)
        if subprocess.run(["docker", "info"], capture_output=True, timeout=60).returncode == 0:
            return
        self.log = self.folder / "dockerd.log"
        socket = f"unix://{self.folder}/docker.sock"
        self.environment["DOCKER_HOST"] = socket
        self.process = subprocess.Popen(["dockerd", f"--data-root={self.folder}/data", f"--exec-root={self.folder}/exec", f"--pidfile={self.folder}/pid", "-H", socket, "--bridge=none"],
                                        stdout=open(self.log, "wb"), stderr=subprocess.STDOUT)
        mesh.wait_until(lambda: self.process.poll() is not None or self.succeeds("info"), 90, "dockerd answers")
        assert self.process.poll() is None, f"dockerd cannot run here: {self.log.read_text()[-2000:]}"

    def succeeds(self, *arguments):
        return subprocess.run(["docker", *arguments], env=self.environment, capture_output=True, timeout=60).returncode == 0

    def run(self, *arguments, timeout=600):
        words = [*(compose_command() if arguments[0] == "compose" else ["docker", arguments[0]]), *map(str, arguments[1:])]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=timeout)
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def make_images(self):
        """The image of the processes is the second stage of the Dockerfile, with the programs of build/bin."""
        clean_root.make_archive()
        self.run("import", clean_root.ARCHIVE, f"{IMAGE}-base")
        context = self.folder / "context"
        shutil.copytree(mesh.BIN, context / "bin", symlinks=True, ignore=shutil.ignore_patterns("*_test", "*_fuzz", "*_bench", "*.so"))
        stage = (mesh.ROOT / "deploy/compose/Dockerfile").read_text().split("FROM debian:12-slim", 1)[1]
        stage, copies = re.subn(r"COPY --from=build /src/build/bin/", "COPY bin/", stage)
        assert copies == 1
        (context / "Dockerfile").write_text(f"FROM {IMAGE}-base\n{stage}")
        proxies = [word for name in os.environ if name.lower().endswith("_proxy") for word in ("--build-arg", name)]
        self.run("build", "--network=host", *proxies, "-t", IMAGE, context, timeout=1500)
        shutil.copy(envoy_binary(), context / "envoy")
        (context / "Dockerfile").write_text(f"FROM {IMAGE}-base\nCOPY envoy /usr/local/bin/\n")
        self.run("build", "-t", ENVOY_IMAGE, context)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(60)
        mounts = [line.split()[1] for line in pathlib.Path("/proc/mounts").read_text().splitlines() if f" {self.folder}/" in line]
        for mount in reversed(mounts):
            subprocess.run(["umount", mount], check=True)
        shutil.rmtree(self.folder)

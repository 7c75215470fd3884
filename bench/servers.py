"""The servers that are compared: this mesh with direct connections, this mesh behind Envoy, and the real kube-apiserver. Each has its own etcd."""
import contextlib
import pathlib
import signal
import socket
import ssl
import subprocess
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build/bin"
TOKEN = "bench-token"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def children_of(pid):
    listing = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True).stdout
    return [int(p) for p in listing.split()]


class Etcd:
    def __init__(self, folder, binary):
        client, peer = free_port(), free_port()
        self.url = f"http://127.0.0.1:{client}"
        self.process = subprocess.Popen(
            [str(binary), "--data-dir", str(folder), "--listen-client-urls", self.url, "--advertise-client-urls", self.url, "--listen-peer-urls",
             f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}", "--initial-cluster", f"default=http://127.0.0.1:{peer}",
             "--quota-backend-bytes", "8589934592", "--log-level", "error"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        self.process.kill()
        self.process.wait()


class Server:
    """A server and its etcd. Its figures are the sums over all its processes, without etcd. `plugins_off` are the admission plugins that do not run. ServiceAccount
    needs an account in every namespace, which kube-controller-manager creates."""

    def __init__(self, name, folder, etcd_binary, plugins_off=("ServiceAccount",)):
        self.plugins_off = plugins_off
        self.name, self.folder = name, pathlib.Path(folder) / name.replace(" ", "-")
        self.folder.mkdir(parents=True)
        self.etcd = Etcd(self.folder / "etcd", etcd_binary)
        self.wait_for_etcd()
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.key = self.folder / "sa.key"
        subprocess.run(["openssl", "genrsa", "-out", str(self.key), "2048"], check=True, capture_output=True)
        (self.folder / "tokens.csv").write_text(f'{TOKEN},admin,admin,"system:masters"\n')
        began = time.monotonic()
        self.process = subprocess.Popen(self.command(), stdout=open(self.folder / "log", "wb"), stderr=subprocess.STDOUT, env=self.environment())
        self.wait_ready()
        self.seconds_to_ready = time.monotonic() - began

    def environment(self):
        return None

    def flags(self):
        return [f"--etcd-servers={self.etcd.url}", f"--token-auth-file={self.folder}/tokens.csv", "--authorization-mode=RBAC,Node",
                f"--service-account-key-file={self.key}", f"--service-account-signing-key-file={self.key}",
                "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
                "--max-requests-inflight=3000", "--max-mutating-requests-inflight=1000", f"--disable-admission-plugins={','.join(self.plugins_off)}"]

    def wait_for_etcd(self):
        for _ in range(6000):
            try:
                with urllib.request.urlopen(self.etcd.url + "/health", timeout=1):
                    return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(f"etcd does not respond at {self.etcd.url}/health")

    def wait_ready(self):
        context = ssl._create_unverified_context()
        request = urllib.request.Request(self.url + "/readyz", headers={"Authorization": f"Bearer {TOKEN}"})
        for _ in range(6000):
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended: " + (self.folder / "log").read_text()[-2000:])
            try:
                with urllib.request.urlopen(request, context=context, timeout=2):
                    return
            except OSError:
                time.sleep(0.01)
        raise RuntimeError(f"{self.name} is not ready after a minute; see {self.folder}/log")

    def pids(self):
        return [self.process.pid, *children_of(self.process.pid)]

    def cpu_seconds(self):
        """Returns the CPU time of all processes from schedstat, because clock ticks are too coarse for short runs."""
        total = 0
        for pid in self.pids():
            for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError):  # the thread has ended
                    total += int((thread / "schedstat").read_text().split()[0])
        return total / 1e9

    def memory(self):
        """Returns the memory of all processes in MB, as proportional set size: shared pages are counted once."""
        total = 0
        for pid in self.pids():
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        return total / 1024

    def stop_server(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def restart(self):
        """Restarts the server with the same etcd. Returns the seconds until it is ready."""
        self.stop_server()
        began = time.monotonic()
        self.process = subprocess.Popen(self.command(), stdout=open(self.folder / "log", "ab"), stderr=subprocess.STDOUT, env=self.environment())
        self.wait_ready()
        return time.monotonic() - began

    def stop(self):
        self.stop_server()
        self.etcd.stop()


class Ours(Server):
    def command(self):
        return [str(BIN / "kube-apiserver"), "--bind-address=127.0.0.1", f"--secure-port={self.port}", f"--cert-dir={self.folder}/certs", *self.flags()]


class OursThroughEnvoy(Server):
    def command(self):
        own = ("--etcd-servers", "--service-account", "--service-cluster-ip-range", "--authorization-mode", "--allow-privileged")
        return [str(BIN / "apimesh"), "up", "--dir", str(self.folder / "mesh"), "--port", str(self.port), "--front-proxy", "envoy", "--etcd-servers",
                self.etcd.url, "--", *(flag for flag in self.flags() if not flag.startswith(own))]


class Reference(Server):
    binary = None

    def command(self):
        return [str(self.binary), "--bind-address=127.0.0.1", f"--secure-port={self.port}", f"--cert-dir={self.folder}/certs", "--advertise-address=127.0.0.1",
                *self.flags()]

"""Starts the processes of the end-to-end tests: our store or etcd, and our kube-apiserver."""
import contextlib
import glob
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("APIMESH_BIN", ROOT / "build/bin"))
KUBECTL = os.environ.get("KUBECTL", shutil.which("kubectl") or "kubectl")
SERVICES = ("core-api", "extensions-api", "authn-authz", "aggregator")
ADMIN_TOKEN = "admin-token-of-the-e2e-tests"
# For sanitizer builds, the folder of the reports (fixtures.py). These builds are slower and need more memory, so tests do not check such limits.
SANITIZER_REPORTS = os.environ.get("APIMESH_SANITIZER_REPORTS")
# The factor by which limits of time are longer in these builds.
SLOWDOWN = 6 if SANITIZER_REPORTS else 1
# The number of threads per process. If unset, each process chooses it, which is 1 on a small machine.
IO_THREADS = os.environ.get("APIMESH_IO_THREADS")


def older_kubectls():
    """Returns the paths of other versions of kubectl: $KUBECTLS (patterns, separated by ":"), or kubectl.1.N in the folder of the kubectl on PATH."""
    on_path = shutil.which("kubectl")
    beside = os.path.join(os.path.dirname(os.path.realpath(on_path)), "kubectl.1.*") if on_path else ""
    return sorted(path for pattern in os.environ.get("KUBECTLS", beside).split(":") for path in glob.glob(pattern))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(condition, seconds, what):
    """Waits until `condition` returns a true value, and returns it. `seconds` is the limit for a release build."""
    end = time.monotonic() + seconds * SLOWDOWN
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"timeout after {seconds} s: {what}")


def suspend(pid):
    """Suspends a process until SIGCONT, and waits until all of its threads are suspended: the signal takes effect later on a busy machine."""
    os.kill(pid, signal.SIGSTOP)
    tasks = pathlib.Path(f"/proc/{pid}/task")
    wait_until(lambda: all((task / "stat").read_text().rpartition(")")[2].split()[0] == "T" for task in tasks.iterdir()), 10, f"process {pid} is suspended")


class Answer:
    def __init__(self, code, headers, body):
        self.code, self.headers, self.body = code, headers, body

    def json(self):
        return json.loads(self.body)


class Client:
    """A simple HTTPS client, comparable to curl."""

    def __init__(self, url, token=ADMIN_TOKEN, cert=None):
        self.url, self.token = url, token
        self.context = ssl._create_unverified_context()
        if cert:
            self.context.load_cert_chain(*cert)

    def __call__(self, method, path, body=None, headers=None, timeout=20):
        answer = self.raw(method, path, body, headers, timeout)
        answer.body = answer.body.decode(errors="strict" if answer.code < 400 else "replace")  # an error can be a protobuf Status
        return answer

    def raw(self, method, path, body=None, headers=None, timeout=20):
        """Like calling the client, but the body of the response is bytes."""
        headers = dict(headers or {})
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        data = body.encode() if isinstance(body, str) else body
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=timeout * SLOWDOWN) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read())

    def get(self, path, **kw):
        return self("GET", path, **kw)

    def answers(self, path, code=200):
        try:
            return self.get(path, timeout=2).code == code
        except OSError:
            return False


class Store:
    """Our embedded store, or the real etcd if `binary` is set."""

    def __init__(self, folder, binary=None):
        port, peer = free_port(), free_port()
        self.url = f"http://127.0.0.1:{port}"
        arguments = [str(binary or BIN / "store"), "--data-dir", str(folder), "--listen-client-urls", self.url, "--advertise-client-urls", self.url]
        if binary:
            arguments += ["--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                          "--initial-cluster", f"default=http://127.0.0.1:{peer}", "--unsafe-no-fsync"]
        self.folder, self.arguments = pathlib.Path(folder), arguments
        self.start()

    def start(self):
        """Starts the store again after stop(), with the same data and the same address."""
        self.process = subprocess.Popen(self.arguments, stdout=open(f"{self.folder}.log", "ab"), stderr=subprocess.STDOUT)

    def stop(self):
        self.process.kill()
        self.process.wait()


class KubeApiserver:
    """Our kube-apiserver binary, with the flags that test tools use."""

    def __init__(self, folder, etcd_url, *extra, binary=None, users=()):
        """Each of `users` gets the token "<name>-token"."""
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        key, tokens = self.folder / "sa.key", self.folder / "tokens.csv"
        if not key.exists():
            subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
        tokens.write_text(f'{ADMIN_TOKEN},admin,admin-uid,"system:masters"\n' + "".join(f"{name}-token,{name},{name}-uid\n" for name in users))
        self.log = self.folder / "apiserver.log"
        self.arguments = [str(binary or BIN / "kube-apiserver"), f"--etcd-servers={etcd_url}", f"--cert-dir={self.folder}/certs", f"--secure-port={self.port}",
                          "--bind-address=127.0.0.1", f"--token-auth-file={tokens}", "--authorization-mode=RBAC", f"--service-account-key-file={key}",
                          f"--service-account-signing-key-file={key}", "--service-account-issuer=https://kubernetes.default.svc",
                          "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true", *extra]
        # No controller creates the ServiceAccount "default" of each namespace, without which pods are refused.
        if not any(flag.startswith(("--disable-admission-plugins", "--admission-control=")) for flag in extra):
            self.arguments.append("--disable-admission-plugins=ServiceAccount")
        if IO_THREADS and not binary and not any(flag.startswith("--io-threads") for flag in extra):
            self.arguments.append(f"--io-threads={IO_THREADS}")
        self.client = Client(self.url)
        self.anonymous = Client(self.url, token=None)
        self.process = None

    def start(self, wait=True):
        began = time.monotonic()
        self.process = subprocess.Popen(self.arguments, stdout=open(self.log, "ab"), stderr=subprocess.STDOUT, start_new_session=True)
        if wait:
            wait_until(lambda: self.anonymous.answers("/healthz") or self.process.poll() is not None, 30, "kube-apiserver is healthy")
            assert self.process.poll() is None, self.log.read_text()[-3000:]
        self.seconds_to_ready = time.monotonic() - began
        return self

    def children(self):
        """Returns {service: pid} of the running services."""
        found = {}
        listing = subprocess.run(["ps", "--ppid", str(self.process.pid), "-o", "pid=,args="], capture_output=True, text=True).stdout
        for line in listing.splitlines():
            pid, command = line.split(maxsplit=1)
            found[pathlib.Path(command.split()[0]).name] = int(pid)
        return found

    def memory_kilobytes(self, measure="Rss"):
        """Returns the memory of all processes. "Rss" counts a shared page once per process, "Pss" once in total."""
        total = 0
        for pid in [self.process.pid, *self.children().values()]:
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith(measure + ":"):
                    total += int(line.split()[1])
        return total

    def stop(self, sig=signal.SIGTERM, group=False, limit=20):
        if self.process.poll() is None:
            (os.killpg if group else os.kill)(self.process.pid, sig)
        return self.process.wait(limit * SLOWDOWN)

    def kubeconfig(self):
        path = self.folder / "kubeconfig"
        path.write_text(f"""apiVersion: v1
kind: Config
clusters: [{{name: e, cluster: {{server: "{self.url}", insecure-skip-tls-verify: true}}}}]
users: [{{name: e, user: {{token: {ADMIN_TOKEN}}}}}]
contexts: [{{name: e, context: {{cluster: e, user: e}}}}]
current-context: e
""")
        return path

    def kubectl(self, *arguments, check=True, stdin=None, binary=None):
        run = subprocess.run([str(binary or KUBECTL), f"--kubeconfig={self.kubeconfig()}", f"--cache-dir={self.folder}/cache", *arguments],
                             capture_output=True, text=True, timeout=90, input=stdin)
        assert not check or run.returncode == 0, f"kubectl {' '.join(arguments)}: {run.stdout}{run.stderr}"
        return run


@contextlib.contextmanager
def running_server(folder, *flags, users=()):
    """Starts a KubeApiserver with our store in `folder`, and stops both at the end."""
    store = Store(folder / "store")
    try:
        server = KubeApiserver(folder, store.url, *flags, users=users).start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        store.stop()


def serve_foos(server):
    """Defines a custom resource without restrictions, waits until it is served, and returns the path of its collection."""
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "foos.example.com"},
           "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"},
                    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
    assert server.client("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).code == 201
    foos = "/apis/example.com/v1/namespaces/default/foos"
    wait_until(lambda: server.client.answers(foos), 10, "the custom resource is served")
    return foos

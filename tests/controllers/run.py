#!/usr/bin/env python3
"""Runs the real kube-controller-manager and kube-scheduler against a mesh, with mixed work. README.md describes it."""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import mesh
import scenarios
from cluster import Api, Fault, Nodes

USERS = {"kube-controller-manager": "system:kube-controller-manager", "kube-scheduler": "system:kube-scheduler"}


class History:
    """What was done, and what was wrong."""

    def __init__(self):
        self.lock, self.faults, self.counts, self.seconds = threading.Lock(), [], collections.Counter(), collections.defaultdict(list)

    def fault(self, text):
        with self.lock:
            self.faults.append(f"{time.strftime('%H:%M:%S')} {text}")

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def took(self, name, seconds):
        with self.lock:
            self.seconds[name].append(seconds)


class Programs:
    """The store, kube-apiserver, kube-controller-manager and kube-scheduler, with data and logs in `folder`."""

    def __init__(self, args, folder):
        self.folder, self.started = folder, {}
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=ca", "-keyout", folder / "ca.key", "-out", folder / "ca.crt"],
                       check=True, capture_output=True)
        self.store = mesh.Store(folder / "store", binary=args.etcd)
        self.server = mesh.KubeApiserver(folder / "server", self.store.url, "--advertise-address=192.0.2.10", f"--client-ca-file={folder}/ca.crt",
                                         "--disable-admission-plugins=DefaultIngressClass", binary=args.apiserver)
        with open(folder / "server/tokens.csv", "a", encoding="utf-8") as tokens:
            tokens.writelines(f"token-of-{name},{user},{name}\n" for name, user in USERS.items())
        self.server.start(wait=False)
        mesh.wait_until(lambda: self.server.client.answers("/readyz"), 120, "kube-apiserver is ready")
        self.services = self.server.children() if not args.apiserver else {}
        self.api = Api(self.server.port, mesh.ADMIN_TOKEN)
        scenarios.definitions(self.api)
        self.start("kube-controller-manager", args.controller_manager, f"--service-account-private-key-file={folder}/server/sa.key", f"--root-ca-file={folder}/ca.crt",
                   f"--cluster-signing-cert-file={folder}/ca.crt", f"--cluster-signing-key-file={folder}/ca.key", "--use-service-account-credentials=true",
                   "--horizontal-pod-autoscaler-sync-period=5s", "--horizontal-pod-autoscaler-cpu-initialization-period=0s", "--resource-quota-sync-period=30s",
                   "--horizontal-pod-autoscaler-initial-readiness-delay=0s", "--pvclaimbinder-sync-period=5s", "--node-monitor-grace-period=5m")
        self.start("kube-scheduler", args.scheduler)

    def start(self, name, binary, *flags):
        config = self.folder / f"{name}.kubeconfig"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": self.server.url, "insecure-skip-tls-verify": True}}],
            "users": [{"name": "c", "user": {"token": f"token-of-{name}"}}]}))
        command = [binary, f"--kubeconfig={config}", f"--authentication-kubeconfig={config}", f"--authorization-kubeconfig={config}", "--bind-address=127.0.0.1",
                   "--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=45s", f"--secure-port={mesh.free_port()}", f"--cert-dir={self.folder}/{name}-certs", *flags]
        self.started[name] = subprocess.Popen([str(part) for part in command], stdout=(self.folder / f"{name}.log").open("ab"), stderr=subprocess.STDOUT)

    def check(self, history):
        """Reports programs that ended. Returns whether all run."""
        ended = [name for name, process in {**self.started, "store": self.store.process, "kube-apiserver": self.server.process}.items() if process.poll() is not None]
        if self.services and not ended and (now := self.server.children()) != self.services:
            ended.append(f"a process of the mesh (was {self.services}, is {now})")
        for name in ended:
            history.fault(f"{name} ended")
        return not ended

    def stop(self):
        for process in self.started.values():
            process.terminate()
        for process in self.started.values():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
        self.server.stop(limit=60)
        self.store.stop()


def work(number, api, history, stop, only):
    """Runs one scenario after another, each in a namespace of its own, which is deleted afterwards."""
    wanted = [one for one in scenarios.SCENARIOS if not only or one.__name__ in only]
    step = number * 5
    while not stop.is_set():
        scenario = wanted[step % len(wanted)]
        step += 1
        name, began = f"{scenario.__name__.replace('_', '-')}-{number}-{step}", time.monotonic()
        path = f"/api/v1/namespaces/{name}"
        try:
            api.create("/api/v1/namespaces", "v1", "Namespace", name)
            api.until(f"{path}/serviceaccounts/default", lambda found: found, "the namespace has an account")
            api.until(f"{path}/configmaps/kube-root-ca.crt", lambda found: found, "the namespace has the certificate of the cluster")
            scenario(api, name)
            api.delete(path)
            api.gone(path, 300)
            history.count(scenario.__name__)
            history.took(scenario.__name__, time.monotonic() - began)
        except (Fault, OSError, KeyError, IndexError, TypeError, ValueError, mesh.ssl.SSLError, subprocess.CalledProcessError) as error:
            history.fault(f"{name}: {type(error).__name__} {error}")


def complaint(line):
    """Returns a line of a log without times, names and numbers."""
    line = re.sub(r"^([EFW])\d{4} \S+ +\d+ ", r"\1 ", line)
    line = re.sub(r" event=.*", "", line)
    line = re.sub(r"\"[a-z]+[-0-9]*\.[0-9a-f]{10,}\\*\"", "EVENT", line)
    line = re.sub(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b", "UID", line)
    line = re.sub(r"\b\d+(\.\d+)?(m|µ|n)?s\b", "TIME", line)
    line = re.sub(r"\b[a-z-]+-\d+-\d+\b", "NAMESPACE", line)
    line = re.sub(r"(?<=[a-z0-9])-[bcdfghjklmnpqrstvwxz2456789]{5,10}\b", "-RANDOM", line)
    return re.sub(r"\d+", "N", line)


def complaints(text):
    """Counts errors and warnings of a log, and finds panics."""
    lines = [line for line in text.splitlines() if re.match(r"^[EFW]\d{4} ", line)]
    panics = [line for line in text.splitlines() if re.search(r"panic|nil pointer|DATA RACE|^goroutine \d+ \[running\]", line)]
    return dict(collections.Counter(complaint(line)[:600] for line in lines).most_common()), panics


def run(args, folder):
    history = History()
    programs = Programs(args, folder)
    try:
        nodes, stop = Nodes(programs.api, 3, history), threading.Event()
        threads = [threading.Thread(target=nodes.run, daemon=True)]
        threads += [threading.Thread(target=work, args=(i, programs.api, history, stop, args.only), daemon=True) for i in range(args.workers)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + args.minutes * 60
        while time.monotonic() < end and programs.check(history):
            time.sleep(1)
        stop.set()
        for thread in threads[1:]:
            thread.join(600)  # scenarios that have begun
        nodes.stop.set()
        programs.check(history)
    finally:
        programs.stop()
    report = {"minutes": args.minutes, "faults": history.faults, "scenarios": sum(len(one) for one in history.seconds.values()), "counts": history.counts,
              "median seconds": {name: round(sorted(one)[len(one) // 2], 1) for name, one in history.seconds.items()}, "complaints": {}}
    known = json.loads(args.known.read_text())["complaints"] if args.known else {}
    for name in USERS:
        report["complaints"][name], panics = complaints((folder / f"{name}.log").read_text(errors="replace"))
        report["faults"] += [f"{name}.log: {line}" for line in panics]
        if args.known:
            report.setdefault("not in the known report", {})[name] = {one: n for one, n in report["complaints"][name].items() if one not in known.get(name, {})}
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="duration (default: 30)")
    parser.add_argument("--controller-manager", required=True, help="binary of the real kube-controller-manager")
    parser.add_argument("--scheduler", required=True, help="binary of the real kube-scheduler")
    parser.add_argument("--apiserver", help="binary of a kube-apiserver (default: our mesh)")
    parser.add_argument("--etcd", help="binary of etcd (default: our store)")
    parser.add_argument("--workers", type=int, default=4, help="scenarios that run at the same time (default: 4)")
    parser.add_argument("--only", action="append", help="runs only this scenario (can be repeated)")
    parser.add_argument("--known", type=pathlib.Path, help="report of a run against another kube-apiserver; complaints that it has are not repeated")
    parser.add_argument("--folder", type=pathlib.Path, help="folder for data and logs, which is kept (default: a temporary folder)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        report = run(args, folder.resolve())
    json.dump(report, sys.stdout, indent=1)
    print()
    return 1 if report["faults"] or any(report.get("not in the known report", {}).values()) else 0


if __name__ == "__main__":
    sys.exit(main())

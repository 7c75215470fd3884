#!/usr/bin/env python3
"""The history checker. Clients write, read, list, page and watch with two meshes that use one etcd, while every process is killed and
paused, connections to etcd are interrupted, and etcd is compacted every 3 seconds. Afterwards each response is compared with the history of etcd.
usage: history.py --minutes 10 [--seed 1]"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import mesh  # noqa: E402
from check import check  # noqa: E402
from clients import Kind, Lister, Reader, Run, Watcher, Writer  # noqa: E402
from faults import Cable, Faults  # noqa: E402
from record import Record  # noqa: E402

CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
       "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {"data": {"type": "object", "additionalProperties": {"type": "string"}}}}}}]}}


class Etcd:
    def __init__(self, folder, binary):
        self.folder, self.binary, self.port, self.peer = folder, binary, mesh.free_port(), mesh.free_port()
        self.start()

    def start(self):
        client, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.peer}"
        self.process = subprocess.Popen(
            [str(self.binary), "--data-dir", str(self.folder / "etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
             "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
             "--log-level", "error"],  # with fsync, because it is killed and must not lose writes
            stdout=open(self.folder / "etcd.log", "ab"), stderr=subprocess.STDOUT)


def run_history(minutes, binary, seed=1, fault_every=3.0, folder=None, say=print):
    """Runs the checker. Returns (violations, figures)."""
    folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="apimesh-history-"))
    folder.mkdir(parents=True, exist_ok=True)
    etcd = Etcd(folder, binary)
    cables = [Cable(etcd.port) for _ in range(2)]
    # One mesh has one thread per process, the other has three, to find errors in state that threads share.
    meshes = [mesh.KubeApiserver(folder / f"mesh{i}", cable.url, "--etcd-compaction-interval=0", f"--io-threads={1 + 2 * i}") for i, cable in enumerate(cables)]
    stop, stop_record = threading.Event(), threading.Event()
    record = faults = None
    try:
        for one in meshes:
            one.start()
        client = meshes[0].client
        mesh.wait_until(lambda: client.answers("/readyz"), 60, "the mesh is ready")
        assert client("POST", "/api/v1/namespaces", {"metadata": {"name": "h"}}).code == 201
        assert client("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD).code == 201
        kinds = [Kind("/api/v1/namespaces/h/configmaps", "/registry/configmaps/h/", "v1", "ConfigMap"),
                 Kind("/apis/example.com/v1/namespaces/h/widgets", "/registry/example.com/widgets/h/", "example.com/v1", "Widget")]
        for one in meshes:
            for kind in kinds:
                mesh.wait_until(lambda one=one, kind=kind: one.client.answers(kind.path), 30, f"{kind.kind} is served")
        record = Record(etcd, [kind.prefix for kind in kinds], stop_record, compact_every=3)
        record.seen = record.newest()
        record.start()
        run = Run(meshes, kinds, stop)
        workers = []
        for kind in kinds:
            workers += [worker(run, kind, seed * 1000 + len(workers)) for worker in (Writer, Writer, Reader, Reader, Lister, Watcher, Watcher, Watcher)]
            seed += 1
        for worker in workers:
            worker.start()
        faults = Faults(etcd, meshes, cables, stop, fault_every, seed)
        faults.start()
        end = time.monotonic() + minutes * 60
        while time.monotonic() < end:
            time.sleep(min(30, max(0.1, end - time.monotonic())))
            say(f"{run.writes} writes ({run.unknown} with unknown outcome), {len(run.reads)} reads, {len(run.lists)} lists, "
                f"{sum(len(w[3]) for w in run.watches)} events in {len(run.watches)} watches, {len(faults.done)} faults, "
                f"{record.compactions} compactions", flush=True)
        stop.set()
        faults.join(20)
        for worker in workers:
            worker.join(60)
        stuck = [type(worker).__name__ for worker in workers if worker.is_alive()]
        # All processes must be ready again. Then the checker verifies that no acknowledged write is lost.
        for one in meshes:
            mesh.wait_until(lambda one=one: one.client.answers("/readyz"), 60, "all processes of the mesh are ready again")
        assert record.complete(90), "the record of the history of etcd is not complete after 90 s"
        violations = check(run, record) + [f"the client {name} did not end within 60 s" for name in stuck]
        figures = {"writes": run.writes, "unclear": run.unknown, "reads": len(run.reads), "lists": len(run.lists), "watches": len(run.watches),
                   "events": sum(len(watch[3]) for watch in run.watches), "faults": len(faults.done), "compactions": record.compactions,
                   "failed requests": sum(worker.api.failures for worker in workers)}
        return violations, figures
    finally:
        stop.set()
        stop_record.set()
        for cable in cables:
            cable.plugged.set()
        for one in meshes:
            if one.process:
                one.stop(group=False, sig=9 if one.process.poll() is None and sys.exc_info()[0] else 15, limit=60)
        etcd.process.kill()
        etcd.process.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2, help="duration (default: 2)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random choices")
    parser.add_argument("--fault-every", type=float, default=3.0, help="average number of seconds between faults")
    parser.add_argument("--etcd", default="etcd36", help="binary of etcd 3.6 (default: etcd36 on PATH)")
    parser.add_argument("--folder", help="folder for data and logs (default: a new temporary folder)")
    arguments = parser.parse_args()
    found, numbers = run_history(arguments.minutes, arguments.etcd, arguments.seed, arguments.fault_every, arguments.folder)
    print(numbers)
    for violation in found[:50]:
        print("VIOLATION:", violation[:2000])
    print("no violation" if not found else f"{len(found)} violations")
    sys.exit(bool(found))

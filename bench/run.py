#!/usr/bin/env python3
"""./apimesh bench: compares this mesh with the real kube-apiserver on the same machine, with the same version of etcd, the same data and
the same load, in interleaved rounds."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import servers
import workloads

ROOT = servers.ROOT
RESULTS = ROOT / "bench/results"


def progress(text):
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def find_reference():
    """Returns the path of the real kube-apiserver, or None."""
    path = subprocess.run([ROOT / "tools/reference"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    if not path:
        print("The real kube-apiserver is not measured: it is built with Go, which is not installed. Install Go, or set APIMESH_REFERENCE to a kube-apiserver binary.", file=sys.stderr)
    return path or None


def find_etcd():
    etcd = os.environ.get("APIMESH_ETCD_BINARY") or shutil.which("etcd36") or shutil.which("etcd")
    if not etcd:
        sys.exit("no etcd found: run ./apimesh bench, which builds one, or set APIMESH_ETCD_BINARY")
    return etcd


class PeakMemory:
    """Samples the memory of a server twice per second during a `with` block; `most` is the maximum in MB."""

    def __init__(self, server):
        self.server, self.most, self.over = server, 0, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.over.wait(0.5):
            self.most = max(self.most, self.server.memory())

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.most = max(self.most, self.server.memory())


def measure(server, run, seconds):
    before = server.cpu_seconds()
    with PeakMemory(server) as peak:
        result = run(server, seconds)
    # For watches, only the CPU time of the deliveries counts, without the TLS handshakes before them.
    cpu = result.get("serverCpuSeconds") or server.cpu_seconds() - before
    if result["errors"]:
        raise RuntimeError(f"{server.name}: {result['errors']} errors: {result['errorTexts']}")
    return {"cpu_us": cpu * 1e6 / max(result["done"], 1), "per_second": result["perSecond"], "p50_us": result["p50"], "p99_us": result["p99"],
            "memory_mb": server.memory(), "peak_mb": peak.most}


def median(values, key):
    return statistics.median(value[key] for value in values)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the workloads of the table of goals, in two short rounds (less than 3 minutes)")
    parser.add_argument("--pods", type=int, default=workloads.PODS, help="number of pods that exist during the measurements")
    parser.add_argument("--rounds", type=int, help="rounds whose median is reported (default: 3, or 2 with --quick)")
    parser.add_argument("--seconds", type=float, help="duration of each workload in each round (default: 5, or 2 with --quick)")
    parser.add_argument("--ours-only", action="store_true", help="do not measure kube-apiserver")
    parser.add_argument("--no-envoy", action="store_true", help="do not measure this mesh behind Envoy")
    parser.add_argument("--growth", action="store_true", help="instead, measure how the cost of a request grows with the number of objects, watchers, CRDs and bindings (bench/growth.py)")
    parser.add_argument("--many", action="store_true", help="instead, measure start-up, memory and lists with 100,000 objects (bench/many_objects.py)")
    parser.add_argument("--admission", action="store_true", help="instead, measure what admission plugins and policies add to the creation of a pod (bench/admission.py)")
    parser.add_argument("--only", help="only workloads whose name contains this text")
    arguments = parser.parse_args()
    if arguments.many:
        os.execv(sys.executable, [sys.executable, str(ROOT / "bench/many_objects.py"), *(a for a in sys.argv[1:] if a != "--many")])
    if arguments.admission:
        os.execv(sys.executable, [sys.executable, str(ROOT / "bench/admission.py"), *(a for a in sys.argv[1:] if a != "--admission")])
    if arguments.growth:
        os.execv(sys.executable, [sys.executable, str(ROOT / "bench/growth.py"), *(a for a in sys.argv[1:] if a != "--growth")])
    rounds = arguments.rounds or (2 if arguments.quick else 3)
    seconds = arguments.seconds or (2 if arguments.quick else 5)

    etcd = find_etcd()
    kinds = [("ours", servers.Ours)]
    if not arguments.no_envoy and (os.environ.get("APIMESH_ENVOY") or shutil.which("envoy")):
        kinds.append(("ours through Envoy", servers.OursThroughEnvoy))
    if not arguments.ours_only and (reference := find_reference()):
        servers.Reference.binary = reference
        kinds.append(("kube-apiserver", servers.Reference))

    folder = tempfile.mkdtemp(prefix="apimesh-bench-")
    running, results, failures = [], {}, []
    try:
        for name, kind in kinds:
            progress(f"starting {name}")
            server = kind(name, folder, etcd)
            running.append(server)
            time.sleep(2)
            results.setdefault("start to ready (s)", {})[name] = {"value": server.seconds_to_ready}
            results.setdefault("memory idle (MB)", {})[name] = {"value": server.memory()}
        for server in running:
            progress(f"seeding {arguments.pods} pods into {server.name}")
            workloads.seed(server, arguments.pods)
        chosen = [(n, f) for n, f, quick in workloads.WORKLOADS if (quick or not arguments.quick) and (not arguments.only or arguments.only in n)]
        samples = {name: {server.name: [] for server in running} for name, _ in chosen}
        for turn in range(rounds):
            for name, run in chosen:
                for server in running[turn % len(running):] + running[:turn % len(running)]:
                    progress(f"round {turn + 1} of {rounds}: {name}: {server.name}")
                    try:
                        samples[name][server.name].append(measure(server, run, seconds))
                    except RuntimeError as error:
                        failures.append(f"{name}: {error}")
        for name, by_server in samples.items():
            results[name] = {server: {key: median(values, key) for key in values[0]} for server, values in by_server.items() if values}
        for server in running:
            results.setdefault("memory after (MB)", {})[server.name] = {"value": server.memory()}
    finally:
        progress("")
        for server in running:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)

    from report import print_table, write_documents
    print_table(results)
    for failure in failures:
        print("FAILED " + failure, file=sys.stderr)
    RESULTS.mkdir(exist_ok=True)
    stamp = time.strftime("%Y-%m-%d") + ("-quick" if arguments.quick else "")
    (RESULTS / f"{stamp}.json").write_text(json.dumps({"pods": arguments.pods, "rounds": rounds, "seconds": seconds, "results": results}, indent=1) + "\n")
    if not arguments.only and not arguments.quick:  # a short run does not replace the table of a complete one
        write_documents(results, arguments)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

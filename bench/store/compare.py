#!/usr/bin/env python3
"""Compares our store with a real etcd on the same disk, in interleaved rounds. Prints every run and finally a table.

    ninja -C build store store_load && bench/store/compare.py --etcd /path/to/etcd [--rounds 5] [--seconds 3] [--million]

The table has the throughput, the CPU time of the server process per operation, the time from the start to the first response of /health,
and the resident memory.
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CELLS = [("put", 1), ("put", 64), ("get", 1), ("get", 64), ("list", 4)]
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, binary, folder, quota=None):
        self.binary, self.folder = str(binary), folder
        self.port, self.peer, self.quota = free_port(), free_port(), quota
        folder.mkdir(parents=True, exist_ok=True)

    def start(self):
        """Starts the server. Returns the seconds until /health responds."""
        url, peer = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.peer}"
        command = [self.binary, "--data-dir", str(self.folder / "data"), "--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", peer,
                   "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}", "--log-level", "error"]
        if self.quota:
            command += ["--quota-backend-bytes", str(self.quota)]
        log = (self.folder / "log").open("ab")
        began = time.monotonic()
        self.process = subprocess.Popen(command, stdout=log, stderr=log)
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return time.monotonic() - began
            except OSError:
                time.sleep(0.001)
            if self.process.poll() is not None:
                raise SystemExit(f"{self.binary} ended: " + (self.folder / "log").read_text()[-2000:])

    def cpu(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text()).group(1)) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def load(server, operation, clients, seconds, keys=10000):
    before = server.cpu()
    done = subprocess.run([str(ROOT / "build/bin/store_load"), f"127.0.0.1:{server.port}", operation, str(clients), str(seconds), str(keys), "1024"],
                          capture_output=True, text=True, check=True).stdout
    rate, p50, p99 = (float(x) for x in re.match(r"(\d+) ops/s p50 (\d+) us p99 (\d+)", done).groups())
    return {"rate": rate, "p50": p50, "p99": p99, "cpu_us": (server.cpu() - before) / max(rate * seconds, 1) * 1e6}


def measure(binaries, folder, rounds, seconds, cells):
    results = {}
    servers = {name: Server(binary, folder / name) for name, binary in binaries.items()}
    for name, server in servers.items():
        starts = [server.start()]
        results[name, "memory at rest, MB"] = [server.memory()]
        server.stop()
        for _ in range(rounds - 1):
            starts.append(server.start())
            server.stop()
        results[name, "start, ms"] = [s * 1000 for s in starts]
    for server in servers.values():
        server.start()
        load(server, "fill", 64, 0)
    for number in range(rounds):
        for operation, clients in cells:
            for name, server in servers.items():
                got = load(server, operation, clients, seconds)
                print(json.dumps({"round": number, "server": name, "operation": operation, "clients": clients, "load": os.getloadavg()[0], **got}), flush=True)
                for field, value in got.items():
                    results.setdefault((name, f"{operation} {clients} {field}"), []).append(value)
    for server in servers.values():
        server.stop()
    return results


def million(binaries, folder, rounds):
    results = {}
    for name, binary in binaries.items():
        server = Server(binary, folder / f"million-{name}", quota=8 << 30)
        server.start()
        began = time.monotonic()
        load(server, "fill", 256, 0, keys=1_000_000)
        print(json.dumps({"server": name, "filled in": time.monotonic() - began}), flush=True)
        server.stop()
        times = []
        for _ in range(rounds):
            times.append(server.start())
            memory = server.memory()
            server.stop()
        print(json.dumps({"server": name, "starts with a million keys": times, "memory": memory, "load": os.getloadavg()[0]}), flush=True)
        results[name, "start with 1,000,000 keys of 1 KB, s"] = times
        results[name, "memory then, MB"] = [memory]
        shutil.rmtree(server.folder)
    return results


def table(results, names):
    lines = ["| | " + " | ".join(names) + " | ratio of medians |", "|---|" + "---|" * (len(names) + 1)]
    for what in dict.fromkeys(key[1] for key in results):
        medians = [statistics.median(results[name, what]) for name in names]
        cells = [f"{m:,.4g} ({min(results[n, what]):,.4g} to {max(results[n, what]):,.4g})" for n, m in zip(names, medians)]
        lines.append(f"| {what} | {' | '.join(cells)} | {', '.join(f'{m / medians[0]:.2f}' for m in medians[1:])} |")
    return "\n".join(lines)


def report(args, binaries, cells):
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        results = {} if args.only_million else measure(binaries, pathlib.Path(folder), args.rounds, args.seconds, cells)
        if args.million or args.only_million:
            results |= million(binaries, pathlib.Path(folder), args.rounds)
    print(table(results, list(binaries)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etcd", default=os.environ.get("APIMESH_ETCD_BINARY"), required="APIMESH_ETCD_BINARY" not in os.environ, help="binary of etcd (default: $APIMESH_ETCD_BINARY)")
    parser.add_argument("--store", default=ROOT / "build/bin/store", help="binary of our store (default: build/bin/store)")
    parser.add_argument("--also", action="append", default=[], metavar="NAME=PATH", help="measure another store in the same rounds; may be repeated")
    parser.add_argument("--cells", default=",".join(f"{operation}:{clients}" for operation, clients in CELLS), help="operations and numbers of clients, such as put:1,get:64")
    parser.add_argument("--beside", type=int, default=0, help="keep the machine busy with this number of processes that only use CPU time")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (default: 5)")
    parser.add_argument("--seconds", type=float, default=3, help="duration of each run (default: 3)")
    parser.add_argument("--million", action="store_true", help="also measure a restart with 1,000,000 keys of 1 KB (about 2 GB of disk and several minutes)")
    parser.add_argument("--only-million", action="store_true", help="measure only the restart with 1,000,000 keys")
    parser.add_argument("--folder", default=None, help="folder for the data, on the disk that is to be measured (default: the folder for temporary files)")
    parser.add_argument("--realtime", action="store_true", help="run servers and load with SCHED_FIFO (as root), so that other processes disturb the measurement less")
    args = parser.parse_args()
    binaries = {"etcd": args.etcd, "store": args.store} | dict(also.split("=", 1) for also in args.also)
    cells = [(operation, int(clients)) for operation, clients in (cell.split(":") for cell in args.cells.split(","))]
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(args.beside)]
    if args.realtime:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))  # inherited by processes that are started from here on
    try:
        report(args, binaries, cells)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    print(f"\nload average at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures what 1,000 CustomResourceDefinitions cost: memory each, CPU of creating one more, and the time and CPU of a start.

Run: bench/many_definitions.py [--count 1000] [--more 20], or bench/many_definitions.py --folder FOLDER... for the definitions in the YAML files of folders, such as those of Go modules,
without their conversion webhooks. APIMESH_BIN names the folder of the binaries.
CPU and memory (proportional set size) are summed over the processes of the mesh; the store is not counted.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/e2e"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/differential"))
import compare_definitions  # noqa: E402
import mesh  # noqa: E402

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TICK = os.sysconf("SC_CLK_TCK")


def definition(number):
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {f"field{i}": {"type": "string"} for i in range(8)}}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"things.g{number}.example.com"},
            "spec": {"group": f"g{number}.example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


def descendants(pid):
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        todo += children.get(one, [])
    return found


def cpu(pids):
    """Milliseconds of CPU by name of the process."""
    used = {}
    for pid in pids:
        head, fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)
        used[head.split("(", 1)[1]] = sum(map(int, fields.split()[11:13])) * 1000 / TICK
    return used


def memory(pids):
    """Kilobytes by name of the process."""
    used = {}
    for pid in pids:
        lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        used[pathlib.Path(f"/proc/{pid}/comm").read_text().strip()] = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return used


def difference(after, before):
    return {name: round(after[name] - before.get(name, 0), 1) for name in after}


def definitions_of(folders):
    """Returns one definition per name."""
    found = {}
    for _, one in compare_definitions.definitions(folders):
        one["spec"].pop("conversion", None)
        found.setdefault(one["metadata"]["name"], {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **one})
    return list(found.values())


def create(client, bodies):
    """Returns how many definitions the server accepts."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda body: client("POST", CRDS, body, timeout=60).code, bodies))
    assert set(codes) <= {201, 422}, set(codes)
    last = next(body["spec"] for body, code in zip(reversed(bodies), reversed(codes)) if code == 201)
    version = next(one["name"] for one in last["versions"] if one["served"])
    path = f"/apis/{last['group']}/{version}/{last['names']['plural']}"
    mesh.wait_until(lambda: client.get(path).code == 200, 120, "the last definition is served")
    return codes.count(201)


def settle(pids):
    """Waits until the processes use no more CPU."""
    before = sum(cpu(pids).values())
    for _ in range(60):
        time.sleep(1)
        now = sum(cpu(pids).values())
        if now - before < 20:
            return
        before = now


def settled_memory(pids):
    """Waits until the memory does not fall any more: the allocator returns the pages that the compilation of large schemas needed some 10 s later, which is half of the memory after
    the creation of 50 large definitions."""
    time.sleep(15)
    least = memory(pids)
    for _ in range(12):
        time.sleep(5)
        now = memory(pids)
        if sum(now.values()) > 0.99 * sum(least.values()):
            return now
        least = now
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--more", type=int, default=20)
    parser.add_argument("--folder", nargs="+")
    options = parser.parse_args()
    bodies = definitions_of(options.folder) if options.folder else [definition(number) for number in range(options.count)]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        store = mesh.Store(folder / "store")
        server = mesh.KubeApiserver(folder / "server", store.url).start()
        try:
            pids = descendants(server.process.pid)
            settle(pids)
            before = memory(pids)
            count = create(server.client, bodies)
            settle(pids)
            grown = difference(settled_memory(pids), before)
            size = sum(len(json.dumps(body)) for body in bodies) / len(bodies) / 1024
            print(f"memory per definition of {size:.1f} KB in KB: {sum(grown.values()) / count:.1f}, in all: {grown}")
            used = cpu(pids)
            for number in range(options.more):
                # Nothing is requested until the definition is served: the handshakes of such requests would be counted.
                assert server.client("POST", CRDS, definition(options.count + number), timeout=60).code == 201
                time.sleep(0.5)
            settle(pids)
            spent = difference(cpu(pids), used)
            print(f"CPU of one more in ms: {sum(spent.values()) / options.more:.1f}, in all: {spent}")
            server.stop()
            begin = time.monotonic()
            server = mesh.KubeApiserver(folder / "server", store.url).start()
            took = time.monotonic() - begin
            pids = descendants(server.process.pid)
            print(f"start with {count + options.more} definitions: {took:.2f} s, CPU in ms: {cpu(pids)}")
        finally:
            server.stop()
            store.stop()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""./apimesh bench --many: measures start-up, memory and lists with 100,000 objects of 1 KB, which are in etcd before the server starts."""
import argparse
import base64
import json
import shutil
import ssl
import tempfile
import time
import urllib.request

import run
import servers

SETTLE = 12  # seconds until allocators have returned the memory that only the start or a list needed
PATH = "/api/v1/namespaces/default/configmaps"


def object_text(number, size):
    thing = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": f"object-{number:06}", "namespace": "default", "uid": f"00000000-0000-4000-8000-{number:012}",
                                                                   "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"app": f"app-{number % 50}"}}, "data": {"value": ""}}
    thing["data"]["value"] = "v" * (size - len(json.dumps(thing, separators=(",", ":"))))
    return json.dumps(thing, separators=(",", ":"))


def seed(server, count, size):
    """Writes the objects directly to etcd, with its JSON gateway. Returns their total size in bytes."""
    total = 0
    for first in range(0, count, 100):
        texts = {number: object_text(number, size) for number in range(first, min(first + 100, count))}
        puts = [{"requestPut": {"key": base64.b64encode(f"/registry/configmaps/default/object-{number:06}".encode()).decode(), "value": base64.b64encode(text.encode()).decode()}}
                for number, text in texts.items()]
        request = urllib.request.Request(server.etcd.url + "/v3/kv/txn", data=json.dumps({"success": puts}).encode())
        urllib.request.urlopen(request, timeout=60).read()
        total += sum(map(len, texts.values()))
    return total


def listed(server, query=""):
    """Requests one list. Returns (seconds, bytes, items)."""
    request = urllib.request.Request(server.url + PATH + query, headers={"Authorization": f"Bearer {servers.TOKEN}"})
    began = time.monotonic()
    with urllib.request.urlopen(request, context=ssl._create_unverified_context(), timeout=300) as answer:
        text = answer.read()
    return time.monotonic() - began, len(text), text.count(b'"uid":"00000000-')


def measure(server, count, size):
    time.sleep(SETTLE)
    idle = server.memory()
    megabytes = seed(server, count, size) / 1e6
    starts, cpu = [], []
    for _ in range(3):
        starts.append(server.restart())
        cpu.append(server.cpu_seconds())
    time.sleep(SETTLE)
    full = server.memory()
    whole = [listed(server) for _ in range(3)]
    assert all(items == count for _, _, items in whole), whole
    cpu_before = server.cpu_seconds()
    page = min(listed(server, "?limit=500") for _ in range(3))
    label = min(listed(server, "?labelSelector=app%3Dapp-7") for _ in range(10))
    time.sleep(SETTLE)
    return {"JSON (MB)": megabytes, "memory idle, empty etcd (MB)": idle, "start to ready (s)": sorted(starts)[1], "CPU of the start (s)": sorted(cpu)[1],
            "memory after the start (MB)": full, "memory after lists (MB)": server.memory(), "memory for the objects / JSON": (full - idle) / megabytes,
            "LIST all (s)": min(seconds for seconds, _, _ in whole), "LIST all (MB)": whole[0][1] / 1e6, "LIST limit=500 (s)": page[0], "LIST by label, 1 in 50 (s)": label[0],
            "CPU of the last lists (s)": server.cpu_seconds() - cpu_before}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objects", type=int, default=100_000, help="number of objects")
    parser.add_argument("--size", type=int, default=1024, help="size of each object, in bytes of JSON")
    parser.add_argument("--ours-only", action="store_true", help="do not measure kube-apiserver")
    arguments = parser.parse_args()
    kinds = [("ours", servers.Ours)]
    if not arguments.ours_only and (reference := run.find_reference()):
        servers.Reference.binary = reference
        kinds.append(("kube-apiserver", servers.Reference))
    folder, results = tempfile.mkdtemp(prefix="apimesh-many-"), {}
    try:
        for name, kind in kinds:
            server = kind(name, folder, run.find_etcd())
            try:
                results[name] = measure(server, arguments.objects, arguments.size)
            finally:
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"| {arguments.objects} objects of {arguments.size} bytes | " + " | ".join(results) + " |\n|---|" + "---|" * len(results))
    for row in next(iter(results.values())):
        print(f"| {row} | " + " | ".join(f"{result[row]:.2f}" for result in results.values()) + " |")


if __name__ == "__main__":
    main()

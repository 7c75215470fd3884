#!/usr/bin/env python3
"""./apimesh bench --growth: measures how the cost of one request grows with the number of objects, watchers, CRDs and bindings, and plots it in docs/growth.svg."""
import argparse
import json
import os
import shutil
import tempfile
import time

import run
import servers
import workloads
from workloads import NAMESPACE, config_map, load, once

REVIEW = json.dumps({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                     "spec": {"user": "user-{n}", "resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods", "name": "p{n}"}}})
JSON = ["Content-Type: application/json"]


def cpu_of(server, *arguments, headers=()):
    before = server.cpu_seconds()
    result = load(server, *arguments, headers=headers)
    if result["errors"]:
        raise RuntimeError(f"{server.name}: {result['errorTexts']}")
    cpu = result.get("serverCpuSeconds") or server.cpu_seconds() - before  # for watches, the CPU time of the deliveries only
    return cpu * 1e6 / max(result["done"], 1)


def create(server, path, body, first, last, code="201"):
    result = load(server, "requests", "--method", "POST", "--path", path, "--body", body, "--connections", "8", "--count", str(last - first), "--first", str(first),
                  "--expect-code", code, headers=JSON)
    if result["errors"]:
        raise RuntimeError(f"{server.name}: {result['errorTexts']}")


def objects(server, before, count):
    once(server, "POST", "/api/v1/namespaces", '{"metadata":{"name":"many"}}')
    create(server, "/api/v1/namespaces/many/configmaps", config_map("object-{n}", "v" * 700), before, count)
    path = "/api/v1/namespaces/many/configmaps"
    return {"GET (µs)": cpu_of(server, "requests", "--path", path + "/object-7", "--connections", "16", "--count", "2000"),
            "LIST limit=500 (µs)": cpu_of(server, "requests", "--path", path + "?limit=500", "--connections", "2", "--count", "40"),
            "memory (MB)": server.memory()}


def watchers(server, _, count):
    once(server, "POST", NAMESPACE + "/configmaps", config_map("watched", "v"))
    return {"one event to one watcher (µs)": cpu_of(
        server, "watch", "--path", NAMESPACE + "/configmaps?watch=true&fieldSelector=metadata.name%3Dwatched", "--change-path", NAMESPACE + "/configmaps/watched",
        "--change-body", '{"data":{"key":"v{n}"}}', "--watchers", str(count), "--events", str(max(5, 4000 // count)),
        "--server-pids", ",".join(map(str, server.pids())))}


def definitions(server, before, count):
    began, cpu = time.monotonic(), server.cpu_seconds()
    for number in range(before, count):
        body = workloads.custom_definition("things", f"g{number}.example.com")
        if once(server, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)["errors"]:
            raise RuntimeError(f"{server.name}: a CustomResourceDefinition was rejected")
    while once(server, "GET", f"/apis/g{count - 1}.example.com/v1/things", "")["errors"]:
        time.sleep(0.05)
    return {"one definition (µs)": (server.cpu_seconds() - cpu) * 1e6 / (count - before), "one definition (ms of time)": (time.monotonic() - began) * 1e3 / (count - before),
            "memory (MB)": server.memory()}


def bindings(server, before, count):
    body = json.dumps({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "binding-{n}"},
                       "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
                       "subjects": [{"kind": "User", "name": "user-{n}", "apiGroup": "rbac.authorization.k8s.io"}]})
    create(server, "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", body, before, count)
    return {"SubjectAccessReview (µs)": cpu_of(server, "requests", "--method", "POST", "--path", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "--body", REVIEW,
                                               "--connections", "8", "--count", "1000", "--expect-code", "201", headers=JSON)}


CURVES = {"objects": (objects, [1000, 5000, 20000, 100000]), "watchers": (watchers, [10, 100, 500, 2000]), "CRDs": (definitions, [10, 50, 200, 1000]),
          "bindings": (bindings, [10, 100, 1000, 10000])}


def plot(results):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    panels = [(curve, figure) for curve, points in results.items() for figure in next(iter(next(iter(points.values())).values())) if figure != "restart (s)"]
    columns = 3
    figure, axes = pyplot.subplots((len(panels) + columns - 1) // columns, columns, figsize=(11, 2.6 * ((len(panels) + columns - 1) // columns)))
    for place, (curve, name) in zip(axes.flat, panels):
        for server, color in (("kube-apiserver", "#909090"), ("ours", "#2a6fdb")):
            points = [(int(count), values[server][name]) for count, values in results[curve].items() if server in values]
            place.plot([x for x, _ in points], [y for _, y in points], marker="o", label=server, color=color)
        place.set_xscale("log")
        place.set_ylim(bottom=0)
        place.set_xlabel(curve)
        place.set_title(name, fontsize=9)
    for place in list(axes.flat)[len(panels):]:
        place.set_visible(False)
    axes.flat[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(servers.ROOT / "docs/growth.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=10 ** 9, help="skip points with more objects, watchers, CRDs or bindings than this")
    parser.add_argument("--only", help="only curves whose name contains this text")
    parser.add_argument("--ours-only", action="store_true", help="do not measure kube-apiserver")
    arguments = parser.parse_args()
    etcd = run.find_etcd()
    kinds = [("ours", servers.Ours)]
    if not arguments.ours_only and (reference := run.find_reference()):
        servers.Reference.binary = reference
        kinds.append(("kube-apiserver", servers.Reference))
    results = {}
    for curve, (measure, counts) in CURVES.items():
        if arguments.only and arguments.only not in curve:
            continue
        folder = tempfile.mkdtemp(prefix="apimesh-growth-")
        running = [kind(name, folder, etcd) for name, kind in kinds]
        try:
            before = 0
            for count in (count for count in counts if count <= arguments.largest):
                for server in running:
                    run.progress(f"{curve}: {count}: {server.name}")
                    results.setdefault(curve, {}).setdefault(str(count), {})[server.name] = measure(server, before, count)
                before = count
            if curve == "objects" and before:
                for server in running:
                    run.progress(f"{curve}: {before}: {server.name}: restart")
                    results["objects"][str(before)][server.name]["restart (s)"] = server.restart()
        finally:
            run.progress("")
            for server in running:
                server.stop()
            shutil.rmtree(folder, ignore_errors=True)
        for count, values in results.get(curve, {}).items():
            for server, figures in values.items():
                print(f"{curve:9} {count:>7}  {server:15} " + "  ".join(f"{name} {value:,.1f}" for name, value in figures.items()))
    run.RESULTS.mkdir(exist_ok=True)
    (run.RESULTS / (time.strftime("%Y-%m-%d") + "-growth.json")).write_text(json.dumps(results, indent=1) + "\n")
    if not arguments.only:
        plot(results)


if __name__ == "__main__":
    main()

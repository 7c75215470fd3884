"""The workloads. Each is a function that runs the load generator against a server with the seeded pods, and returns its figures."""
import json
import subprocess
import threading
import time

from servers import BIN, TOKEN

PODS = 5000
NAMESPACE = "/api/v1/namespaces/default"
APPLY = "application/apply-patch+yaml"


def pod(name, number):
    """Returns a pod of about 6 KB of JSON, like those that controllers create."""
    containers = [{
        "name": f"c{i}", "image": f"registry.example.com/team/app-{i}:v1.2.{i}", "args": [f"--flag-{j}=value-{j}" for j in range(12)],
        "env": [{"name": f"VARIABLE_{j}", "value": f"value-of-variable-{j}"} for j in range(14)],
        "ports": [{"name": "http", "containerPort": 8080 + i, "protocol": "TCP"}],
        "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080 + i}, "periodSeconds": 10},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}],
    } for i in range(2)]
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {"app": "bench", "fiftieth": number, "tier": "backend"},
                         "annotations": {f"example.com/annotation-{j}": "x" * 60 for j in range(4)}},
            "spec": {"automountServiceAccountToken": False, "containers": containers, "volumes": [{"name": "config", "configMap": {"name": "app"}}],
                     "nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "bench", "effect": "NoSchedule"}]}}


def load(server, *arguments, headers=()):
    command = [str(BIN / "load"), "--url", server.url, "--header", f"Authorization: Bearer {TOKEN}"]
    for header in headers:
        command += ["--header", header]
    run = subprocess.run([*command, *arguments], capture_output=True, text=True)
    if not run.stdout:
        raise RuntimeError(run.stderr)
    return json.loads(run.stdout)


def requests(*arguments, headers=()):
    """Returns a workload of equal requests. In the arguments, PODS and PODS/50 are replaced by that number of seeded pods."""
    def run(server, seconds):
        counts = {"PODS": str(server.pods), "PODS/50": str(server.pods // 50)}
        return load(server, "requests", *(counts.get(argument, argument) for argument in arguments), "--seconds", str(seconds), headers=headers)
    return run


def seed(server, count):
    """Creates the pods with 8 connections, in 50 groups; each group has its own label value."""
    server.pods = count
    body = json.dumps(pod("pod-{n}", "{n}"))
    result = None
    for part in range(50):
        result = load(server, "requests", "--method", "POST", "--path", NAMESPACE + "/pods", "--body", body.replace('"fiftieth": "{n}"', f'"fiftieth": "f{part}"'),
                      "--connections", "8", "--count", str(count // 50), "--first", str(part * (count // 50)), "--expect-code", "201",
                      headers=["Content-Type: application/json"])
        if result["errors"]:
            raise RuntimeError(f"{server.name}: seeding failed: {result['errorTexts']}")
    return result


def config_map(name, value):
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": value, "other": "y" * 200}})


def create(kind):
    counter = {"first": 0}

    def run(server, seconds):
        # The objects are in a separate namespace, so that the lists of the other workloads keep their length.
        load(server, "requests", "--method", "POST", "--path", "/api/v1/namespaces", "--body", '{"metadata":{"name":"new"}}', "--count", "1", "--connections", "1",
             headers=["Content-Type: application/json"])
        path, body = ("/configmaps", config_map("new-{n}", "v")) if kind == "configmap" else ("/pods", json.dumps(pod("new-{n}", "none")))
        path = "/api/v1/namespaces/new" + path
        counter["first"] += 1_000_000
        return load(server, "requests", "--method", "POST", "--path", path, "--body", body, "--connections", "8", "--seconds", str(seconds), "--first",
                    str(counter["first"]), "--expect-code", "201", headers=["Content-Type: application/json"])
    return run


def change(method, body, content_type):
    def run(server, seconds):
        for worker in range(8):
            load(server, "requests", "--method", "POST", "--path", NAMESPACE + "/configmaps", "--body", config_map(f"changed-{worker}", "v"), "--count", "1",
                 "--connections", "1", headers=["Content-Type: application/json"])
        path = NAMESPACE + "/configmaps/changed-{w}" + ("?fieldManager=bench&force=true" if content_type == APPLY else "")
        return load(server, "requests", "--method", method, "--path", path, "--body", body, "--connections", "8", "--seconds", str(seconds),
                    headers=[f"Content-Type: {content_type}"])
    return run


WIDGETS = "/apis/bench.example.com/v1/namespaces/default/widgets"


def custom_definition(name="widgets", group="bench.example.com"):
    spec = {"type": "object", "properties": {"size": {"type": "integer", "minimum": 0}, "text": {"type": "string"}}}
    return json.dumps({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{name}.{group}"},
                       "spec": {"group": group, "scope": "Namespaced",
                                "names": {"plural": name, "singular": name[:-1], "kind": name[:-1].capitalize(), "listKind": name[:-1].capitalize() + "List"},
                                "versions": [{"name": "v1", "served": True, "storage": True,
                                              "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}})


def widget(name, text):
    return json.dumps({"apiVersion": "bench.example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": 3, "text": text + "y" * 200}})


def once(server, method, path, body, headers=("Content-Type: application/json",)):
    """Sends one request. "errors" of the result is not 0 if it failed."""
    return load(server, "requests", "--method", method, "--path", path, "--body", body, "--count", "1", "--connections", "1", "--expect-code",
                "201" if method == "POST" else "200", headers=headers)


def custom(method, body, content_type):
    """Returns a workload that writes custom resources. A body with {n} creates new ones, a body with {w} updates the same eight."""
    counter = {"first": 0}

    def run(server, seconds):
        once(server, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", custom_definition())
        for _ in range(200):
            if not once(server, "GET", WIDGETS + "?limit=1", "")["errors"]:
                break
            time.sleep(0.1)
        for worker in range(8):
            once(server, "POST", WIDGETS, widget(f"changed-{worker}", "v"))
        counter["first"] += 1_000_000
        path = WIDGETS if method == "POST" else WIDGETS + "/changed-{w}" + ("?fieldManager=bench&force=true" if content_type == APPLY else "")
        return load(server, "requests", "--method", method, "--path", path, "--body", body, "--connections", "8", "--seconds", str(seconds), "--first",
                    str(counter["first"]), "--expect-code", "201" if method == "POST" else "200", headers=[f"Content-Type: {content_type}"])
    return run


def mixed(server, _):
    """Simulates a hundred controllers. The number of requests of each kind is fixed, so that every server does the same work."""
    for worker in range(8):
        once(server, "POST", NAMESPACE + "/configmaps", config_map(f"changed-{worker}", "v"))
    once(server, "POST", NAMESPACE + "/configmaps", config_map("watched", "v"))
    json_type = ["Content-Type: application/json"]
    parts = [
        (["requests", "--path", NAMESPACE + "/pods/pod-7?resourceVersion=0", "--connections", "16", "--count", "2000"], []),
        (["requests", "--path", NAMESPACE + "/pods/pod-8", "--connections", "16", "--count", "1000"], []),
        (["requests", "--path", NAMESPACE + "/pods?limit=100", "--connections", "4", "--count", "100"], []),
        (["requests", "--method", "PUT", "--path", NAMESPACE + "/configmaps/changed-{w}", "--body", config_map("changed-{w}", "u{n}"), "--connections", "8",
          "--count", "400"], json_type),
        (["watch", "--path", NAMESPACE + "/configmaps?watch=true&fieldSelector=metadata.name%3Dwatched", "--change-path", NAMESPACE + "/configmaps/watched",
          "--change-body", '{"data":{"key":"v{n}"}}', "--watchers", "100", "--events", "20"], []),
    ]
    results = [None] * len(parts)

    def work(place):
        results[place] = load(server, *parts[place][0], headers=parts[place][1])
    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(parts))]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if None in results:
        raise RuntimeError(f"{server.name}: the load generator failed for a part of the mixed traffic")
    done = sum(result["done"] for result in results)
    return {"done": done, "errors": sum(result["errors"] for result in results), "errorTexts": [text for result in results for text in result["errorTexts"]],
            "perSecond": done / (time.monotonic() - began), "p50": results[1]["p50"], "p99": results[1]["p99"]}


def watch(watchers, events):
    def run(server, _):
        load(server, "requests", "--method", "POST", "--path", NAMESPACE + "/configmaps", "--body", config_map("watched", "v"), "--count", "1", "--connections", "1",
             headers=["Content-Type: application/json"])
        return load(server, "watch", "--path", NAMESPACE + "/configmaps?watch=true&fieldSelector=metadata.name%3Dwatched", "--change-path",
                    NAMESPACE + "/configmaps/watched", "--change-body", '{"data":{"key":"v{n}"}}', "--watchers", str(watchers), "--events", str(events),
                    "--server-pids", ",".join(map(str, server.pids())))
    return run


TABLE = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
PROTOBUF = "Accept: application/vnd.kubernetes.protobuf"
AGGREGATED = "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
STREAMED = "/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=4"
ITEM = '"uid":"'

# name, function, whether --quick includes it
WORKLOADS = [
    ("GET one pod", requests("--path", NAMESPACE + "/pods/pod-7", "--expect-text", '"name":"pod-7"'), True),
    ("GET one pod, rv=0", requests("--path", NAMESPACE + "/pods/pod-7?resourceVersion=0", "--expect-text", '"name":"pod-7"'), False),
    ("LIST all pods", requests("--path", NAMESPACE + "/pods", "--connections", "2", "--expect-text", ITEM, "--expect-times", "PODS"), True),
    ("LIST limit=500", requests("--path", NAMESPACE + "/pods?limit=500", "--connections", "4", "--expect-text", ITEM, "--expect-times", "500"), True),
    ("LIST all pods, gzip", requests("--path", NAMESPACE + "/pods", "--connections", "2", headers=["Accept-Encoding: gzip"]), False),
    ("LIST limit=500, gzip", requests("--path", NAMESPACE + "/pods?limit=500", "--connections", "4", headers=["Accept-Encoding: gzip"]), False),
    ("LIST by label, 1 in 50", requests("--path", NAMESPACE + "/pods?labelSelector=fiftieth%3Df7", "--connections", "8", "--expect-text", ITEM, "--expect-times", "PODS/50"), True),
    ("LIST as Table", requests("--path", NAMESPACE + "/pods?limit=500", "--connections", "4", headers=[TABLE]), False),
    ("LIST as protobuf", requests("--path", NAMESPACE + "/pods?limit=500", "--connections", "4", headers=[PROTOBUF]), False),
    ("LIST metadata only", requests("--path", NAMESPACE + "/pods?limit=500", "--connections", "4", headers=[METADATA]), False),
    ("create a ConfigMap", create("configmap"), True),
    ("create a Pod (6 KB)", create("pod"), True),
    ("update a ConfigMap", change("PUT", config_map("changed-{w}", "u{n}"), "application/json"), False),
    ("patch a ConfigMap", change("PATCH", '{"data":{"key":"p{n}"}}', "application/merge-patch+json"), False),
    ("apply a ConfigMap", change("PATCH", config_map("changed-{w}", "a{n}"), APPLY), False),
    ("create a custom resource", custom("POST", widget("new-{n}", "v"), "application/json"), False),
    ("patch a custom resource", custom("PATCH", '{"spec":{"text":"p{n}"}}', "application/merge-patch+json"), False),
    ("apply a custom resource", custom("PATCH", widget("changed-{w}", "a{n}"), APPLY), False),
    ("streaming list (4 s watch)", requests("--path", NAMESPACE + STREAMED, "--connections", "2", "--expect-text", '"type":"ADDED"', "--expect-times", "PODS"), False),
    ("discovery, aggregated", requests("--path", "/apis", "--connections", "4", headers=[AGGREGATED]), False),
    ("OpenAPI v2", requests("--path", "/openapi/v2", "--connections", "2"), False),
    ("OpenAPI v3, apps/v1", requests("--path", "/openapi/v3/apis/apps/v1", "--connections", "4"), False),
    ("mixed, as 100 controllers", mixed, False),
    ("watch event to 500 watchers", watch(500, 100), True),
    ("watch event to 5,000 watchers", watch(5000, 10), False),
]

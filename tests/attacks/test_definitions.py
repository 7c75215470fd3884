"""Custom resource definitions that are expensive to compile or to use."""
import random
import string

import pytest

import mesh
from cost import Cost

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "/apis/definitions.example.com/v1/namespaces/default"


def definition(name, properties, **version):
    spec = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    return {"metadata": {"name": f"{name}.definitions.example.com"},
            "spec": {"group": "definitions.example.com", "scope": "Namespaced", "names": {"plural": name, "kind": name.capitalize()},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": spec}, **version}]}}


def texts(count, pattern):
    return {f"p{i}": {"type": "string", "pattern": pattern(i)} for i in range(count)}


LARGE = {"repetitions of ranges": lambda i: f"[a-z{i}]{{1000}}", "nested repetitions": lambda i: f"(([a-z{i}]{{1,30}}){{1,30}})",
         "letters of all languages": lambda i: f"^(\\pL{{1,99}}{i})*$"}


@pytest.mark.parametrize("what", LARGE)
def test_patterns_that_are_large(server, what):
    """Attack: a definition of 200 kB with 3,000 patterns, which have millions of instructions when they are compiled.
    Expected: 422 after at most 0.7 s of CPU time. Why: without a limit, 15,000 of them take 10 s of CPU time whenever the definition is compiled."""
    with Cost(server) as cost:
        answer = server.client("POST", f"{CRDS}?dryRun=All", definition("patterns", texts(3000, LARGE[what])), timeout=60)
    assert answer.code == 422 and "instructions" in answer.body, answer.body[:500]
    assert cost.cpu < 0.7 * mesh.SLOWDOWN, cost.by_process
    assert cost.memory < 64e6 * mesh.SLOWDOWN, cost.by_process


def test_a_pattern_again_and_again(server):
    """Not an attack: large definitions repeat the same patterns. Expected: 201, and each is compiled once."""
    pattern = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$"
    with Cost(server) as cost:
        answer = server.client("POST", f"{CRDS}?dryRun=All", definition("repeated", texts(3000, lambda _: pattern)), timeout=60)
    assert answer.code == 201, answer.body[:500]
    assert cost.cpu < 0.7 * mesh.SLOWDOWN, cost.by_process


def test_texts_that_fill_the_memory_of_patterns(server):
    """Attack: a definition of 300 small patterns that have many states, and an object with a text of 5 kB for each of them. RE2 remembers the states that it has
    reached. Expected: the memory grows by at most 200 MB, and stays there. Why: with RE2's default it is up to 5 MB for each pattern."""
    body = definition("states", texts(300, lambda i: f"[a-q][^u-z]{{13}}x{i}"))
    assert server.client("POST", CRDS, body, timeout=60).code == 201
    path = f"{GROUP}/states"
    mesh.wait_until(lambda: server.client.answers(path), 20, "the custom resource is served")
    chance = random.Random(17)
    letters = string.ascii_lowercase + " "
    with Cost(server) as cost:
        for _ in range(3):
            spec = {f"p{i}": "".join(chance.choices(letters, k=3000)) for i in range(300)}
            answer = server.client("POST", f"{path}?dryRun=All", {"apiVersion": "definitions.example.com/v1", "kind": "States", "metadata": {"name": "a"}, "spec": spec}, timeout=60)
            assert answer.code == 422
    assert server.client("DELETE", f"{CRDS}/states.definitions.example.com").code == 200
    print(cost.by_process)
    assert cost.memory < 200e6 * mesh.SLOWDOWN, cost.by_process


PATHS = {"all items of all lists": ".spec.a[*].b[*].c[*]", "a filter": ".spec.a[?(@.k==1)].b", "a range": ".spec.a[0:100000:1]", "descendants": ".spec..c"}


@pytest.mark.parametrize("what", PATHS)
def test_columns_that_read_everything(server, what):
    """Attack: a definition with 300 columns that each read everything in an object, which is then listed as a table.
    Expected: at most 0.5 s of CPU time. Why: any reader of the resource pays for the columns of its author."""
    name = "columns" + str(list(PATHS).index(what))
    body = definition(name, {"a": {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}},
                      additionalPrinterColumns=[{"name": f"c{i}", "type": "string", "jsonPath": PATHS[what]} for i in range(300)])
    assert server.client("POST", CRDS, body).code == 201
    path = f"{GROUP}/{name}"
    mesh.wait_until(lambda: server.client.answers(path), 20, "the custom resource is served")
    item = {"k": 1, "b": [{"c": [1] * 10} for _ in range(10)]}
    created = {"apiVersion": "definitions.example.com/v1", "kind": name.capitalize(), "metadata": {"name": "a"}, "spec": {"a": [item] * 500}}
    assert server.client("POST", path, created).code == 201
    with Cost(server) as cost:
        answer = server.client.get(path, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}, timeout=60)
    assert answer.code == 200
    assert server.client("DELETE", f"{CRDS}/{name}.definitions.example.com").code == 200
    assert cost.cpu < 0.5 * mesh.SLOWDOWN, cost.by_process

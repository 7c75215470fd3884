"""What a client finds as soon as the creation of a CustomResourceDefinition is answered."""
import json
import threading
import time

import pytest

import mesh

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
V2 = {"Accept": "application/json"}


@pytest.fixture(autouse=True)
def restored(server):
    """Deletes the definitions of a test: other tests of the same server have kinds of the same name."""
    def names():
        return {one["metadata"]["name"] for one in server.client.get(CRDS).json()["items"]}

    before = names()
    yield
    for name in names() - before:
        server.client("DELETE", f"{CRDS}/{name}")
    mesh.wait_until(lambda: names() <= before, 30, "the definitions are deleted")


def definition(group, plural="foos", kind="Foo", **spec):
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"color": {"type": "string", "description": f"a color of {group}"}}}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}], **spec}}


def foo(group, name, **fields):
    return {"apiVersion": f"{group}/v1", "kind": "Foo", "metadata": {"name": name, "namespace": "default"}, "spec": {"color": "red"}, **fields}


def missing(server, group):
    """Returns what a client would not find of a definition of foos."""
    groups = [one["name"] for one in server.client.get("/apis").json()["groups"]]
    aggregated = {one["metadata"]["name"]: one["versions"] for one in server.client.get("/apis", headers=AGGREGATED).json()["items"]}
    index = server.client.get("/openapi/v3").json()["paths"]
    document = server.client.get(f"/openapi/v3/apis/{group}/v1")
    found = {
        "objects": server.client.get(f"/apis/{group}/v1/namespaces/default/foos").code == 200,
        "the group in /apis": group in groups,
        "the group": server.client.get(f"/apis/{group}").code == 200,
        "the resource": any(one["name"] == "foos" for one in server.client.get(f"/apis/{group}/v1").json().get("resources", [])),
        "the resource in aggregated discovery": any(resource["resource"] == "foos" for version in aggregated.get(group, []) for resource in version["resources"]),
        "the group in /openapi/v3": f"apis/{group}/v1" in index,
        "the schema in /openapi/v3": document.code == 200 and f"a color of {group}" in document.body,
        "the schema in /openapi/v2": f"a color of {group}" in server.client.get("/openapi/v2", headers=V2).body,
    }
    return [name for name, there in found.items() if not there]


def test_discovery_and_openapi_know_a_new_definition(server):
    for i in range(10):
        group = f"new{i}.example.com"
        assert server.client("POST", CRDS, definition(group)).code == 201
        assert missing(server, group) == [], f"round {i}"
    applied = definition("applied.example.com")
    patch = server.client("PATCH", f"{CRDS}/{applied['metadata']['name']}?fieldManager=e2e", json.dumps(applied), headers={"Content-Type": "application/apply-patch+yaml"})
    assert patch.code == 201
    assert missing(server, "applied.example.com") == []
    # The header between the processes does not reach the client.
    assert not [name for name in patch.headers if name.lower().startswith("x-apimesh")]


def test_many_definitions_at_the_same_time(server):
    found = {}

    def create(i):
        group = f"parallel{i}.example.com"
        code = server.client("POST", CRDS, definition(group)).code
        found[i] = (code, server.client("POST", f"/apis/{group}/v1/namespaces/default/foos", foo(group, "a")).code, missing(server, group))

    threads = [threading.Thread(target=create, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: (201, 201, []) for i in range(8)}


def test_kubectl_creates_a_definition_and_its_objects_from_one_list(server):
    for kubectl in [mesh.KUBECTL, *mesh.older_kubectls()]:
        # kubectl asks for discovery again only if it has read a part of it from the cache of an earlier run.
        server.kubectl("get", "namespaces,crds", binary=kubectl)
        for i in range(3):
            group = f"list{i}.example.com"
            items = [definition(group), foo(group, "a"), foo(group, "b")]
            created = server.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), binary=kubectl).stdout
            assert created.splitlines() == [f"customresourcedefinition.apiextensions.k8s.io/foos.{group} created", f"foo.{group}/a created", f"foo.{group}/b created"]
            server.kubectl("delete", "crd", f"foos.{group}", binary=kubectl)


def test_a_group_is_in_apis_when_its_version_is_found(server):
    """The discovery documents of one answer never know less than those of an earlier answer."""
    wrong, done = [], threading.Event()

    def look(group):
        while not done.is_set():
            if server.client.get(f"/apis/{group}/v1").code == 200:
                if group not in [one["name"] for one in server.client.get("/apis").json()["groups"]]:
                    wrong.append(group)
                return

    for i in range(10):
        group = f"order{i}.example.com"
        thread = threading.Thread(target=look, args=(group,))
        thread.start()
        assert server.client("POST", CRDS, definition(group)).code == 201
        thread.join(10)
        assert not thread.is_alive(), f"/apis/{group}/v1 is not found"
    done.set()
    assert not wrong


def test_creations_that_serve_nothing_are_answered_at_once(server):
    taken = definition("taken.example.com")
    assert server.client("POST", CRDS, taken).code == 201
    began = time.monotonic()
    refused = definition("taken.example.com", plural="others")  # the kind is taken
    assert server.client("POST", CRDS, refused).code == 201
    assert server.client("POST", f"{CRDS}?dryRun=All", definition("dry.example.com")).code == 201
    assert server.client("POST", CRDS, taken).code == 409
    unserved = definition("unserved.example.com")
    unserved["spec"]["versions"][0]["served"] = False
    assert server.client("POST", CRDS, unserved).code == 201
    # Each of them would take a second if it waited for discovery.
    assert time.monotonic() - began < 0.9 * mesh.SLOWDOWN

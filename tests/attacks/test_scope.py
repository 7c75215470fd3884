"""Paths with the wrong scope: a cluster-scoped resource in a namespace, or a namespaced resource without a namespace."""
import http.client
import json
import ssl
import urllib.parse

import mesh
import pytest

RBAC = "/apis/rbac.authorization.k8s.io/v1"
NOT_FOUND = "the server could not find the requested resource"
NOT_ALLOWED = "the server does not allow this method on the requested resource"
EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}


class Connection:
    """A connection of the administrator for thousands of requests."""

    def __init__(self, server):
        address = urllib.parse.urlsplit(server.url)
        self.connection = http.client.HTTPSConnection(address.hostname, address.port, context=ssl._create_unverified_context(), timeout=20 * mesh.SLOWDOWN)

    def __call__(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {mesh.ADMIN_TOKEN}"}
        if method == "PATCH":
            headers["Content-Type"] = "application/merge-patch+json"
        elif body is not None:
            headers["Content-Type"] = "application/json"
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        return mesh.Answer(answer.status, answer.headers, answer.read().decode(errors="replace"))


def crd(plural, kind, scope):
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {"metadata": {"name": f"{plural}.scope.example.com"}, "spec": {
        "group": "scope.example.com", "scope": scope, "names": {"plural": plural, "kind": kind},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}]}}


@pytest.fixture(scope="module")
def resources(server):
    """Returns [(path of the group-version, resource of discovery)], including one custom resource of each scope."""
    for plural, kind, scope in (("planets", "Planet", "Cluster"), ("towns", "Town", "Namespaced")):
        assert server.client("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd(plural, kind, scope)).code == 201
        mesh.wait_until(lambda: server.client.answers(f"/apis/scope.example.com/v1/{plural}"), 10, "the custom resource is served")
    roots = ["/api/v1"]
    for group in server.client.get("/apis").json()["groups"]:
        roots += [f"/apis/{version['groupVersion']}" for version in group["versions"]]
    found = [(root, resource) for root in roots for resource in server.client.get(root).json()["resources"]]
    names = {(root, resource["name"]) for root, resource in found}
    # The list contains resources of all three servers, and both custom resources.
    assert {("/api/v1", "nodes"), ("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions"), ("/apis/apiregistration.k8s.io/v1", "apiservices"),
            ("/apis/scope.example.com/v1", "planets"), ("/apis/scope.example.com/v1", "towns"), ("/api/v1", "nodes/proxy"),
            ("/apis/authorization.k8s.io/v1", "localsubjectaccessreviews")} <= names
    return found


def item(resource, name="x"):
    """Returns the path of an object or its subresource, relative to the group-version or the namespace."""
    plural, _, subresource = resource["name"].partition("/")
    return f"{plural}/{name}/{subresource}" if subresource else f"{plural}/{name}"


def requests_in(base, watch_base, resource):
    """Yields (method, path) for every verb of a resource, with paths below `base`."""
    one, plural = item(resource), resource["name"]
    yield from ((method, f"{base}/{one}") for method in ("GET", "PUT", "PATCH", "DELETE", "POST"))
    if plural.endswith("/proxy"):
        yield "GET", f"{base}/{one}/any/path"
    if "/" in plural:
        return
    yield from ((method, f"{base}/{plural}") for method in ("GET", "POST", "DELETE"))
    yield from (("GET", f"{base}/{plural}?{query}") for query in ("watch=1&timeoutSeconds=1", "fieldSelector=metadata.name=x", "limit=1"))
    yield "GET", f"{watch_base}/{plural}?timeoutSeconds=1"
    yield "GET", f"{watch_base}/{one}?timeoutSeconds=1"


def body_for(method, resource):
    return {"metadata": {"name": "x"}} if method in ("PUT", "PATCH", "POST") else None


def is_not_found(answer, custom):
    """Returns whether the response is the 404 of the router, or for a custom resource the 404 at the end of the delegation chain."""
    return answer.code == 404 and (answer.body == "404 page not found\n" if custom else answer.json()["message"] == NOT_FOUND)


def test_cluster_scoped_resources_are_in_no_namespace(server, resources):
    """Attack (CVE-2019-11247): request every cluster-scoped resource below /namespaces/x/, with every verb.
    Expected: 404, as from a router that has no such path.
    Why: authorization uses the namespace of the path, so permissions in a namespace would apply to the complete cluster."""
    ask, wrong, asked = Connection(server), [], 0
    for root, resource in resources:
        if resource["namespaced"]:
            continue
        for method, path in requests_in(f"{root}/namespaces/x", f"{root}/watch/namespaces/x", resource):
            answer = ask(method, path, body_for(method, resource))
            asked += 1
            if not is_not_found(answer, ".example.com" in root):
                wrong.append((method, path, answer.code, answer.body[:200]))
    assert asked > 500 and not wrong, wrong


def test_namespaced_objects_are_in_a_namespace(server, resources):
    """Attack: request every namespaced object without its namespace, with every verb.
    Expected: 404 for objects. For collections, only lists and watches across all namespaces exist, as in kube-apiserver.
    Why: a request that is authorized without a namespace must not access an object in a namespace."""
    ask, wrong, asked = Connection(server), [], 0
    for root, resource in resources:
        if not resource["namespaced"]:
            continue
        custom, collection = ".example.com" in root, f"{root}/{resource['name']}"
        for method, path in requests_in(root, f"{root}/watch", resource):
            exists = path.split("?")[0] in (collection, f"{root}/watch/{resource['name']}") and "list" in resource["verbs"]
            if exists and "timeoutSeconds" in path and resource["name"] not in ("pods", "towns"):
                continue  # A successful watch takes a second.
            answer = ask(method, path, body_for(method, resource))
            asked += 1
            if exists:
                if method == "GET" or not custom:
                    expected = 200 if method == "GET" else 405
                    if answer.code != expected or expected == 405 and answer.json()["message"] != NOT_ALLOWED:
                        wrong.append((method, path, answer.code, answer.body[:200]))
                    continue
            if custom and "/watch/" in path:  # kube-apiserver accepts any watch of a namespaced custom resource across namespaces
                continue
            if not is_not_found(answer, custom):
                wrong.append((method, path, answer.code, answer.body[:200]))
    assert asked > 300 and not wrong, wrong


def test_namespaces_are_not_in_each_other(server):
    """Attack: access a namespace with the path of another one, or with its own path twice.
    Expected: 404; the path of the namespace itself and its subresources work.
    Why: for /namespaces/x the authorizer gets namespace x, so a check that only compares names could allow the second path."""
    ask = Connection(server)
    for path in ("default/namespaces/kube-system", "default/namespaces/default", "default/namespaces", "default/namespaces?fieldSelector=metadata.name=default",
                 "default/namespaces/default/status", "default/namespaces/default/finalize", "default/status/more"):
        assert is_not_found(ask("GET", f"/api/v1/namespaces/{path}"), False), path
    assert is_not_found(ask("DELETE", "/api/v1/namespaces/kube-node-lease/namespaces/kube-public"), False)
    for path in ("namespaces/default", "namespaces/default/status", "namespaces", "watch/namespaces/default?timeoutSeconds=1"):
        assert ask("GET", f"/api/v1/{path}").code == 200, path
    current = ask("GET", "/api/v1/namespaces/default").json()
    assert ask("PUT", "/api/v1/namespaces/default/finalize", current).code == 200


def test_upgrades_obey_the_scope(server):
    """Attack: open an upgraded connection (WebSocket) to the proxy of a node with the path of a namespace.
    Expected: 404 before any connection is made.
    Why: the servers process upgrades with other code than plain requests."""
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    for path in ("/api/v1/namespaces/x/nodes/n/proxy/", "/api/v1/namespaces/x/nodes/n/proxy/run", "/api/v1/pods/p/exec?command=id", "/api/v1/services/s/proxy"):
        answer = server.client("GET", path, headers=upgrade)
        assert is_not_found(answer, False), (path, answer.code, answer.body)


def test_the_owner_of_a_namespace_stays_in_it(server):
    """Attack: the owner of a namespace, who has all permissions there, binds herself to cluster-admin, and reads and deletes cluster-scoped
    objects, all with paths below that namespace.
    Expected: every response is 404, nothing changes, and the owner has no additional permissions.
    Why: in CVE-2019-11247, permissions in a namespace applied to the cluster."""
    admin, ns = server.client, "scope-a"
    owner = {"Impersonate-User": "owner", "Authorization": f"Bearer {mesh.ADMIN_TOKEN}"}
    assert admin("POST", "/api/v1/namespaces", {"metadata": {"name": ns}}).code == 201
    assert admin("POST", f"{RBAC}/namespaces/{ns}/roles", {"metadata": {"name": "all"}, "rules": [EVERYTHING]}).code == 201
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "owner"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "all"}
    assert admin("POST", f"{RBAC}/namespaces/{ns}/rolebindings", {"metadata": {"name": "all"}, "roleRef": reference, "subjects": [subject]}).code == 201
    mesh.wait_until(lambda: admin.get(f"/api/v1/namespaces/{ns}/secrets", headers=owner).code == 200, 5, "the permissions of the owner have an effect")
    before = admin.get(f"{RBAC}/clusterrolebindings").json()["items"]

    take_over = {"metadata": {"name": "take-over"}, "subjects": [subject],
                 "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}}
    edit = {"metadata": {"name": "view"}, "rules": [EVERYTHING]}
    attacks = [("POST", f"{RBAC}/namespaces/{ns}/clusterrolebindings", take_over), ("PUT", f"{RBAC}/namespaces/{ns}/clusterroles/view", edit),
               ("POST", f"{RBAC}/namespaces/{ns}/clusterroles", {**edit, "metadata": {"name": "mine"}}), ("GET", f"{RBAC}/namespaces/{ns}/clusterroles", None),
               ("DELETE", f"{RBAC}/namespaces/{ns}/clusterrolebindings", None), ("DELETE", f"{RBAC}/namespaces/{ns}/clusterroles/view", None),
               ("POST", f"/api/v1/namespaces/{ns}/nodes", {"metadata": {"name": "mine"}}), ("GET", f"/api/v1/namespaces/{ns}/persistentvolumes", None),
               ("POST", f"/apis/admissionregistration.k8s.io/v1/namespaces/{ns}/mutatingwebhookconfigurations", {"metadata": {"name": "mine"}}),
               ("POST", f"/apis/apiregistration.k8s.io/v1/namespaces/{ns}/apiservices", {"metadata": {"name": "v1.mine.example.com"}}),
               ("POST", f"/apis/apiextensions.k8s.io/v1/namespaces/{ns}/customresourcedefinitions", crd("mines", "Mine", "Cluster")),
               ("DELETE", f"/apis/apiextensions.k8s.io/v1/namespaces/{ns}/customresourcedefinitions", None),
               ("POST", f"/apis/certificates.k8s.io/v1/namespaces/{ns}/certificatesigningrequests", {"metadata": {"name": "mine"}}),
               ("GET", f"/api/v1/namespaces/{ns}/nodes?watch=1&timeoutSeconds=1", None), ("DELETE", f"/api/v1/namespaces/{ns}/namespaces/kube-system", None)]
    for method, path, body in attacks:
        answer = admin(method, path, body, owner)
        assert is_not_found(answer, False), (method, path, answer.code, answer.body[:300])
    assert admin.get(f"{RBAC}/clusterrolebindings").json()["items"] == before
    assert admin.get(f"{RBAC}/clusterroles/view").code == 200
    assert admin.get("/api/v1/namespaces/kube-system", headers=owner).code == 403
    assert admin.get(f"{RBAC}/clusterroles", headers=owner).code == 403

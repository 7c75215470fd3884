"""Nothing can be created in a namespace whose deletion has been answered, whichever process stores the object."""
import http.client
import json
import ssl

import pytest

import mesh

ROUNDS = 100


class Connection:
    """One connection that stays open, so that a request follows the response to the one before as fast as it can."""

    def __init__(self, server):
        self.connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=ssl._create_unverified_context(), timeout=20 * mesh.SLOWDOWN)

    def __call__(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {mesh.ADMIN_TOKEN}", "Content-Type": "application/json"}
        self.connection.request(method, path, body and json.dumps(body), headers)
        response = self.connection.getresponse()
        return response.status, json.loads(response.read())


@pytest.mark.parametrize("kind", ["ConfigMap", "Foo"])
def test_nothing_is_created_after_a_deletion(own_server, kind):
    """The caches of namespaces, in core-api and in extensions-api, may not know of the deletion yet when the create arrives."""
    collection = f"{'/api/v1' if kind == 'ConfigMap' else '/apis/example.com/v1'}/namespaces/{{}}/{kind.lower()}s"
    if kind == "Foo":
        mesh.serve_foos(own_server)
    send = Connection(own_server)
    body = {"apiVersion": "v1" if kind == "ConfigMap" else "example.com/v1", "kind": kind, "metadata": {"name": "x"}}
    created = []
    for i in range(ROUNDS):
        name = f"dying-{i}"
        assert send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})[0] == 201
        assert send("POST", collection.format(name), {**body, "metadata": {"name": "before"}})[0] == 201
        status, namespace = send("DELETE", f"/api/v1/namespaces/{name}")
        assert status == 200 and namespace["status"]["phase"] == "Terminating"
        status, answer = send("POST", collection.format(name), body)
        if status == 201:
            created.append(i)
            continue
        assert status == 403 and answer["message"].endswith(f"unable to create new content in namespace {name} because it is being terminated"), answer
    assert not created, f"{len(created)} of {ROUNDS} objects were created in a namespace that was being deleted"

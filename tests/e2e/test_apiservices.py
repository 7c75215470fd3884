"""APIServices: those that the mesh creates automatically, and one for an external API server."""
import base64
import json
import threading
import time

import pytest

import mesh
from pki import Pki
from tls_server import TlsServer

PATH = "/apis/apiregistration.k8s.io/v1/apiservices"
FISHES = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "sea.example.com/v1",
          "resources": [{"name": "fishes", "singularName": "fish", "namespaced": True, "kind": "Fish", "verbs": ["get", "list", "watch"], "shortNames": ["fi"]}]}
OBJECT_META = {"type": "object", "description": "not the definition of the mesh"}
FISH_V2 = {"swagger": "2.0", "info": {"title": "Sea"},
           "paths": {"/apis/sea.example.com/v1/fishes": {"get": {"parameters": [{"$ref": "#/parameters/limit"}], "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/com.example.sea.Fish"}}}}},
                     "/apis/other.example.com/v1/things": {"get": {"responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/Thing"}}}}}},
           "definitions": {"com.example.sea.Fish": {"type": "object", "properties": {"metadata": {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}}},
                           "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": OBJECT_META, "Thing": {"type": "object"}},
           "parameters": {"limit": {"name": "limit", "in": "query", "type": "integer", "uniqueItems": True}}}
FISH = {"kind": "Fish", "apiVersion": "sea.example.com/v1", "metadata": {"name": "cod", "namespace": "default", "resourceVersion": "7"}}


def condition(answer):
    conditions = answer.json().get("status", {}).get("conditions") or [{}]
    return conditions[0].get("status"), conditions[0].get("reason"), conditions[0].get("message")


def test_every_group_version_has_one(server):
    mesh.wait_until(lambda: server.client.answers("/readyz"), 10, "all APIServices exist")
    found = {item["metadata"]["name"]: item for item in server.client.get(PATH).json()["items"]}
    apps = found["v1.apps"]
    assert apps["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "onstart"}
    assert apps["spec"] == {"group": "apps", "version": "v1", "groupPriorityMinimum": 17800, "versionPriority": 15}
    assert found["v1."]["spec"] == {"version": "v1", "groupPriorityMinimum": 18000, "versionPriority": 1}
    assert condition(server.client.get(f"{PATH}/v1.")) == ("True", "Local", "Local APIServices are always available")
    assert "v1.apiextensions.k8s.io" in found and "v2.autoscaling" in found and "v1.apiregistration.k8s.io" not in found
    table = server.kubectl("get", "apiservices").stdout.splitlines()
    assert table[0].split() == ["NAME", "SERVICE", "AVAILABLE", "AGE"]
    assert any(line.split()[:3] == ["v1.apps", "Local", "True"] for line in table)


def test_they_come_and_go_with_definitions(server):
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "ships.sail.example.com"},
           "spec": {"group": "sail.example.com", "scope": "Cluster", "names": {"plural": "ships", "kind": "Ship"},
                    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert server.client("POST", crds, crd).code == 201
    made = mesh.wait_until(lambda: (a := server.client.get(f"{PATH}/v1.sail.example.com")).code == 200 and a, 5, "the APIService exists").json()
    assert made["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "true"}
    assert made["spec"] == {"group": "sail.example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 100}
    # An automatic APIService is created again.
    assert server.client("DELETE", f"{PATH}/v1.sail.example.com").code == 200
    mesh.wait_until(lambda: (a := server.client.get(f"{PATH}/v1.sail.example.com")).code == 200 and a.json()["metadata"]["uid"] != made["metadata"]["uid"], 5, "the APIService is created again")
    assert server.client("DELETE", f"{crds}/ships.sail.example.com").code == 200
    mesh.wait_until(lambda: server.client.get(f"{PATH}/v1.sail.example.com").code == 404, 10, "the APIService is deleted with its CRD")


@pytest.mark.parametrize("change, message", [
    ({"version": "v2"}, 'metadata.name: Invalid value: "v1.x.example.com": must be `spec.version+"."+spec.group`: "v2.x.example.com"'),
    ({"groupPriorityMinimum": 0}, "spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000"),
    ({"versionPriority": 1001}, "spec.versionPriority: Invalid value: 1001: must be positive and less than 1000"),
    ({"insecureSkipTLSVerify": True}, "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify"),
    ({"service": {"name": "a"}}, "spec.service.namespace: Required value"),
])
def test_validation(server, change, message):
    spec = {"group": "x.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10, **change}
    refused = server.client("POST", PATH, {"metadata": {"name": "v1.x.example.com"}, "spec": spec})
    assert refused.code == 422
    assert message in refused.json()["message"]


class Sea:
    """An external API server."""

    def __init__(self, folder):
        self.pki, self.proxy_pki = Pki(folder, "sea"), Pki(folder, "front-proxy")
        self.proxy_certificate = self.proxy_pki.issue("the-aggregator")
        self.go_on = threading.Event()
        self.hangs = False
        self.server = TlsServer(self.pki.issue_server("sea", "DNS:sea.default.svc"), self.proxy_pki.ca, self.answer)

    def answer(self, request, _body):
        path = request.path.split("?")[0]
        if self.hangs and path.startswith("/openapi"):
            self.go_on.wait(60)
        if path == "/apis/sea.example.com/v1":
            request.send(200, json.dumps(FISHES))
        elif path == "/openapi/v2":
            request.send(200, json.dumps(FISH_V2), ETag='"1"')
        elif path == "/openapi/v3":
            request.send(200, json.dumps({"paths": {"apis/sea.example.com/v1": {"serverRelativeURL": "/openapi/v3/apis/sea.example.com/v1?hash=ABC"}}}))
        elif path == "/openapi/v3/apis/sea.example.com/v1":
            request.send(200, json.dumps({"openapi": "3.0.0", "info": {"title": "Sea"}, "paths": {}}))
        elif path.endswith("/fishes") and "watch=" in request.path:
            request.send_response(200)
            request.send_header("Content-Type", "application/json")
            request.send_header("Transfer-Encoding", "chunked")
            request.end_headers()
            for name in ("cod", "eel"):
                event = json.dumps({"type": "ADDED", "object": {**FISH, "metadata": {"name": name}}}).encode() + b"\n"
                request.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                request.wfile.flush()
                self.go_on.wait(10)
            request.wfile.write(b"0\r\n\r\n")
        elif path.endswith("/fishes"):
            request.send(200, json.dumps({"kind": "FishList", "apiVersion": "sea.example.com/v1", "metadata": {"resourceVersion": "7"}, "items": [FISH]}))
        elif path.endswith("/fishes/cod"):
            request.send(200, json.dumps(FISH))
        else:
            request.send(404, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": "no such fish"}))


@pytest.fixture(scope="module")
def sea(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sea")
    sea = Sea(folder / "pki")
    store = mesh.Store(folder / "store")
    sea.api = mesh.KubeApiserver(folder, store.url, f"--proxy-client-cert-file={sea.proxy_certificate[0]}", f"--proxy-client-key-file={sea.proxy_certificate[1]}").start()
    service = {"metadata": {"name": "sea"}, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    assert sea.api.client("POST", "/api/v1/namespaces/default/services", service).code == 201
    spec = {"group": "sea.example.com", "version": "v1", "groupPriorityMinimum": 900, "versionPriority": 20,
            "caBundle": base64.b64encode(sea.pki.ca.read_bytes()).decode(), "service": {"namespace": "default", "name": "sea", "port": sea.server.port}}
    sea.spec = spec
    assert sea.api.client("POST", PATH, {"metadata": {"name": "v1.sea.example.com"}, "spec": spec}).code == 201
    mesh.wait_until(lambda: condition(sea.api.client.get(f"{PATH}/v1.sea.example.com"))[0] == "True", 15, "the APIService is available")
    yield sea
    sea.api.stop()
    store.stop()
    sea.server.stop()


def test_requests_reach_it_with_their_user(sea):
    answer = sea.api.client.get("/apis/sea.example.com/v1/namespaces/default/fishes/cod", headers={
        "Impersonate-User": "jane", "Impersonate-Group": "system:masters", "Impersonate-Extra-Color": "blue", "X-Remote-User": "liar", "Accept": "application/json"})
    assert answer.code == 200 and answer.json() == FISH
    _, _, headers, client = [one for one in sea.server.seen if one[1].endswith("/fishes/cod")][-1]
    headers = {name.lower(): value for name, value in headers.items()}
    assert headers["x-remote-user"] == "jane" and headers["x-remote-extra-color"] == "blue"
    assert "authorization" not in headers and "impersonate-user" not in headers
    assert client == "the-aggregator"
    missing = sea.api.client.get("/apis/sea.example.com/v1/namespaces/default/fishes/shark")
    assert missing.code == 404 and missing.json()["message"] == "no such fish"


def test_kubectl_sees_it_as_any_other_resource(sea):
    resources = sea.api.kubectl("api-resources", "--api-group=sea.example.com").stdout.splitlines()
    assert resources[1].split() == ["fishes", "fi", "sea.example.com/v1", "true", "Fish"]
    assert sea.api.kubectl("get", "fi", "-o", "name").stdout.split() == ["fish.sea.example.com/cod"]
    row = [line for line in sea.api.kubectl("get", "apiservices").stdout.splitlines() if "sea.example.com" in line][0]
    assert row.split()[:3] == ["v1.sea.example.com", "default/sea", "True"]
    assert condition(sea.api.client.get(f"{PATH}/v1.sea.example.com"))[1:] == ("Passed", "all checks passed")


def test_its_documents_are_merged(sea):
    groups = {group["name"]: group for group in sea.api.client.get("/apis").json()["groups"]}
    assert groups["sea.example.com"]["preferredVersion"]["groupVersion"] == "sea.example.com/v1"
    aggregated = sea.api.client.get("/apis", headers={"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}).json()
    found = [item for item in aggregated["items"] if item["metadata"].get("name") == "sea.example.com"][0]["versions"][0]
    assert sea.api.client.get("/apis/sea.example.com/v1").json() == FISHES
    assert found["freshness"] == "Current" and found["resources"][0]["responseKind"] == {"group": "sea.example.com", "version": "v1", "kind": "Fish"}


def openapi(client):
    """The documents of clients, with their ETags: the index, the document of the group-version, and /openapi/v2."""
    answers = [client.get(path) for path in ("/openapi/v3", "/openapi/v3/apis/sea.example.com/v1?hash=ABC", "/openapi/v2")]
    return [(answer.code, answer.headers.get("etag"), answer.body) for answer in answers]


def test_its_openapi_is_served_from_a_copy(sea):
    client = sea.api.client
    mesh.wait_until(lambda: "apis/sea.example.com/v1" in client.get("/openapi/v3").json()["paths"], 15, "the documents are downloaded")
    index = client.get("/openapi/v3").json()["paths"]
    assert index["apis/sea.example.com/v1"]["serverRelativeURL"] == "/openapi/v3/apis/sea.example.com/v1?hash=ABC"
    document = client.get("/openapi/v3/apis/sea.example.com/v1?hash=ABC")
    assert document.json()["info"]["title"] == "Sea" and document.headers["etag"] == '"ABC"'
    assert client.get("/openapi/v3/apis/sea.example.com/v1", headers={"If-None-Match": '"ABC"'}).code == 304
    merged = client.get("/openapi/v2").json()
    assert "/apis/sea.example.com/v1/fishes" in merged["paths"] and "/apis/other.example.com/v1/things" not in merged["paths"]
    definitions = merged["definitions"]
    assert "Thing" not in definitions and merged["parameters"]["limit"]["name"] == "limit"
    renamed = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta_v2"
    assert definitions["com.example.sea.Fish"]["properties"]["metadata"] == {"$ref": f"#/definitions/{renamed}"}
    assert definitions[renamed] == OBJECT_META and definitions[renamed[:-3]]["properties"]["name"]
    assert [name for name in definitions if name.endswith("_v2")] == [renamed]
    # The server is asked as another user than for discovery, which has no groups.
    headers = [{name.lower(): value for name, value in one[2].items()} for one in sea.server.seen if one[1] == "/openapi/v2"][0]
    assert headers["x-remote-user"] == "system:aggregator" and "x-remote-group" not in headers


def test_a_slow_or_dead_server_does_not_change_openapi(sea):
    before = openapi(sea.api.client)
    sea.hangs = True
    # A change of the APIService makes the aggregator download the documents again.
    path = f"{PATH}/v1.sea.example.com"
    assert sea.api.client("PATCH", path, {"spec": {"versionPriority": 21}}, headers={"Content-Type": "application/merge-patch+json"}).code == 200
    seen = len(sea.server.seen)
    assert openapi(sea.api.client) == before
    assert sea.api.client("PATCH", path, {"spec": {"insecureSkipTLSVerify": True, "caBundle": None}}, headers={"Content-Type": "application/merge-patch+json"}).code == 200
    mesh.wait_until(lambda: any(one[1] == "/openapi/v2" for one in sea.server.seen[seen:]), 15, "a download has begun")
    begun = time.monotonic()
    assert openapi(sea.api.client) == before
    assert time.monotonic() - begun < 10, "clients wait for the server"
    sea.hangs = False
    sea.go_on.set()


def test_watches_stream(sea):
    sea.go_on.clear()
    events = []

    def read():
        import urllib.request
        request = urllib.request.Request(sea.api.url + "/apis/sea.example.com/v1/fishes?watch=true", headers={"Authorization": f"Bearer {mesh.ADMIN_TOKEN}"})
        with urllib.request.urlopen(request, context=sea.api.client.context, timeout=30) as answer:
            for line in answer:
                events.append(json.loads(line))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    mesh.wait_until(lambda: len(events) == 1, 10, "the first event arrives while the watch is open")
    sea.go_on.set()
    mesh.wait_until(lambda: len(events) == 2, 10, "the second event")
    reader.join(10)


def test_unavailable_is_503(sea):
    """This test is the last one because it stops the external server."""
    client = sea.api.client
    spec = {**sea.spec, "group": "nowhere.example.com", "service": {"namespace": "default", "name": "nowhere", "port": 443}}
    assert client("POST", PATH, {"metadata": {"name": "v1.nowhere.example.com"}, "spec": spec}).code == 201
    mesh.wait_until(lambda: condition(client.get(f"{PATH}/v1.nowhere.example.com")) == ("False", "ServiceNotFound", 'service/nowhere in "default" is not present'), 10, "the condition ServiceNotFound")
    refused = client.get("/apis/nowhere.example.com/v1/things")
    assert refused.code == 503 and refused.body == "service unavailable\n"
    assert client("DELETE", f"{PATH}/v1.nowhere.example.com").code == 200
    mesh.wait_until(lambda: client.get("/apis/nowhere.example.com/v1/things").code == 404, 5, "the deleted APIService is no longer used")
    documents = openapi(client)
    sea.server.stop()
    mesh.wait_until(lambda: condition(client.get(f"{PATH}/v1.sea.example.com"))[:2] == ("False", "FailedDiscoveryCheck"), 20, "the APIService is unavailable")
    assert client.get("/apis/sea.example.com/v1/namespaces/default/fishes").code == 503
    assert openapi(client) == documents
    assert client.get("/api/v1/namespaces").code == 200

"""The objects that a server creates and maintains by itself, and the options about them."""
import base64
import datetime
import os
import shutil
import signal

import pytest

import mesh
from auth_fixtures import SigningKey
from raw_etcd import RawEtcd

KUBERNETES = "/api/v1/namespaces/default/services/kubernetes"
ENDPOINTS = "/api/v1/namespaces/default/endpoints/kubernetes"
SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"
SECRETS = "/api/v1/namespaces/default/secrets"
REFERENCE = os.environ.get("APIMESH_REFERENCE") or shutil.which("kube-apiserver-reference", path=f"{mesh.ROOT}/.venv/bin")
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


@pytest.fixture
def servers(tmp_path):
    """Returns a function that starts a server; all servers of a test use the same store."""
    store = mesh.Store(tmp_path / "store")
    started = []

    def start(*flags, **options):
        server = mesh.KubeApiserver(tmp_path / str(len(started)), store.url, *flags, **options)
        started.append(server)
        return server.start()

    start.store = store
    yield start
    for server in started:
        server.stop(signal.SIGKILL, group=True)
    store.stop()


def published(server):
    """Returns the addresses of the Service kubernetes, of which Endpoints and EndpointSlice must have the same."""
    subsets = server.client.get(ENDPOINTS).json().get("subsets") or []
    of_endpoints = sorted(address["ip"] for subset in subsets for address in subset["addresses"])
    of_slice = sorted(address for endpoint in server.client.get(SLICE).json().get("endpoints") or [] for address in endpoint["addresses"])
    return of_endpoints if of_endpoints == of_slice else (of_endpoints, of_slice)


def test_the_service_kubernetes_comes_back_with_its_address(servers):
    server = servers("--advertise-address=192.0.2.1")
    mesh.wait_until(lambda: published(server) == ["192.0.2.1"], 10, "the own endpoint")
    first = server.client.get(KUBERNETES).json()
    assert first["spec"]["clusterIP"] == "10.0.0.1" and first["spec"]["type"] == "ClusterIP"
    assert server.client("DELETE", KUBERNETES).code == 200

    def again():
        service = server.client.get(KUBERNETES)
        return service.code == 200 and service.json()["metadata"]["uid"] != first["metadata"]["uid"] and service.json()

    second = mesh.wait_until(again, 15, "the Service exists again")
    assert second["spec"] == first["spec"]
    address = server.client.get("/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1").json()
    assert address["spec"]["parentRef"] == {"name": "kubernetes", "namespace": "default", "resource": "services"}
    # The address cannot be given to another Service.
    taken = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "other"}, "spec": {"clusterIP": "10.0.0.1", "ports": [{"port": 80}]}}
    assert server.client("POST", "/api/v1/namespaces/default/services", taken).code == 422


def test_a_server_that_stops_removes_its_endpoint(servers):
    one, two = servers("--advertise-address=192.0.2.1"), servers("--advertise-address=192.0.2.2")
    both = ["192.0.2.1", "192.0.2.2"]
    mesh.wait_until(lambda: published(one) == both, 25, "both endpoints")
    two.stop()
    assert published(one) == ["192.0.2.1"], "the endpoint is removed before the server has stopped"
    one.stop()
    # The last server leaves its address, with which clients find it after its next start.
    three = servers("--advertise-address=192.0.2.3")
    mesh.wait_until(lambda: published(three) == ["192.0.2.3"], 25, "only the lease of the new server")


def test_the_endpoint_of_a_server_that_dies_expires(servers):
    one, two = servers("--advertise-address=192.0.2.1"), servers("--advertise-address=192.0.2.2")
    mesh.wait_until(lambda: published(one) == ["192.0.2.1", "192.0.2.2"], 25, "both endpoints")
    two.stop(signal.SIGKILL, group=True)
    # The lease lasts 15 s, and servers compare the endpoints with the leases every 10 s.
    mesh.wait_until(lambda: published(one) == ["192.0.2.1"], 40, "the endpoint of the dead server is gone")


def test_master_count(servers):
    """Without leases, the server that starts last takes the place of another one if there are too many."""
    flags = ("--endpoint-reconciler-type=master-count", "--apiserver-count=2")
    one = servers("--advertise-address=192.0.2.1", *flags)
    two = servers("--advertise-address=192.0.2.2", *flags)
    mesh.wait_until(lambda: published(one) == ["192.0.2.1", "192.0.2.2"], 25, "both endpoints")
    two.stop(signal.SIGKILL, group=True)
    three = servers("--advertise-address=192.0.2.3", *flags)
    # The two servers that live write themselves every 10 s, so the dead one is replaced sooner or later.
    mesh.wait_until(lambda: published(one) == ["192.0.2.1", "192.0.2.3"], 60, "the dead server is replaced")
    three.stop()
    assert published(one) == ["192.0.2.1"]


def test_no_reconciler(servers):
    server = servers("--advertise-address=192.0.2.1", "--endpoint-reconciler-type=none")
    assert server.client.get(KUBERNETES).code == 200
    assert server.client.get(ENDPOINTS).code == 404


def test_node_port_of_the_service_kubernetes(servers):
    server = servers("--kubernetes-service-node-port=30443")
    port = {"name": "https", "port": 443, "protocol": "TCP", "targetPort": server.port}
    spec = server.client.get(KUBERNETES).json()["spec"]
    assert (spec["type"], spec["ports"]) == ("NodePort", [{**port, "nodePort": 30443}])
    taken = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "other"}, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30443}]}}
    refused = server.client("POST", "/api/v1/namespaces/default/services", taken)
    assert refused.code == 422 and "provided port is already allocated" in refused.body
    server.stop()
    # A server with another option corrects the Service when it starts.
    without = servers()
    mesh.wait_until(lambda: without.client.get(KUBERNETES).json()["spec"]["type"] == "ClusterIP", 10, "the Service is corrected")
    assert "nodePort" not in without.client.get(KUBERNETES).json()["spec"]["ports"][0]
    assert without.client("POST", "/api/v1/namespaces/default/services", taken).code == 201, "the port is free"


def test_service_cidr_is_ready(servers):
    def conditions(server):
        cidr = server.client.get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes").json()
        assert cidr["spec"]["cidrs"] == ["10.0.0.0/24"]
        return [{key: condition[key] for key in ("type", "status", "message")} for condition in cidr.get("status", {}).get("conditions", [])]

    ready = [{"type": "Ready", "status": "True", "message": "Kubernetes default Service CIDR is ready"}]
    server = servers()
    mesh.wait_until(lambda: conditions(server) == ready, 10, "the condition is written")
    # Another server with another range does not change the object.
    server.stop()
    other = servers("--service-cluster-ip-range=10.1.0.0/24")
    assert conditions(other) == ready


def test_expired_identity_leases_are_deleted(servers):
    server = servers()
    own = mesh.wait_until(lambda: [lease["metadata"]["name"] for lease in server.client.get(f"{LEASES}?labelSelector=apiserver.kubernetes.io/identity").json()["items"]],
                          10, "the identity lease of the server")
    now = datetime.datetime.now(datetime.timezone.utc)

    def lease(name, age, label="kube-apiserver", **spec):
        renewed = (now - datetime.timedelta(seconds=age)).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        made = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name, "labels": {"apiserver.kubernetes.io/identity": label}},
                "spec": {"holderIdentity": "h", "leaseDurationSeconds": 3600, "renewTime": renewed, **spec}}
        assert server.client("POST", LEASES, made).code == 201

    lease("apiserver-expired", 7200)
    lease("apiserver-alive", 60)
    lease("apiserver-short", 60, leaseDurationSeconds=10)
    lease("of-another-server", 7200, label="other")
    server.stop()
    # The leases are checked every hour, and when a server starts.
    server.start()

    def names():
        return sorted(one["metadata"]["name"] for one in server.client.get(f"{LEASES}?labelSelector=apiserver.kubernetes.io/identity").json()["items"])

    expected = sorted(["apiserver-alive", "of-another-server", *own])
    mesh.wait_until(lambda: names() == expected, 10, "the expired leases are deleted")


def test_uses_of_legacy_tokens_are_recorded(servers):
    server = servers()
    today = datetime.datetime.now(datetime.timezone.utc).date()
    tracking = server.client.get("/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking").json()
    assert tracking["data"]["since"] in (str(today), str(today - datetime.timedelta(days=1)))
    account = server.client("POST", "/api/v1/namespaces/default/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}).json()
    key = SigningKey.__new__(SigningKey)
    key.id, key.file = None, server.folder / "sa.key"
    prefix = "kubernetes.io/serviceaccount"

    def token(secret):
        return key.sign({"iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:default:robot", f"{prefix}/namespace": "default", f"{prefix}/secret.name": secret,
                         f"{prefix}/service-account.name": "robot", f"{prefix}/service-account.uid": account["metadata"]["uid"]})

    def label(secret):
        return server.client.get(f"{SECRETS}/{secret}").json()["metadata"].get("labels", {}).get("kubernetes.io/legacy-token-last-used")

    for name in ("used", "unused"):
        data = {"token": base64.b64encode(token(name).encode()).decode()}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "annotations": {"kubernetes.io/service-account.name": "robot", "kubernetes.io/service-account.uid": account["metadata"]["uid"]}},
                  "type": "kubernetes.io/service-account-token", "data": data}
        assert server.client("POST", SECRETS, secret).code == 201
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = mesh.Client(server.url, token=token("used"))("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
    assert answer.code == 201 and answer.json()["status"]["userInfo"]["username"] == "system:serviceaccount:default:robot"
    mesh.wait_until(lambda: label("used") in (str(today), str(today + datetime.timedelta(days=1))), 10, "the label of the secret")
    assert label("unused") is None


def test_privileged_containers_are_refused_without_the_option(servers):
    server = servers("--allow-privileged=false")

    def pod(name, **context):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i", "securityContext": context}]}}

    refused = server.client("POST", "/api/v1/namespaces/default/pods", pod("privileged", privileged=True))
    assert refused.code == 422
    assert refused.json()["message"] == 'Pod "privileged" is invalid: spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy'
    template = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
                "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod("p", privileged=True)["spec"]}}}
    refused = server.client("POST", "/apis/apps/v1/namespaces/default/deployments", template)
    assert [cause["field"] for cause in refused.json()["details"]["causes"]] == ["spec.template.spec.containers[0].securityContext.privileged"]
    assert server.client("POST", "/api/v1/namespaces/default/pods", pod("plain", privileged=False)).code == 201


def test_objects_are_stored_as_protobuf_if_it_is_asked_for(tmp_path, etcd_path):
    store = mesh.Store(tmp_path / "etcd", binary=etcd_path)
    server = mesh.KubeApiserver(tmp_path / "one", store.url, "--storage-media-type=application/vnd.kubernetes.protobuf").start()
    try:
        check_protobuf(server, RawEtcd(store.url), lambda name, **options: mesh.KubeApiserver(tmp_path / name, store.url, **options).start())
    finally:
        server.stop()
        store.stop()


def check_protobuf(server, etcd, start):
    maps = "/api/v1/namespaces/default/configmaps"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"x": "y"}}, "data": {"k": "ä"}}
    assert server.client("POST", maps, body).code == 201
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "a"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}
    assert server.client("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", role).code == 201
    for key in ("configmaps/default/a", "roles/default/a", "services/specs/default/kubernetes"):
        assert etcd.get(f"/registry/{key}").startswith(b"k8s\0"), key
    # Custom resources have no protobuf encoding.
    foos = mesh.serve_foos(server)
    assert server.client("POST", foos, {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}}).code == 201
    assert etcd.get("/registry/example.com/foos/default/a").startswith(b"{")
    stored = server.client.get(f"{maps}/a").json()
    assert stored["data"] == {"k": "ä"}
    # A server without the option, which stores JSON, reads it, and stores it as JSON when it writes it.
    other = start("two")
    try:
        assert other.client.get(f"{maps}/a").json() == stored
        assert other.client("PUT", f"{maps}/a", {**stored, "data": {"k": "v"}}).code == 200
        assert etcd.get("/registry/configmaps/default/a").startswith(b"{")
        mesh.wait_until(lambda: server.client.get(f"{maps}/a").json()["data"] == {"k": "v"}, 5, "the first server reads JSON")
    finally:
        other.stop()
    if REFERENCE is None:
        return  # the part below needs a real kube-apiserver
    reference = start("reference", binary=REFERENCE)
    try:
        def same(path):
            return reference.client.get(path).json() == server.client.get(path).json()

        assert same("/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/a") and same(f"{maps}/a") and same(KUBERNETES)
    finally:
        reference.stop(signal.SIGKILL)

"""Requests that the server is made to send to its own machine (SSRF): CVE-2022-3294, CVE-2021-25737, CVE-2020-8562, CVE-2021-29923.

A trap listens on every address of the machine. Whatever address a node, a pod or an endpoint reports, no process may connect to the trap."""
import http.server
import json
import threading

import pytest

import mesh
from backends import NS, own_address, pod, raw_request, set_status, upgrade_head
from raw_etcd import RawEtcd

LOOPBACK = ["127.0.0.1", "127.8.9.10", "::1", "0:0:0:0:0:0:0:1", "0.0.0.0", "::"]
MAPPED = ["::ffff:127.0.0.1", "::FFFF:7f00:1", "::127.0.0.1", "::7f00:1", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::", "::ffff:0.0.0.0"]
LINK_LOCAL = ["169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "224.0.0.1", "ff02::1", "255.255.255.255"]
NUMBERS = ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0127.0.0.1", "017700000001", "127.0.0.1."]  # the C library parses each as an address
MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, etcd_path):
    folder = tmp_path_factory.mktemp("ssrf")
    store = mesh.Store(folder / "store", etcd_path)  # some tests write to it directly
    server = mesh.KubeApiserver(folder, store.url, "--kubelet-preferred-address-types=InternalIP,Hostname").start()
    server.etcd = RawEtcd(store.url)
    for name in ("n1", "a-node"):
        assert server.client("POST", "/api/v1/nodes", {"metadata": {"name": name}}).code == 201
    for name in ("p", "behind"):
        assert server.client("POST", f"{NS}/pods", pod(name)).code == 201
    yield server
    server.stop()
    store.stop()


def refused(server, path, message="address not allowed"):
    """Sends requests without a body, with a body and for an upgrade. The API server must reject each with 400."""
    for method, body in (("GET", None), ("POST", b"x")):
        answer = server.client(method, path, body)
        assert (answer.code, answer.json()["message"]) == (400, message), (path, answer.body)
    answer, _ = raw_request(server, upgrade_head("GET", path, protocol="websocket"))
    assert answer.startswith(b"HTTP/1.1 400 "), (path, answer)


@pytest.mark.parametrize("address", LOOPBACK + MAPPED + LINK_LOCAL + ["localhost"])
def test_nodes_proxy_to_the_own_machine(cluster, trap, address):
    """A kubelet, which writes its own status, reports an address of the machine of the API server. nodes/proxy must reject this address for every
    port, in every notation, and also if it is the result of a DNS lookup."""
    kind = "Hostname" if address == "localhost" else "InternalIP"
    assert set_status(cluster, "/api/v1/nodes/a-node", addresses=[{"type": kind, "address": address}],
                      daemonEndpoints={"kubeletEndpoint": {"Port": trap.port}}).code == 200
    for name in ("a-node", f"a-node:{trap.port}", f"https:a-node:{trap.port}", f"http:a-node:{trap.port + 1}"):
        refused(cluster, f"/api/v1/nodes/{name}/proxy/metrics")
    assert not trap.connections


@pytest.mark.parametrize("address", NUMBERS)
def test_numbers_are_no_host_names(cluster, trap, address):
    """The C library parses "0177.0.0.1", "127.1" and "2130706433" as 127.0.0.1 (CVE-2021-29923). The API server treats them as names that do not exist."""
    assert set_status(cluster, "/api/v1/nodes/a-node", addresses=[{"type": "Hostname", "address": address}],
                      daemonEndpoints={"kubeletEndpoint": {"Port": trap.port}}).code == 200
    answer = cluster.client.get("/api/v1/nodes/a-node/proxy/metrics")
    assert (answer.code, answer.json()["message"]) == (400, f"lookup {address}: no such host")
    assert not trap.connections


@pytest.mark.parametrize("address", ["trap.example/x?", "user@127.0.0.1", "127.0.0.1:1", "127.0.0.1#", "a b", "fe80::1%lo"])
def test_node_addresses_are_only_hosts(cluster, trap, address):
    """A node address that contains a path, user, port or zone must not change the URL of the request. No lookup and no connection is made."""
    assert set_status(cluster, "/api/v1/nodes/a-node", addresses=[{"type": "Hostname", "address": address}],
                      daemonEndpoints={"kubeletEndpoint": {"Port": trap.port}}).code == 200
    answer = cluster.client.get("/api/v1/nodes/a-node/proxy/metrics")
    assert (answer.code, answer.json()["message"]) == (400, f"lookup {address}: no such host")
    assert not trap.connections


@pytest.mark.parametrize("address", LOOPBACK + MAPPED + LINK_LOCAL)
def test_pods_proxy_to_the_own_machine(cluster, trap, address):
    """The status of a pod contains an address of the machine of the API server. Ambiguous notations are rejected when the status is written, the
    others by pods/proxy."""
    written = set_status(cluster, f"{NS}/pods/p", podIP=address, podIPs=[{"ip": address}])
    if written.code == 422:
        assert "must not be an IPv4-mapped IPv6 address" in written.json()["message"]
    else:
        assert written.code == 200 and cluster.client.get(f"{NS}/pods/p").json()["status"]["podIPs"] == [{"ip": address}]
        for name in ("p", f"p:{trap.port}", f"http:p:{trap.port}", f"https:p:{trap.port}"):
            refused(cluster, f"{NS}/pods/{name}/proxy/x")
    assert not trap.connections


@pytest.mark.parametrize("address", ["010.0.0.1", "0127.0.0.1", "127.1", "x", "fe80::1%lo", "::ffff:010.0.0.1"])
def test_pod_addresses_that_programs_read_differently(cluster, address):
    """CVE-2021-29923: some programs parse an address with leading zeros as octal, others as decimal. A pod cannot have such an address."""
    assert set_status(cluster, f"{NS}/pods/p", podIP=address, podIPs=[{"ip": address}]).code == 422
    assert set_status(cluster, f"{NS}/pods/p", podIP=address, podIPs=None).code == 422


def endpoints(name, address, port, target="behind"):
    return {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": name, "namespace": "default"},
            "subsets": [{"addresses": [{"ip": address, "targetRef": {"kind": "Pod", "namespace": "default", "name": target}}],
                         "ports": [{"name": "web", "port": port, "protocol": "TCP"}]}]}


def slice_of(name, address):
    return {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": name, "namespace": "default"},
            "addressType": "IPv6" if ":" in address else "IPv4", "endpoints": [{"addresses": [address]}], "ports": []}


@pytest.mark.parametrize("make, collection", [(lambda name, ip: endpoints(name, ip, 80), f"{NS}/endpoints"),
                                              (slice_of, "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices")],
                         ids=["endpoints", "endpointslices"])
def test_endpoints_on_the_own_machine(cluster, make, collection):
    """CVE-2021-25737: endpoints with loopback or link-local addresses are rejected for every kind of write and in every notation."""
    good = make("good", "10.1.2.3")
    assert cluster.client("POST", collection, good).code == 201
    for address in LOOPBACK + MAPPED + LINK_LOCAL[:-1] + ["010.0.0.1", "0127.0.0.1"]:
        bad = make("bad", address)
        refusals = [cluster.client("POST", collection, bad), cluster.client("PATCH", f"{collection}/bad", json.dumps(bad), headers=APPLY),
                    cluster.client("PUT", f"{collection}/good", {**bad, "metadata": good["metadata"]}),
                    cluster.client("PATCH", f"{collection}/good", {**bad, "metadata": {}}, headers=MERGE)]
        assert [answer.code for answer in refusals] == [422] * 4, (address, [answer.body for answer in refusals])
    assert cluster.client.get(f"{collection}/bad").code == 404
    message = cluster.client("POST", collection, make("bad", "127.0.0.1")).json()["message"]
    assert "may not be in the loopback range (127.0.0.0/8, ::1/128)" in message
    message = cluster.client("POST", collection, make("bad", "169.254.169.254")).json()["message"]
    assert "may not be in the link-local range (169.254.0.0/16, fe80::/10)" in message
    assert cluster.client("DELETE", f"{collection}/good").code == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1", "::1", "169.254.169.254", "::127.0.0.1"])
def test_services_proxy_to_the_own_machine(cluster, trap, address):
    """The store already contains endpoints and a pod with an address of the machine of the API server, written by an older server.
    services/proxy rejects them, whether the port is a name, a number or has a scheme."""
    service = {"metadata": {"name": "s"}, "spec": {"ports": [{"name": "web", "port": 80}]}}
    assert cluster.client("POST", f"{NS}/services", service).code in (201, 409)
    cluster.etcd.put("/registry/services/endpoints/default/s", json.dumps(endpoints("s", address, trap.port)))
    stored = cluster.client.get(f"{NS}/pods/behind").json()
    stored["status"].update(podIP=address, podIPs=[{"ip": address}])
    cluster.etcd.put("/registry/pods/default/behind", json.dumps(stored))

    def seen():
        found = cluster.client.get(f"{NS}/endpoints/s")
        at_pod = cluster.client.get(f"{NS}/pods/behind").json()["status"].get("podIPs")
        return found.code == 200 and found.json()["subsets"][0]["addresses"][0]["ip"] == address and at_pod == [{"ip": address}]

    mesh.wait_until(seen, 10, "the server has received the objects from the store")
    for name in ("s:web", "s:80", "http:s:web", "https:s:80"):
        refused(cluster, f"{NS}/services/{name}/proxy/x")
    assert not trap.connections


def test_external_ips_of_services(cluster):
    """Nodes redirect traffic for the external IPs of a service, so loopback and link-local addresses would capture local traffic."""
    for address in LOOPBACK + MAPPED + LINK_LOCAL[:-1] + ["010.0.0.1"]:
        service = {"metadata": {"name": "bad"}, "spec": {"ports": [{"port": 80}], "externalIPs": [address]}}
        answer = cluster.client("POST", f"{NS}/services", service)
        assert answer.code == 422 and "spec.externalIPs[0]" in answer.json()["message"], (address, answer.body)


def test_the_own_service_has_no_loopback_endpoint(cluster):
    """The rule also applies to the service "kubernetes": a server that listens on loopback advertises another address of the machine."""
    if not own_address():
        pytest.skip("this machine has only loopback addresses")
    found = mesh.wait_until(lambda: (a := cluster.client.get(f"{NS}/endpoints/kubernetes")).code == 200 and a.json(), 10, "endpoints are written")
    assert not found["subsets"][0]["addresses"][0]["ip"].startswith("127.")


def test_other_addresses_are_proxied(cluster):
    """Not an attack: all three proxies connect to an address of this machine that is not a loopback address."""
    address = own_address()
    if not address:
        pytest.skip("this machine has only loopback addresses")
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            pass

    backend = http.server.ThreadingHTTPServer((address, 0), Handler)
    threading.Thread(target=backend.serve_forever, daemon=True).start()
    port = backend.server_address[1]
    assert set_status(cluster, "/api/v1/nodes/a-node", addresses=[{"type": "InternalIP", "address": address}]).code == 200
    assert set_status(cluster, f"{NS}/pods/p", podIP=address, podIPs=[{"ip": address}]).code == 200
    assert cluster.client("POST", f"{NS}/services", {"metadata": {"name": "ok"}, "spec": {"ports": [{"name": "web", "port": 80}]}}).code == 201
    assert cluster.client("POST", f"{NS}/endpoints", endpoints("ok", address, port, "p")).code == 201
    for path in (f"/api/v1/nodes/a-node:{port}/proxy/n", f"{NS}/pods/p:{port}/proxy/p", f"{NS}/services/ok:80/proxy/s"):
        answer = cluster.client.get(path)
        assert (answer.code, answer.body) == (200, "ok"), (path, answer.body)
    assert seen == ["/n", "/p", "/s"]
    backend.shutdown()


def test_names_of_referenced_objects_are_no_paths(cluster):
    """Attack: a reference to a pod has the name "p:PORT/proxy/fake". The API server reads referenced objects with its own permissions, so the pod itself
    would write the document that says which addresses it has, and services/proxy would connect to any of them.
    Expected: the name is refused, and the pod receives no request. Why: users choose these names, and they become a part of a path."""
    address = own_address()
    if not address:
        pytest.skip("this machine has only loopback addresses")
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            body = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"serviceAccountName": "default"},
                               "status": {"podIPs": [{"ip": address}]}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    backend = http.server.ThreadingHTTPServer((address, 0), Handler)
    threading.Thread(target=backend.serve_forever, daemon=True).start()
    port = backend.server_address[1]
    name = f"p:{port}/proxy/fake"
    assert set_status(cluster, f"{NS}/pods/p", podIP=address, podIPs=[{"ip": address}]).code == 200
    assert cluster.client("POST", f"{NS}/services", {"metadata": {"name": "liar"}, "spec": {"ports": [{"name": "web", "port": 80}]}}).code == 201
    assert cluster.client("POST", f"{NS}/endpoints", endpoints("liar", address, port, name)).code == 201
    answer = cluster.client.get(f"{NS}/services/liar:80/proxy/s")
    assert answer.code == 503, answer.body
    assert cluster.client("POST", f"{NS}/serviceaccounts", {"metadata": {"name": "bound"}}).code in (201, 409)
    for kind, bound in (("Pod", name), ("Node", f"a-node:{port}/proxy/fake"), ("Secret", "a/b"), ("Pod", "")):
        request = {"spec": {"audiences": ["a"], "boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": bound}}}
        answer = cluster.client("POST", f"{NS}/serviceaccounts/bound/token", request)
        assert (answer.code, answer.json()["message"].split(":")[0].rstrip(".")) in ((400, "Name parameter invalid"), (400, "Name parameter required")), answer.body
    assert seen == []
    backend.shutdown()

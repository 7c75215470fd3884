"""Addresses and node ports of services after core-api was killed in the middle of writes: none is lost, and none belongs to two services."""
import base64
import collections
import json
import os
import random
import signal
import threading
import time

import pytest

import mesh
from raw_etcd import RawEtcd

# The number of kills. 200 take about 4 minutes.
KILLS = int(os.environ.get("APIMESH_KILLS", "4"))
SERVICES = "/api/v1/namespaces/default/services"
FIRST_PORT = 30000


class Load:
    """Creates, changes and deletes services until it is stopped. Each thread has its own names."""

    def __init__(self, server, threads=4):
        self.server, self.stopped = server, threading.Event()
        self.outcomes = collections.Counter()
        self.threads = [threading.Thread(target=self.run, args=(number,)) for number in range(threads)]
        for thread in self.threads:
            thread.start()

    def send(self, method, path, body=None, **options):
        try:
            code = self.server.client(method, path, body, timeout=5, **options).code
        except OSError:
            code = 0
        self.outcomes[method, code] += 1
        return code

    def run(self, thread):
        chance = random.Random(thread)
        while not self.stopped.is_set():
            path = f"{SERVICES}/s-{thread}-{chance.randrange(12)}"
            kind = chance.choice(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"])
            spec = {"type": kind, "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}
            if kind == "ExternalName":
                spec = {"type": kind, "externalName": "a.example.com", "clusterIP": None, "clusterIPs": None, "ports": None}
            what = chance.randrange(3)
            if what == 0:
                self.send("POST", SERVICES, {"metadata": {"name": path.rsplit("/", 1)[1]}, "spec": {k: v for k, v in spec.items() if v}})
            elif what == 1:
                self.send("PATCH", path, json.dumps({"spec": spec}), headers={"Content-Type": "application/merge-patch+json"})
            else:
                self.send("DELETE", path)

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def used(server):
    """Returns (addresses, node ports) of all services, each with the number of services that have it."""
    addresses, ports = collections.Counter(), collections.Counter()
    for service in server.client.get("/api/v1/services").json()["items"]:
        spec = service["spec"]
        addresses.update(ip for ip in spec.get("clusterIPs", []) if ip != "None")
        ports.update({port["nodePort"] for port in spec.get("ports", []) if port.get("nodePort")})
        if spec.get("healthCheckNodePort"):
            ports.update([spec["healthCheckNodePort"]])
    return addresses, ports


def allocated(server, etcd):
    """Returns (addresses, node ports) that the allocators consider taken."""
    addresses = {item["metadata"]["name"] for item in server.client.get("/apis/networking.k8s.io/v1/ipaddresses").json()["items"]}
    stored = json.loads(etcd.get("/registry/ranges/servicenodeports"))
    bits = int.from_bytes(base64.b64decode(stored.get("data", "")), "big")
    return addresses, {FIRST_PORT + bit for bit in range(bits.bit_length()) if bits >> bit & 1}


@pytest.mark.timeout(300 + 10 * KILLS)
def test_nothing_leaks_when_core_api_is_killed(tmp_path, etcd_path):
    store = mesh.Store(tmp_path / "store", binary=etcd_path)
    server = mesh.KubeApiserver(tmp_path / "server", store.url, "--service-repair-interval=20s")
    try:
        server.start()
        etcd, chance = RawEtcd(store.url), random.Random(1)
        load = Load(server)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.3, 1.2))
            pid = mesh.wait_until(lambda: server.children().get("core-api"), 20, "core-api is started again")
            os.kill(pid, signal.SIGKILL)
        time.sleep(1)
        load.stop()
        mesh.wait_until(lambda: server.client.answers("/readyz"), 60, "the mesh is ready")
        assert load.outcomes["POST", 201] > 5 and load.outcomes["DELETE", 200] > 2, load.outcomes

        addresses, ports = used(server)
        assert max(addresses.values()) == 1 and max(ports.values(), default=1) == 1, "two services have the same address or port"

        def agree():
            now = tuple(set(one) for one in used(server))
            return now == allocated(server, etcd)
        try:
            mesh.wait_until(agree, 150, "all that is allocated belongs to a service")
        except AssertionError:
            (addresses, ports), (all_addresses, all_ports) = used(server), allocated(server, etcd)
            raise AssertionError(f"leaked: {sorted(all_addresses - set(addresses))} {sorted(all_ports - set(ports))}, "
                                 f"not allocated: {sorted(set(addresses) - all_addresses)} {sorted(set(ports) - all_ports)}") from None
    finally:
        server.stop()
        store.stop()


def test_a_second_service_cidr_and_a_lost_address(own_server):
    """An address of a ServiceCIDR that a client created can be used; an IPAddress that a client deleted comes back."""
    cidr = {"metadata": {"name": "second"}, "spec": {"cidrs": ["10.9.0.0/24"]}}
    assert own_server.client("POST", "/apis/networking.k8s.io/v1/servicecidrs", cidr).code == 201

    def service(name, **spec):
        return own_server.client("POST", SERVICES, {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}})
    mesh.wait_until(lambda: service("second", clusterIP="10.9.0.7").code == 201, 10, "an address of the second range is accepted")
    refused = service("third", clusterIP="10.9.0.0")
    assert refused.code == 422 and "the provided network does not match the current range" in refused.json()["message"]
    dry = own_server.client("POST", f"{SERVICES}?dryRun=All", {"metadata": {"name": "dry"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
    assert dry.json()["spec"]["clusterIP"] in ("10.0.0.0", "10.9.0.0") and dry.json()["spec"]["ports"][0]["nodePort"] == 32769
    assert not own_server.client.answers(f"{SERVICES}/dry")
    assert own_server.client.get("/apis/networking.k8s.io/v1/ipaddresses/10.9.0.7").json()["spec"]["parentRef"]["name"] == "second"

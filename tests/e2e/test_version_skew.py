"""Processes of two releases that are next to each other work together, as during a rolling upgrade: the contract between them keeps what it has, a process does without
the fields that the last release does not have, and ignores those that only the next one knows."""
import pytest

import contract
import mesh
import watching
from contract_proxy import ContractProxy
from test_tcp_mesh import TcpMesh

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
WIDGETS = {"metadata": {"name": "widgets.example.com"},
           "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}


def test_the_contract_keeps_what_the_last_release_has():
    """A field keeps its number, name and type; a method keeps its messages. What is new must be optional: the next test leaves it out."""
    now = set(contract.lines_of(contract.compiled()))
    gone = [line for line in contract.released() if line not in now]
    assert not gone, "processes of the last release depend on these; reserve a new number for a changed field"


class SkewedMesh(TcpMesh):
    """The aggregator sees core-api, extensions-api and authn-authz as processes of another release, and they see it as one."""

    def __init__(self, folder, release):
        self.contract, self.proxies = contract.Contract(), []
        self.change = getattr(self.contract, release)
        super().__init__(folder)

    def start(self, name, *flags, binary=None):
        if name == "aggregator":
            flags = [self.through_a_proxy(flag) for flag in flags]
        super().start(name, *flags, binary=binary)

    def through_a_proxy(self, flag):
        option, _, upstream = flag.partition("=")
        server = option.removeprefix("--")
        if server not in ("core-api", "extensions-api", "authn-authz"):
            return flag
        proxy = ContractProxy(self.contract, self.change, self.folder / "pki", mesh.free_port(), server, upstream, "aggregator")
        self.proxies.append(proxy)
        return f"{option}=localhost:{proxy.port}"

    def stop(self):
        super().stop()
        for proxy in self.proxies:
            proxy.stop()


@pytest.mark.parametrize("release", ["previous", "next"])
def test_serving_goes_on_between_releases(tmp_path, release):
    skewed = SkewedMesh(tmp_path, release)
    try:
        client = skewed.client
        mesh.wait_until(lambda: client.answers("/readyz"), 40, "the mesh is ready")
        watch = watching.Watch(client, CONFIG_MAPS)
        assert client("POST", CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "1"}}).code == 201
        assert client("PATCH", f"{CONFIG_MAPS}/a", {"data": {"k": "2"}}, headers={"Content-Type": "application/merge-patch+json"}).code == 200
        applied = client("PATCH", f"{CONFIG_MAPS}/a?fieldManager=m&force=true", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "3"}},
                         headers={"Content-Type": "application/apply-patch+yaml"})
        assert applied.code == 200 and client.get(f"{CONFIG_MAPS}/a").json()["data"] == {"k": "3"}
        for i in range(60):
            assert client("POST", CONFIG_MAPS, {"metadata": {"name": f"many-{i}"}, "data": {"text": "x" * 5000}}).code == 201
        first = client.get(f"{CONFIG_MAPS}?limit=50").json()
        assert len(first["items"]) == 50 and first["metadata"]["continue"]
        assert len(client.get(CONFIG_MAPS).json()["items"]) >= 61
        assert client("DELETE", f"{CONFIG_MAPS}/a").code == 200
        watch.wait_for("a", "ADDED", "MODIFIED", "MODIFIED", "DELETED")
        watch.close()
        assert client("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGETS).code == 201
        widgets = "/apis/example.com/v1/namespaces/default/widgets"
        mesh.wait_until(lambda: client.answers(widgets), 20, "the custom resource is served")
        assert client("POST", widgets, {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}).code == 201
        assert client("GET", CONFIG_MAPS, headers={"Impersonate-User": "jane"}).code == 403
        account = "/api/v1/namespaces/default/serviceaccounts"
        assert client("POST", account, {"metadata": {"name": "me"}}).code == 201
        token = client("POST", f"{account}/me/token", {"spec": {}}).json()["status"]["token"]
        refused = mesh.Client(client.url, token=token).get(CONFIG_MAPS)
        assert refused.code == 403 and "system:serviceaccount:default:me" in refused.body
        assert "io.k8s.api.core.v1.ConfigMap" in client.get("/openapi/v3/api/v1").body
        assert client.get("/readyz").code == 200
        assert all(proxy.messages for proxy in skewed.proxies)
    finally:
        skewed.stop()

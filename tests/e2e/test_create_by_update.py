"""Creating an object with PUT or apply requires permission to create."""
import json

import mesh

NS = "/api/v1/namespaces/default"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def as_user(server, name):
    return {"Impersonate-User": name, "Authorization": f"Bearer {mesh.ADMIN_TOKEN}"}


def test_apply_does_not_create_without_the_right_to(server):
    admin = server.client
    role = {"metadata": {"name": "patch-only"}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch", "update"]}]}
    assert admin("POST", RBAC + "/clusterroles", role).code == 201
    binding = {"metadata": {"name": "patch-only"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "patch-only"},
               "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "patcher"}]}
    assert admin("POST", RBAC + "/clusterrolebindings", binding).code == 201
    assert admin("POST", NS + "/configmaps", {"metadata": {"name": "there"}, "data": {"z": "1"}}).code == 201
    headers = {**as_user(server, "patcher"), "Content-Type": "application/apply-patch+yaml"}

    def apply(name):
        body = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}})
        return admin("PATCH", f"{NS}/configmaps/{name}?fieldManager=t", body, headers)

    mesh.wait_until(lambda: apply("there").code == 200, 5, "the role binding has an effect")
    refused = apply("not-there")
    assert refused.code == 403 and "cannot create" in refused.json()["message"]
    assert admin.get(f"{NS}/configmaps/not-there").code == 404


def test_custom_resources_need_it_too(server):
    admin = server.client
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "bars.put.example.com"},
           "spec": {"group": "put.example.com", "scope": "Namespaced", "names": {"plural": "bars", "kind": "Bar"},
                    "versions": [{"name": "v1", "served": True, "storage": True,
                                  "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
    assert admin("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).code == 201
    role = {"metadata": {"name": "patch-bars"}, "rules": [{"apiGroups": ["put.example.com"], "resources": ["bars"], "verbs": ["get", "patch", "update"]}]}
    assert admin("POST", RBAC + "/clusterroles", role).code == 201
    binding = {"metadata": {"name": "patch-bars"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "patch-bars"},
               "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bar-patcher"}]}
    assert admin("POST", RBAC + "/clusterrolebindings", binding).code == 201
    bars = "/apis/put.example.com/v1/namespaces/default/bars"

    def bar(name):
        return {"apiVersion": "put.example.com/v1", "kind": "Bar", "metadata": {"name": name}, "a": "b"}

    mesh.wait_until(lambda: admin("POST", bars, bar("there")).code in (201, 409), 5, "bars are served")
    headers = {**as_user(server, "bar-patcher"), "Content-Type": "application/apply-patch+yaml"}

    def apply(name):
        return admin("PATCH", f"{bars}/{name}?fieldManager=t&force=true", json.dumps(bar(name)), headers)

    mesh.wait_until(lambda: apply("there").code == 200, 5, "the role binding has an effect")
    refused = apply("not-there")
    assert refused.code == 403
    assert refused.json()["message"] == ('bars.put.example.com "not-there" is forbidden: User "bar-patcher" cannot create resource "bars" '
                                         'in API group "put.example.com" in the namespace "default"')
    put = admin("PUT", f"{bars}/not-there", bar("not-there"), as_user(server, "bar-patcher"))
    assert put.code in (403, 404)
    assert admin.get(f"{bars}/not-there").code == 404
    assert admin("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/bars.put.example.com").code == 200


def test_refused_applies_keep_no_addresses(server):
    """A user who may only patch services must not be able to exhaust the cluster IPs."""
    admin = server.client
    role = {"metadata": {"name": "patch-services"}, "rules": [{"apiGroups": [""], "resources": ["services"], "verbs": ["get", "patch"]}]}
    assert admin("POST", RBAC + "/clusterroles", role).code == 201
    binding = {"metadata": {"name": "patch-services"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "patch-services"},
               "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "service-patcher"}]}
    assert admin("POST", RBAC + "/clusterrolebindings", binding).code == 201

    def addresses():
        return {item["metadata"]["name"] for item in admin.get("/apis/networking.k8s.io/v1/ipaddresses").json()["items"]}

    def apply(name, spec, headers):
        body = json.dumps({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec})
        return admin("PATCH", f"{NS}/services/{name}?fieldManager=t", body, {**headers, "Content-Type": "application/apply-patch+yaml"})

    good = {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30123}]}
    bad = {"ports": [{"port": 80, "protocol": "NOPE"}]}
    assert admin("POST", NS + "/services", {"metadata": {"name": "there"}, "spec": {"ports": [{"port": 80}]}}).code == 201
    patcher = as_user(server, "service-patcher")
    mesh.wait_until(lambda: apply("there", {"ports": [{"port": 80}]}, patcher).code == 200, 5, "the role binding has an effect")
    before = addresses()
    for i in range(3):
        assert apply(f"refused-{i}", good, patcher).code == 403
        assert apply(f"invalid-{i}", bad, as_user(server, "admin") | {"Impersonate-Group": "system:masters"}).code == 422
        assert admin("POST", NS + "/services", {"metadata": {"name": f"invalid-{i}"}, "spec": bad}).code == 422
    assert addresses() == before
    # The node port of the rejected requests is free, and a created service has exactly one address, whose IPAddress object refers to it.
    made = admin("POST", NS + "/services", {"metadata": {"generateName": "made-"}, "spec": good})
    assert made.code == 201, made.body
    address = made.json()["spec"]["clusterIP"]
    assert addresses() - before == {address}
    parent = admin.get(f"/apis/networking.k8s.io/v1/ipaddresses/{address}").json()["spec"]["parentRef"]
    assert parent["name"] == made.json()["metadata"]["name"]
    assert admin("DELETE", f"{NS}/services/{made.json()['metadata']['name']}").code == 200
    assert addresses() == before

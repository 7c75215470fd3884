"""Creating by PUT or apply needs the right to create."""
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

    mesh.wait_until(lambda: apply("there").code == 200, 5, "the binding counts")
    refused = apply("not-there")
    assert refused.code == 403 and "cannot create" in refused.json()["message"]
    assert admin.get(f"{NS}/configmaps/not-there").code == 404

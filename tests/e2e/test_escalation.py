"""Users cannot grant permissions that they do not have."""
import mesh

RBAC = "/apis/rbac.authorization.k8s.io/v1"


def as_user(name):
    return {"Impersonate-User": name, "Authorization": f"Bearer {mesh.ADMIN_TOKEN}"}


def role(name, *rules):
    return {"metadata": {"name": name}, "rules": list(rules)}


def bind(name, kind, role_name, user):
    return {"metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role_name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}


PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
SECRETS = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}


def test_roles_and_bindings(server):
    admin = server.client
    writer = role("esc-writer", PODS, {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles", "clusterrolebindings", "roles", "rolebindings"],
                                       "verbs": ["get", "create", "update", "patch"]})
    assert admin("POST", f"{RBAC}/clusterroles", writer).code == 201
    assert admin("POST", f"{RBAC}/clusterrolebindings", bind("esc-writer", "ClusterRole", "esc-writer", "eve")).code == 201
    assert admin("POST", f"{RBAC}/clusterroles", role("esc-secrets", SECRETS)).code == 201
    mesh.wait_until(lambda: admin("GET", f"{RBAC}/clusterroles/esc-writer", headers=as_user("eve")).code == 200, 5, "the role binding has an effect")

    def eve(method, path, body):
        return admin(method, path, body, as_user("eve"))

    assert eve("POST", f"{RBAC}/clusterroles", role("esc-own", PODS)).code == 201
    refused = eve("POST", f"{RBAC}/clusterroles", role("esc-more", SECRETS))
    assert refused.code == 403
    assert refused.json()["message"] == (
        'clusterroles.rbac.authorization.k8s.io "esc-more" is forbidden: user "eve" (groups=["system:authenticated"]) is attempting to grant RBAC permissions '
        'not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}')
    assert eve("POST", f"{RBAC}/clusterroles?dryRun=All", role("esc-more", SECRETS)).code == 403
    assert admin.get(f"{RBAC}/clusterroles/esc-more").code == 404
    own = admin.get(f"{RBAC}/clusterroles/esc-own").json()
    assert eve("PUT", f"{RBAC}/clusterroles/esc-own", {**own, "rules": [PODS, SECRETS]}).code == 403
    aggregating = {**role("esc-aggregate"), "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
    refused = eve("POST", f"{RBAC}/clusterroles", aggregating)
    assert refused.code == 403 and "must have cluster-admin privileges to use the aggregationRule" in refused.json()["message"]

    assert eve("POST", f"{RBAC}/clusterrolebindings", bind("esc-own", "ClusterRole", "esc-own", "bob")).code == 201
    refused = eve("POST", f"{RBAC}/clusterrolebindings", bind("esc-cluster-admin", "ClusterRole", "cluster-admin", "eve"))
    assert refused.code == 403 and "is attempting to grant RBAC permissions not currently held" in refused.json()["message"]
    refused = eve("POST", f"{RBAC}/namespaces/default/rolebindings", bind("esc-secrets", "ClusterRole", "esc-secrets", "eve"))
    assert refused.code == 403 and refused.json()["message"].startswith('rolebindings.rbac.authorization.k8s.io "esc-secrets" is forbidden')
    missing = eve("POST", f"{RBAC}/clusterrolebindings", bind("esc-none", "ClusterRole", "esc-none", "eve"))
    assert missing.code == 404 and missing.json()["message"] == 'clusterroles.rbac.authorization.k8s.io "esc-none" not found'


def test_escalate_and_bind_are_rights(server):
    admin = server.client
    rights = role("esc-rights", {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["create", "escalate"]},
                  {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterrolebindings"], "verbs": ["create"]},
                  {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "resourceNames": ["esc-view"], "verbs": ["bind"]})
    assert admin("POST", f"{RBAC}/clusterroles", rights).code == 201
    assert admin("POST", f"{RBAC}/clusterroles", role("esc-view", SECRETS)).code == 201
    assert admin("POST", f"{RBAC}/clusterrolebindings", bind("esc-rights", "ClusterRole", "esc-rights", "mallory")).code == 201
    mesh.wait_until(lambda: admin("POST", f"{RBAC}/clusterroles", role("esc-any", SECRETS), as_user("mallory")).code in (201, 409), 5, "the verb escalate has an effect")
    assert admin.get(f"{RBAC}/clusterroles/esc-any").code == 200
    assert admin("POST", f"{RBAC}/clusterrolebindings", bind("esc-view", "ClusterRole", "esc-view", "mallory"), as_user("mallory")).code == 201
    assert admin("POST", f"{RBAC}/clusterrolebindings", bind("esc-admin", "ClusterRole", "cluster-admin", "mallory"), as_user("mallory")).code == 403

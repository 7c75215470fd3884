"""Measures how long the edge allows requests after the response to the deletion of a permission or an account."""
import statistics
import time

import mesh

ROUNDS = 30
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def until(client, path, code):
    """Returns the seconds until the response has the status `code`."""
    began = time.monotonic()
    while client.get(path).code != code:
        assert time.monotonic() - began < 5, f"no response with status {code} within 5 s"
    return time.monotonic() - began


def judge(seconds, what):
    print(f"{what}: {sorted(round(s * 1000) for s in seconds)} ms")
    # The goal is 100 ms for each. On a busy machine, a process may have to wait for longer than that.
    assert statistics.median(seconds) <= 0.1, what
    assert max(seconds) <= 1, what


def test_a_revoked_binding(tmp_path):
    with mesh.running_server(tmp_path, users=("joe",)) as server:
        admin, joe = server.client, mesh.Client(server.url, "joe-token")
        mesh.wait_until(lambda: admin.answers("/readyz"), 30, "the server is ready")
        path = "/api/v1/namespaces/default/configmaps"
        assert admin("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "r"}, "rules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"]}]}).code == 201
        binding = {"metadata": {"name": "b"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
                   "subjects": [{"kind": "User", "name": "joe", "apiGroup": "rbac.authorization.k8s.io"}]}
        revoked = []
        for _ in range(ROUNDS):
            assert admin("POST", f"{RBAC}/clusterrolebindings", binding).code == 201
            until(joe, path, 200)
            assert joe.get(path).code == 200  # now the edge has cached the decision
            assert admin("DELETE", f"{RBAC}/clusterrolebindings/b").code == 200
            revoked.append(until(joe, path, 403))
        judge(revoked, "binding revoked")


def test_a_deleted_service_account(tmp_path):
    with mesh.running_server(tmp_path) as server:
        admin = server.client
        mesh.wait_until(lambda: admin.answers("/readyz"), 30, "the server is ready")
        gone = []
        for _ in range(ROUNDS):
            assert admin("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "robot"}}).code == 201
            request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
            token = admin("POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", request).json()["status"]["token"]
            robot = mesh.Client(server.url, token)
            until(robot, "/version", 200)
            assert admin("DELETE", "/api/v1/namespaces/default/serviceaccounts/robot").code == 200
            gone.append(until(robot, "/version", 401))
        judge(gone, "service account deleted")

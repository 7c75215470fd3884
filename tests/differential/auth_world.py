"""Creates the same cluster in our server and in the real kube-apiserver: users, roles, bindings, nodes and pods."""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import conftest  # noqa: E402
import mesh  # noqa: E402

ETCD = os.environ.get("APIMESH_ETCD_BINARY") or shutil.which("etcd36") or shutil.which("etcd")
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ACTOR_TOKEN = "actor-token-of-the-tests"
# Users that have not impersonated anyone yet: kube-apiserver caches which rule allowed the last impersonation of a user.
FRESH_TOKENS = [f"fresh-token-{i}-of-the-tests" for i in range(24)]
FLAGS = ("--authorization-mode=Node,RBAC", "--disable-admission-plugins=ServiceAccount", "--enable-bootstrap-token-auth")


class Side:
    """One of the two servers, with its own store."""

    def __init__(self, name, folder, *flags, binary=None):
        self.name = name
        self.store = mesh.Store(folder / f"{name}-etcd", binary=ETCD)
        flags = (*FLAGS, *flags) + (("--advertise-address=127.0.0.1",) if binary else ())
        self.server = mesh.KubeApiserver(folder / name, self.store.url, *flags, binary=binary)
        self.server.arguments.remove("--authorization-mode=RBAC")  # values of a repeated flag are added
        tokens = folder / name / "tokens.csv"
        fresh = "".join(f'{token},fresh-{i},fresh-uid-{i},"constrained"\n' for i, token in enumerate(FRESH_TOKENS))
        tokens.write_text(tokens.read_text() + f"{ACTOR_TOKEN},actor,actor-uid\n" + fresh)
        self.server.start(wait=False)
        self.client = self.server.client
        mesh.wait_until(lambda: self.client.answers("/readyz"), 150, f"{name} is ready")

    def stop(self):
        self.server.stop()
        self.store.stop()

    def post(self, path, body):
        answer = self.client("POST", path, body)
        assert answer.code in (200, 201), f"{self.name}: POST {path}: {answer.code} {answer.body}"
        return answer.json()

    def ask(self, spec):
        """Creates a SubjectAccessReview and returns its status."""
        return self.post("/apis/authorization.k8s.io/v1/subjectaccessreviews",
                         {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec})["status"]

    def as_user(self, user, method, path, body=None, groups=(), uid=None, extra=None):
        """Sends a request that impersonates `user`."""
        headers = [("Authorization", f"Bearer {mesh.ADMIN_TOKEN}"), ("Impersonate-User", user)]
        headers += [("Impersonate-Group", group) for group in groups]
        headers += [("Impersonate-Uid", uid)] if uid else []
        headers += [(f"Impersonate-Extra-{key}", value) for key, values in (extra or {}).items() for value in values]
        return self.raw(method, path, headers, body)

    def raw(self, method, path, headers=(), body=None):
        """Sends a request with repeated headers, which urllib cannot send."""
        import http.client
        import json
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, context=self.client.context, timeout=20)
        data = json.dumps(body).encode() if body is not None else b""
        connection.putrequest(method, path)
        for name, value in headers:
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return mesh.Answer(answer.status, answer.headers, text)


def both(folder):
    """Returns (ours, reference), both with the same objects."""
    assert ETCD, "this test needs etcd: run ./apimesh test --differential, or set APIMESH_ETCD_BINARY"
    sides = Side("ours", folder), Side("reference", folder, binary=conftest.needed_reference())
    for side in sides:
        fill(side)
    return sides


def rule(verbs, groups=("",), resources=(), names=(), urls=()):
    out = {"verbs": list(verbs)}
    out |= {"nonResourceURLs": list(urls)} if urls else {"apiGroups": list(groups), "resources": list(resources)}
    return out | ({"resourceNames": list(names)} if names else {})


ROLES = {  # (namespace or "", name): rules
    ("", "pod-reader"): [rule(["get", "list", "watch"], resources=["pods"])],
    ("", "all-of-apps"): [rule(["*"], ["apps"], ["*"])],
    ("", "logs-only"): [rule(["get"], resources=["pods/log"])],
    ("", "any-status"): [rule(["get"], ["*"], ["*/status"])],
    ("", "one-secret"): [rule(["get", "update"], resources=["secrets"], names=["shared", "other"])],
    ("", "urls"): [rule(["get"], urls=["/healthz", "/logs/*", "/exact"]), rule(["post"], urls=["/hook"])],
    ("", "all-urls"): [rule(["get"], urls=["*"])],
    ("", "empty-verb"): [rule([""], resources=["pods"])],
    ("", "impersonate-team"): [rule(["impersonate"], resources=["users"], names=["alice", "bob"]),
                               rule(["impersonate"], resources=["groups"], names=["team"]),
                               rule(["impersonate"], ["authentication.k8s.io"], ["uids"], ["u-1"]),
                               rule(["impersonate"], ["authentication.k8s.io"], ["userextras/scopes"], ["view"]),
                               rule(["impersonate"], resources=["serviceaccounts"], names=["builder"])],
    ("", "constrained"): [rule(["impersonate:user-info"], ["authentication.k8s.io"], ["users"], ["alice", "system:anonymous"]),
                          rule(["impersonate:user-info"], ["authentication.k8s.io"], ["groups"], ["team", "system:masters"]),
                          rule(["impersonate:user-info"], ["authentication.k8s.io"], ["uids"], ["u-1"]),
                          rule(["impersonate:user-info"], ["authentication.k8s.io"], ["userextras/acme.com/scope"], ["view"]),
                          rule(["impersonate:serviceaccount"], ["authentication.k8s.io"], ["serviceaccounts"], ["builder"]),
                          rule(["impersonate:arbitrary-node"], ["authentication.k8s.io"], ["nodes"], ["n1"]),
                          rule(["impersonate-on:user-info:create", "impersonate-on:serviceaccount:create", "impersonate-on:arbitrary-node:create"],
                               ["authentication.k8s.io"], ["selfsubjectreviews"])],
    ("blue", "configs"): [rule(["get", "list", "create"], resources=["configmaps"])],
    ("blue", "named-config"): [rule(["get", "delete", "list", "watch"], resources=["configmaps"], names=["one"])],
    ("blue", "scale"): [rule(["update", "patch"], ["apps"], ["deployments/scale"])],
    ("green", "everything"): [rule(["*"], ["*"], ["*"])],
}
AGGREGATED = {"aggregate": {"team": "blue"}}
LABELLED = {"part-one": ({"team": "blue"}, [rule(["get"], ["batch"], ["jobs"])]), "part-two": ({"team": "blue"}, [rule(["list"], ["batch"], ["cronjobs"])])}
BINDINGS = [  # namespace, name, role kind, role, [(kind, namespace, name)]
    ("", "alice-reads-pods", "ClusterRole", "pod-reader", [("User", "", "alice")]),
    ("", "team-apps", "ClusterRole", "all-of-apps", [("Group", "", "team")]),
    ("", "logger", "ClusterRole", "logs-only", [("User", "", "logger"), ("ServiceAccount", "blue", "logger")]),
    ("", "statuses", "ClusterRole", "any-status", [("User", "", "status-reader")]),
    ("", "url-getter", "ClusterRole", "urls", [("User", "", "url-getter")]),
    ("", "all-url-getter", "ClusterRole", "all-urls", [("User", "", "crawler")]),
    ("", "empty", "ClusterRole", "empty-verb", [("User", "", "empty")]),
    ("", "impersonator", "ClusterRole", "impersonate-team", [("User", "", "actor")]),
    ("", "constrained", "ClusterRole", "constrained", [("Group", "", "constrained")]),
    ("", "dangling", "ClusterRole", "does-not-exist", [("User", "", "dangling")]),
    ("", "aggregated", "ClusterRole", "aggregate", [("User", "", "batcher")]),
    ("blue", "secret-here", "ClusterRole", "one-secret", [("User", "", "bob")]),
    ("blue", "configs", "Role", "configs", [("User", "", "bob"), ("ServiceAccount", "blue", "builder")]),
    ("blue", "named", "Role", "named-config", [("User", "", "carol")]),
    ("blue", "scaler", "Role", "scale", [("User", "", "scaler")]),
    ("blue", "pods-here", "ClusterRole", "pod-reader", [("Group", "", "system:serviceaccounts:blue")]),
    ("blue", "dangling", "Role", "no-such-role", [("User", "", "dangling")]),
    ("green", "owner", "Role", "everything", [("User", "", "greta")]),
    ("green", "viewer", "ClusterRole", "view", [("User", "", "viewer")]),
    ("green", "editor", "ClusterRole", "edit", [("User", "", "editor")]),
    ("green", "admin", "ClusterRole", "admin", [("User", "", "ns-admin")]),
]


def subject(kind, ns, name):
    return {"kind": kind, "name": name} | ({"namespace": ns} if kind == "ServiceAccount" else {"apiGroup": "rbac.authorization.k8s.io"})


def fill(side):
    for ns in ("blue", "green"):
        side.post("/api/v1/namespaces", {"metadata": {"name": ns}})
    for (ns, name), rules in ROLES.items():
        where = f"{RBAC}/namespaces/{ns}/roles" if ns else f"{RBAC}/clusterroles"
        side.post(where, {"metadata": {"name": name}, "rules": rules})
    for name, (labels, rules) in LABELLED.items():
        side.post(f"{RBAC}/clusterroles", {"metadata": {"name": name, "labels": labels}, "rules": rules})
    for name, labels in AGGREGATED.items():
        # kube-controller-manager, which fills aggregated roles, does not run here, so this writes the rules.
        rules = [item for _, rules in LABELLED.values() for item in rules]
        side.post(f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules})
    for ns, name, kind, role, subjects in BINDINGS:
        where = f"{RBAC}/namespaces/{ns}/rolebindings" if ns else f"{RBAC}/clusterrolebindings"
        side.post(where, {"metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
                          "subjects": [subject(*s) for s in subjects]})
    for name in ("n1", "n2"):
        side.post("/api/v1/nodes", {"metadata": {"name": name}})
    for ns, name in (("blue", "builder"), ("blue", "runner"), ("green", "runner")):
        side.post(f"/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": name}})
    for name in ("s-volume", "s-env", "s-envfrom", "s-pull", "s-projected", "s-init", "s-unused", "s-pv", "shared"):
        side.post("/api/v1/namespaces/blue/secrets", {"metadata": {"name": name}})
    for name in ("c-volume", "c-env", "c-unused", "one"):
        side.post("/api/v1/namespaces/blue/configmaps", {"metadata": {"name": name}})
    side.post("/api/v1/namespaces/blue/persistentvolumeclaims",
              {"metadata": {"name": "claim"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "volume"}})
    side.post("/api/v1/persistentvolumes", {"metadata": {"name": "volume"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "claimRef": {"namespace": "blue", "name": "claim"},
        "csi": {"driver": "d", "volumeHandle": "h", "nodePublishSecretRef": {"name": "s-pv", "namespace": "blue"},
                "controllerPublishSecretRef": {"name": "s-controller", "namespace": "blue"}}}})
    side.post("/apis/storage.k8s.io/v1/volumeattachments",
              {"metadata": {"name": "attached"}, "spec": {"attacher": "d", "nodeName": "n1", "source": {"persistentVolumeName": "volume"}}})
    side.post("/api/v1/namespaces/blue/pods", pod("on-n1", "n1", {
        "serviceAccountName": "runner", "imagePullSecrets": [{"name": "s-pull"}],
        "initContainers": [{"name": "i", "image": "i", "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s-init", "key": "k"}}}]}],
        "containers": [{"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": "s-envfrom"}}], "env": [
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s-env", "key": "k"}}},
            {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "c-env", "key": "k"}}}]}],
        "volumes": [{"name": "a", "secret": {"secretName": "s-volume"}}, {"name": "b", "configMap": {"name": "c-volume"}},
                    {"name": "p", "projected": {"sources": [{"secret": {"name": "s-projected"}}]}},
                    {"name": "v", "persistentVolumeClaim": {"claimName": "claim"}}]}))
    side.post("/api/v1/namespaces/green/pods", pod("on-n2", "n2", {"serviceAccountName": "runner"}))
    side.post("/api/v1/namespaces/blue/pods", pod("nowhere", None, {}))


def pod(name, node, spec):
    spec = {"containers": [{"name": "c", "image": "i"}]} | spec
    return {"metadata": {"name": name}, "spec": spec | ({"nodeName": node} if node else {})}

"""Access reviews on which both servers must decide equally: a user, and the request that it wants to make."""
MASTERS = {"user": "root", "groups": ["system:masters"]}


def who(user, *groups, **more):
    return {"user": user, "groups": [*groups]} | more


def account(ns, name):
    return who(f"system:serviceaccount:{ns}:{name}", "system:serviceaccounts", f"system:serviceaccounts:{ns}", "system:authenticated")


def node(name):
    return who(f"system:node:{name}", "system:nodes", "system:authenticated")


def on(verb, resource, ns="", name="", group="", sub="", version="v1", **more):
    given = {"verb": verb, "resource": resource, "namespace": ns, "name": name, "group": group, "subresource": sub, "version": version} | more
    return {"resourceAttributes": {key: value for key, value in given.items() if value}}


def url(verb, path):
    return {"nonResourceAttributes": {"verb": verb, "path": path}}


def fields(*requirements):
    return {"fieldSelector": {"requirements": [{"key": k, "operator": op, "values": v} if v else {"key": k, "operator": op} for k, op, v in requirements]}}


def labels(*requirements):
    return {"labelSelector": {"requirements": [{"key": k, "operator": op, "values": v} if v else {"key": k, "operator": op} for k, op, v in requirements]}}


def rbac_questions():
    alice, bob, carol, dave = who("alice", "system:authenticated"), who("bob", "system:authenticated"), who("carol"), who("dave", "team")
    for verb in ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*", "GET"):
        yield alice, on(verb, "pods", "blue", "p")
        yield alice, on(verb, "pods")
        yield dave, on(verb, "deployments", "green", "d", "apps")
        yield carol, on(verb, "configmaps", "blue", "one")
        yield who("greta"), on(verb, "secrets", "green", "x")
    for resource, sub, group in (("pods", "log", ""), ("pods", "exec", ""), ("pods", "status", ""), ("*", "", ""), ("Pods", "", ""), ("nodes", "status", ""),
                                 ("deployments", "scale", "apps"), ("deployments", "status", "apps"), ("pods", "", "apps"), ("things", "", "nowhere.io")):
        yield who("logger"), on("get", resource, "blue", "p", group, sub)
        yield account("blue", "logger"), on("get", resource, "blue", "p", group, sub)
        yield who("status-reader"), on("get", resource, "blue", "p", group, sub)
        yield who("scaler"), on("update", resource, "blue", "p", group, sub)
        yield dave, on("patch", resource, "blue", "p", group, sub)
        yield who("greta"), on("create", resource, "green", "", group, sub)
    for name in ("shared", "other", "third", ""):
        for verb in ("get", "update", "delete", "list"):
            yield bob, on(verb, "secrets", "blue", name)
        yield bob, on("get", "secrets", "green", name)
        yield carol, on("list", "configmaps", "blue", name)
        yield who("actor"), on("impersonate", "users", "", name)
    for name in ("alice", "bob", "carol"):
        yield who("actor"), on("impersonate", "users", "", name)
        yield who("actor"), on("impersonate", "userextras", "", "view", "authentication.k8s.io", "scopes")
        yield who("actor"), on("impersonate", "uids", "", "u-1", "authentication.k8s.io")
    for ns in ("blue", "green", "", "no-such-namespace"):
        yield bob, on("create", "configmaps", ns)
        yield account("blue", "builder"), on("list", "configmaps", ns)
        yield account("blue", "other"), on("get", "pods", ns, "p")
        yield account("green", "builder"), on("get", "pods", ns, "p")
        yield who("viewer"), on("get", "pods", ns, "p")
        yield who("viewer"), on("get", "secrets", ns, "p")
        yield who("editor"), on("create", "deployments", ns, "", "apps")
        yield who("editor"), on("create", "rolebindings", ns, "", "rbac.authorization.k8s.io")
        yield who("ns-admin"), on("create", "rolebindings", ns, "", "rbac.authorization.k8s.io")
        yield who("dangling"), on("get", "pods", ns, "p")
        yield who("batcher"), on("get", "jobs", ns, "j", "batch")
        yield who("batcher"), on("get", "cronjobs", ns, "j", "batch")
        yield who("empty"), on("", "pods", ns)
    for path in ("/healthz", "/healthz/etcd", "/logs/", "/logs/a/b", "/logs", "/exact", "/exact/", "/hook", "/", "/api", "/version", "/metrics", "*", "healthz"):
        yield who("url-getter"), url("get", path)
        yield who("crawler"), url("get", path)
        yield who("crawler"), url("post", path)
        yield who("system:anonymous", "system:unauthenticated"), url("get", path)
        yield alice, url("get", path)
    yield who("url-getter"), url("post", "/hook")
    yield MASTERS, on("delete", "nodes", "", "n1")
    yield MASTERS, url("delete", "/anything")
    yield who("nobody", extra={"a": ["b", "c"]}, uid="1"), on("get", "pods", "blue", "p")
    yield who("", "team"), on("get", "deployments", "blue", "d", "apps")
    yield who("ünïcode <b>&\"quote\""), on("get", "pods", "blue", "p")
    yield who("alice"), on("list", "pods", "blue", **fields(("metadata.name", "In", ["a"])))
    yield who("alice"), on("list", "pods", "blue", **labels(("app", "In", ["a", "b"]), ("x", "Exists", [])))


def bootstrap_questions():
    for user in ("system:kube-scheduler", "system:kube-controller-manager", "system:kube-proxy"):
        for resource, group in (("pods", ""), ("nodes", ""), ("secrets", ""), ("endpointslices", "discovery.k8s.io"), ("leases", "coordination.k8s.io")):
            for verb in ("list", "create", "update"):
                yield who(user), on(verb, resource, "kube-system", "", group)
    for name in ("deployment-controller", "job-controller", "generic-garbage-collector", "namespace-controller", "bootstrap-signer", "token-cleaner"):
        for resource, group in (("secrets", ""), ("pods", ""), ("deployments", "apps"), ("configmaps", "")):
            yield account("kube-system", name), on("delete", resource, "kube-system", "x", group)
            yield account("kube-system", name), on("get", resource, "kube-public", "x", group)
    yield who("system:bootstrap:abcdef", "system:bootstrappers"), on("create", "certificatesigningrequests", "", "", "certificates.k8s.io")
    yield who("anyone", "system:authenticated"), on("create", "selfsubjectaccessreviews", "", "", "authorization.k8s.io")
    yield who("anyone", "system:authenticated"), on("create", "selfsubjectreviews", "", "", "authentication.k8s.io")
    yield who("system:anonymous", "system:unauthenticated"), on("get", "configmaps", "kube-public", "cluster-info")


def node_questions():
    n1, n2, unknown = node("n1"), node("n2"), node("n3")
    for name in ("s-volume", "s-env", "s-envfrom", "s-pull", "s-projected", "s-init", "s-unused", "s-pv", "s-controller", "no-such"):
        yield n1, on("get", "secrets", "blue", name)
        yield n2, on("get", "secrets", "blue", name)
    for verb in ("list", "watch", "update", "create", "delete"):
        yield n1, on(verb, "secrets", "blue", "s-env")
        yield n1, on(verb, "secrets", "blue")
        yield n1, on(verb, "configmaps", "", "c-env")
        yield n1, on(verb, "persistentvolumes", "", "volume")
    for name in ("c-volume", "c-env", "c-unused"):
        yield n1, on("get", "configmaps", "blue", name)
        yield unknown, on("get", "configmaps", "blue", name)
    for user in (n1, n2, unknown):
        yield user, on("get", "persistentvolumeclaims", "blue", "claim")
        yield user, on("update", "persistentvolumeclaims", "blue", "claim", sub="status")
        yield user, on("get", "persistentvolumeclaims", "blue", "claim", sub="status")
        yield user, on("get", "persistentvolumes", "", "volume")
        yield user, on("get", "volumeattachments", "", "attached", "storage.k8s.io")
        yield user, on("list", "volumeattachments", "", "", "storage.k8s.io")
        yield user, on("create", "serviceaccounts", "blue", "runner", sub="token")
        yield user, on("create", "serviceaccounts", "blue", "builder", sub="token")
        yield user, on("get", "serviceaccounts", "blue", "runner")
        yield user, on("list", "serviceaccounts", "blue")
        yield user, on("get", "pods", "blue", "on-n1")
        yield user, on("get", "pods", "blue", "nowhere")
        yield user, on("get", "pods", "blue", "on-n1", sub="log")
        yield user, on("list", "pods")
        yield user, on("list", "pods", **fields(("spec.nodeName", "In", ["n1"])))
        yield user, on("watch", "pods", **fields(("spec.nodeName", "In", ["n1", "n2"])))
        yield user, on("list", "pods", **fields(("spec.nodeName", "NotIn", ["n1"])))
        yield user, on("list", "pods", fieldSelector={"rawSelector": "spec.nodeName=n1"})
        yield user, on("watch", "pods", "blue", "on-n1")
        yield user, on("update", "pods", "blue", "on-n1", sub="status")
        yield user, on("create", "pods", "blue", "on-n1", sub="eviction")
        yield user, on("delete", "pods", "blue", "on-n1")
        yield user, on("patch", "pods", "blue", "on-n1")
        yield user, on("get", "nodes", "", "n1")
        yield user, on("list", "nodes")
        yield user, on("delete", "nodes", "", "n1")
        yield user, on("patch", "nodes", "", "n1", sub="status")
        yield user, on("get", "leases", "kube-node-lease", "n1", "coordination.k8s.io")
        yield user, on("get", "leases", "default", "n1", "coordination.k8s.io")
        yield user, on("list", "leases", "kube-node-lease", "", "coordination.k8s.io")
        yield user, on("get", "csinodes", "", "n1", "storage.k8s.io")
        yield user, on("watch", "csinodes", "", "n1", "storage.k8s.io")
        yield user, on("get", "csinodes", "", "n1", "storage.k8s.io", "status")
        yield user, on("list", "resourceslices", "", "", "resource.k8s.io")
        yield user, on("list", "resourceslices", "", "", "resource.k8s.io", **fields(("spec.nodeName", "In", ["n1"])))
        yield user, on("get", "resourceclaims", "blue", "c", "resource.k8s.io")
        yield user, on("create", "certificatesigningrequests", "", "", "certificates.k8s.io")
        yield user, on("get", "podcertificaterequests", "blue", "x", "certificates.k8s.io")
        yield user, on("get", "clustertrustbundles", "", "x", "certificates.k8s.io")
        yield user, on("get", "endpoints", "blue", "x")
        yield user, on("list", "services")
        yield user, on("create", "events", "blue")
        yield user, on("get", "runtimeclasses", "", "x", "node.k8s.io")
    yield who("system:node:", "system:nodes"), on("get", "nodes", "", "n1")
    yield who("system:node:n1"), on("get", "nodes", "", "n1")
    yield who("n1", "system:nodes"), on("get", "nodes", "", "n1")


def all_questions():
    return [user | what for questions in (rbac_questions, bootstrap_questions, node_questions) for user, what in questions()]

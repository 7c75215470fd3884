"""Compares priority and fairness with the real kube-apiserver: which FlowSchema and priority level a request has, how requests are rejected, the dumps
and the metrics."""
import json

import conftest
import mesh
import metrics_text
import pytest

CONFIG = "/apis/flowcontrol.apiserver.k8s.io/v1"
USERS = {
    "admin": ("admin", ["system:masters"]),
    "nobody": ("nobody", []),
    "scheduler": ("system:kube-scheduler", []),
    "controller-manager": ("system:kube-controller-manager", []),
    "garbage-collector": ("system:serviceaccount:kube-system:generic-garbage-collector", ["system:serviceaccounts", "system:serviceaccounts:kube-system"]),
    "kube-system-account": ("system:serviceaccount:kube-system:x", ["system:serviceaccounts", "system:serviceaccounts:kube-system"]),
    "account": ("system:serviceaccount:default:x", ["system:serviceaccounts", "system:serviceaccounts:default"]),
    "node": ("system:node:n", ["system:nodes"]),
    "proxy": ("system:kube-proxy", []),
    "monitor": ("monitor", ["system:monitoring"]),
    "rejected": ("rejected", []),
    "matched-by-group": ("x", ["chosen"]),
}
NS = "/api/v1/namespaces/default"
PATHS = ["GET /healthz", "GET /livez", "GET /readyz/ping", "GET /version", "GET /api", "GET /metrics", f"GET {NS}/pods", f"GET {NS}/configmaps/x",
         f"POST {NS}/configmaps", f"PUT {NS}/endpoints/x", f"GET {NS}/endpoints/kube-scheduler", "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
         "GET /apis/coordination.k8s.io/v1/namespaces/default/leases/x", "PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n",
         "PATCH /api/v1/nodes/n/status", "GET /api/v1/nodes/n", "GET /api/v1/pods?watch=1&timeoutSeconds=1", f"DELETE {NS}/events", "GET /apis/apps/v1/deployments",
         "POST /apis/authorization.k8s.io/v1/subjectaccessreviews", f"POST {NS}/serviceaccounts/x/token", "GET /apis/example.com/v1/things"]
LEVELS = [("rejecting", {"type": "Limited", "limited": {"nominalConcurrencyShares": 0, "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}}}),
          ("queuing", {"type": "Limited", "limited": {"nominalConcurrencyShares": 0, "borrowingLimitPercent": 0, "limitResponse": {
              "type": "Queue", "queuing": {"queues": 1, "handSize": 1, "queueLengthLimit": 1}}}})]
SCHEMAS = [
    ("rejecting", 700, "rejecting", [{"kind": "User", "user": {"name": "rejected"}}], {
        "resourceRules": [{"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["configmaps", "pods"], "namespaces": ["*"], "clusterScope": True}]}),
    ("queuing", 650, "queuing", [{"kind": "User", "user": {"name": "waiting"}}], {
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}]}),
    ("by-group", 9000, "workload-low", [{"kind": "Group", "group": {"name": "chosen"}}], {
        "resourceRules": [{"verbs": ["list"], "apiGroups": ["apps"], "resources": ["deployments"], "clusterScope": True}],
        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/api", "/api/*"]}]}),
]


def send(side, request, user=None, groups=(), body=None):
    method, target = request.split(" ", 1)
    headers = [("Authorization", f"Bearer {side.token}")]
    if user:
        headers += [("Impersonate-User", user)] + [("Impersonate-Group", group) for group in groups]
    if method in ("POST", "PUT", "PATCH"):
        headers.append(("Content-Type", "application/merge-patch+json" if method == "PATCH" else "application/json"))
        body = body or {}
    return side.request(method, target, headers, json.dumps(body).encode() if body is not None else None)


def header(reply, name):
    return {key.lower(): value for key, value in reply.headers}.get(name)


def names(side):
    """{uid: name} of all FlowSchemas and priority levels."""
    return {item["metadata"]["uid"]: item["metadata"]["name"]
            for kind in ("flowschemas", "prioritylevelconfigurations") for item in json.loads(send(side, f"GET {CONFIG}/{kind}").body)["items"]}


def chosen(side, request, user, groups=()):
    reply = send(side, request, user, groups)
    known = names(side)
    uids = [header(reply, f"x-kubernetes-pf-{kind}-uid") for kind in ("flowschema", "prioritylevel")]
    return [known.get(uid, uid) for uid in uids]


def configure(side):
    for name, spec in LEVELS:
        assert send(side, f"POST {CONFIG}/prioritylevelconfigurations", body={"metadata": {"name": name}, "spec": spec}).status == 201
    for name, precedence, level, subjects, rules in SCHEMAS:
        spec = {"matchingPrecedence": precedence, "priorityLevelConfiguration": {"name": level}, "distinguisherMethod": {"type": "ByUser"},
                "rules": [{"subjects": subjects, **rules}]}
        assert send(side, f"POST {CONFIG}/flowschemas", body={"metadata": {"name": name}, "spec": spec}).status == 201
    # Everybody may do everything, so that requests pass priority and fairness and reach their resource or its 404.
    binding = {"metadata": {"name": "everybody"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
               "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"}]}
    assert send(side, "POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings", body=binding).status == 201
    mesh.wait_until(lambda: chosen(side, f"GET {NS}/pods", "rejected")[0] == "rejecting", 30, f"the schemas of users are in effect on {side.name}")
    mesh.wait_until(lambda: send(side, f"GET {NS}/pods?timeout=1s", "waiting").status == 429, 30, f"the level without seats is in effect on {side.name}")
    mesh.wait_until(lambda: chosen(side, "GET /api", "x", ["chosen"])[0] == "by-group", 30, "the schema of a group is in effect")


@pytest.fixture(scope="module")
def servers(tmp_path_factory, both):
    with conftest.server_pair(tmp_path_factory.mktemp("fairness")) as sides:
        both(sides, configure)
        yield sides


@pytest.mark.parametrize("who", USERS)
def test_requests_have_the_same_schema_and_level(servers, both, who):
    user, groups = USERS[who]
    ours, reference = both(servers, lambda side: {request: chosen(side, request, user, groups) for request in PATHS})
    assert {request: (mine, reference[request]) for request, mine in ours.items() if mine != reference[request]} == {}


def test_a_request_that_waits_too_long_has_the_same_response(servers, both):
    """A level without seats executes no request of its queues."""
    ours, reference = both(servers, lambda side: send(side, f"GET {NS}/configmaps?timeout=4s", "waiting"))
    assert (ours.status, ours.body) == (reference.status, reference.body) == (429, b"Too many requests, please try again later.\n")
    for name in ("content-type", "x-content-type-options", "cache-control"):
        assert header(ours, name) == header(reference, name), name
    # The number grows with the requests that were rejected before.
    assert int(header(ours, "retry-after")) >= 1 and int(header(reference, "retry-after")) >= 1
    schemas = [names(side)[header(reply, "x-kubernetes-pf-flowschema-uid")] for side, reply in zip(servers, (ours, reference))]
    assert schemas == ["queuing", "queuing"]


@pytest.mark.parametrize("dump", ["dump_priority_levels", "dump_queues", "dump_requests", "dump_requests?includeRequestDetails=1"])
def test_dumps_have_the_same_header_line(servers, dump):
    ours, reference = (send(side, f"GET /debug/api_priority_and_fairness/{dump}") for side in servers)
    assert ours.status == reference.status == 200
    columns = [[column.strip() for column in reply.body.decode().splitlines()[0].split(",")] for reply in (ours, reference)]
    assert columns[0] == columns[1]
    assert header(ours, "content-type") == header(reference, "content-type")


def test_the_dump_of_levels_names_the_same_levels(servers):
    ours, reference = ({line.split(",")[0].strip() for line in send(side, "GET /debug/api_priority_and_fairness/dump_priority_levels").body.decode().splitlines()[1:]
                        if line.strip()} for side in servers)
    assert ours == reference


# Histograms over time, and the metrics of virtual time; docs/differences.md.
MISSING = ("_utilization", "read_vs_write_current_requests", "demand_seats", "_r_latest", "current_r", "dispatch_r", "latest_s", "next_s_bounds",
           "next_discounted_s_bounds", "upper_limit_seats_unused")


def test_metrics_have_the_same_names_and_labels(servers):
    ours, reference = (metrics_text.read(send(side, "GET /metrics").body.decode()) for side in servers)
    of_fairness = {name for name, family in reference.items() if name.startswith("apiserver_flowcontrol_") and family.samples
                   and not any(part in name for part in MISSING)}
    assert len(of_fairness) > 15
    different = {}
    for name in sorted(of_fairness):
        mine, theirs = ours.get(name), reference[name]
        if mine is None or (mine.kind, mine.label_names(), mine.buckets()) != (theirs.kind, theirs.label_names(), theirs.buckets()):
            different[name] = [family and (family.kind, family.label_names(), family.buckets()) for family in (mine, theirs)]
    assert different == {}
    limits = [{tuple(labels.items()): value for _, labels, value in side["apiserver_flowcontrol_nominal_limit_seats"].samples} for side in (ours, reference)]
    assert limits[0] == limits[1]

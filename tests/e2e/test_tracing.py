"""Tracing: which spans a collector receives of a request, how they belong together, and that a collector that is down disturbs nobody."""
import time
import uuid

import pytest

import mesh
import otlp_collector
import pki
import test_webhooks

MAPS = "/api/v1/namespaces/default/configmaps"
FILTERS = ("audit", "constrainedimpersonation", "priorityandfairness", "authorization")
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
MONITOR, JANE = "monitor-token", "jane-token"


@pytest.fixture(scope="module")
def collector():
    collector = otlp_collector.Collector()
    yield collector
    collector.stop()


def start(folder, configuration, *flags):
    store = mesh.Store(folder / "store")
    server = mesh.KubeApiserver(folder, store.url, f"--tracing-config-file={configuration}", *flags)
    tokens = folder / "tokens.csv"
    tokens.write_text(tokens.read_text() + f'{MONITOR},m,m,"system:monitoring"\n{JANE},jane,jane,"dev"\n')
    server.start()
    server.store = store
    return server


@pytest.fixture(scope="module")
def server(tmp_path_factory, collector):
    """A server that samples every request."""
    folder = tmp_path_factory.mktemp("tracing")
    server = start(folder, collector.configuration(folder, 1_000_000))
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "all"}, "subjects": [
        {"kind": "Group", "name": name, "apiGroup": "rbac.authorization.k8s.io"} for name in ("dev", "system:monitoring")],
        "roleRef": {"kind": "ClusterRole", "name": "cluster-admin", "apiGroup": "rbac.authorization.k8s.io"}}
    assert server.client("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding).code == 201
    for token in (MONITOR, JANE):
        client = mesh.Client(server.url, token)
        mesh.wait_until(lambda: client.get(MAPS).code == 200, 20, "the role binding is in effect")
    yield server
    server.stop()
    server.store.stop()


def send(server, method, path, body=None, token=mesh.ADMIN_TOKEN, **headers):
    """Sends a request and returns its audit id."""
    audit_id = str(uuid.uuid4())
    answer = mesh.Client(server.url, token)(method, path, body, headers={"Audit-ID": audit_id, **headers})
    assert answer.code < 300, answer.body
    return audit_id


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}}


def has(*names):
    return lambda spans: {span.name for span in spans} >= set(names)


def one(spans, name):
    found = [span for span in spans if span.name == name]
    assert len(found) == 1, (name, [span.name for span in spans])
    return found[0]


def verb_part(spans):
    """Returns the tree below the span "authorization", after a check of the spans above it."""
    nodes = [node for node in otlp_collector.tree(spans)]
    path = []
    while nodes and nodes[0][0] != "authorization":
        names = [node for node in nodes if not node[0].startswith("apimesh.mesh.v1.")]
        assert len(names) == 1, nodes
        path.append(names[0][0])
        nodes = names[0][1]
    assert tuple(path[-3:]) + ("authorization",) == FILTERS, path
    return [node for node in nodes[0][1] if not node[0].startswith("apimesh.mesh.v1.")]


def test_a_create_is_one_tree_of_spans_of_both_processes(server, collector):
    audit_id = send(server, "POST", MAPS, config_map("created"))
    spans = collector.request(audit_id, has("Create", "etcdserverpb.KV/Txn"))
    assert verb_part(spans) == [["Create", [["Create etcd3", [["etcdserverpb.KV/Txn", []]]], ["SerializeObject", []]]]]
    request = one(spans, "POST /api/v1/namespaces/{:namespace}/configmaps")
    assert request.service == "apiserver" and request.kind == 2
    assert request.attributes["http.response.status_code"] == 201 and request.attributes["url.path"] == MAPS
    verb = one(spans, "Create")
    assert verb.service == "core-api" and verb.attributes["audit-id"] == audit_id and verb.attributes["resource"] == "configmaps"
    assert "Write to database call succeeded" in verb.events
    etcd = one(spans, "etcdserverpb.KV/Txn")
    assert etcd.kind == 3 and etcd.attributes["rpc.response.status_code"] == "OK" and etcd.events == ["message", "message"]
    for span in spans:
        assert span.end >= span.start
    assert {span.resource["service.instance.id"].split("-")[0] for span in spans} >= {"apiserver", "core"}


def test_reads_and_other_writes_have_the_spans_of_their_verb(server, collector):
    send(server, "POST", MAPS, config_map("read"))
    ids = {
        "Get": send(server, "GET", f"{MAPS}/read"),
        "List": send(server, "GET", MAPS),
        "Update": send(server, "PUT", f"{MAPS}/read", {**config_map("read"), "data": {"a": "c"}}),
        "Patch": send(server, "PATCH", f"{MAPS}/read", '{"data":{"a":"d"}}', **{"Content-Type": "application/merge-patch+json"}),
        "Delete": send(server, "DELETE", f"{MAPS}/read"),
    }
    trees = {name: verb_part(collector.request(audit_id, has(name))) for name, audit_id in ids.items()}
    update = ["GuaranteedUpdate etcd3", [["etcdserverpb.KV/Txn", []]]]
    assert trees == {
        "Get": [["Get", [["cacher.Get", []], ["SerializeObject", []]]]],
        "List": [["List", [["cacher.GetList", []], ["SerializeObject", []]]]],
        "Update": [["Update", [update, ["SerializeObject", []]]]],
        "Patch": [["Patch", [update, ["SerializeObject", []]]]],
        "Delete": [["Delete", [["cacher.Get", []], ["etcdserverpb.KV/Txn", []], ["SerializeObject", []]]]],
    }


def test_requests_for_custom_resources_are_recorded_by_extensions_api(server, collector):
    foos = mesh.serve_foos(server)
    audit_id = send(server, "POST", foos, {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "f"}})
    spans = collector.request(audit_id, has("Create", "etcdserverpb.KV/Txn"))
    assert one(spans, "Create").service == "extensions-api"
    assert verb_part(spans) == [["Create", [["Create etcd3", [["etcdserverpb.KV/Txn", []]]], ["SerializeObject", []]]]]


@pytest.mark.parametrize("token", [mesh.ADMIN_TOKEN, MONITOR], ids=["masters", "monitoring"])
def test_privileged_users_continue_their_trace(server, collector, token):
    span_id = uuid.uuid4().hex[:16]
    audit_id = send(server, "GET", MAPS, token=token, traceparent=f"00-{TRACE}-{span_id}-01", tracestate="vendor=1")
    def own(spans):
        return [span for span in spans if span.attributes.get("audit-id") == audit_id]

    # Both requests have the same trace, so that the other one may have sent a span of this name.
    spans = own(collector.request(audit_id, lambda spans: has("List")(own(spans))))
    request = next(span for span in spans if span.kind == 2)
    assert (request.trace_id, request.parent_id, request.state, request.links) == (TRACE, span_id, "vendor=1", [])
    verb = next(span for span in spans if span.name == "List")
    assert (verb.trace_id, verb.state) == (TRACE, "vendor=1")


def test_other_users_begin_a_trace_that_refers_to_theirs(server, collector):
    audit_id = send(server, "GET", MAPS, token=JANE, traceparent=f"00-{TRACE}-{PARENT}-01")
    request = next(span for span in collector.request(audit_id, has("List")) if span.kind == 2 and "http.target" in span.attributes)
    assert request.trace_id != TRACE and request.parent_id == "" and request.links == [(TRACE, PARENT)]


def test_a_parent_that_is_not_sampled_is_followed(server, collector):
    trace = uuid.uuid4().hex
    send(server, "GET", MAPS, traceparent=f"00-{trace}-{PARENT}-00")
    collector.request(send(server, "GET", MAPS), has("List"))  # later spans have arrived, from both processes
    assert collector.trace(trace) == []


def test_a_webhook_receives_the_context_of_its_span(server, collector, tmp_path):
    hook = test_webhooks.Webhook(tmp_path)
    configuration = hook.configuration("traced")
    assert server.client("POST", test_webhooks.CONFIGURATIONS, configuration).code == 201
    try:
        def called():
            send(server, "POST", MAPS + "?dryRun=All", config_map(f"hooked-{uuid.uuid4().hex[:6]}"))
            return hook.server.seen
        mesh.wait_until(called, 10, "the webhook is called")
        audit_id = send(server, "POST", MAPS, config_map("hooked"))
        spans = collector.request(audit_id, has("Call validating webhook", "HTTP POST"))
        call, post = one(spans, "Call validating webhook"), one(spans, "HTTP POST")
        assert post.parent_id == call.span_id and call.parent_id == one(spans, "Create etcd3").parent_id == one(spans, "Create").span_id
        assert call.attributes["webhook"] == "traced.webhooks.test" and post.attributes["http.response.status_code"] == 200
        headers = {name.lower(): value for name, value in hook.server.seen[-1][2].items()}
        assert headers["traceparent"] == f"00-{post.trace_id}-{post.span_id}-01"
    finally:
        server.client("DELETE", f"{test_webhooks.CONFIGURATIONS}/traced")
        hook.server.stop()


def test_questions_to_authn_authz_are_spans_of_both_processes(server, collector):
    subject = f"nobody-{uuid.uuid4().hex[:6]}"  # whose permissions are not cached
    audit_id = send(server, "GET", MAPS, **{"Impersonate-User": subject, "Impersonate-Group": "system:masters"})
    spans = collector.request(audit_id, lambda found: {span.service for span in found if span.name == "apimesh.mesh.v1.Authorizer/Authorize"} == {"apiserver", "authn-authz"})
    asked = [span for span in spans if span.name == "apimesh.mesh.v1.Authorizer/Authorize"]
    for answer in [span for span in asked if span.service == "authn-authz"]:
        assert answer.kind == 2 and answer.parent_id in {span.span_id for span in asked if span.kind == 3}


def test_without_sampling_only_traces_of_privileged_users_are_recorded(tmp_path, collector):
    """Also over HTTP, with a flag of ours."""
    configuration = collector.configuration(tmp_path, endpoint=collector.http_endpoint)
    server = start(tmp_path, configuration, "--tracing-exporter=http")
    trace = uuid.uuid4().hex
    send(server, "GET", MAPS)
    send(server, "GET", "/version", token=JANE, traceparent=f"00-{trace}-{PARENT}-01")
    audit_id = send(server, "GET", MAPS, traceparent=f"00-{TRACE}-{PARENT}-01")
    before = {span.resource["service.instance.id"] for span in collector.spans()}
    server.stop()  # sends what has ended
    server.store.stop()
    found = [span for span in collector.spans() if span.resource["service.instance.id"] not in before or span.attributes.get("audit-id") == audit_id]
    assert found and {span.trace_id for span in found} == {TRACE}
    assert collector.trace(trace) == []


def metric(server, result):
    text = server.client.get("/metrics").body
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(f'apimesh_tracing_spans_total{{result="{result}"}}'))


def test_a_collector_that_is_down_costs_nothing_and_spans_are_counted(tmp_path):
    """The queue of a process has 2,048 spans, so that the memory is bounded and later spans are dropped."""
    slow = otlp_collector.Collector(hanging=True)
    server = start(tmp_path, slow.configuration(tmp_path, 1_000_000))
    try:
        def rounds():
            for _ in range(100):
                send(server, "GET", MAPS)
            return metric(server, "dropped") > 0
        began = time.monotonic()
        mesh.wait_until(rounds, 120, "spans are dropped")
        assert time.monotonic() - began < 120 * mesh.SLOWDOWN
        assert metric(server, "exported") == 0
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 20 * mesh.SLOWDOWN
    finally:
        if server.process.poll() is None:
            server.stop()
        server.store.stop()
        slow.stop()


@pytest.mark.parametrize("text, error", [
    ("samplingRatePerMillion: -1\n", "failed to validate tracing configuration: samplingRatePerMillion: Invalid value: -1: sampling rate must be positive"),
    ("more: 1\n", 'failed to read tracing config: unable to decode tracing configuration data: strict decoding error: unknown field "more"'),
    ("endpoint: http://localhost:1\n", "failed to validate tracing configuration: endpoint: Invalid value: \"http://localhost:1\": unsupported scheme: http."),
], ids=["rate", "field", "scheme"])
def test_a_wrong_configuration_ends_the_start(tmp_path, text, error):
    path = tmp_path / "tracing.yaml"
    path.write_text("apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n" + text)
    store = mesh.Store(tmp_path / "store")
    server = mesh.KubeApiserver(tmp_path, store.url, f"--tracing-config-file={path}").start(wait=False)
    assert server.process.wait(30 * mesh.SLOWDOWN) == 1
    assert error in server.log.read_text()
    store.stop()

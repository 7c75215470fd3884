"""The backends of the audit log: modes, batches, truncation, formats, and what happens when a backend fails. tests/differential/test_audit.py compares the events with kube-apiserver."""
import gzip
import json
import re
import time

import pytest

import audit_webhook
import mesh

MAPS = "/api/v1/namespaces/default/configmaps"
POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: RequestResponse, resources: [{group: "", resources: [configmaps]}]}
- {level: None}
"""


@pytest.fixture
def webhook(tmp_path):
    server = audit_webhook.AuditWebhook(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def start(tmp_path, request):
    """Starts a server with these audit flags."""
    store = mesh.Store(tmp_path / "store")
    request.addfinalizer(store.stop)

    def run(*flags, policy=POLICY):
        (tmp_path / "policy.yaml").write_text(policy)
        server = mesh.KubeApiserver(tmp_path, store.url, f"--audit-policy-file={tmp_path}/policy.yaml", *flags).start()
        request.addfinalizer(lambda: server.process.poll() is None and server.stop())
        mesh.wait_until(lambda: server.client.answers("/readyz"), 30, "the server is ready")
        return server
    return run


def create(server, name, size=1, timeout=20):
    return server.client("POST", MAPS, {"metadata": {"name": name}, "data": {"key": "x" * size}}, headers={"Content-Type": "application/json", "Audit-ID": name}, timeout=timeout)


def metric(server, name):
    """Returns the sum of all series of a metric."""
    text = server.client.get("/metrics").body
    return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if re.match(rf"{name}[ {{]", line))


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_webhook_gets_batches(start, webhook):
    server = start(f"--audit-webhook-config-file={webhook.kubeconfig}", "--audit-webhook-batch-max-size=10", "--audit-webhook-batch-max-wait=60s")
    for i in range(25):
        assert create(server, f"m{i}").code == 201
    mesh.wait_until(lambda: len(webhook.lists) == 2, 10, "the webhook has the full batches")
    assert [len(one["items"]) for one in webhook.lists] == [10, 10]
    assert server.stop() == 0
    assert sorted(event["auditID"] for event in webhook.events()) == sorted(f"m{i}" for i in range(25)), "events are lost at shutdown"
    path, headers = webhook.requests[0]
    assert path == "/events?timeout=30s" and headers["authorization"] == "Bearer webhook-token"
    assert webhook.lists[0]["kind"] == "EventList" and webhook.lists[0]["apiVersion"] == "audit.k8s.io/v1"


def test_a_webhook_that_is_down_blocks_nothing_and_gets_the_events_later(start, webhook):
    webhook.code = 503
    server = start(f"--audit-webhook-config-file={webhook.kubeconfig}", "--audit-webhook-batch-max-size=2", "--audit-webhook-initial-backoff=200ms")
    began = time.monotonic()
    for i in range(10):
        assert create(server, f"m{i}").code == 201
    assert time.monotonic() - began < 5 * mesh.SLOWDOWN
    mesh.wait_until(lambda: len(webhook.requests) >= 5, 10, "the batches were tried")
    webhook.code = 200
    mesh.wait_until(lambda: len(webhook.events()) == 10, 10, "the webhook has all events")
    assert metric(server, "apiserver_audit_error_total") == 0 and metric(server, "apiserver_audit_event_total") == 10


def test_a_full_buffer_drops_events_and_counts_them(start, webhook):
    webhook.code = 503
    server = start(f"--audit-webhook-config-file={webhook.kubeconfig}", "--audit-webhook-batch-max-size=1000", "--audit-webhook-batch-max-wait=60s",
                   "--audit-webhook-batch-buffer-size=5")
    for i in range(8):
        assert create(server, f"m{i}").code == 201
    assert metric(server, "apiserver_audit_error_total") == 3
    assert "audit buffer queue blocked" in server.log.read_text()


def test_blocking_waits_for_the_webhook(start, webhook):
    server = start(f"--audit-webhook-config-file={webhook.kubeconfig}", "--audit-webhook-mode=blocking", "--audit-webhook-initial-backoff=10ms")
    assert create(server, "one").code == 201
    assert [event["auditID"] for event in webhook.events()] == ["one"], "the response did not wait for the event"
    webhook.code = 500
    assert create(server, "two").code == 201, "the mode is not strict"
    assert metric(server, "apiserver_audit_error_total") == 1


def test_blocking_strict_rejects_requests_without_an_event(start, webhook):
    policy = POLICY.replace("omitStages: [RequestReceived]\n", "")
    server = start(f"--audit-webhook-config-file={webhook.kubeconfig}", "--audit-webhook-mode=blocking-strict", "--audit-webhook-initial-backoff=10ms", policy=policy)
    assert create(server, "one").code == 201
    assert [event["stage"] for event in webhook.events()] == ["RequestReceived", "ResponseComplete"]
    webhook.code = 500
    answer = create(server, "two")
    assert answer.code == 500 and f'Internal Server Error: "{MAPS}": failed to store audit event' in answer.body
    assert server.client("GET", f"{MAPS}/two").code == 500
    assert metric(server, "apiserver_audit_requests_rejected_total") == 2
    webhook.code = 200
    assert server.client("GET", f"{MAPS}/two").code == 404, "the rejected request was executed"


@pytest.mark.parametrize("mode", ["batch", "blocking", "blocking-strict"])
def test_a_full_disk_is_reported(start, mode):
    policy = POLICY.replace("omitStages: [RequestReceived]\n", "")
    server = start("--audit-log-path=/dev/full", f"--audit-log-mode={mode}", policy=policy)
    assert create(server, "one").code == (500 if mode == "blocking-strict" else 201)
    mesh.wait_until(lambda: metric(server, "apiserver_audit_error_total") >= 1, 5, "the error is counted")
    assert "Error in audit plugin 'log' affecting 1 audit events: write /dev/full: no space left on device" in server.log.read_text()
    assert server.client.answers("/readyz")


def test_batches_of_the_log_are_complete_after_the_end(start, tmp_path):
    server = start(f"--audit-log-path={tmp_path}/audit.log", "--audit-log-mode=batch", "--audit-log-batch-max-size=1000", "--audit-log-batch-max-wait=60s")
    for i in range(30):
        create(server, f"m{i}")
    assert (tmp_path / "audit.log").read_text() == ""
    assert server.stop() == 0
    assert [event["auditID"] for event in lines(tmp_path / "audit.log")] == [f"m{i}" for i in range(30)]


def test_legacy_format(start, tmp_path):
    server = start(f"--audit-log-path={tmp_path}/audit.log", "--audit-log-format=legacy")
    create(server, "one")
    text = (tmp_path / "audit.log").read_text()
    assert re.fullmatch(r'20\S+Z AUDIT: id="one" stage="ResponseComplete" ip="127.0.0.1" method="create" user="admin" '
                        r'groups="\\"system:masters\\",\\"system:authenticated\\"" as="<self>" asgroups="<lookup>" user-agent="Python-urllib/[0-9.]+" '
                        rf'namespace="default" uri="{MAPS}" response="201"\n', text), text


def test_large_events_are_truncated(start, tmp_path):
    server = start(f"--audit-log-path={tmp_path}/audit.log", "--audit-log-truncate-enabled", "--audit-log-truncate-max-event-size=5000")
    create(server, "small", 10)
    create(server, "large", 10000)
    small, large = lines(tmp_path / "audit.log")
    assert small["requestObject"]["data"] and "audit.k8s.io/truncated" not in small["annotations"]
    assert "requestObject" not in large and "responseObject" not in large and large["annotations"]["audit.k8s.io/truncated"] == "true"
    assert large["objectRef"]["name"] == "large"


def test_rotated_files_are_compressed(start, tmp_path):
    server = start(f"--audit-log-path={tmp_path}/audit.log", "--audit-log-maxsize=1", "--audit-log-maxbackup=2", "--audit-log-compress")
    for i in range(12):
        assert create(server, f"m{i}", 200_000).code == 201

    def rotated():
        return sorted(tmp_path.glob("audit-*.log.gz"))
    mesh.wait_until(lambda: len(rotated()) == 2 and not list(tmp_path.glob("audit-*.log")), 10, "two compressed files are kept")
    events = [json.loads(line) for path in rotated() for line in gzip.decompress(path.read_bytes()).splitlines()] + lines(tmp_path / "audit.log")
    assert events[-1]["auditID"] == "m11" and all(len(event["requestObject"]["data"]["key"]) == 200_000 for event in events)


def test_long_lists_are_recorded(start, tmp_path):
    """A list that is streamed in several parts is recorded completely, and the client gets the same."""
    server = start(f"--audit-log-path={tmp_path}/audit.log")
    for i in range(40):
        create(server, f"m{i}", 50_000)
    answer = server.client("GET", MAPS, headers={"Audit-ID": "list", "Accept-Encoding": "identity"})
    event = mesh.wait_until(lambda: [e for e in lines(tmp_path / "audit.log") if e["auditID"] == "list"], 5, "the list is in the log")[0]
    assert event["responseObject"] == answer.json() and len(event["responseObject"]["items"]) >= 40

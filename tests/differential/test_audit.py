"""Both servers audit the same requests (audit_cases.py). Their events must be equal field by field, except for identifiers, times and revisions. Both servers
append to one log and send to one webhook; the Audit-ID tells their events apart. The events of the webhook must be those of the log."""
import concurrent.futures
import http.client
import json
import re
import ssl

import pytest

import audit_cases
import audit_webhook
import conftest
import mesh
import normal

AGENT = "audit-test/1.0"


class World:
    def __init__(self, folder, sides, webhook):
        self.folder, self.sides, self.webhook = folder, sides, webhook
        self.lines, self.position = [], 0

    def events(self):
        with open(self.folder / "audit.log", "rb") as log:
            log.seek(self.position)
            text = log.read()
        complete = text.rpartition(b"\n")[0]
        if complete:
            self.position += len(complete) + 1
            self.lines += [json.loads(line) for line in complete.split(b"\n")]
        return self.lines


def token_of(name):
    return {"admin": mesh.ADMIN_TOKEN, "reader": "reader-token"}.get(name, name)


def send(side, request, audit_id):
    """Sends a request on its own connection, because some of them end it."""
    connection = http.client.HTTPSConnection(side.address, context=ssl._create_unverified_context(), timeout=60)
    headers = {"User-Agent": AGENT, "Audit-ID": audit_id, "Accept": "application/json", **request.headers}
    if request.token:
        headers["Authorization"] = f"Bearer {token_of(request.token)}"
    body = request.body
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
    if body is not None:
        headers.setdefault("Content-Type", audit_cases.JSON)
    connection.request(request.method, request.path, body, headers)
    answer = connection.getresponse()
    if answer.status != 101:
        answer.read()
    connection.close()
    return answer.status


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    (folder / "policy.yaml").write_text(audit_cases.POLICY)
    (folder / "tokens.csv").write_text(f'{mesh.ADMIN_TOKEN},admin,admin-uid,"system:masters"\nreader-token,reader,reader-uid,"readers,others"\n')
    webhook = audit_webhook.AuditWebhook(folder)
    flags = [f"--audit-policy-file={folder}/policy.yaml", f"--audit-log-path={folder}/audit.log", f"--token-auth-file={folder}/tokens.csv",
             f"--audit-webhook-config-file={webhook.kubeconfig}", "--audit-webhook-batch-max-wait=1s", "--audit-webhook-batch-max-size=100",
             f"--disable-admission-plugins={conftest.PLUGINS_OFF}"]
    with conftest.server_pair(folder, *flags) as sides:
        for side in sides:
            client = mesh.Client(f"https://{side.address}")
            for name in audit_cases.NAMESPACES:
                assert client("POST", "/api/v1/namespaces", {"metadata": {"name": name}}).code == 201
            assert client("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", audit_cases.CRD).code == 201
            mesh.wait_until(lambda: client.answers("/apis/audit.test/v1/widgets"), 20, "the custom resource is served")
        yield World(folder, sides, webhook)
    webhook.stop()


def last(event):
    return event["stage"] in ("ResponseComplete", "Panic") or not event["user"]


def events_of(world, audit_id, what):
    def complete():
        found = [event for event in world.events() if event["auditID"] == audit_id]
        return found if any(map(last, found)) else None
    return mesh.wait_until(complete, 10, f"the event of {audit_id} ({what}) is in the log")


def normalised(event, side):
    event = {key: value for key, value in event.items() if key not in ("auditID", "requestReceivedTimestamp", "stageTimestamp")}
    text = json.dumps(event, separators=(",", ":")).replace(f"audit-{side.name}-", "audit-")
    event = json.loads(normal.text(re.sub(r'"some-[a-z0-9]{5}"', '"some-<random>"', text), side))
    # Both servers add these to events of requests that take longer than 500 ms.
    event["annotations"] = {key: value for key, value in event.get("annotations", {}).items() if not key.startswith("apiserver.latency.k8s.io/")}
    for column in event.get("responseObject", {}).get("columnDefinitions", ()):
        column.pop("description")  # test_requests.py compares Tables
    return event


def compare(world, name, request):
    """Sends a request to both servers and compares its events. Returns the keys of their annotations."""
    ids = {side.name: f"audit-{side.name}-{name.replace(' ', '-')}" for side in world.sides}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        codes = list(pool.map(lambda side: send(side, request, ids[side.name]), world.sides))
    ours, theirs = ([normalised(event, side) for event in events_of(world, ids[side.name], codes)] for side in world.sides)
    assert ours == theirs, f"{name}: {codes}"
    return {key for event in ours for key in event["annotations"]}


@pytest.mark.parametrize("namespace", audit_cases.NAMESPACES)
def test_events_of_requests(world, namespace):
    failures = []
    for name, request in audit_cases.of_level(namespace).items():
        try:
            compare(world, f"{namespace} {name}", request)
        except AssertionError as error:
            failures.append(f"{name}: {error}")
    assert not failures, "\n\n".join(failures)


def test_events_of_other_requests(world):
    failures = []
    for name, request in audit_cases.OTHERS.items():
        try:
            compare(world, name, request)
        except AssertionError as error:
            failures.append(f"{name}: {error}")
    assert not failures, "\n\n".join(failures)


def test_the_webhook_gets_the_events_of_the_log(world):
    """The requests to the webhook are equal, and so is every event in them to the one in the log."""
    for side in world.sides:
        request = audit_cases.Request("GET", audit_cases.maps("metadata", "webhook"))
        send(side, request, f"audit-{side.name}-webhook")
        in_log = events_of(world, f"audit-{side.name}-webhook", "webhook")
        sent = mesh.wait_until(lambda: len(found := [e for e in world.webhook.events() if e["auditID"] == f"audit-{side.name}-webhook"]) == len(in_log) and found,
                               10, "the webhook has the events")
        assert sent == [{key: value for key, value in event.items() if key not in ("kind", "apiVersion")} for event in in_log]
    lists = {side.name: next(one for one in world.webhook.lists if any(e["auditID"].startswith(f"audit-{side.name}-") for e in one["items"])) for side in world.sides}
    assert {key: value for key, value in lists["ours"].items() if key != "items"} == {key: value for key, value in lists["reference"].items() if key != "items"}
    kinds = {(path, headers["content-type"], headers["accept"], headers["authorization"]) for path, headers in world.webhook.requests}
    assert len(kinds) == 1, kinds


def test_metrics_have_the_same_names_and_labels(world):
    def series(side):
        text = mesh.Client(f"https://{side.address}").get("/metrics").body
        return {line.rpartition(" ")[0] for line in text.splitlines() if line.startswith("apiserver_audit_")}
    ours, theirs = map(series, world.sides)
    assert ours == theirs

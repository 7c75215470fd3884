"""Both API servers call the same webhook server (webhook_server.py). The AdmissionReviews that it receives from them must be equal byte for byte, except for
identifiers, times and revisions, and so must the responses of the API servers."""
import contextlib
import json
import time

import pytest

import cases
import compare
import conftest
import counted
import normal
import webhook_cases
import webhook_server

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
# What other tests cover, and what would change the objects between the request and the webhook.
DISABLED = ("DefaultIngressClass", "DefaultStorageClass", "DefaultTolerationSeconds", "LimitRanger", "MutatingAdmissionPolicy", "PersistentVolumeClaimResize",
            "PodSecurity", "PodTopologyLabels", "Priority", "ResourceQuota", "RuntimeClass", "ServiceAccount", "StorageObjectInUseProtection",
            "TaintNodesByCondition", "ValidatingAdmissionPolicy")
HEADERS = ("accept", "content-type", "user-agent")


@pytest.fixture(scope="module")
def recorder(tmp_path_factory):
    server = webhook_server.Recorder(tmp_path_factory.mktemp("webhooks"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def webhook_sides(tmp_path_factory):
    with conftest.server_pair(tmp_path_factory.mktemp("webhook-servers"), f"--disable-admission-plugins={','.join(DISABLED)}") as pair:
        yield pair


def send(side, do, body=None, **options):
    return side.run({"do": do, **({"body": body} if body is not None else {}), **options}, {})


def webhook(recorder, path, name=None, **fields):
    made = {"name": name or f"{path.strip('/')}.webhooks.test", "clientConfig": {"url": recorder.url + path, "caBundle": recorder.ca}, "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "timeoutSeconds": 2,
            "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]}
    return {**made, **fields}


@contextlib.contextmanager
def configured(sides, recorder, mutating=(), validating=()):
    """Creates one configuration of each type on both servers and waits until they are in effect. Deletes them afterwards."""
    # A mutating webhook may reject the probe before the validating ones see it, so it is the last to be created and the first to be deleted.
    made = [(kind, list(hooks)) for kind, hooks in (("validating", validating), ("mutating", mutating)) if hooks]
    for side in sides:
        for kind, hooks in made:
            send(side, f"DELETE {CONFIGURATIONS}/{kind}webhookconfigurations/recorded")  # of a case that failed
            # A probe that no case can confuse with its own requests.
            probe = webhook(recorder, f"/probe-{kind}", matchConditions=[{"name": "probe", "expression": "has(request.name) && request.name == 'webhook-probe'"}])
            reply = send(side, f"POST {CONFIGURATIONS}/{kind}webhookconfigurations", {"metadata": {"name": "recorded"}, "webhooks": [probe, *hooks]})
            assert reply.status == 201, f"{side.name}: {reply.body}"
            wait_for(side, recorder, f"/probe-{kind}", True)
    recorder.take()
    try:
        yield
    finally:
        for side in sides:
            for kind, _ in reversed(made):
                assert send(side, f"DELETE {CONFIGURATIONS}/{kind}webhookconfigurations/recorded").status == 200
                wait_for(side, recorder, f"/probe-{kind}", False)
        recorder.take()


def wait_for(side, recorder, path, called):
    """Waits until the webhook at this path is called for a probe, or is not called any more. Other webhooks may reject the probe."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        recorder.take()
        send(side, "POST /api/v1/namespaces/default/configmaps?dryRun=All", {"metadata": {"name": "webhook-probe"}})
        if any(seen.split("?")[0] == path for seen, _, _ in recorder.take()) == called:
            return
        time.sleep(0.05)
    raise AssertionError(f"{side.name}: {path} is {'not called' if called else 'still called'}")


def shown(review, side):
    path, headers, body = review
    chosen = {name.lower(): value for name, value in headers.items() if name.lower() in HEADERS}
    return path, chosen, normal.text(body, side)


def differences(step, replies, reviews, sides):
    found = compare.differences(step, replies[0], sides[0], replies[1], sides[1])
    if step.get("setup"):
        return {} if replies[0].status == replies[1].status else {"status": f"{replies[0].status} {replies[0].body}\n{replies[1].status} {replies[1].body}"}
    ours, theirs = ([shown(review, side) for review in seen] for seen, side in zip(reviews, sides))
    if [path for path, _, _ in ours] != [path for path, _, _ in theirs]:
        return {**found, "reviews": f"ours {[path for path, _, _ in ours]}\n      reference {[path for path, _, _ in theirs]}"}
    for number, (our, their) in enumerate(zip(ours, theirs)):
        if our[1] != their[1]:
            found[f"review.{number}.headers"] = f"ours {our[1]}\n      reference {their[1]}"
        fields = {}
        compare.walk(json.loads(our[2]), json.loads(their[2]), f"review.{number}", fields)
        if not fields and our[2] != their[2]:
            fields[f"review.{number}.bytes"] = compare.first_difference(our[2], their[2])
        found.update(fields)
    return found


def check(case_id, steps, sides, recorder, known_differences, namespace):
    variables = {"NS": namespace}
    unexplained = []
    for number, step in enumerate(steps, 1):
        replies, reviews = [], []
        for side in sides:  # one after the other, so that the recorder knows who is calling
            recorder.take()
            replies.append(side.run(step, variables))
            reviews.append(recorder.take())
        counted.count(case_id, step, replies[0].status)
        for where, what in differences(step, replies, reviews, sides).items():
            if where.startswith(("status", "header", "body", "bytes")) and not where.startswith(tuple(step.get("only", [""]))):
                continue
            if any(known.covers(f"{case_id}/{number}", where) for known in known_differences):
                continue
            unexplained.append(f"  {case_id}/{number} {step['do']}\n    {where}: {what}")
    return unexplained


def new_namespace(sides, name):
    namespace = f"{name}-{cases.RUN}".replace("_", "-")
    for side in sides:
        side.saved = {}
        assert send(side, "POST /api/v1/namespaces", {"metadata": {"name": namespace, "labels": {"team": "a"}}}).status == 201
    return namespace


@pytest.mark.parametrize("name", webhook_cases.REVIEWS)
def test_same_reviews(name, webhook_sides, recorder, known_differences):
    """Every operation, subresource and option: both types of webhooks see the same."""
    namespace = new_namespace(webhook_sides, f"reviews-{name}")
    with configured(webhook_sides, recorder, [webhook(recorder, "/allow")], [webhook(recorder, "/warn")]):
        unexplained = check(f"webhooks/{name}", webhook_cases.REVIEWS[name], webhook_sides, recorder, known_differences, namespace)
    assert not unexplained, "\n" + "\n".join(unexplained)


@pytest.mark.parametrize("name", webhook_cases.CONFIGURATIONS)
def test_same_matches(name, webhook_sides, recorder, known_differences):
    """Rules, selectors, conditions, versions and order: the same webhooks are called."""
    mutating, validating, steps = webhook_cases.CONFIGURATIONS[name]
    namespace = new_namespace(webhook_sides, f"matches-{name}")
    hooks = [[webhook(recorder, path, f"{index}.{path.strip('/')}.webhooks.test", **cases.expand(fields, {"NS": namespace}))
              for index, (path, fields) in enumerate(kind)] for kind in (mutating, validating)]
    with configured(webhook_sides, recorder, *hooks):
        unexplained = check(f"webhooks/{name}", steps, webhook_sides, recorder, known_differences, namespace)
    assert not unexplained, "\n" + "\n".join(unexplained)


# The answers and failures of a webhook server, for both types and both failure policies.
FAULTS = [*webhook_server.ANSWERS, *webhook_server.STATUSES, "/hang", "/close", "/stranger", "/refused", "/no-version"]


@pytest.mark.parametrize("path", FAULTS)
def test_same_faults(path, webhook_sides, recorder, known_differences):
    namespace = new_namespace(webhook_sides, f"faults-{path.strip('/')}")
    unexplained = []
    for kind in ("mutating", "validating"):
        for policy in ("Fail", "Ignore"):
            hook = webhook(recorder, path, failurePolicy=policy, timeoutSeconds=1 if path == "/hang" else 10,
                           rules=[{"operations": ["CREATE", "DELETE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
                           namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": namespace}})
            if path == "/stranger":
                hook["clientConfig"] = {"url": recorder.url + "/allow", "caBundle": recorder.other_ca}
            if path == "/refused":
                hook["clientConfig"] = {"url": "https://127.0.0.1:1/", "caBundle": recorder.ca}
            if path == "/no-version":
                hook.update({"clientConfig": {"url": recorder.url + "/v1beta1", "caBundle": recorder.ca}, "admissionReviewVersions": ["v1beta1"]})
            body = {"metadata": {"name": f"{kind}-{policy.lower()}"}, "data": {"a": "b"}}
            target = f"/api/v1/namespaces/{namespace}/configmaps"
            steps = [{"do": f"POST {target}", "body": body}, {"do": f"POST {target}?dryRun=All", "body": {"metadata": {"name": "dry"}}},
                     {"do": f"DELETE {target}/{body['metadata']['name']}"}]
            with configured(webhook_sides, recorder, **{kind: [hook]}):
                unexplained += check(f"webhooks/{path.strip('/')}-{kind}-{policy}", steps, webhook_sides, recorder, known_differences, namespace)
    assert not unexplained, "\n" + "\n".join(unexplained)

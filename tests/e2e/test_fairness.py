"""API priority and fairness: requests are classified, wait for seats of their priority level, and are rejected if they wait too long."""
import json

import pytest

import mesh

API = "/apis/flowcontrol.apiserver.k8s.io/v1"


@pytest.fixture(scope="module")
def fair_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fairness")
    with mesh.running_server(folder) as server:
        yield server


def create(server, resource, name, spec):
    answer = server.client("POST", f"{API}/{resource}", {"metadata": {"name": name}, "spec": spec})
    assert answer.code == 201, answer.body
    return answer.json()["metadata"]["uid"]


def schema_of(user, level, precedence=100):
    return {"matchingPrecedence": precedence, "priorityLevelConfiguration": {"name": level}, "distinguisherMethod": {"type": "ByUser"}, "rules": [{
        "subjects": [{"kind": "User", "user": {"name": user}}],
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]}]}


def queue(shares, **more):
    return {"type": "Limited", "limited": {"nominalConcurrencyShares": shares, "borrowingLimitPercent": 0, **more, "limitResponse": {
        "type": "Queue", "queuing": {"queues": 2, "handSize": 1, "queueLengthLimit": 5}}}}


def get_as(server, user, path):
    return server.client("GET", path, headers={"Impersonate-User": user, "Impersonate-Group": "system:authenticated"})


def header(answer, name):
    return next((value for key, value in answer.headers.items() if key.lower() == name.lower()), None)


def uid_of(server, resource, name):
    return server.client.get(f"{API}/{resource}/{name}").json()["metadata"]["uid"]


def matched(answer):
    return header(answer, "X-Kubernetes-PF-FlowSchema-UID"), header(answer, "X-Kubernetes-PF-PriorityLevel-UID")


def test_responses_name_the_schema_and_the_level(fair_server):
    mesh.wait_until(lambda: matched(fair_server.client.get("/version"))[0] == uid_of(fair_server, "flowschemas", "exempt"), 5, "the schemas have been read")
    exempt = matched(fair_server.client.get("/version"))
    assert exempt == (uid_of(fair_server, "flowschemas", "exempt"), uid_of(fair_server, "prioritylevelconfigurations", "exempt"))
    default = matched(get_as(fair_server, "somebody", "/api/v1/namespaces"))
    assert default == (uid_of(fair_server, "flowschemas", "global-default"), uid_of(fair_server, "prioritylevelconfigurations", "global-default"))


def test_a_new_schema_takes_effect_and_a_level_without_seats_rejects(fair_server):
    level = create(fair_server, "prioritylevelconfigurations", "no-seats", queue(0))
    schema = create(fair_server, "flowschemas", "blocked", schema_of("blocked", "no-seats"))
    mesh.wait_until(lambda: matched(get_as(fair_server, "blocked", "/version?timeout=1s")) == (schema, level), 5, "the schema is in effect")
    answer = get_as(fair_server, "blocked", "/version?timeout=1s")
    assert answer.code == 429, answer.body
    assert answer.body == "Too many requests, please try again later.\n"
    assert int(header(answer, "Retry-After")) >= 1
    assert get_as(fair_server, "other", "/version").code == 200
    metrics = fair_server.client.get("/metrics").body
    line = 'apiserver_flowcontrol_rejected_requests_total{flow_schema="blocked",priority_level="no-seats",reason="time-out"} '
    rejected = next(float(text.removeprefix(line)) for text in metrics.splitlines() if text.startswith(line))
    assert rejected >= 1


def test_a_deleted_schema_has_no_effect(fair_server):
    create(fair_server, "prioritylevelconfigurations", "gone", queue(0))
    create(fair_server, "flowschemas", "gone", schema_of("passing", "gone"))
    mesh.wait_until(lambda: get_as(fair_server, "passing", "/version?timeout=1s").code == 429, 5, "the schema is in effect")
    assert fair_server.client("DELETE", f"{API}/flowschemas/gone").code == 200
    mesh.wait_until(lambda: get_as(fair_server, "passing", "/version?timeout=1s").code == 200, 5, "the schema has no effect")


def test_the_condition_dangling(fair_server):
    create(fair_server, "flowschemas", "dangling", schema_of("nobody", "missing"))

    def condition():
        status = fair_server.client.get(f"{API}/flowschemas/dangling").json().get("status", {})
        return next((one for one in status.get("conditions", []) if one["type"] == "Dangling"), {})

    mesh.wait_until(lambda: condition().get("status") == "True", 5, "the condition is written")
    assert condition()["reason"] == "NotFound"
    assert condition()["message"] == 'This FlowSchema references the PriorityLevelConfiguration object named "missing" but there is no such object'
    create(fair_server, "prioritylevelconfigurations", "missing", queue(5))
    mesh.wait_until(lambda: condition().get("status") == "False", 5, "the condition is corrected")
    assert condition()["reason"] == "Found"


def test_the_dumps_show_levels_queues_and_requests(fair_server):
    folder = "/debug/api_priority_and_fairness"
    levels = fair_server.client.get(f"{folder}/dump_priority_levels").body.splitlines()
    assert [column.strip() for column in levels[0].split(",")][:3] == ["PriorityLevelName", "ActiveQueues", "IsIdle"]
    assert {"exempt", "catch-all", "global-default", "workload-low"} <= {line.split(",")[0] for line in levels[1:]}
    queues = fair_server.client.get(f"{folder}/dump_queues").body.splitlines()
    assert sum(line.startswith("workload-low,") for line in queues) == 128
    requests = fair_server.client.get(f"{folder}/dump_requests?includeRequestDetails=1").body
    assert "/debug/api_priority_and_fairness/dump_requests" in requests, "the request itself executes"
    refused = get_as(fair_server, "somebody", f"{folder}/dump_queues")
    assert refused.code == 403 and json.loads(refused.body)["reason"] == "Forbidden"


def test_without_fairness_requests_are_not_classified(tmp_path):
    with mesh.running_server(tmp_path, "--enable-priority-and-fairness=false") as server:
        answer = server.client.get("/version")
        assert answer.code == 200 and matched(answer) == (None, None)
        assert server.client.get("/debug/api_priority_and_fairness/dump_queues").code == 404

"""Admission policies: a small request must neither keep a process busy for other clients nor fill its memory."""
import threading

import pytest

import mesh
from cost import Cost

POLICIES = "/apis/admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
RULES = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}
SLOW = "[0,1,2,3,4,5,6,7,8,9].all(a, " * 5 + "a >= 0" + ")" * 5  # 100,000 steps, which are within the limit of one expression
PARAMS = 50


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("policies")
    with mesh.running_server(folder) as server:
        for number in range(PARAMS):
            assert server.client("POST", MAPS, {"metadata": {"name": f"param-{number}", "labels": {"param": "yes"}}}).code == 201
        yield server


def add(server, name, expression, parameters=None):
    """Adds a policy for config maps with the label attack=`name`."""
    spec = {"matchConstraints": RULES, "failurePolicy": "Fail", "validations": [{"expression": expression}]}
    binding = {"policyName": name, "validationActions": ["Deny"], "matchResources": {"objectSelector": {"matchLabels": {"attack": name}}}}
    if parameters:
        spec["paramKind"], binding["paramRef"] = {"apiVersion": "v1", "kind": "ConfigMap"}, parameters
    for collection, content in (("validatingadmissionpolicies", spec), ("validatingadmissionpolicybindings", binding)):
        assert server.client("POST", f"{POLICIES}/{collection}", {"metadata": {"name": name}, "spec": content}).code == 201


def attack(server, name, **rest):
    return server.client("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "small", "labels": {"attack": name}}, **rest}, timeout=60)


def test_policies_with_many_parameters_delay_nobody(server):
    """Attack: create an object for which a policy is evaluated once for each of 50 parameter objects, each time nearly up to the cost limit. Expected:
    other clients are served during the evaluation. Why: a process has one thread for small requests, and such a request can take seconds."""
    add(server, "slow", f"{SLOW} && !has(object.data)", {"selector": {"matchLabels": {"param": "yes"}}, "namespace": "default", "parameterNotFoundAction": "Deny"})
    mesh.wait_until(lambda: attack(server, "slow", data={"a": "b"}).code == 422, 60, "the policy is in effect")
    served, during = [], []

    def attacks():
        for _ in range(3):
            begun = len(served)
            attack(server, "slow")
            during.append(len(served) - begun)

    attacker = threading.Thread(target=attacks)
    attacker.start()
    while attacker.is_alive():
        assert server.client.get(f"{MAPS}/param-0").code == 200
        served.append(1)
    attacker.join()
    assert max(during) > 3, f"{during} requests of another client were served during the evaluations"


EXPRESSIONS = {"replace": "object.data.a.replace('x', object.data.a).size() > 0",
               "join": "object.data.a.split('').map(x, object.data.a).join().size() > 0",
               "format": "'%s'.format([object.data.a.split('').map(x, object.data.a)]).size() > 0",
               "small": "object.data.a.split('').all(x, x.replace(x, object.data.a) != '')"}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_cannot_make_gigabytes(server, name):
    """Attack: an expression that multiplies a text of an object by itself: 300,000 characters become 90 GB. The cost limit of kube-apiserver does not
    prevent this, because it charges for what a function reads, not for what it makes. Expected: an error after little memory. Why: everybody who may
    create an object to which such a policy, or a rule of a CustomResourceDefinition, applies could end the process."""
    add(server, name, EXPRESSIONS[name])
    mesh.wait_until(lambda: attack(server, name).code == 422, 60, "the policy is in effect")  # an object without data is an error
    with Cost(server) as cost:
        answer = attack(server, name, data={"a": "x" * 300_000})
    assert answer.code == 422 and "cost limit exceeded" in str(answer.body), answer.body
    assert cost.memory < 200 << 20, cost.by_process

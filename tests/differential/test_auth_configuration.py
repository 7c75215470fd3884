"""Invalid configuration files: our server ends with the same error as the real one."""
import json
import re
import subprocess

import pytest

import auth_world
import conftest

AUTHENTICATION = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration"}
AUTHORIZATION = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
ISSUER = {"url": "https://issuer.example", "audiences": ["a"]}
NAME = {"username": {"claim": "sub", "prefix": ""}}
HOOK = {"timeout": "3s", "subjectAccessReviewVersion": "v1", "failurePolicy": "Deny", "matchConditionSubjectAccessReviewVersion": "v1",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": "/etc/hostname"}}


def issuer(**changes):
    return AUTHENTICATION | {"jwt": [{"issuer": ISSUER, "claimMappings": NAME} | changes]}


def hook(**changes):
    return AUTHORIZATION | {"authorizers": [{"type": "Webhook", "name": "w", "webhook": HOOK | changes}]}


CASES = {
    "everything": issuer(issuer={"url": "http://u:p@x?q=1#f", "audiences": ["a", "", "a"], "discoveryURL": "ftp://x"}, claimMappings={
        "username": {"claim": "sub"}, "groups": {"expression": "foo", "prefix": "x"}, "uid": {"claim": "a", "expression": "b"},
        "extra": [{"key": "Foo"}, {"key": "x.kubernetes.io/a", "valueExpression": "claims.a"}, {"key": "x.kubernetes.io/a", "valueExpression": "claims.b"}]},
        claimValidationRules=[{}, {"claim": "a", "message": "m"}, {"claim": "a"}, {"expression": "claims.x"}, {"expression": "true", "requiredValue": "v"}, {"expression": "true"}],
        userValidationRules=[{}, {"expression": "user.foo == ''"}, {"expression": "user.username"}]),
    "nothing": issuer(issuer={}, claimMappings={}),
    "unknown fields": AUTHENTICATION | {"jwt": [{"foo": 1, "issuer": {"bar": 2}}], "baz": 3},
    "disallowed issuer": issuer(issuer=ISSUER | {"url": "https://kubernetes.default.svc"}),
    "same discovery": issuer(issuer=ISSUER | {"discoveryURL": "https://issuer.example/"}),
    "bad ca": issuer(issuer=ISSUER | {"certificateAuthority": "nonsense"}),
    "policy": issuer(issuer=ISSUER | {"audienceMatchPolicy": "MatchAll"}),
    "email": issuer(claimMappings={"username": {"expression": "claims.email"}}),
    "overload": issuer(claimMappings={"username": {"expression": "1 + 'a'"}}),
    "twice": AUTHENTICATION | {"jwt": [{"issuer": ISSUER, "claimMappings": NAME}] * 2},
    "anonymous": AUTHENTICATION | {"anonymous": {"enabled": False, "conditions": [{"path": "/a"}]}},
    "wrong kind": {"apiVersion": "v1", "kind": "AuthenticationConfiguration"},
    "no authorizers": AUTHORIZATION | {"authorizers": []},
    "types": AUTHORIZATION | {"authorizers": [{}, {"type": "Foo"}, {"type": "RBAC"}, {"type": "RBAC", "name": "x"}, {"type": "Node", "name": "A_b"}, {"type": "Webhook", "name": "w"},
                                              {"type": "ABAC", "name": "abac", "webhook": {}}]},
    "names": AUTHORIZATION | {"authorizers": [{"type": "RBAC", "name": "foo"}, {"type": "Node", "name": "bar"}]},
    "empty hook": AUTHORIZATION | {"authorizers": [{"type": "Webhook", "name": "w", "webhook": {}}]},
    "values": hook(timeout="31s", authorizedTTL="-1s", unauthorizedTTL="-1s", subjectAccessReviewVersion="v9", failurePolicy="Perhaps", matchConditionSubjectAccessReviewVersion="v1beta1",
                   connectionInfo={"type": "KubeConfigFile", "kubeConfigFile": "relative"}),
    "connection": hook(connectionInfo={"type": "InClusterConfig", "kubeConfigFile": "/x"}),
    "no file": hook(connectionInfo={"type": "KubeConfigFile", "kubeConfigFile": "/no/such/file"}),
    "folder": hook(connectionInfo={"type": "KubeConfigFile", "kubeConfigFile": "/etc"}),
    "conditions": hook(matchConditions=[{"expression": ""}, {"expression": "request.foo"}, {"expression": "request.user"}, {"expression": "foo"},
                                        {"expression": "request.user == 1"}, {"expression": "true"}, {"expression": "true"}]),
    "condition version": hook(matchConditions=[{"expression": "true"}], matchConditionSubjectAccessReviewVersion=""),
}


def says(folder, binary, flag, path):
    server = auth_world.mesh.KubeApiserver(folder, "http://127.0.0.1:1", f"--{flag}={path}", binary=binary)
    if flag == "authorization-config":
        server.arguments.remove("--authorization-mode=RBAC")
    run = subprocess.run(server.arguments, capture_output=True, text=True, timeout=120)
    assert run.returncode != 0
    return run.stdout + run.stderr


def reference_message(text):
    """Returns the error in the log of the real server."""
    if found := re.search(r'"command failed" err="(.*)"$', text, re.M):
        return json.loads('"' + found[1] + '"')
    lines = text[text.index('err=<') + 6:text.index("\n >")].split("\n")
    return "\n".join(line.removeprefix("\t") for line in lines)


@pytest.mark.parametrize("name", CASES)
def test_messages(tmp_path, name):
    document = CASES[name]
    path = tmp_path / "config.json"
    path.write_text(json.dumps(document))
    flag = "authorization-config" if document["kind"] == "AuthorizationConfiguration" else "authentication-config"
    wanted = reference_message(says(tmp_path / "reference", conftest.needed_reference(), flag, path))
    ours = says(tmp_path / "ours", None, flag, path)
    assert wanted in ours, f"\nreal: {wanted}\nours: {ours}"

"""Compares the pages for diagnosis (/statusz, /flagz, /metrics/slis, /debug/flags) with those of the real kube-apiserver."""
import json
import re

import pytest

STATUSZ = "as=Statusz;g=config.k8s.io;v="
FLAGZ = "as=Flagz;g=config.k8s.io;v="
# Values that follow from the place of a server, or that only one of the servers has.
OWN_FLAGS = {"cert-dir", "etcd-servers", "secure-port", "service-account-key-file", "service-account-signing-key-file", "tls-cert-file",
             "tls-private-key-file", "token-auth-file", "external-hostname", "help", "watch-cache-sizes",
             "audit-webhook-batch-initial-backoff", "kubelet-port", "kubelet-read-only-port"}  # the last three are hidden in the reference


def ask(side, method, target, accept=None, body=None, user_agent="x"):
    headers = [("Authorization", f"Bearer {side.token}"), ("User-Agent", user_agent)] + ([("Accept", accept)] if accept is not None else [])
    return side.request(method, target, headers, body)


def header(reply, name):
    return {key.lower(): value for key, value in reply.headers}.get(name)


def pages(sides, *arguments, **options):
    return [ask(side, *arguments, **options) for side in sides]


@pytest.mark.parametrize("page,named", [("/statusz", STATUSZ), ("/flagz", FLAGZ)])
@pytest.mark.parametrize("accept", [None, "*/*", "text/plain", "text/*", "text/html", "application/json", "application/yaml", "application/*",
                                    "application/json;{}v1beta1", "application/yaml;{}v1beta1", "application/json;{}v1alpha1",
                                    "application/json;{}v1", "text/plain;{}v1beta1", "application/vnd.kubernetes.protobuf;{}v1beta1",
                                    "application/json, text/plain;q=0.5", "*/*;{}v1beta1"])
def test_a_page_has_the_same_form(sides, page, named, accept):
    ours, reference = pages(sides, "GET", page, accept=accept and accept.format(named))
    assert ours.status == reference.status
    if accept == "application/yaml":
        return  # the reference writes the error as YAML
    for name in ("content-type", "warning", "cache-control"):
        assert header(ours, name) == header(reference, name), name
    if reference.status == 406:
        assert json.loads(ours.body) == json.loads(reference.body)


def test_statusz_has_the_same_fields(sides):
    for version in ("v1beta1", "v1alpha1"):
        ours, reference = (json.loads(reply.body) for reply in pages(sides, "GET", "/statusz", accept=f"application/json;{STATUSZ}{version}"))
        for status in (ours, reference):
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", status.pop("startTime"))
            assert isinstance(status.pop("uptimeSeconds"), int)
            status.pop("goVersion")
        assert list(ours.items()) == list(reference.items())
    # The delimiter is random in the reference.
    ours, reference = ([re.split(r"[:= ] ?", line)[0] for line in reply.body.decode().splitlines()] for reply in pages(sides, "GET", "/statusz"))
    assert ours == reference


def test_flagz_has_the_same_values(sides):
    ours, reference = (json.loads(reply.body)["flags"] for reply in pages(sides, "GET", "/flagz", accept=f"application/json;{FLAGZ}v1beta1"))
    different = {name: (ours.get(name), value) for name, value in reference.items() if name not in OWN_FLAGS and ours.get(name) != value}
    assert different == {}
    text = pages(sides, "GET", "/flagz")[0].body.decode()
    assert "\nevent-ttl=1h0m0s\n" in text


@pytest.mark.parametrize("method,body", [("GET", None), ("POST", b"3"), ("PUT", b"5"), ("PUT", b"0"), ("PUT", b"x"), ("PUT", b"-1"), ("PUT", b""),
                                         ("PUT", b"99999999999")])
def test_verbosity(sides, method, body):
    ours, reference = pages(sides, method, "/debug/flags/v", body=body)
    assert (ours.status, ours.body, header(ours, "content-type"), header(ours, "x-content-type-options")) == (
        reference.status, reference.body, header(reference, "content-type"), header(reference, "x-content-type-options"))


@pytest.mark.parametrize("page", ["/debug/flags", "/debug/flags/", "/debug/flags/x"])
def test_index_of_flags(sides, page):
    ours, reference = pages(sides, "GET", page)
    assert (ours.status, ours.body, header(ours, "content-type")) == (reference.status, reference.body, header(reference, "content-type"))


# The checks that only one of the servers has, and why.
ONLY_OURS = {"core-api", "extensions-api", "authn-authz"}  # the processes of the mesh
ONLY_REFERENCE = {"loopback-serving-certificate", "poststarthook/peer-endpoint-reconciler-controller"}  # docs/differences.md


@pytest.mark.parametrize("page", ["/healthz", "/livez", "/readyz"])
def test_health_checks_have_the_same_names(sides, page):
    ours, reference = (set(re.findall(r"^\[[+-]\](\S+) ", reply.body.decode(), re.M)) for reply in pages(sides, "GET", f"{page}?verbose"))
    assert ours - reference <= ONLY_OURS
    assert reference - ours <= ONLY_REFERENCE
    assert len(ours & reference) > 25
    for name in sorted(ours & reference):
        one, other = pages(sides, "GET", f"{page}/{name}")
        assert (one.status, one.body, header(one, "content-type")) == (other.status, other.body, header(other, "content-type")), name


def test_slis(sides):
    texts = []
    for side in sides:
        assert ask(side, "DELETE", "/metrics/slis").body == b"metrics reset\n"
        assert ask(side, "GET", "/readyz").status == 200
        reply = ask(side, "GET", "/metrics/slis")
        assert header(reply, "content-type").startswith("text/plain; version=0.0.4; charset=utf-8")
        texts.append(reply.body.decode())
    ours, reference = texts
    for name in ("ping", "etcd", "shutdown"):
        for line in (f'kubernetes_healthcheck{{name="{name}",type="readyz"}} 1', f'kubernetes_healthchecks_total{{name="{name}",status="success",type="readyz"}} 1'):
            assert line in ours and line in reference
    types = [{line for line in text.splitlines() if line.startswith("# TYPE kubernetes_")} for text in texts]
    assert types[0] == types[1]


def test_only_authorized_users_reach_the_pages(sides):
    for page in ("/statusz", "/flagz", "/metrics/slis", "/debug/flags/v"):
        ours, reference = (side.request("GET", page, [], None) for side in sides)
        assert ours.status == reference.status == 403, page
        assert json.loads(ours.body) == json.loads(reference.body)

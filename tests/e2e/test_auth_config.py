"""Structured configuration files of authentication and authorization: several issuers, expressions, conditions, several webhooks, and changes of a file."""
import json
import re
import subprocess

import pytest

import auth_fixtures
import mesh
from pki import Pki


class World:
    def __init__(self, folder):
        self.folder = folder
        self.pki = Pki(folder / "pki")
        self.first, self.second = (auth_fixtures.OidcIssuer(self.pki, folder, name) for name in ("first", "second"))
        caller = self.pki.issue("caller", "/CN=caller")
        self.denies = auth_fixtures.Webhook(self.pki, "denies", lambda spec: {"allowed": False, "denied": True, "reason": "the first hook denies"})
        self.allows = auth_fixtures.Webhook(self.pki, "allows", lambda spec: {"allowed": True})
        self.kubeconfigs = {name: str(hook.kubeconfig(folder / f"{name}.json", caller)) for name, hook in (("denies", self.denies), ("allows", self.allows))}
        self.authentication, self.authorization = folder / "authentication.yaml", folder / "authorization.yaml"
        self.write(self.authentication, self.authentication_config([self.issuer(self.first)]))
        self.write(self.authorization, self.authorization_config())
        self.store = mesh.Store(folder / "store")
        self.server = mesh.KubeApiserver(folder / "server", self.store.url, f"--authentication-config={self.authentication}",
                                         f"--authorization-config={self.authorization}")
        self.server.arguments.remove("--authorization-mode=RBAC")
        self.server.start(wait=False)
        mesh.wait_until(lambda: self.server.client.answers("/readyz"), 30, "the server is ready")

    def stop(self):
        self.server.stop()
        self.store.stop()
        for server in (self.first, self.second, self.denies, self.allows):
            server.stop()

    def write(self, path, document):
        temporary = path.with_suffix(".new")
        temporary.write_text(json.dumps(document))
        temporary.rename(path)

    def issuer(self, issuer, **more):
        return {"issuer": {"url": issuer.url, "audiences": ["my-client", "other"], "audienceMatchPolicy": "MatchAny", "certificateAuthority": self.pki.ca.read_text()},
                "claimMappings": {"username": {"expression": "'oidc:' + claims.sub"},
                                  "groups": {"expression": "claims.?roles.orValue('').split(',').filter(r, r != '').map(r, 'role:' + r)"},
                                  "uid": {"claim": "sub"}, "extra": [{"key": "example.com/tenant", "valueExpression": "claims.?tenant.orValue('')"}]},
                "claimValidationRules": [{"expression": "claims.exp - claims.iat <= 3600", "message": "tokens may live for an hour"},
                                         {"claim": "tier", "requiredValue": "gold"}],
                "userValidationRules": [{"expression": "!user.username.startsWith('system:')", "message": "reserved"},
                                        {"expression": "user.groups.all(g, g != 'role:root')"}]} | more

    def authentication_config(self, issuers):
        return {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": issuers,
                "anonymous": {"enabled": True, "conditions": [{"path": "/healthz"}, {"path": "/livez"}]}}

    def authorization_config(self, **changes):
        def hook(name, conditions):
            return {"type": "Webhook", "name": name, "webhook": {
                "timeout": "3s", "subjectAccessReviewVersion": "v1", "matchConditionSubjectAccessReviewVersion": "v1", "failurePolicy": "Deny",
                "authorizedTTL": "1s", "unauthorizedTTL": "1s", "cacheAuthorizedRequests": False, "cacheUnauthorizedRequests": False,
                "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": self.kubeconfigs[name]},
                "matchConditions": [{"expression": e} for e in conditions]}}
        deny_conditions = changes.get("deny", ["has(request.resourceAttributes)", "request.resourceAttributes.resource == 'secrets'", "request.user.startsWith('oidc:')"])
        return {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration", "authorizers": [
            hook("denies", deny_conditions), {"type": "RBAC", "name": "rbac"},
            hook("allows", ["has(request.resourceAttributes) && request.resourceAttributes.verb in ['get', 'list']", "'role:dev' in request.groups"])]}

    def whoami(self, token):
        answer = mesh.Client(self.server.url, token)("POST", auth_fixtures.SELF_REVIEWS, auth_fixtures.SELF_REVIEW)
        return answer.json()["status"]["userInfo"] if answer.code == 201 else answer.code

    def metric(self, series, **labels):
        total = 0
        for line in self.server.client.get("/metrics").body.splitlines():
            if line.startswith(series + "{") and all(f'{key}="{value}"' in line for key, value in labels.items()):
                total += float(line.rsplit(" ", 1)[1])
        return total


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("config"))
    yield world
    world.stop()


def gold(issuer, **claims):
    return issuer.token(**({"tier": "gold"} | claims))


def test_mappings_by_expressions(world):
    user = world.whoami(gold(world.first, roles="dev,ops", tenant="acme"))
    assert (user["username"], user["uid"]) == ("oidc:jane", "jane")
    assert user["groups"] == ["role:dev", "role:ops", "system:authenticated"]
    assert user["extra"]["example.com/tenant"] == ["acme"]
    assert world.whoami(gold(world.first, audience="other"))["groups"] == ["system:authenticated"]


@pytest.mark.parametrize("claims", [{"lifetime": 7200}, {"roles": "root"}, {"tier": "lead"}, {"subject": None}, {"roles": 7}, {"audience": "third"}], ids=str)
def test_rules_refuse(world, claims):
    assert world.whoami(gold(world.first, **claims)) == 401


def test_webhooks_in_order_with_conditions(world):
    jane = mesh.Client(world.server.url, gold(world.first, roles="dev"))
    assert jane.get("/api/v1/namespaces/default/pods").code == 200            # only the last webhook allows it
    answer = jane.get("/api/v1/namespaces/default/secrets")
    assert answer.code == 403 and answer.json()["message"].endswith("the first hook denies")
    assert mesh.Client(world.server.url, gold(world.first)).get("/api/v1/namespaces/default/pods").code == 403
    before = len(world.denies.requests)
    assert jane.get("/version").code == 200                                    # RBAC allows it; no webhook is called for non-resource paths
    assert jane("DELETE", "/api/v1/namespaces/default/pods/x").code == 403
    assert len(world.denies.requests) == before


def test_anonymous_only_on_some_paths(world):
    anonymous = world.server.anonymous
    for _ in range(3):
        assert anonymous.get("/healthz").code == 200
        assert anonymous.get("/version").code == 401
        assert anonymous.get("/healthz/ping").code == 401


def test_issuers_change_while_running(world):
    token = gold(world.second)
    assert world.whoami(token) == 401
    successes = world.metric("apiserver_authentication_config_controller_automatic_reloads_total", status="success")
    world.write(world.authentication, world.authentication_config([world.issuer(world.first), world.issuer(world.second)]))
    mesh.wait_until(lambda: world.whoami(token) != 401, 5, "the second issuer is trusted")
    assert world.whoami(gold(world.first))["username"] == "oidc:jane"
    assert world.metric("apiserver_authentication_config_controller_automatic_reloads_total", status="success") == successes + 1
    failures = world.metric("apiserver_authentication_config_controller_automatic_reloads_total", status="failure")
    world.authentication.write_text("kind: nonsense")
    mesh.wait_until(lambda: world.metric("apiserver_authentication_config_controller_automatic_reloads_total", status="failure") > failures, 5, "the file is rejected")
    assert world.whoami(token)["username"] == "oidc:jane", "the last valid configuration stays in use"
    world.write(world.authentication, world.authentication_config([world.issuer(world.second)]) | {"anonymous": {"enabled": False}})
    mesh.wait_until(lambda: world.metric("apiserver_authentication_config_controller_automatic_reloads_total", status="failure") > failures + 1, 5, "a change of anonymous authentication is rejected")
    world.write(world.authentication, world.authentication_config([world.issuer(world.second)]))
    mesh.wait_until(lambda: world.whoami(gold(world.first)) == 401, 5, "the first issuer is no longer trusted")
    assert world.metric("apiserver_authentication_config_controller_last_config_info") == 1


def test_authorizers_change_while_running(world):
    world.write(world.authentication, world.authentication_config([world.issuer(world.first)]))
    token = gold(world.first, roles="dev")
    mesh.wait_until(lambda: world.whoami(token) != 401, 5, "the issuer is trusted again")
    jane = mesh.Client(world.server.url, token)
    assert jane.get("/api/v1/namespaces/default/secrets").code == 403
    world.write(world.authorization, world.authorization_config(deny=["has(request.resourceAttributes) && request.resourceAttributes.resource == 'configmaps'"]))
    mesh.wait_until(lambda: jane.get("/api/v1/namespaces/default/secrets").code == 200, 5, "the new conditions have an effect")
    assert jane.get("/api/v1/namespaces/default/configmaps").code == 403
    failures = world.metric("apiserver_authorization_config_controller_automatic_reloads_total", status="failure")
    for broken in ({"authorizers": []}, world.authorization_config(deny=["request.nothing == 1"]), {"authorizers": [{"type": "AlwaysAllow", "name": "alwaysallow"}]}):
        world.write(world.authorization, world.authorization_config() | broken if "authorizers" in broken and not broken["authorizers"] else
                    {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"} | broken)
        failures += 1
        mesh.wait_until(lambda: world.metric("apiserver_authorization_config_controller_automatic_reloads_total", status="failure") >= failures, 5, f"the file is rejected: {broken}")
        assert jane.get("/api/v1/namespaces/default/secrets").code == 200
    assert world.metric("apiserver_authorization_decisions_total", type="Webhook", name="denies", decision="denied") > 0
    assert world.metric("apiserver_authorization_match_condition_exclusions_total", name="allows") > 0


def run_with(tmp_path, *flags):
    """Returns the log of a server that ends at its start."""
    server = mesh.KubeApiserver(tmp_path / "server", "http://127.0.0.1:1", *flags)
    if any(flag.startswith("--authorization-config") for flag in flags):
        server.arguments.remove("--authorization-mode=RBAC")
    given = {flag.split("=")[0] for flag in flags}
    server.arguments = [a for a in server.arguments if a in flags or a.split("=")[0] not in given]
    run = subprocess.run(server.arguments, capture_output=True, text=True, timeout=60)
    assert run.returncode != 0
    return run.stdout + run.stderr


BAD_AUTHENTICATION = {
    "unknown field": ({"jwt": [{"isuer": {}}]}, 'strict decoding error: unknown field "jwt[0].isuer"'),
    "no issuer": ({"jwt": [{}]}, "jwt[0].issuer.url: Required value"),
    "http": ({"jwt": [{"issuer": {"url": "http://x", "audiences": ["a"]}, "claimMappings": {"username": {"claim": "sub", "prefix": ""}}}]},
             'jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https'),
    "expression": ({"jwt": [{"issuer": {"url": "https://x", "audiences": ["a"]}, "claimMappings": {"username": {"expression": "claim.sub"}}}]},
                   "undeclared reference to 'claim' (in container '')"),
}


@pytest.mark.parametrize("name", BAD_AUTHENTICATION)
def test_bad_authentication_files_stop_the_start(tmp_path, name):
    document, want = BAD_AUTHENTICATION[name]
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration"} | document))
    assert want in run_with(tmp_path, f"--authentication-config={path}")


@pytest.mark.parametrize("flags,want", [
    (["--authorization-mode=RBAC,RBAC"], 'authorization-mode ["RBAC" "RBAC"] has mode specified more than once'),
    (["--authorization-mode=Webhook"], "authorization-mode Webhook's authorization config file not passed"),
    (["--oidc-issuer-url=http://x", "--oidc-client-id=a"], "URL scheme must be https"),
    (["--client-ca-file=FILE"], 'error loading CA bundle for "client-ca-bundle::'), (["--token-auth-file=FILE"], 'bare " in non-quoted-field'),
    (["--authorization-mode=ABAC", "--authorization-policy-file=FILE"], "policy")],
    ids=lambda value: re.sub(r"\W+", "-", value[0]) if isinstance(value, list) else "")
def test_bad_flags_stop_the_start(tmp_path, flags, want):
    broken = tmp_path / "broken"
    broken.write_text("neither a certificate nor a policy, \"nor")
    assert want in run_with(tmp_path, *[flag.replace("FILE", str(broken)) for flag in flags])

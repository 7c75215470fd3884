"""Authentication with an OpenID issuer, webhooks, certificates and tokens."""
import base64
import hashlib
import hmac
import http.client
import json
import subprocess
import time

import pytest

import auth_fixtures
import mesh
from pki import Pki, openssl


class World:
    """A server with all authenticators enabled."""

    def __init__(self, folder):
        self.folder = folder
        self.pki = Pki(folder / "pki")
        self.proxy_pki = Pki(folder / "proxy-pki", "front-proxy")
        self.stranger_pki = Pki(folder / "stranger-pki", "stranger")
        self.issuer = auth_fixtures.OidcIssuer(self.pki, folder)
        caller = self.pki.issue("caller", "/CN=apiserver-caller")
        self.tokens = {"hook-token": {"authenticated": True, "user": {"username": "hooked", "uid": "h-1", "groups": ["hooks"], "extra": {"a.io/k": ["v"]}}}}
        self.token_hook = auth_fixtures.Webhook(self.pki, "token-hook", lambda spec: self.tokens.get(spec["token"], {"authenticated": False, "error": "who?"}))
        self.rules = {}
        self.authz_hook = auth_fixtures.Webhook(self.pki, "authz-hook", lambda spec: self.rules.get(spec["user"], {"allowed": False}))
        token_config = self.token_hook.kubeconfig(folder / "token-hook.json", caller)
        authz_config = self.authz_hook.kubeconfig(folder / "authz-hook.json", caller)
        self.store = mesh.Store(folder / "store")
        self.audit = folder / "audit.log"
        policy = folder / "audit.yaml"
        policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
        self.server = mesh.KubeApiserver(
            folder / "server", self.store.url, f"--client-ca-file={self.pki.ca}", f"--requestheader-client-ca-file={self.proxy_pki.ca}",
            "--requestheader-allowed-names=proxy", "--requestheader-username-headers=X-Remote-User", "--requestheader-uid-headers=X-Remote-Uid",
            "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-", "--enable-bootstrap-token-auth",
            f"--oidc-issuer-url={self.issuer.url}", "--oidc-client-id=my-client", f"--oidc-ca-file={self.pki.ca}", "--oidc-username-claim=sub",
            "--oidc-username-prefix=oidc:", "--oidc-groups-claim=groups", "--oidc-groups-prefix=oidc:", "--oidc-required-claim=tier=gold",
            f"--authentication-token-webhook-config-file={token_config}", "--authentication-token-webhook-version=v1",
            "--authentication-token-webhook-cache-ttl=0s", "--authorization-mode=RBAC,Webhook", f"--authorization-webhook-config-file={authz_config}",
            "--authorization-webhook-version=v1", "--authorization-webhook-cache-authorized-ttl=0s", "--authorization-webhook-cache-unauthorized-ttl=0s",
            f"--audit-policy-file={policy}", f"--audit-log-path={self.audit}", "-v=5")
        self.server.arguments.remove("--authorization-mode=RBAC")  # values of a repeated flag are added
        self.server.start()
        self.admin = self.server.client
        mesh.wait_until(lambda: self.admin.answers("/readyz"), 30, "the server is ready")

    def stop(self):
        self.server.stop()
        self.store.stop()
        for server in (self.issuer, self.token_hook, self.authz_hook):
            server.stop()

    def client(self, token=None, cert=None):
        return mesh.Client(self.server.url, token, cert)

    def whoami(self, token=None, cert=None, headers=None):
        """Returns the user, or the status code of the error."""
        answer = self.client(token, cert)("POST", auth_fixtures.SELF_REVIEWS, auth_fixtures.SELF_REVIEW, headers=headers)
        return answer.json()["status"]["userInfo"] if answer.code == 201 else answer.code

    def logs(self):
        return self.server.log.read_text()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("auth"))
    yield world
    world.stop()


def gold(world, **claims):
    return world.issuer.token(**({"tier": "gold"} | claims))


def test_openid_token(world):
    user = world.whoami(gold(world, groups=["dev", "ops"], jti="token-1"))
    assert user["username"] == "oidc:jane"
    assert user["groups"] == ["oidc:dev", "oidc:ops", "system:authenticated"]
    assert user["extra"]["authentication.kubernetes.io/credential-id"] == ["JTI=token-1"]


def test_openid_key_rotation(world):
    old = gold(world, subject="before")
    assert world.whoami(old)["username"] == "oidc:before"
    world.issuer.rotate()
    time.sleep(1.1)  # keys are fetched at most once per second
    assert world.whoami(gold(world, subject="after"))["username"] == "oidc:after"
    assert world.whoami(gold(world, subject="old-key", key=auth_fixtures.SigningKey(world.folder, "retired"))) == 401


def b64(document):
    return auth_fixtures.base64url(document)


def bad_tokens(world):
    good = gold(world)
    head, body, signature = good.split(".")
    stranger = auth_fixtures.SigningKey(world.folder, "stranger")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    rs256 = json.loads(base64.urlsafe_b64decode(head + "=="))
    public = openssl("rsa", "-in", world.issuer.key.file, "-pubout")
    confused = b64(rs256 | {"alg": "HS256"}) + "." + body
    return {
        "expired": gold(world, lifetime=-5), "not yet valid": gold(world, nbf=int(time.time()) + 3600), "alg none": b64({"alg": "none"}) + "." + body + ".",
        "alg none with a signature": b64({"alg": "none"}) + "." + body + "." + signature,
        "key confusion": confused + "." + b64(hmac.new(public, confused.encode(), hashlib.sha256).digest()),
        "wrong audience": gold(world, audience="another-client"), "no audience": gold(world, audience=None), "wrong key": gold(world, key=stranger),
        "wrong key under a known id": stranger.sign(claims, kid=world.issuer.key.id), "changed claims": f"{head}.{b64(claims | {'sub': 'root'})}.{signature}",
        "unknown issuer": gold(world, iss="https://elsewhere"), "missing claim": world.issuer.token(), "wrong claim": world.issuer.token(tier="lead"),
        "no subject": gold(world, subject=None), "no expiry": gold(world, exp=None), "critical header": world.issuer.key.sign(claims, crit=["x"], x=1),
        "two parts": f"{head}.{body}", "four parts": good + ".x", "empty parts": "..", "not base64": "a!.b!.c!", "not JSON": "AAAA.AAAA.AAAA", "a word": "password",
        "deep JSON": b64(rs256) + "." + b64(b"[" * 5000) + "." + signature, "groups of the wrong type": gold(world, groups={"a": "b"}),
        "oversized": "x" * 900_000, "oversized claims": gold(world, padding="x" * 50_000, key=stranger), "control characters": "to\tken",
    }


def test_bad_tokens_are_refused_and_never_logged(world):
    assert world.whoami(gold(world))["username"] == "oidc:jane"
    for name, token in bad_tokens(world).items():
        assert world.whoami(token) == 401, name
        assert world.server.process.poll() is None, name
    assert world.whoami(gold(world))["username"] == "oidc:jane"
    logs = world.logs() + world.audit.read_text()
    for name, token in bad_tokens(world).items():
        for part in (token, token.split(".")[-1]):
            assert len(part) < 12 or part not in logs, f"the token {name} is in the logs"


def test_a_header_beyond_the_limit_is_refused(world):
    connection = http.client.HTTPSConnection("127.0.0.1", world.server.port, context=world.admin.context, timeout=20)
    try:
        connection.request("GET", "/api/v1/pods", headers={"Authorization": "Bearer " + "x" * 2_000_000})
        answer = connection.getresponse()
        assert answer.status in (400, 401, 431)
    except (BrokenPipeError, ConnectionResetError, OSError):
        pass  # the server closed the connection before the request was sent
    assert world.whoami(mesh.ADMIN_TOKEN)["username"] == "admin"


def test_token_webhook(world):
    before = len(world.token_hook.requests)
    user = world.whoami("hook-token")
    assert (user["username"], user["uid"], user["groups"], user["extra"]) == ("hooked", "h-1", ["hooks", "system:authenticated"], {"a.io/k": ["v"]})
    method, path, review, peer, _ = world.token_hook.requests[before]
    assert (method, path, review["apiVersion"], review["kind"]) == ("POST", "/review", "authentication.k8s.io/v1", "TokenReview")
    assert review["spec"] == {"token": "hook-token", "audiences": ["https://kubernetes.default.svc"]}
    assert dict(item[0] for item in peer["subject"])["commonName"] == "apiserver-caller"
    assert world.whoami("unknown-token") == 401


def test_token_webhook_that_hangs_or_fails(world):
    world.tokens["broken"] = 503
    assert world.whoami("broken") == 401
    world.token_hook.delay = 30
    try:
        began = time.monotonic()
        assert world.whoami("slow-token") == 401
        assert time.monotonic() - began < 20
        assert world.whoami(mesh.ADMIN_TOKEN)["username"] == "admin"  # other authenticators still work
    finally:
        world.token_hook.delay = 0
    assert world.whoami("hook-token")["username"] == "hooked"


def pods(client):
    return client.get("/api/v1/namespaces/default/pods")


def test_authorization_webhook(world):
    jane = world.client(gold(world, groups=["dev"]))
    assert pods(jane).code == 403
    before = len(world.authz_hook.requests)
    world.rules["oidc:jane"] = {"allowed": True, "reason": "the hook said so"}
    assert pods(jane).code == 200
    review = world.authz_hook.requests[before][2]
    assert review["apiVersion"] == "authorization.k8s.io/v1" and review["spec"]["user"] == "oidc:jane"
    assert review["spec"]["groups"] == ["oidc:dev", "system:authenticated"]
    assert review["spec"]["resourceAttributes"] == {"namespace": "default", "verb": "list", "version": "v1", "resource": "pods"}
    world.rules["oidc:jane"] = {"allowed": False, "denied": True, "reason": "go away"}
    answer = pods(jane)
    assert answer.code == 403
    assert answer.json()["message"] == ('pods is forbidden: User "oidc:jane" cannot list resource "pods" in API group "" in the namespace "default": go away')


def test_authorization_webhook_that_fails(world):
    world.rules["oidc:joe"] = 500
    answer = pods(world.client(gold(world, subject="joe")))
    assert answer.code in (403, 500) and "PodList" not in answer.body
    assert pods(world.admin).code == 200


def test_client_certificates(world):
    user = world.whoami(cert=world.pki.issue("ann", "/O=team/O=ops/CN=ann"))
    assert user["username"] == "ann" and user["groups"] == ["team", "ops", "system:authenticated"]
    assert user["extra"]["authentication.kubernetes.io/credential-id"][0].startswith("X509SHA256=")


def test_client_certificates_that_do_not_count(world):
    past = ("-not_before", "20200101000000Z", "-not_after", "20200102000000Z")
    assert world.whoami(cert=world.stranger_pki.issue("stranger", "/O=system:masters/CN=eve")) == 401
    assert world.whoami(cert=world.pki.issue("server-only", "/CN=srv", "serverAuth")) == 401
    try:
        expired = world.pki.issue("expired", "/CN=old", days=past)
    except subprocess.CalledProcessError:
        expired = world.pki.issue("expired", "/CN=old", days=("-days", "0"))
        time.sleep(1.1)
    assert world.whoami(cert=expired) == 401
    # A certificate that is signed by a leaf certificate.
    leaf = Pki.__new__(Pki)
    leaf.folder = world.folder / "pki"
    leaf.ca, leaf.key = world.pki.issue("not-a-ca", "/CN=ann")
    assert world.whoami(cert=leaf.issue("by-a-leaf", "/O=system:masters/CN=eve")) == 401


def proxy_headers(**more):
    return {"X-Remote-User": "behind-proxy", "X-Remote-Uid": "p-1", "X-Remote-Group": "g1", "X-Remote-Extra-Acme.com%2fproject": "p"} | more


def test_front_proxy_headers(world):
    proxy = world.proxy_pki.issue("proxy", "/CN=proxy")
    user = world.whoami(cert=proxy, headers=proxy_headers())
    assert (user["username"], user["uid"], user["groups"]) == ("behind-proxy", "p-1", ["g1", "system:authenticated"])
    assert user["extra"]["acme.com/project"] == ["p"]


def test_identity_headers_of_others_mean_nothing(world):
    forged = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}
    assert world.whoami(cert=world.pki.issue("ann2", "/CN=ann"), headers=forged)["username"] == "ann"
    assert world.whoami(mesh.ADMIN_TOKEN, headers=forged)["username"] == "admin"
    assert world.whoami(headers=forged) == 403  # the anonymous user is forbidden
    assert world.whoami(cert=world.stranger_pki.issue("proxy2", "/CN=proxy"), headers=forged) == 401
    assert world.whoami(cert=world.proxy_pki.issue("other", "/CN=not-the-proxy"), headers=forged) == 401
    xfcc = {"X-Forwarded-Client-Cert": "Cert=\"" + open(world.pki.issue("masters", "/O=system:masters/CN=m")[0]).read().replace("\n", "%0A") + "\""}
    assert world.client()("GET", "/api/v1/secrets", headers=xfcc).code == 403


def test_bootstrap_tokens(world):
    def secret(ident, **data):
        data = {"token-id": ident, "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true", "auth-extra-groups": "system:bootstrappers:test"} | data
        world.admin("POST", "/api/v1/namespaces/kube-system/secrets", {"metadata": {"name": f"bootstrap-token-{ident}"}, "type": "bootstrap.kubernetes.io/token",
                                                                       "stringData": {k: v for k, v in data.items() if v is not None}})
    hour = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    secret("abcdef", expiration=hour)
    secret("expire", expiration="2020-01-01T00:00:00Z")
    secret("nouse0", **{"usage-bootstrap-authentication": None})
    user = mesh.wait_until(lambda: (u := world.whoami("abcdef.0123456789abcdef")) != 401 and u, 5, "the token is accepted")
    assert user["username"] == "system:bootstrap:abcdef"
    assert user["groups"] == ["system:bootstrappers", "system:bootstrappers:test", "system:authenticated"]
    for bad in ("abcdef.0123456789abcdee", "expire.0123456789abcdef", "nouse0.0123456789abcdef", "abcdef.", "zzzzzz.0123456789abcdef"):
        assert world.whoami(bad) == 401, bad
    world.admin("DELETE", "/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef")
    mesh.wait_until(lambda: world.whoami("abcdef.0123456789abcdef") == 401, 1, "a deleted token is rejected")


def test_impersonation_reaches_the_audit_log(world):
    headers = {"Impersonate-User": "acted-as", "Impersonate-Group": "g", "Impersonate-Uid": "i-1", "Impersonate-Extra-acme.com%2fscope": "view"}
    user = world.whoami(mesh.ADMIN_TOKEN, headers=headers)
    assert (user["username"], user["uid"], user["groups"], user["extra"]) == ("acted-as", "i-1", ["g", "system:authenticated"], {"acme.com/scope": ["view"]})

    def recorded():
        whole = world.audit.read_text().rpartition("\n")[0]  # the log is written after the response, so the last line can be incomplete
        return next((event for line in whole.splitlines() if (event := json.loads(line)).get("impersonatedUser", {}).get("username") == "acted-as"), None)

    event = mesh.wait_until(recorded, 5, "the request is in the audit log")
    assert event["user"]["username"] == "admin" and event["impersonatedUser"]["uid"] == "i-1"
    assert event["authenticationMetadata"] == {"impersonationConstraint": "impersonate:user-info"}
    assert world.whoami(gold(world), headers=headers) == 403


def kubectl(world, *arguments, token=mesh.ADMIN_TOKEN, **more):
    return world.server.kubectl(f"--token={token}", *arguments, **more)


def test_kubectl_auth(world):
    who = json.loads(kubectl(world, "auth", "whoami", "-o", "json").stdout)
    assert who["status"]["userInfo"]["username"] == "admin" and "system:masters" in who["status"]["userInfo"]["groups"]
    assert "*.*" in kubectl(world, "auth", "can-i", "--list").stdout
    world.rules.clear()
    kubectl(world, "create", "clusterrole", "reader", "--verb=get,list", "--resource=pods,deployments.apps")
    kubectl(world, "create", "rolebinding", "reader", "--clusterrole=reader", "--user=oidc:jane")
    token = gold(world)
    listed = mesh.wait_until(lambda: "deployments.apps" in (out := kubectl(world, "auth", "can-i", "--list", token=token).stdout) and out, 2, "the role binding has an effect")
    assert "selfsubjectreviews.authentication.k8s.io" in listed
    assert kubectl(world, "auth", "can-i", "list", "pods", token=token).stdout.strip() == "yes"
    assert kubectl(world, "auth", "can-i", "delete", "pods", token=token, check=False).stdout.strip() == "no"
    assert kubectl(world, "auth", "can-i", "list", "pods", "-n", "kube-system", token=token, check=False).stdout.strip() == "no"
    assert kubectl(world, "auth", "can-i", "delete", "pods", "--as=system:admin", "--as-group=system:masters").stdout.strip() == "yes"


def test_kubectl_create_token(world):
    kubectl(world, "create", "serviceaccount", "robot")
    token = kubectl(world, "create", "token", "robot", "--duration=20m").stdout.strip()
    user = world.whoami(token)
    assert user["username"] == "system:serviceaccount:default:robot"
    assert user["groups"] == ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
    assert user["extra"]["authentication.kubernetes.io/credential-id"][0].startswith("JTI=")
    other = kubectl(world, "create", "token", "robot", "--audience=elsewhere").stdout.strip()
    assert world.whoami(other) == 401
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": other, "audiences": ["elsewhere", "nowhere"]}}
    status = world.admin("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review).json()["status"]
    assert status["authenticated"] and status["audiences"] == ["elsewhere"]
    kubectl(world, "delete", "serviceaccount", "robot")
    mesh.wait_until(lambda: world.whoami(token) == 401, 1, "the token of a deleted account is rejected")


def test_metrics(world):
    text = world.admin.get("/metrics").body
    for name in ("authentication_attempts{", "authenticated_user_requests{", "authentication_duration_seconds_bucket{", "authorization_attempts_total{",
                 "authorization_duration_seconds_bucket{", "apiserver_impersonation_attempts_total{", "apiserver_authorization_decisions_total{",
                 "authentication_token_cache_request_total{", "authentication_token_cache_fetch_total{"):
        assert name in text, name
    assert 'result="error"' in text and 'username="other"' in text and "oidc:jane" not in text

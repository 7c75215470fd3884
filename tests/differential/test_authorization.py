"""Compares the RBAC and Node authorizers with the real kube-apiserver: decisions and reasons of access reviews, and responses to real requests."""
import json
import urllib.parse

import pytest

import auth_questions
import auth_world

REVIEW = "/apis/authorization.k8s.io/v1"
METHODS = {"get": "GET", "list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE",
           "deletecollection": "DELETE", "post": "POST"}


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    ours, reference = auth_world.both(tmp_path_factory.mktemp("auth"))
    yield ours, reference
    ours.stop()
    reference.stop()


def report(differences, asked):
    assert not differences, f"{len(differences)} of {asked} differ:\n" + "\n".join(differences)


def several_bindings(spec, ours, reference):
    """Returns whether several bootstrap roles allow this path to everyone. Which of them the real server names as the reason is random."""
    named = [str(status.get("reason")).startswith("RBAC: allowed by ClusterRoleBinding \"system:") for status in (ours, reference)]
    return "nonResourceAttributes" in spec and ours["allowed"] and reference["allowed"] and all(named)


def test_every_review_is_answered_alike(sides):
    questions = auth_questions.all_questions()
    assert len(questions) >= 200
    differences, allowed = [], 0
    for spec in questions:
        ours, reference = (side.client("POST", f"{REVIEW}/subjectaccessreviews", {"spec": spec}).json() for side in sides)
        ours, reference = ours.get("status"), reference.get("status")
        allowed += bool(isinstance(reference, dict) and reference.get("allowed"))
        if ours != reference and not several_bindings(spec, ours, reference):
            differences.append(f"{json.dumps(spec)}\n   ours {json.dumps(ours)}\n   real {json.dumps(reference)}")
    report(differences, len(questions))
    assert 100 < allowed < len(questions) - 100, "at least 100 reviews must be allowed and at least 100 denied"


def request_for(spec):
    """Returns (method, path) of a request with these attributes, or None if there is no such request."""
    if "nonResourceAttributes" in spec:
        a = spec["nonResourceAttributes"]
        path = a["path"]
        # Requests for /logs can fail with 403 or 404 for other reasons than authorization.
        return (METHODS[a["verb"]], path) if path.startswith("/") and not path.startswith("/logs") else None
    a = spec["resourceAttributes"]
    verb, ns, group, name, sub = (a.get(key, "") for key in ("verb", "namespace", "group", "name", "subresource"))
    resource = a["resource"]
    if verb not in METHODS or resource == "*" or "labelSelector" in a or (sub and not name):
        return None
    single = verb in ("get", "update", "patch", "delete")
    if single != bool(name) and not (verb == "create" and sub):
        return None
    path = (f"/apis/{group}/v1" if group else "/api/v1") + (f"/namespaces/{ns}" if ns else "") + f"/{resource}"
    path += (f"/{urllib.parse.quote(name)}" if name else "") + (f"/{sub}" if sub else "")
    query = {"watch": "1", "timeoutSeconds": "1"} if verb == "watch" else {}
    for requirement in a.get("fieldSelector", {}).get("requirements", []):
        if len(requirement["values"]) != 1:
            return None
        sign = "=" if requirement["operator"] == "In" else "!="
        query["fieldSelector"] = f"{requirement['key']}{sign}{requirement['values'][0]}"
    if raw := a.get("fieldSelector", {}).get("rawSelector"):
        query["fieldSelector"] = raw
    return METHODS[verb], path + ("?" + urllib.parse.urlencode(query) if query else "")


def test_real_requests_are_refused_alike(sides):
    differences, refused, asked = [], 0, 0
    for spec in auth_questions.all_questions():
        request = request_for(spec)
        if not request or not spec["user"] or not spec["user"].isascii():
            continue
        method, path = request
        asked += 1
        # Dry runs with an empty body: a request that is allowed fails after the authorization and changes nothing.
        if method != "GET":
            path += ("&" if "?" in path else "?") + "dryRun=All"
        body = {} if method in ("POST", "PUT", "PATCH") else None
        ours, reference = (side.as_user(spec["user"], method, path, body, spec["groups"]) for side in sides)
        if reference.code == 403:
            refused += 1
            a, b = (parsed(answer) for answer in (ours, reference))
            if a != b:
                differences.append(f"{spec['user']} {method} {path}\n   ours {ours.code} {ours.body}\n   real {reference.code} {reference.body}")
        elif ours.code == 403:
            differences.append(f"{spec['user']} {method} {path}\n   ours {ours.code} {ours.body}\n   real {reference.code} {reference.body[:200]}")
    report(differences, asked)
    assert asked >= 200 and refused >= 80


def parsed(answer):
    try:
        return answer.code, answer.json()
    except ValueError:
        return answer.code, answer.body


def normal(rules):
    return sorted(json.dumps(rule, sort_keys=True) for rule in rules or [])


@pytest.mark.parametrize("spec", [auth_questions.who("alice"), auth_questions.who("bob", "system:authenticated"), auth_questions.who("dave", "team"),
                                  auth_questions.node("n1"), auth_questions.MASTERS, auth_questions.who("greta"), auth_questions.who("viewer"),
                                  auth_questions.who("url-getter"), auth_questions.account("blue", "builder"), auth_questions.who("dangling"),
                                  auth_questions.who("batcher"), auth_questions.who("actor")], ids=lambda spec: spec["user"])
@pytest.mark.parametrize("ns", ["blue", "green", "no-such-namespace"])
def test_own_rules_are_listed_alike(sides, spec, ns):
    statuses = []
    for side in sides:
        groups = list(dict.fromkeys([*spec["groups"], "system:authenticated"]))  # without this group, the user may not create the review
        answer = side.as_user(spec["user"], "POST", f"{REVIEW}/selfsubjectrulesreviews", {"spec": {"namespace": ns}}, groups)
        assert answer.code == 201, answer.body
        statuses.append(answer.json()["status"])
    ours, reference = statuses
    assert normal(ours["resourceRules"]) == normal(reference["resourceRules"])
    assert normal(ours["nonResourceRules"]) == normal(reference["nonResourceRules"])
    assert ours["incomplete"] == reference["incomplete"]
    assert ours.get("evaluationError") == reference.get("evaluationError")


BAD_REVIEWS = [("subjectaccessreviews", {}), ("subjectaccessreviews", {"user": "x"}), ("subjectaccessreviews", {"resourceAttributes": {"verb": "get"}}),
               ("subjectaccessreviews", {"user": "x", "resourceAttributes": {}, "nonResourceAttributes": {}}),
               ("selfsubjectaccessreviews", {}), ("selfsubjectaccessreviews", {"resourceAttributes": {}, "nonResourceAttributes": {}}),
               ("namespaces/blue/localsubjectaccessreviews", {"user": "x", "resourceAttributes": {"namespace": "green"}}),
               ("namespaces/blue/localsubjectaccessreviews", {"user": "x", "nonResourceAttributes": {"path": "/"}}),
               ("namespaces/blue/localsubjectaccessreviews", {"user": "alice", "resourceAttributes": {"namespace": "blue", "resource": "pods", "verb": "get"}}),
               ("selfsubjectrulesreviews", {}),
               ("subjectaccessreviews", {"user": "x", "resourceAttributes": {"fieldSelector": {"rawSelector": "a=b", "requirements": [{"key": "a", "operator": "In"}]}}}),
               ("subjectaccessreviews", {"user": "x", "resourceAttributes": {"fieldSelector": {}}}),
               ("subjectaccessreviews", {"user": "x", "resourceAttributes": {"fieldSelector": {"requirements": [{"key": "", "operator": "Bad"}]}}}),
               ("subjectaccessreviews", {"user": "x", "resourceAttributes": {"labelSelector": {"requirements": [{"key": "a", "operator": "Exists", "values": ["b"]}]}}}),
               ("subjectaccessreviews", {"user": "x", "resourceAttributes": {"labelSelector": {"rawSelector": "!!"}, "verb": "list", "resource": "pods"}})]


@pytest.mark.parametrize("resource,spec", BAD_REVIEWS, ids=[str(i) for i in range(len(BAD_REVIEWS))])
def test_reviews_that_make_no_sense(sides, resource, spec):
    ours, reference = (side.client("POST", f"{REVIEW}/{resource}", {"spec": spec}) for side in sides)
    a, b = ours.json(), reference.json()
    for document in (a, b):
        document.get("metadata", {}).pop("managedFields", None)
    assert (ours.code, a) == (reference.code, b)


IMPERSONATIONS = [
    ("actor", [("Impersonate-User", "alice")]), ("actor", [("Impersonate-User", "eve")]), ("actor", [("Impersonate-User", "alice"), ("Impersonate-Group", "team")]),
    ("actor", [("Impersonate-User", "alice"), ("Impersonate-Group", "system:masters")]), ("actor", [("Impersonate-Group", "team")]),
    ("actor", [("Impersonate-Uid", "u-1")]), ("actor", [("Impersonate-Extra-scopes", "view")]),
    ("actor", [("Impersonate-User", "alice"), ("Impersonate-Uid", "u-1"), ("Impersonate-Extra-scopes", "view")]),
    ("actor", [("Impersonate-User", "alice"), ("Impersonate-Uid", "u-2")]),
    ("actor", [("Impersonate-User", "alice"), ("Impersonate-Extra-scopes", "edit")]),
    ("actor", [("Impersonate-User", "alice"), ("Impersonate-Extra-other%2fkey", "x")]),
    ("actor", [("Impersonate-User", "system:serviceaccount:blue:builder")]), ("actor", [("Impersonate-User", "system:serviceaccount:blue:runner")]),
    ("actor", [("Impersonate-User", "system:serviceaccount::")]), ("actor", [("Impersonate-User", "")]),
    ("admin", [("Impersonate-User", "system:anonymous")]), ("admin", [("Impersonate-User", "x"), ("Impersonate-Group", "system:unauthenticated")]),
    ("admin", [("Impersonate-User", "x"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b"), ("Impersonate-Uid", "7"),
               ("Impersonate-Extra-Some-Key", "1"), ("Impersonate-Extra-some-key", "2"), ("Impersonate-Extra-acme.com%2fproject", "p")]),
    ("admin", [("Impersonate-User", "system:node:n1")]), ("admin", [("Impersonate-User", "system:node:n1"), ("Impersonate-Group", "system:nodes")]),
]


CONSTRAINED = [
    [("Impersonate-User", "alice")], [("Impersonate-User", "eve")], [("Impersonate-User", "alice"), ("Impersonate-Group", "team")],
    [("Impersonate-User", "alice"), ("Impersonate-Group", "system:masters")], [("Impersonate-User", "alice"), ("Impersonate-Group", "")],
    [("Impersonate-User", "alice"), ("Impersonate-Uid", "u-1")], [("Impersonate-User", "alice"), ("Impersonate-Uid", "u-2")],
    [("Impersonate-User", "alice"), ("Impersonate-Extra-acme.com%2fscope", "view")], [("Impersonate-User", "alice"), ("Impersonate-Extra-scope", "view")],
    [("Impersonate-User", "alice"), ("Impersonate-Extra-acme.com%2fscope", "")], [("Impersonate-User", "system:serviceaccount:blue:builder")],
    [("Impersonate-User", "system:serviceaccount:blue:runner")], [("Impersonate-User", "system:serviceaccount:blue:builder"), ("Impersonate-Group", "team")],
    [("Impersonate-User", "system:node:n1")], [("Impersonate-User", "system:node:n2")], [("Impersonate-User", "system:node:n1"), ("Impersonate-Group", "system:nodes")],
    [("Impersonate-User", "system:node:BAD")], [("Impersonate-User", "system:anonymous")],
    [("Impersonate-User", "alice")] + [("Impersonate-Group", f"g{i}") for i in range(5)],
    [("Impersonate-User", "<b>&")],
]


@pytest.mark.parametrize("i", range(len(CONSTRAINED)))
def test_constrained_impersonation(sides, i):
    answers = []
    for side in sides:
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        token = ("Authorization", "Bearer " + auth_world.FRESH_TOKENS[i])
        code, document = parsed(side.raw("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", [token, *CONSTRAINED[i]], body))
        answers.append((code, document.get("status") if code == 201 else document))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("actor,headers", IMPERSONATIONS, ids=[str(i) for i in range(len(IMPERSONATIONS))])
def test_impersonation(sides, actor, headers):
    answers = []
    for side in sides:
        tokens = {"admin": auth_world.mesh.ADMIN_TOKEN, "actor": auth_world.ACTOR_TOKEN}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        answer = side.raw("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", [("Authorization", "Bearer " + tokens[actor]), *headers], body)
        code, document = parsed(answer)
        answers.append((code, document.get("status") if code == 201 else document))
    assert answers[0] == answers[1]

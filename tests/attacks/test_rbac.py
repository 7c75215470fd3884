"""Roles and bindings that make decisions expensive. The owner of a namespace may write roles in it, and authn-authz decides for all clients."""
import pytest

import mesh
from cost import Cost

RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
MAPS = "/api/v1/namespaces/default/configmaps"
NAMES = [f"n{i}" for i in range(20_000)]
RULES_REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rbac")
    store = mesh.Store(folder / "store")
    server = mesh.KubeApiserver(folder, store.url)
    tokens = folder / "tokens.csv"
    tokens.write_text(tokens.read_text() + "".join(f"{name}-token,{name},{name}\n" for name in ("owner", "joe", "ann")))
    server.start()
    mesh.wait_until(lambda: server.client.answers(MAPS), 20, "config maps are served")
    rules = [{"apiGroups": [""], "resources": ["*"], "verbs": ["*"]}, {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"], "verbs": ["create"]}]
    assert server.client("POST", f"{RBAC}/roles", {"metadata": {"name": "owner"}, "rules": rules}).code == 201
    assert server.client("POST", f"{RBAC}/rolebindings", binding("owner", "owner")).code == 201
    server.owner, server.joe, server.ann = (mesh.Client(server.url, f"{name}-token") for name in ("owner", "joe", "ann"))
    mesh.wait_until(lambda: server.owner.answers(MAPS), 10, "the owner may list")
    yield server
    server.stop()
    store.stop()


def binding(name, user):
    subject = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}
    return {"metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}, "subjects": [subject]}


def grant(server, name, user, rules):
    assert server.owner("POST", f"{RBAC}/roles", {"metadata": {"name": name}, "rules": rules}, timeout=60).code == 201
    assert server.owner("POST", f"{RBAC}/rolebindings", binding(name, user)).code == 201


def test_rules_with_many_combinations(world):
    """Attack: the owner of a namespace creates a Role whose lists of verbs, resources and names have 1,600,000 combinations, in 200 kB.
    Expected: the first decision takes at most 0.1 s of CPU time and 30 MB, and decisions are right.
    Why: rules are indexed by their combinations. An index of all of them takes 1.3 s and 130 MB for this role, during which nobody is authorized."""
    wide = {"apiGroups": [""], "resources": ["configmaps", "endpoints", "events", "limitranges", "pods", "replicationcontrollers", "services", "secrets"],
            "verbs": ["get", "list", "watch"], "resourceNames": NAMES}
    single = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": [f"x{i}"]} for i in range(40)]
    grant(world, "wide", "joe", [wide, *single])
    with Cost(world) as cost:
        mesh.wait_until(lambda: world.joe.get(f"{MAPS}/n19999").code == 404, 10, "the role is in effect")
        assert world.joe.get(f"{MAPS}/x39").code == 404
        assert world.joe.get(f"{MAPS}/other").code == 403
        assert world.joe("DELETE", f"{MAPS}/n1").code == 403
    cpu, memory = cost.by_process["authn-authz"]
    assert cpu < 0.1 * mesh.SLOWDOWN, cost.by_process
    assert memory < 30e6 * mesh.SLOWDOWN, cost.by_process


def test_reviews_of_many_rules(world):
    """Attack: a user with 150,000 rules asks for them. Expected: a part of the rules, marked as incomplete, with at most 0.3 s of CPU time and 64 MB, and
    other clients wait less than a second. Why: the list is converted three times on its way to the client, by the threads of small requests."""
    for role in range(30):
        grant(world, f"many{role}", "ann", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": [f"p{role}-{i}"]} for i in range(5000)])
    mesh.wait_until(lambda: world.ann.get("/api/v1/namespaces/default/pods/p29-4999").code == 404, 20, "the roles are in effect")
    with Cost(world) as cost:
        answer = world.ann("POST", RULES_REVIEW, {"spec": {"namespace": "default"}}, timeout=60)
    assert answer.code == 201, answer.body[:300]
    status = answer.json()["status"]
    assert status["incomplete"] and "too many rules" in status["evaluationError"]
    assert len(status["resourceRules"]) > 1000
    assert cost.cpu < 0.3 * mesh.SLOWDOWN, cost.by_process
    assert cost.memory < 64e6 * mesh.SLOWDOWN, cost.by_process


def test_small_reviews_are_complete(world):
    """Not an attack: the same question of a user with few rules."""
    status = world.owner("POST", RULES_REVIEW, {"spec": {"namespace": "default"}}).json()["status"]
    assert not status["incomplete"] and "evaluationError" not in status

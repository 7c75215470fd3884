"""Custom resources with a conversion webhook: both servers call the same webhook, which answers correctly or with one of many faults."""
import json
import time

import pytest

import cases
import conversion_webhook
import test_requests
from conversion_webhook import BODY_FAULTS, OBJECT_FAULTS, REVIEW_FAULTS, ConversionWebhook, box, definition, group_of
from pki import Pki

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIG = {"url": "https://127.0.0.1:$PORT/$FAULT", "caBundle": "$CA"}


def path(plural, version, name=""):
    return f"/apis/{group_of(plural)}/{version}/namespaces/default/{plural}" + (f"/{name}" if name else "")


def define(plural, **options):
    return [{"do": f"POST {CRDS}", "body": definition(plural, options.pop("config", CONFIG), **options), "setup": True},
            {"do": f"GET {path(plural, 'v1')}", "until": 200, "setup": True}]


def send(method, where, body, **options):
    return {"do": f"{method} {where}", "body": body, **options}


def remove(plural):
    return [{"do": f"DELETE {CRDS}/{plural}.{group_of(plural)}", "setup": True}]


def faulty(plural):
    """Reads and writes through the version that needs the webhook."""
    return define(plural) + [
        send("POST", path(plural, "v1"), box(plural, "a"), setup=True),
        {"do": f"GET {path(plural, 'v2', 'a')}"},
        {"do": f"GET {path(plural, 'v2')}"},
        send("POST", path(plural, "v2"), box(plural, "b", "v2")),
        {"do": f"GET {path(plural, 'v1', 'a')}"},
        send("PATCH", path(plural, "v2", "a"), {"spec": {"hostPort": "x:2"}}, type="merge"),
        {"do": f"DELETE {path(plural, 'v2', 'a')}"},
        {"do": f"DELETE {path(plural, 'v1', 'a')}", "setup": True},
    ] + remove(plural)


def flow(plural, **options):
    """All verbs through both versions."""
    v1, v2 = path(plural, "v1"), path(plural, "v2")
    return define(plural, **options) + [
        send("POST", v1, box(plural, "a", host="h", port="1", onlyv1="x", replicas=1)),
        {"do": f"GET {v2}/a"},
        send("POST", v2, box(plural, "b", "v2", hostPort="h:2", onlyv2="y")),
        {"do": f"GET {v1}/b"},
        {"do": f"GET {v2}/b"},
        {"do": f"GET {v1}"},
        {"do": f"GET {v2}"},
        {"do": f"GET {v2}", "accept": "table"},
        {"do": f"GET {v2}/b", "accept": "partial"},
        send("POST", v2, {**box(plural, "c", "v2"), "spec": {"hostPort": 3}}),
        send("PATCH", f"{v2}/a", {"spec": {"hostPort": "x:3"}, "metadata": {"labels": {"l": "1"}}}, type="merge"),
        send("PATCH", f"{v2}/a", [{"op": "replace", "path": "/spec/hostPort", "value": "y:4"}], type="jsonpatch"),
        send("PATCH", f"{v2}/a", {"metadata": {"labels": {"l": "1"}}}, type="merge"),
        {"do": f"GET {v1}/a"},
        {"do": f"GET {v2}?labelSelector=l%3D1"},
        send("PATCH", f"{v2}/a?fieldManager=one", box(plural, "a", "v2", hostPort="z:5"), type="apply"),
        send("PATCH", f"{v2}/a?fieldManager=one&force=true", box(plural, "a", "v2", hostPort="z:5"), type="apply"),
        send("PATCH", f"{v1}/a?fieldManager=two", box(plural, "a", "v1", host="z", port="6"), type="apply"),
        send("PATCH", f"{v1}/a?fieldManager=two&force=true", box(plural, "a", "v1", host="z", port="6"), type="apply"),
        send("PATCH", f"{v2}/a?fieldManager=one", box(plural, "a", "v2", hostPort="z:6"), type="apply"),
        {"do": f"GET {v2}/a"},
        send("PATCH", f"{v2}/new?fieldManager=one", box(plural, "new", "v2", hostPort="n:6"), type="apply"),
        send("PATCH", f"{v2}/a/status", {"status": {"phase": "Up", "replicas": 2}}, type="merge"),
        {"do": f"GET {v1}/a/status"},
        {"do": f"GET {v2}/a/scale"},
        send("PATCH", f"{v2}/a/scale", {"spec": {"replicas": 3}}, type="merge"),
        {"do": f"GET {v1}/a"},
        send("PATCH", f"{v2}/a?dryRun=All", {"spec": {"hostPort": "d:1"}}, type="merge"),
        {"do": f"DELETE {v2}/a"},
        {"do": f"DELETE {v2}"},
        {"do": f"GET {v2}"},
    ] + remove(plural)


CASES = {"flow": ("ok", flow("flows")), "flow_v1beta1": ("ok", flow("betas", review_versions=("v1beta1", "v1"))),
         "flow_stored_as_v2": ("ok", flow("seconds", storage="v2")),
         "flow_with_undeclared_fields": ("sloppy", flow("sloppys")),
         "refused": ("refused", faulty("refused")), "unknown_ca": ("ok", None), "no_such_service": ("ok", None),
         "certificate_without_addresses": ("ok", faulty("nameless")), "certificate_of_another_address": ("ok", faulty("misnamed"))}
CASES |= {fault.replace("-", "_"): (fault, faulty(fault.replace("-", "") + "s")) for fault in (*OBJECT_FAULTS, *REVIEW_FAULTS, *BODY_FAULTS)}


def case_of(name):
    fault, steps = CASES[name]
    if name == "unknown_ca":
        steps = define("strangers", config={"url": CONFIG["url"]}) + faulty("strangers")[2:]
    if name == "no_such_service":
        config = {"service": {"namespace": "default", "name": "missing", "path": "/ok"}, "caBundle": "$CA"}
        steps = define("orphans", config=config) + faulty("orphans")[2:]
    return cases.Case("conversion", name, {"FAULT": fault}, steps)


@pytest.fixture(scope="module")
def webhook(tmp_path_factory):
    made = ConversionWebhook(Pki(tmp_path_factory.mktemp("webhook")))
    yield made
    made.stop()


# The subject alternative names of the webhook's certificate, for the cases in which it is wrong.
WRONG_NAMES = {"certificate_without_addresses": "DNS:hook.default.svc", "certificate_of_another_address": "IP:127.0.0.2,DNS:localhost"}


@pytest.mark.parametrize("name", WRONG_NAMES)
def test_certificates(name, tmp_path, sides, both, known_differences):
    webhook = ConversionWebhook(Pki(tmp_path), WRONG_NAMES[name])
    case = case_of(name)
    case.variables |= {"PORT": webhook.server.port, "CA": webhook.ca_bundle()}
    try:
        test_requests.compare_case(case, sides, both, known_differences)
    finally:
        webhook.stop()


@pytest.mark.parametrize("name", sorted(set(CASES) - set(WRONG_NAMES)))
def test_same_answers(name, webhook, sides, both, known_differences):
    case = case_of(name)
    # No server listens at port 1.
    case.variables |= {"PORT": 1 if name == "refused" else webhook.server.port, "CA": webhook.ca_bundle()}
    test_requests.compare_case(case, sides, both, known_differences)


def test_same_reviews(webhook, sides, both, known_differences):
    """The webhook receives the same bytes from both servers, apart from identifiers, times and the objects in one request."""
    seen = {}
    for side in sides:
        plural = "reviews"
        webhook.reviews.clear()
        case = cases.Case("conversion", "reviews", {"FAULT": "ok", "PORT": webhook.server.port, "CA": webhook.ca_bundle()},
                          define(plural) + [send("POST", path(plural, "v2"), box(plural, "b", "v2"), setup=True), {"do": f"GET {path(plural, 'v2')}", "setup": True}] + remove(plural))
        side.saved = {"run": cases.RUN}
        for step in case.steps:
            side.run(step, case.variables)
        # Definitions of earlier tests are removed in the background; their webhooks have other paths.
        seen[side.name] = {shape(where, body) for where, body in webhook.reviews if where.startswith("/ok")}
    assert seen["ours"] == seen["reference"]


def test_an_invalid_ca_bundle(sides, both, known_differences):
    """The definition is not established; requests for its objects fail, and discovery does not list them."""
    plural = "bundles"
    crd = f"{CRDS}/{plural}.{group_of(plural)}"
    steps = [{"do": f"POST {CRDS}", "body": definition(plural, {"url": "https://127.0.0.1:1/x", "caBundle": "aW52YWxpZA=="}), "setup": True},
             {"do": f"GET {path(plural, 'v1')}", "until": 500}]
    for version in ("v1", "v2", "v3"):
        steps += [{"do": f"GET {path(plural, version)}"}, {"do": f"GET {path(plural, version, 'a')}"}, send("POST", path(plural, version), box(plural, "a", version)),
                  {"do": f"GET /apis/{group_of(plural)}/{version}"}]
    steps += [{"do": f"GET {path('other' + plural, 'v1')}"}, {"do": f"DELETE {crd}", "setup": True}]
    test_requests.compare_case(cases.Case("conversion", "invalid_ca_bundle", {}, steps), sides, both, known_differences)


@pytest.mark.parametrize("strategy", ["None", "Webhook"])
def test_an_update_that_changes_nothing_moves_an_object_to_the_storage_version(strategy, webhook, sides):
    """Both servers write an object again if it is stored in another version, and return the same dry runs. With the conversion "None", they write it with every
    update through a version that has other defaults than the storage version."""
    seen = {}
    for side in sides:
        plural = f"moved{strategy.lower()}s"
        crd = definition(plural, {"url": webhook.url(), "caBundle": webhook.ca_bundle()})
        if strategy == "None":
            del crd["spec"]["conversion"]
            for version in crd["spec"]["versions"]:  # the webhook of the other case removes what the other version does not have
                version["schema"]["openAPIV3Schema"]["properties"]["spec"] = {"type": "object", "properties": {
                    "size": {"type": "string"}, f"only{version['name']}": {"type": "string"}, f"default{version['name']}": {"type": "string", "default": "d"}}}
        side.saved = {"run": cases.RUN}

        def run(step):
            reply = side.run(step, {})
            assert reply.status < 300, reply.body
            return json.loads(reply.body)

        def touch(version):
            """Sends an empty patch. Returns whether the object was written."""
            before = run({"do": f"GET {path(plural, version, 'a')}"})
            after = run(send("PATCH", path(plural, version, "a"), {}, type="merge"))
            return before["metadata"]["resourceVersion"] != after["metadata"]["resourceVersion"]

        specs = [{"host": "h", "port": "1"}, {"hostPort": "h:1"}] if strategy == "Webhook" else [{"size": "1", "onlyv1": "x"}, {"size": "1", "onlyv2": "x"}]
        run({"do": f"POST {CRDS}", "body": crd})
        run({"do": f"GET {path(plural, 'v1')}", "until": 200})
        run(send("POST", path(plural, "v1"), box(plural, "a", "v1", **specs[0])))
        dry_runs = [run(send("POST", path(plural, version) + "?dryRun=All", box(plural, "b", version, **spec)))["spec"] for version, spec in zip(("v1", "v2"), specs)]
        results = [touch("v1"), touch("v1")]
        swap = [{"op": "replace", "path": f"/spec/versions/{i}/storage", "value": i == 1} for i in (0, 1)]
        run(send("PATCH", f"{CRDS}/{plural}.{group_of(plural)}", swap, type="jsonpatch"))
        time.sleep(1)  # until the new definition is served
        results += [touch("v1"), touch("v1")]
        seen[side.name] = results, dry_runs, run({"do": f"GET {path(plural, 'v2', 'a')}"})["spec"]
        run({"do": f"DELETE {CRDS}/{plural}.{group_of(plural)}"})
    assert seen["ours"] == seen["reference"]
    assert seen["ours"][0][2] is True


def shape(where, body):
    """A request without what may differ: its text with the values of identifiers and times replaced."""
    review = json.loads(body)
    assert list(review) == ["kind", "apiVersion", "request", "response"] and body.endswith(b"}\n")
    request = review["request"]
    assert list(request) == ["uid", "desiredAPIVersion", "objects"] and len(request["uid"]) == 36
    request["uid"] = "uid"
    for item in request["objects"]:
        item["metadata"]["uid"], item["metadata"]["creationTimestamp"] = "uid", "time"
        for entry in item["metadata"].get("managedFields", []):
            entry["time"] = "time"
            entry["manager"] = "manager"
    return where, json.dumps(review)


def test_every_fault_has_a_case():
    assert {fault for fault, _ in CASES.values()} >= set(conversion_webhook.OBJECT_FAULTS) | set(conversion_webhook.REVIEW_FAULTS)

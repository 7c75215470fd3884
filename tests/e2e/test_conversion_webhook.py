"""Conversion webhooks: the versions of a custom resource, the cache of converted objects, watches, and a webhook that fails."""
import json
import threading
import time

import pytest

import mesh
from conversion_webhook import ConversionWebhook, box, definition, group_of
from pki import Pki
from watching import Watch

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture(scope="module")
def webhook(tmp_path_factory):
    made = ConversionWebhook(Pki(tmp_path_factory.mktemp("webhook")))
    yield made
    made.stop()


class Boxes:
    """A definition with a webhook, and the paths of its objects."""

    def __init__(self, server, webhook, plural, client_config=None, **options):
        self.client, self.webhook, self.plural = server.client, webhook, plural
        config = client_config or {"url": webhook.url(), "caBundle": webhook.ca_bundle()}
        answer = self.client("POST", CRDS, definition(plural, config, **options))
        assert answer.code == 201, answer.body
        assert "Warning" not in answer.headers
        mesh.wait_until(lambda: self.client.get(self.path("v2")).code == 200, 10, "both versions are served")

    def path(self, version, name=""):
        return f"/apis/{group_of(self.plural)}/{version}/namespaces/default/{self.plural}" + (f"/{name}" if name else "")

    def create(self, name, version="v1", **spec):
        answer = self.client("POST", self.path(version), box(self.plural, name, version, **spec))
        assert answer.code == 201, answer.body
        return answer.json()

    def get(self, version, name=""):
        return self.client.get(self.path(version, name))


def test_every_verb_converts(server, webhook):
    boxes = Boxes(server, webhook, "verbs")
    made = boxes.create("a", "v2", hostPort="x:1")
    assert made["apiVersion"] == "verbs.example.com/v2" and made["spec"]["hostPort"] == "x:1"
    assert boxes.get("v1", "a").json()["spec"]["host"] == "x"
    made["spec"]["hostPort"] = "y:2"
    made = boxes.client("PUT", boxes.path("v2", "a"), made).json()
    assert made["spec"]["hostPort"] == "y:2" and made["metadata"]["generation"] == 2
    patched = boxes.client("PATCH", boxes.path("v2", "a"), {"spec": {"hostPort": "z:3"}}, headers={"Content-Type": "application/merge-patch+json"}).json()
    assert patched["spec"]["hostPort"] == "z:3"
    assert (boxes.get("v1", "a").json()["spec"]["host"], boxes.get("v1", "a").json()["spec"]["port"]) == ("z", "3")
    status = boxes.client("PATCH", boxes.path("v2", "a") + "/status", {"status": {"phase": "Up"}}, headers={"Content-Type": "application/merge-patch+json"})
    assert status.code == 200 and boxes.get("v1", "a").json()["status"]["phase"] == "Up"
    scaled = boxes.client("PATCH", boxes.path("v2", "a") + "/scale", {"spec": {"replicas": 3}}, headers={"Content-Type": "application/merge-patch+json"})
    assert scaled.code == 200, scaled.body
    assert boxes.get("v1", "a").json()["spec"]["replicas"] == 3
    applied = boxes.client("PATCH", boxes.path("v2", "a") + "?fieldManager=m&force=true", json.dumps(box("verbs", "a", "v2", hostPort="w:4")),
                           headers={"Content-Type": "application/apply-patch+yaml"})
    assert applied.code == 200, applied.body
    assert boxes.get("v1", "a").json()["spec"]["host"] == "w"
    assert [item["spec"]["hostPort"] for item in boxes.get("v2").json()["items"]] == ["w:4"]
    assert boxes.client("DELETE", boxes.path("v2", "a")).code == 200
    assert boxes.get("v1", "a").code == 404


def test_reads_of_unchanged_objects_do_not_call_the_webhook(server, webhook):
    boxes = Boxes(server, webhook, "caches")
    for number in range(30):
        boxes.create(f"b{number}")
    assert len(boxes.get("v2").json()["items"]) == 30
    calls = len(webhook.reviews)
    for _ in range(5):
        assert len(boxes.get("v2").json()["items"]) == 30
        assert boxes.get("v2", "b7").json()["spec"]["hostPort"] == "h:1"
    assert len(webhook.reviews) == calls
    boxes.create("new")
    assert len(boxes.get("v2").json()["items"]) == 31
    converted = sum(len(json.loads(body)["request"]["objects"]) for _, body in webhook.reviews[calls:])
    assert converted == 1


def test_a_watch_has_every_event_once_and_in_order(server, webhook):
    boxes = Boxes(server, webhook, "watches")
    boxes.create("first")
    watch = Watch(server.client, boxes.path("v2"))
    mesh.wait_until(lambda: watch.events, 10, "the watch has the initial state")
    for number in range(20):
        boxes.create(f"c{number}", host="h", port=str(number))
    for number in range(20):
        boxes.client("DELETE", boxes.path("v1", f"c{number}"))
    boxes.create("last")
    mesh.wait_until(lambda: watch.types("last"), 20, "the last event")
    watch.close()
    seen = [(kind, item["metadata"]["name"], item["spec"]["hostPort"]) for kind, item in watch.events]
    expected = [("ADDED", "first", "h:1")] + [("ADDED", f"c{n}", f"h:{n}") for n in range(20)] + \
        [("DELETED", f"c{n}", f"h:{n}") for n in range(20)] + [("ADDED", "last", "h:1")]
    assert seen == expected


def test_a_webhook_that_is_down_affects_only_its_resource(server, webhook, tmp_path):
    down = ConversionWebhook(Pki(tmp_path))
    boxes = Boxes(server, down, "downs")
    boxes.create("a")
    assert boxes.get("v2", "a").code == 200
    down.broken = True
    failed = boxes.client("POST", boxes.path("v2"), box("downs", "b", "v2"))
    assert failed.code == 500 and "conversion webhook for" in failed.json()["message"], failed.body
    boxes.create("b")  # the storage version does not need the webhook
    assert boxes.get("v2", "a").code == 200  # has not changed since it was converted
    begin = time.monotonic()
    failed = boxes.get("v2", "b")
    assert failed.code == 500 and "conversion webhook for" in failed.json()["message"], failed.body
    assert boxes.get("v2").code == 500
    assert time.monotonic() - begin < 3
    assert server.client.get("/api/v1/namespaces/default/configmaps").code == 200
    assert boxes.get("v1").code == 200
    down.broken = False
    mesh.wait_until(lambda: boxes.get("v2").code == 200, 10, "the objects are converted again")
    assert len(boxes.get("v2").json()["items"]) == 2
    assert server.client("DELETE", f"{CRDS}/downs.{group_of('downs')}").code == 200
    down.stop()


def test_a_webhook_that_hangs_does_not_slow_other_resources(server, webhook, tmp_path):
    hanging = ConversionWebhook(Pki(tmp_path))
    boxes = Boxes(server, hanging, "hangs", {"url": hanging.url("slow"), "caBundle": hanging.ca_bundle()})
    others = Boxes(server, webhook, "quicks")
    for name in ("a", "b"):
        boxes.create(name)
        others.create(name)
    answers = []
    readers = [threading.Thread(target=lambda path=path: answers.append(server.client.get(path))) for path in [boxes.path("v2", "a"), boxes.path("v2")] * 8]
    for reader in readers:
        reader.start()
    mesh.wait_until(lambda: hanging.waiting > 0, 10, "a request waits for the webhook")
    begin = time.monotonic()
    for path in [others.path("v1"), others.path("v2", "a"), boxes.path("v1"), boxes.path("v1", "a"), CRDS, "/api/v1/namespaces/default/configmaps", "/apis/hangs.example.com/v2"] * 10:
        answer = server.client.get(path)
        assert answer.code == 200, (path, answer.body)
    others.create("c", "v2")
    took = time.monotonic() - begin
    assert not answers, "the requests that need the webhook still wait"
    assert took < 5, f"71 requests for other resources took {took:.1f} s"
    hanging.released.set()
    for reader in readers:
        reader.join(30)
    assert [answer.code for answer in answers] == [200] * len(readers)
    hanging.stop()


def test_a_watch_that_a_failing_webhook_ended_can_be_resumed(server, tmp_path):
    webhook = ConversionWebhook(Pki(tmp_path))
    boxes = Boxes(server, webhook, "resumes")
    version = boxes.create("a")["metadata"]["resourceVersion"]
    boxes.get("v2")
    webhook.broken = True
    boxes.create("b")
    assert mesh.wait_until(lambda: server.client.get(boxes.path("v2") + "?watch=true&timeoutSeconds=1").code == 429, 10, "watches are refused")
    webhook.broken = False
    boxes.create("c")
    mesh.wait_until(lambda: server.client.get(boxes.path("v2") + "?watch=true&timeoutSeconds=1").code == 200, 10, "watches are accepted again")
    watch = Watch(server.client, boxes.path("v2") + f"?resourceVersion={version}")
    mesh.wait_until(lambda: len(watch.events) >= 2, 10, "the events since then")
    watch.close()
    names = [item["metadata"]["name"] for _, item in watch.events]
    assert names == ["b", "c"]
    webhook.stop()


def test_the_storage_version_changes(server, webhook):
    plural = "stores"
    boxes = Boxes(server, webhook, plural)
    boxes.create("old")
    crd = server.client.get(f"{CRDS}/{plural}.{group_of(plural)}").json()
    for version in crd["spec"]["versions"]:
        version["storage"] = version["name"] == "v2"
    storage = lambda: server.client.get(f"/apis/{group_of(plural)}/v2").json()["resources"][0]["storageVersionHash"]
    old = storage()
    changed = server.client("PUT", f"{CRDS}/{plural}.{group_of(plural)}", crd)
    assert changed.json()["status"]["storedVersions"] == ["v1", "v2"]
    mesh.wait_until(lambda: storage() != old and boxes.get("v2", "old").code == 200, 10, "served with the new storage version")
    boxes.create("new", "v2")
    for version in ("v1", "v2"):
        assert [item["metadata"]["name"] for item in boxes.get(version).json()["items"]] == ["new", "old"]
    assert boxes.get("v1", "new").json()["spec"]["host"] == "h"
    assert boxes.get("v2", "old").json()["spec"]["hostPort"] == "h:1"
    # An update without changes rewrites an object that is stored in another version, and only such an object.
    before = boxes.get("v2", "old").json()
    migrated = boxes.client("PUT", boxes.path("v2", "old"), before).json()
    assert migrated["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]
    again = boxes.client("PUT", boxes.path("v2", "old"), migrated).json()
    assert again["metadata"]["resourceVersion"] == migrated["metadata"]["resourceVersion"]


def test_a_webhook_behind_a_service(server, webhook):
    service = {"metadata": {"name": "hook"}, "spec": {"type": "ExternalName", "externalName": "127.0.0.1"}}
    assert server.client("POST", "/api/v1/namespaces/default/services", service).code == 201
    config = {"service": {"namespace": "default", "name": "hook", "path": "/ok", "port": webhook.server.port}, "caBundle": webhook.ca_bundle()}
    boxes = Boxes(server, webhook, "services", config)
    boxes.create("a")
    assert boxes.get("v2", "a").json()["spec"]["hostPort"] == "h:1"
    server.client("DELETE", "/api/v1/namespaces/default/services/hook")


def test_metrics_count_the_calls(server):
    text = server.client.get("/metrics").body
    assert "apiserver_conversion_webhook_request_total{" in text and "apiserver_conversion_webhook_duration_seconds_bucket{" in text
    assert "apiserver_crd_conversion_webhook_duration_seconds_bucket" in text

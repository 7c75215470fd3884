"""A conversion webhook, and definitions that use it. In v1 a Box has spec.host and spec.port, in v2 spec.hostPort ("host:port")."""
import base64
import copy
import json
import pathlib
import threading

from tls_server import TlsServer

def group_of(plural):
    """Each definition has its own group, because all of them have the kind Box."""
    return f"{plural}.example.com"


def to_version(item, api_version, sloppy):
    """Converts a Box as a correct webhook does. A sloppy one keeps the fields that the other version does not have."""
    made = copy.deepcopy(item)
    spec = made.get("spec", {})
    old = item["apiVersion"].split("/")[1]
    if not sloppy and not api_version.endswith(old):
        spec.pop(f"only{old}", None)
        spec.pop(f"default{old}", None)
    if api_version.endswith("/v2") and "host" in spec:
        spec["hostPort"] = f"{spec.pop('host')}:{spec.pop('port', '')}"
    elif api_version.endswith("/v1") and "hostPort" in spec:
        spec["host"], spec["port"] = spec.pop("hostPort").split(":", 1)
    made["apiVersion"] = api_version
    return made


def changed(**metadata):
    def change(item):
        item["metadata"].update(metadata)
        return item
    return change


def without(field):
    def change(item):
        del item[field]
        return item
    return change


def replaced(field, value):
    def change(item):
        item[field] = value
        return item
    return change


# What the webhook does at /<name>: changes one converted object.
OBJECT_FAULTS = {
    "name": changed(name="other"), "namespace": changed(namespace="other"), "uid": changed(uid="other"),
    "no-metadata": without("metadata"), "metadata-type": replaced("metadata", "text"), "no-kind": without("kind"), "kind": replaced("kind", "Bag"),
    "group-version": replaced("apiVersion", "x.example.com/v3"), "other-group": replaced("apiVersion", "other.example.com/v2"),
    "label-type": changed(labels={"a": 1}), "labels-type": changed(labels="text"), "bad-label": changed(labels={"a b": "c d"}),
    "bad-annotation": changed(annotations={"a b": "x"}), "labels": changed(labels={"from": "webhook"}, annotations={"from": "webhook"}),
    "finalizers": changed(finalizers=["example.com/x"], generation=7, ownerReferences=[], creationTimestamp="2001-01-01T00:00:00Z", resourceVersion="7"),
    "null-labels": changed(labels=None, annotations=None), "unknown-field": replaced("unknown", {"a": 1}),
}
# Changes the review before it is sent.
REVIEW_FAULTS = {
    "review-uid": lambda review: review["response"].update(uid="wrong"),
    "no-uid": lambda review: review["response"].pop("uid"),
    "no-response": lambda review: review.pop("response"),
    "no-result": lambda review: review["response"].pop("result"),
    "failed": lambda review: review["response"].update(result={"status": "Failed", "message": "the webhook refuses"}),
    "failed-without-message": lambda review: review["response"].update(result={"status": "Failed"}),
    "too-many": lambda review: review["response"]["convertedObjects"].append({"apiVersion": "v1", "kind": "Box"}),
    "too-few": lambda review: review["response"].update(convertedObjects=[]),
    "review-kind": lambda review: review.update(kind="Other"),
    "review-version": lambda review: review.update(apiVersion="apiextensions.k8s.io/v1beta1"),
}
BODY_FAULTS = {"empty": (200, ""), "garbage": (200, "garbage"), "array": (200, "[]"), "status-500": (500, "broken"), "status-404": (404, "not here"),
               "status-403": (403, "forbidden"), "status-503": (503, "later")}


class ConversionWebhook:
    """Answers at /ok and, wrongly, at the names of the faults. `reviews` has the bodies of the requests, `broken` makes all of them fail.

    At /slow, an answer waits until `released` is set. `waiting` counts the requests that wait.
    """

    def __init__(self, pki, names="IP:127.0.0.1,DNS:localhost,DNS:hook.default.svc"):
        self.pki, self.reviews, self.broken = pki, [], False
        self.waiting, self.released = 0, threading.Event()
        self.server = TlsServer(pki.issue_server("webhook", names), pki.ca, self.answer)

    def url(self, path="ok"):
        return f"https://127.0.0.1:{self.server.port}/{path}"

    def ca_bundle(self):
        return base64.b64encode(pathlib.Path(self.pki.ca).read_bytes()).decode()

    def answer(self, request, body):
        fault = request.path.split("?")[0].strip("/")
        self.reviews.append((request.path, body))
        if self.broken:
            return request.send(500, "broken", "text/plain")
        if fault in BODY_FAULTS:
            return request.send(*BODY_FAULTS[fault], "text/plain")
        if fault == "slow":
            self.waiting += 1
            self.released.wait(60)
        review = json.loads(body)
        asked = review["request"]
        items = [to_version(item, asked["desiredAPIVersion"], fault == "sloppy") for item in asked["objects"]]
        items = [OBJECT_FAULTS[fault](item) if fault in OBJECT_FAULTS else item for item in items]
        review = {"kind": "ConversionReview", "apiVersion": review["apiVersion"],
                  "response": {"uid": asked["uid"], "convertedObjects": items, "result": {"status": "Success"}}}
        if fault in REVIEW_FAULTS:
            REVIEW_FAULTS[fault](review)
        request.send(200, json.dumps(review))

    def stop(self):
        self.released.set()
        self.server.stop()


def definition(plural, client_config, review_versions=("v1",), storage="v1"):
    """A definition of the kind Box with the versions v1 and v2."""
    def version(name, properties, required):
        return {"name": name, "served": True, "storage": name == storage,
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "required": required,
                             "properties": {**properties, "replicas": {"type": "integer"}, f"only{name}": {"type": "string"},
                                            f"default{name}": {"type": "string", "default": name}}},
                    "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}}}}}}
    text = {"type": "string"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group_of(plural)}"},
            "spec": {"group": group_of(plural), "scope": "Namespaced", "names": {"plural": plural, "kind": "Box"},
                     "versions": [version("v1", {"host": text, "port": text}, ["host"]), version("v2", {"hostPort": text}, ["hostPort"])],
                     "conversion": {"strategy": "Webhook",
                                    "webhook": {"clientConfig": client_config, "conversionReviewVersions": list(review_versions)}}}}


def box(plural, name, version="v1", **spec):
    spec = spec or ({"host": "h", "port": "1"} if version == "v1" else {"hostPort": "h:1"})
    return {"apiVersion": f"{group_of(plural)}/{version}", "kind": "Box", "metadata": {"name": name}, "spec": spec}

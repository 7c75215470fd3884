"""A webhook server that both API servers call. It records the requests, and the path of the URL decides how it answers."""
import base64
import json
import socket
import time

import pki
import tls_server

LABEL = [{"op": "add", "path": "/metadata/annotations", "value": {"patched": "yes"}}]


def review(request, version="admission.k8s.io/v1", **response):
    return {"kind": "AdmissionReview", "apiVersion": version, "response": {"uid": request["request"]["uid"], **response}}


def patched(request, operations, **response):
    patch = base64.b64encode(json.dumps(operations).encode()).decode()
    return review(request, request["apiVersion"], **{"allowed": True, "patchType": "JSONPatch", "patch": patch, **response})


def annotate(request):
    """Adds an annotation, whether or not the object has annotations already."""
    known = (request["request"]["object"] or {}).get("metadata", {}).get("annotations")
    operation = {"op": "add", "path": "/metadata/annotations/patched", "value": "yes"}
    return patched(request, [operation] if known is not None else LABEL)


def owners(request, **changes):
    """Replaces the managedFields by one entry."""
    entry = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}, **changes}
    return patched(request, [{"op": "replace", "path": "/metadata/managedFields", "value": [entry]}])


# Answers to a review, by path. A function may also return bytes, which are sent as they are.
ANSWERS = {
    "/allow": lambda r: review(r, r["apiVersion"], allowed=True),
    "/warn": lambda r: review(r, allowed=True, warnings=["first", "second \"quoted\""], auditAnnotations={"key": "value"}),
    "/deny": lambda r: review(r, allowed=False),
    "/deny-message": lambda r: review(r, allowed=False, status={"message": "not this one", "reason": "Forbidden", "code": 403}),
    "/deny-reason": lambda r: review(r, allowed=False, status={"reason": "NotAcceptable"}),
    "/deny-200": lambda r: review(r, allowed=False, status={"code": 200, "status": "Success", "message": "odd"}),
    "/deny-details": lambda r: review(r, allowed=False, status={"code": 422, "message": "m", "reason": "Invalid", "details": {
        "name": "n", "group": "g", "kind": "k", "causes": [{"reason": "FieldValueInvalid", "message": "bad", "field": "spec.x"}], "retryAfterSeconds": 7}}),
    "/deny-418": lambda r: review(r, allowed=False, status={"code": 418}),
    "/deny-warn": lambda r: review(r, allowed=False, warnings=["be careful"]),
    "/annotate": annotate,
    "/patch-missing-path": lambda r: patched(r, [{"op": "add", "path": "/spec/nothing/there", "value": 1}]),
    "/patch-remove-missing": lambda r: patched(r, [{"op": "remove", "path": "/metadata/nothing"}]),
    "/patch-replace-missing": lambda r: patched(r, [{"op": "replace", "path": "/nothing/there", "value": 1}]),
    "/patch-test-fails": lambda r: patched(r, [{"op": "test", "path": "/metadata/name", "value": "other"}]),
    "/patch-bad-index": lambda r: patched(r, [{"op": "add", "path": "/metadata/managedFields/99", "value": {}}]),
    "/patch-no-index": lambda r: patched(r, [{"op": "add", "path": "/metadata/managedFields/x", "value": {}}]),
    "/patch-move-missing": lambda r: patched(r, [{"op": "move", "from": "/metadata/nothing", "path": "/metadata/x"}]),
    "/patch-copy-missing": lambda r: patched(r, [{"op": "copy", "from": "/nothing/there", "path": "/metadata/x"}]),
    "/patch-unknown-op": lambda r: patched(r, [{"op": "sing", "path": "/metadata/x"}]),
    "/patch-wrong-type": lambda r: patched(r, [{"op": "add", "path": "/data", "value": {"k": 1}}]),
    "/patch-unknown-field": lambda r: patched(r, [{"op": "add", "path": "/nosuchfield", "value": 1}]),
    "/patch-name": lambda r: patched(r, [{"op": "replace", "path": "/metadata/name", "value": "renamed"}]),
    "/patch-namespace": lambda r: patched(r, [{"op": "replace", "path": "/metadata/namespace", "value": "elsewhere"}]),
    "/patch-invalid": lambda r: patched(r, [{"op": "add", "path": "/data", "value": {"not a key!": "v"}}]),
    "/patch-owners-operation": lambda r: owners(r, operation="Guess"),
    "/patch-owners-version": lambda r: owners(r, apiVersion=""),
    "/patch-owners-no-type": lambda r: owners(r, fieldsType=""),
    "/patch-owners-type": lambda r: owners(r, fieldsType="FieldsV9"),
    "/patch-owners-valid": lambda r: owners(r),
    "/patch-owners-none": lambda r: patched(r, [{"op": "remove", "path": "/metadata/managedFields"}]),
    "/patch-empty": lambda r: patched(r, []),
    "/patch-null": lambda r: patched(r, None),
    "/patch-object": lambda r: patched(r, {"op": "add"}),
    "/patch-strings": lambda r: patched(r, ["add"]),
    "/patch-no-json": lambda r: review(r, allowed=True, patchType="JSONPatch", patch=base64.b64encode(b"[{").decode()),
    "/patch-no-base64": lambda r: review(r, allowed=True, patchType="JSONPatch", patch="#"),
    "/patch-no-type": lambda r: review(r, allowed=True, patch=base64.b64encode(b"[]").decode()),
    "/patch-type-only": lambda r: review(r, allowed=True, patchType="JSONPatch"),
    "/patch-other-type": lambda r: patched(r, LABEL, patchType="Merge"),
    "/patch-empty-type": lambda r: patched(r, LABEL, patchType=""),
    "/garbage": lambda r: b"this is no JSON",
    "/html": lambda r: b"<html><body>Hello</body></html>",
    "/empty": lambda r: b"",
    "/list": lambda r: b"[]",
    "/null": lambda r: b"null",
    "/string": lambda r: b'"yes"',
    "/truncated": lambda r: b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"',
    "/no-response": lambda r: {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"},
    "/no-kind": lambda r: {"response": {"uid": r["request"]["uid"], "allowed": True}},
    "/other-kind": lambda r: {**review(r, allowed=True), "kind": "ImageReview"},
    "/other-group": lambda r: review(r, "example.com/v1", allowed=True),
    "/v1beta1": lambda r: review(r, "admission.k8s.io/v1beta1", allowed=True),
    "/status-object": lambda r: {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "from the webhook", "code": 409, "reason": "Conflict"},
    "/wrong-uid": lambda r: {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {"uid": "other", "allowed": True}},
    "/no-uid": lambda r: {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {"allowed": True}},
    "/allowed-string": lambda r: review(r, allowed="true"),
    "/response-list": lambda r: {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": []},
    "/warnings-string": lambda r: review(r, allowed=True, warnings="w"),
    "/large": lambda r: review(r, allowed=True, status={"message": "x" * 10_000_000}),
    "/large-garbage": lambda r: b"x" * 10_000_000,
}
# Webhooks that show whether a configuration is in effect.
PROBES = {f"/probe-{kind}": ANSWERS["/allow"] for kind in ("mutating", "validating")}
# Answers with another status than 200, by path.
STATUSES = {"/s204": 204, "/s400": 400, "/s401": 401, "/s403": 403, "/s404": 404, "/s409": 409, "/s418": 418, "/s422": 422, "/s429": 429, "/s500": 500, "/s503": 503, "/s504": 504}


class Recorder:
    """`url` is the address for clientConfig, `ca` its caBundle."""

    def __init__(self, folder):
        authority = pki.Pki(folder, "webhooks")
        self.ca = base64.b64encode(authority.ca.read_bytes()).decode()
        self.other_ca = base64.b64encode(pki.Pki(folder, "stranger").ca.read_bytes()).decode()
        self.reviews = []  # (path with parameters, headers, body) of each request
        self.server = tls_server.TlsServer(authority.issue_server("webhook"), authority.ca, self._answer)
        self.url = f"https://127.0.0.1:{self.server.port}"

    def take(self):
        """Returns the recorded requests, sorted by path, and forgets them. Those about writes of an API server itself are omitted."""
        taken, self.reviews[:] = sorted(self.reviews, key=lambda review: review[0]), []
        return [review for review in taken if '"username":"system:apiserver"' not in review[2]]

    def stop(self):
        self.server.stop()

    def _answer(self, request, body):
        self.reviews.append((request.path, dict(request.headers.items()), body.decode()))
        path = request.path.split("?")[0]
        if path == "/hang":
            time.sleep(3)
            return
        if path == "/close":
            request.connection.shutdown(socket.SHUT_RDWR)
            return
        if path == "/redirect":
            request.send(302, "", location=f"{self.url}/allow")
            return
        if path in STATUSES:
            request.send(STATUSES[path], "" if STATUSES[path] == 204 else "some text", "text/plain")
            return
        answer = (ANSWERS | PROBES)[path](json.loads(body))
        request.send(200, answer if isinstance(answer, bytes) else json.dumps(answer))

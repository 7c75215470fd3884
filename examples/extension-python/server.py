#!/usr/bin/env python3
"""Serves the resource notes of python.example.com/v1 from memory. Usage: server.py unix:/path | host:port CERT KEY CLIENT_CA"""
import concurrent.futures
import datetime
import json
import os
import pathlib
import sys
import threading
import time
import uuid

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))  # where proto/ is
mesh = grpc.protos("proto/mesh/v1/delegate.proto")

GROUP, VERSION, KIND = "python.example.com", "v1", "Note"
API_VERSION = f"{GROUP}/{VERSION}"
SCHEMA = {
    "type": "object", "description": "A note to remember something.", "properties": {"spec": {
        "type": "object", "description": "What the author wants.", "required": ["text"], "properties": {
            "text": {"type": "string", "description": "The words of the note."}, "priority": {"type": "integer", "description": "More is more urgent."}}}}}


class Failure(Exception):
    def __init__(self, code, reason, message):
        super().__init__(message)
        self.code, self.status = code, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason, "code": code, "message": message}


def merge(target, patch):
    """Applies a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


class Notes:
    """The objects, and the latest events for watches. Resource versions also increase over restarts, because they begin with the time."""

    def __init__(self):
        self.objects, self.events = {}, []
        self.revision = self.oldest = int(time.time() * 1e6)  # watches can start at `oldest` or later
        self.changed = threading.Condition()

    def record(self, kind, note):
        self.revision += 1
        note["metadata"]["resourceVersion"] = str(self.revision)
        self.events.append((self.revision, note["metadata"], json.dumps({"type": kind, "object": note}).encode() + b"\n"))
        if len(self.events) > 1000:
            self.oldest = self.events.pop(0)[0]
        self.changed.notify_all()
        return note

    def list(self, info):
        items = [note for (namespace, name), note in sorted(self.objects.items()) if info.namespace in ("", namespace) and info.name in ("", name)]
        return {"kind": "NoteList", "apiVersion": API_VERSION, "metadata": {"resourceVersion": str(self.revision)}, "items": items}

    def write(self, info, body, content_type, dry_run):
        """Creates, updates or patches a note."""
        found = self.objects.get((info.namespace, info.name))
        if info.verb != "create" and not found:
            raise Failure(404, "NotFound", f'notes.{GROUP} "{info.name}" not found')
        if info.verb == "patch":
            if "merge-patch+json" not in content_type:
                raise Failure(415, "UnsupportedMediaType", "notes accept application/merge-patch+json")
            body = merge(found, body)
        meta = body["metadata"]
        key = (info.namespace, info.name or meta.get("name"))
        if not key[1] or not isinstance((body.get("spec") or {}).get("text"), str):
            raise Failure(422, "Invalid", "metadata.name and spec.text: Required value")
        if info.verb == "create" and key in self.objects:
            raise Failure(409, "AlreadyExists", f'notes.{GROUP} "{key[1]}" already exists')
        if found and meta.get("resourceVersion", found["metadata"]["resourceVersion"]) != found["metadata"]["resourceVersion"]:
            raise Failure(409, "Conflict", "the note has been modified; apply your changes to the latest version and try again")
        kept = found["metadata"] if found else {"uid": str(uuid.uuid4()), "creationTimestamp": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}
        note = {**body, "kind": KIND, "apiVersion": API_VERSION,
                "metadata": {**meta, "name": key[1], "namespace": info.namespace, "uid": kept["uid"], "creationTimestamp": kept["creationTimestamp"]}}
        if found:
            note["metadata"]["resourceVersion"] = kept["resourceVersion"]
        if dry_run or note == found:  # nothing changes
            return note
        self.objects[key] = note
        return self.record("MODIFIED" if found else "ADDED", note)

    def call(self, request):
        info, dry_run = request.info, "dryRun=All" in request.query
        headers = {header.name: header.value.decode() for header in request.headers}
        if info.label_selector or (info.field_selector and not info.name):
            raise Failure(400, "BadRequest", "notes can only be selected by name")
        with self.changed:
            if info.verb == "list":
                return 200, self.list(info)
            if info.verb in ("create", "update", "patch"):
                return 201 if info.verb == "create" else 200, self.write(info, json.loads(request.body), headers.get("content-type", ""), dry_run)
            note = self.objects.get((info.namespace, info.name))
            if not note:
                raise Failure(404, "NotFound", f'notes.{GROUP} "{info.name}" not found')
            if info.verb == "delete" and not dry_run:
                note = self.record("DELETED", {**self.objects.pop((info.namespace, info.name)), "metadata": dict(note["metadata"])})
            return 200, note

    def watch(self, request, context):
        """Yields the events after the resource version of the request; without one, the current objects first."""
        info, query = request.info, dict(pair.partition("=")[::2] for pair in request.query.split("&"))
        position, lines, wanted = int(query.get("resourceVersion") or 0), [], lambda meta: info.namespace in ("", meta["namespace"]) and info.name in ("", meta["name"])
        with self.changed:
            if position == 0:
                lines = [json.dumps({"type": "ADDED", "object": note}).encode() + b"\n" for note in self.list(info)["items"]]
                position = self.revision
            elif position < self.oldest:
                raise Failure(410, "Expired", "too old resource version")
        yield mesh.Chunk(code=200, data=b"".join(lines))
        while context.is_active():
            with self.changed:
                if self.revision == position:
                    self.changed.wait(1)
                lines = [line for revision, meta, line in self.events if revision > position and wanted(meta)]
                lost, position = position < self.oldest, self.revision
            if lost:  # the client watches again
                return
            if lines:
                yield mesh.Chunk(data=b"".join(lines))


class Delegate:
    """The methods of mesh.v1.Delegate that an extension server needs."""

    notes = Notes()

    def describe(self, _request, _context):
        verbs = ["create", "delete", "get", "list", "patch", "update", "watch"]
        notes = mesh.Resource(name="notes", kind=KIND, verbs=verbs, short_names=["no"], schema=json.dumps(SCHEMA), shared_watches=True)
        yield mesh.Description(contract_version=1, group_versions=[mesh.GroupVersion(group=GROUP, version=VERSION, resources=[notes])])

    def respond(self, request):
        try:
            return self.notes.call(request)
        except Failure as failure:
            return failure.code, failure.status
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return 400, Failure(400, "BadRequest", str(error)).status

    @staticmethod
    def check_caller(context):
        """Refuses the certificates of the other processes, if the CA of clients is the CA of the mesh."""
        if any(name.startswith(b"spiffe:") and name != b"spiffe://apimesh/aggregator" for name in context.auth_context().get("x509_subject_alternative_name", [])):
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "only the aggregator may send requests")

    def call(self, request, context):
        self.check_caller(context)
        code, answer = self.respond(request)
        return mesh.Response(code=code, body=json.dumps(answer).encode())

    def stream(self, request, context):
        self.check_caller(context)
        if request.info.verb != "watch":
            code, answer = self.respond(request)
            yield mesh.Chunk(code=code, data=json.dumps(answer).encode(), complete=True)
            return
        try:
            yield from self.notes.watch(request, context)
        except (Failure, ValueError) as error:
            error = error if isinstance(error, Failure) else Failure(400, "BadRequest", str(error))
            yield mesh.Chunk(code=error.code, data=json.dumps(error.status).encode(), complete=True)


def serve(endpoint, *files):
    server, delegate = grpc.server(concurrent.futures.ThreadPoolExecutor(max_workers=64)), Delegate()
    reader, writer = mesh.Request.FromString, lambda message: message.SerializeToString()
    server.add_generic_rpc_handlers((
        grpc.method_handlers_generic_handler("apimesh.mesh.v1.Delegate", {
            "Call": grpc.unary_unary_rpc_method_handler(delegate.call, reader, writer),
            "Stream": grpc.unary_stream_rpc_method_handler(delegate.stream, reader, writer),
            "Describe": grpc.unary_stream_rpc_method_handler(delegate.describe, mesh.DescribeRequest.FromString, writer)}),
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": grpc.unary_unary_rpc_method_handler(lambda _request, _context: b"\x08\x01")})))  # SERVING
    if files:
        certificate, key, client_ca = (pathlib.Path(file).read_bytes() for file in files)
        server.add_secure_port(endpoint, grpc.ssl_server_credentials([(key, certificate)], client_ca, require_client_auth=True))
    else:
        os.umask(0o077)  # only this user may connect
        pathlib.Path(endpoint.removeprefix("unix:")).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        server.add_insecure_port(endpoint)
    server.start()
    print(f"serving {API_VERSION} at {endpoint}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 5) or sys.argv[1].startswith("unix:") != (len(sys.argv) == 2):
        sys.exit(__doc__)
    serve(*sys.argv[1:])

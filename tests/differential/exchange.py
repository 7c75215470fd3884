"""Sends a step to a server and returns the response."""
import base64
import http.client
import json
import ssl
import subprocess
import time
import urllib.parse

import cases


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def has(self, wanted):
        """Whether the response has this status, or this text in its headers or its body."""
        if isinstance(wanted, int):
            return self.status == wanted
        return wanted.encode() in self.body or any(wanted in value for _, value in self.headers)


class Side:
    """One of the two servers, with the values that `save` took from its responses."""

    def __init__(self, name, url, token, etcd):
        self.name, self.token, self.etcd = name, token, etcd
        self.address = urllib.parse.urlsplit(url).netloc
        self.connection = None
        self.saved = {}

    def request(self, method, target, headers, body):
        for attempt in (1, 2):
            if self.connection is None:
                self.connection = http.client.HTTPSConnection(self.address, context=ssl._create_unverified_context(), timeout=60)
            try:
                self.connection.putrequest(method, target, skip_accept_encoding=True)
                for key, value in headers:
                    self.connection.putheader(key, value)
                if body is not None:
                    self.connection.putheader("Content-Length", str(len(body)))
                self.connection.endheaders()
                if body is not None:
                    try:
                        self.connection.send(body)
                    except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                        pass  # the server rejected the request before it read the body; the response follows
                answer = self.connection.getresponse()
                content = answer.read()
                if answer.will_close:
                    self.close()
                return Reply(answer.status, answer.getheaders(), content)
            except (http.client.BadStatusLine, http.client.CannotSendRequest, ConnectionError):
                self.close()
                if attempt == 2:
                    return Reply(0, [], b"")  # the server closes the connection without a response, as after a panic
        raise AssertionError("not reached")

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def run(self, step, variables):
        """Replaces the variables of a step and sends it."""
        step = cases.expand(step, {**variables, **self.saved})
        method, target = step["do"].split(" ", 1)
        if method == "COMPACT":
            return compact(self.etcd, int(target))
        headers = []
        user = step.get("user")
        if user != "none":
            headers.append(("Authorization", f"Bearer {self.token}"))
        if user and user != "none":
            headers.append(("Impersonate-User", user))
        if "accept" in step:
            headers.append(("Accept", cases.ACCEPTS.get(step["accept"], step["accept"])))
        body = body_of(step)
        if body is not None and step.get("type") != "none":
            kind = step.get("type", "json")
            headers.append(("Content-Type", cases.CONTENT_TYPES.get(kind, kind)))
        headers += list(step.get("headers", {}).items())
        reply = self.request(method, target, headers, body)
        end = time.monotonic() + 20
        while "until" in step and not reply.has(step["until"]) and time.monotonic() < end:
            time.sleep(0.1)
            reply = self.request(method, target, headers, body)
        for name, path in step.get("save", {}).items():
            self.saved[name] = value_at(json.loads(reply.body), path) if reply.body[:1] == b"{" else ""
        return reply


def compact(etcd, revision):
    """Compacts etcd at this revision. It uses gRPC because our store has no JSON gateway."""
    number, rest = bytearray(), revision
    while rest > 127:
        number.append(rest & 127 | 128)
        rest >>= 7
    number.append(rest)
    message = b"\x08" + bytes(number) + b"\x10\x01"  # revision; physical = true: the response follows after the compaction is complete
    subprocess.run(["curl", "-sSf", "--http2-prior-knowledge", "-H", "content-type: application/grpc", "-H", "te: trailers", "--data-binary", "@-", "-o", "-",
                    f"{etcd}/etcdserverpb.KV/Compact"], input=b"\0" + len(message).to_bytes(4, "big") + message, check=True, capture_output=True)
    return Reply(200, [], b"")


def body_of(step):
    if "fill" in step:  # {"name": size}: adds data of that size
        return json.dumps({**step["body"], "data": {"k": "x" * step["fill"]}}).encode()
    body = step.get("body")
    if body is None:
        return None
    if isinstance(body, str):
        return base64.b64decode(body[7:]) if body.startswith("base64:") else body.encode()
    return json.dumps(body, separators=(",", ":")).encode()


def value_at(value, path):
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value.get(part, "") if isinstance(value, dict) else ""
    return value

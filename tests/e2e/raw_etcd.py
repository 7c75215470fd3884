"""Reads and writes the contents of etcd directly, with its JSON gateway."""
import base64
import json
import time
import urllib.error
import urllib.request


def _text(data):
    return base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()


class RawEtcd:
    def __init__(self, url):
        self.url = url

    def call(self, path, **body):
        request = urllib.request.Request(f"{self.url}/v3/{path}", data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
        for attempt in range(100):  # etcd may not listen yet
            try:
                with urllib.request.urlopen(request, timeout=20) as answer:
                    return json.loads(answer.read())
            except urllib.error.URLError as error:
                if not isinstance(error.reason, ConnectionRefusedError) or attempt == 99:
                    raise
                time.sleep(0.1)

    def pairs(self, prefix):
        """Returns {key: value} of all keys with this prefix."""
        found = self.call("kv/range", key=_text(prefix), range_end=_text(prefix[:-1] + chr(ord(prefix[-1]) + 1))).get("kvs", [])
        return {base64.b64decode(kv["key"]).decode(): base64.b64decode(kv.get("value", "")) for kv in found}

    def entry(self, key):
        """Returns the value, lease and revisions of a key, or None if it does not exist."""
        found = self.call("kv/range", key=_text(key)).get("kvs")
        return None if not found else {**found[0], "value": base64.b64decode(found[0].get("value", ""))}

    def get(self, key):
        found = self.entry(key)
        return found and found["value"]

    def put(self, key, value):
        self.call("kv/put", key=_text(key), value=_text(value))

    def put_all(self, pairs):
        """Writes many keys, 100 per transaction."""
        pairs = list(pairs)
        for i in range(0, len(pairs), 100):
            self.call("kv/txn", success=[{"requestPut": {"key": _text(key), "value": _text(value)}} for key, value in pairs[i:i + 100]])

    def revision(self):
        return int(self.call("kv/range", key=_text("\0"), count_only=True)["header"]["revision"])

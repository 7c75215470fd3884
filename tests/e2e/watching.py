"""A watch that runs in the background."""
import json
import threading
import urllib.error
import urllib.request

import mesh


class Watch:
    """Collects (type, object) until it is closed. `over` is set when the stream ends, and `error` if it broke."""

    def __init__(self, client, path, headers=None):
        self.events, self.over, self.code, self.error = [], False, None, None
        request = urllib.request.Request(client.url + path + ("&" if "?" in path else "?") + "watch=true", headers={**({"Authorization": f"Bearer {client.token}"} if client.token else {}), **(headers or {})})
        self.answer = urllib.request.urlopen(request, context=client.context, timeout=120)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        try:
            for line in self.answer:
                event = json.loads(line)
                self.events.append((event["type"], event["object"]))
        except (OSError, ValueError) as error:
            self.error = error
        self.over = True

    def types(self, name):
        """Returns the types of the events of one object."""
        return [kind for kind, thing in list(self.events) if thing["metadata"].get("name") == name]

    def wait_for(self, name, *types, seconds=15):
        mesh.wait_until(lambda: self.types(name) == list(types), seconds, f"{name}: {types}, seen {self.types(name)}")

    def close(self):
        self.answer.fp.raw._sock.shutdown(2) if hasattr(self.answer.fp, "raw") else self.answer.close()

"""Watches that share an upstream watch: each client gets every event once and in order, independent of the other clients."""
import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request

from mesh import wait_until

MAPS = "/api/v1/namespaces/default/configmaps"


class Watcher(threading.Thread):
    """Watches ConfigMaps from a revision on. After an interruption it resumes from the last resourceVersion that it received, as clients do."""

    def __init__(self, server, version, extra=""):
        super().__init__(daemon=True)
        self.server, self.version, self.extra = server, version, extra
        self.events, self.bookmarks, self.connections, self.stopped = [], 0, 0, False

    def run(self):
        while not self.stopped:
            try:
                self.watch()
            except (OSError, urllib.error.URLError, ValueError):
                time.sleep(0.05)

    def watch(self):
        url = f"{self.server.client.url}{MAPS}?watch=true&resourceVersion={self.version}{self.extra}"
        client = self.server.client
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {client.token}"} if client.token else {})
        with urllib.request.urlopen(request, context=client.context, timeout=30) as stream:
            self.connections += 1
            for line in stream:
                event = json.loads(line)
                assert event["type"] != "ERROR", event
                self.version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] == "BOOKMARK":
                    self.bookmarks += 1
                elif event["object"]["metadata"]["name"].startswith("shared-"):
                    self.events.append((event["type"], event["object"]["metadata"]["name"], int(self.version)))


def body(name, value):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"value": value}}


def test_every_watcher_sees_every_event_once(own_server):
    check_every_watcher_sees_every_event_once(own_server)


def check_every_watcher_sees_every_event_once(own_server):
    """`own_server` is any server with a client, and with children of which core-api may be killed."""
    begin = own_server.client.get(MAPS).json()["metadata"]["resourceVersion"]
    watchers = [Watcher(own_server, begin, extra) for extra in
                ["", "&allowWatchBookmarks=true", "&timeoutSeconds=2", "&allowWatchBookmarks=true&timeoutSeconds=3"] * 5]
    for watcher in watchers[:10]:
        watcher.start()

    def write(number):
        name = f"shared-{number % 7}"
        answer = own_server.client("POST", MAPS, body(name, str(number)))
        if answer.code == 409:
            method = "DELETE" if number % 5 == 0 else "PUT"
            answer = own_server.client(method, f"{MAPS}/{name}", None if method == "DELETE" else body(name, str(number)))
        return answer.code

    for number in range(150):
        code = write(number)
        assert code in (200, 201), code
        if number == 50:
            for watcher in watchers[10:]:  # these start later and catch up
                watcher.start()
        time.sleep(0.02)
    os.kill(own_server.children()["core-api"], signal.SIGKILL)
    wait_until(lambda: own_server.client("GET", MAPS).code == 200, 10, "core-api is restarted")
    for number in range(150, 220):
        wait_until(lambda: write(number) in (200, 201), 10, "writes succeed again")
    last = own_server.client("POST", MAPS, body("shared-last", "x")).json()["metadata"]["resourceVersion"]
    for watcher in watchers:
        wait_until(lambda: watcher.events and watcher.events[-1][2] == int(last), 20, "all watchers receive the last event")
        watcher.stopped = True
    truth = watchers[0].events
    revisions = [event[2] for event in truth]
    assert revisions == sorted(set(revisions)) and len(truth) >= 200
    for watcher in watchers:
        assert watcher.events == truth, f"watcher with {watcher.extra!r} after {watcher.connections} connections"
    assert all(watcher.connections > 1 for watcher in watchers if "timeoutSeconds" in watcher.extra)
    # A watch with bookmarks gets a final bookmark before it ends.
    assert all(watcher.bookmarks > 0 for watcher in watchers if "timeoutSeconds=3" in watcher.extra)


def test_the_initial_events_end_is_told(own_server):
    own_server.client("POST", MAPS, body("shared-first", "x"))
    path = f"{MAPS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1"
    events = [json.loads(line) for line in own_server.client.get(path).body.splitlines()]
    kinds = [event["type"] for event in events]
    assert "ADDED" in kinds and "BOOKMARK" in kinds
    end = events[kinds.index("BOOKMARK")]["object"]["metadata"]
    assert end["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert set(kinds[:kinds.index("BOOKMARK")]) == {"ADDED"}

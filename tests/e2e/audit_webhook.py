"""A webhook that records audit events."""
import json
import time

import pki
import tls_server


class AuditWebhook:
    """`code` is its answer; `seconds` is how long it takes. `kubeconfig` is the file for --audit-webhook-config-file."""

    def __init__(self, folder):
        authority = pki.Pki(folder, "audit")
        self.certificate, self.ca = authority.issue_server("webhook"), authority.ca
        self.lists, self.requests, self.code, self.seconds = [], [], 200, 0
        self.server = tls_server.TlsServer(self.certificate, self.ca, self._answer)
        self.kubeconfig = folder / "webhook.kubeconfig"
        cluster = {"server": f"https://127.0.0.1:{self.server.port}/events", "certificate-authority": str(self.ca)}
        self.kubeconfig.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "clusters": [{"name": "w", "cluster": cluster}],
                                               "users": [{"name": "w", "user": {"token": "webhook-token"}}],
                                               "contexts": [{"name": "w", "context": {"cluster": "w", "user": "w"}}], "current-context": "w"}))

    def _answer(self, request, body):
        time.sleep(self.seconds)
        self.requests.append((request.path, {name.lower(): value for name, value in request.headers.items()}))
        if self.code == 200:
            self.lists.append(json.loads(body))
        request.send(self.code, "")

    def events(self):
        return [event for one in list(self.lists) for event in one["items"]]

    def stop(self):
        self.server.stop()

"""Starts the stand-in for a kubelet (tests/kubelet)."""
import json
import os
import subprocess
import threading

import mesh

BINARY = os.environ.get("APIMESH_KUBELET", mesh.ROOT / ".venv/bin/kubelet-stand-in")


class Kubelet:
    def __init__(self, pki, client_ca, *flags):
        certificate, key = pki.issue_server("node")
        self.process = subprocess.Popen([str(BINARY), f"-certificate={certificate}", f"-key={key}", f"-client-ca={client_ca}", *flags], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.port = int(self.process.stdout.readline())
        self.requests = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.requests.append(json.loads(line))

    def stop(self):
        self.process.kill()
        self.process.wait()

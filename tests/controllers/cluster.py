"""A client of the API, and nodes without kubelets: this program writes what kubelets would write."""
import http.client
import json
import ssl
import threading
import time
import urllib.parse

TLS = ssl._create_unverified_context()
PATCHES = {"merge": "application/merge-patch+json", "strategic": "application/strategic-merge-patch+json", "json": "application/json-patch+json"}


class Fault(Exception):
    """Something did not happen as it should."""


class Api:
    """A client with one persistent connection per thread."""

    def __init__(self, port, token, cert=None):
        self.port, self.token, self.local = port, token, threading.local()
        self.tls = TLS
        if cert:
            self.tls = ssl._create_unverified_context()
            self.tls.load_cert_chain(*cert)

    def call(self, method, path, body=None, kind="application/json"):
        """Returns (status, decoded body). Repeats a GET once if the server has closed the idle connection."""
        headers = {"Content-Type": PATCHES.get(kind, kind)}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        for attempt in (0, 1):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = self.local.connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=60)
            try:
                connection.request(method, path, json.dumps(body) if body is not None else None, headers)
                answer = connection.getresponse()
                text = answer.read()
                return answer.status, json.loads(text) if text.startswith(b"{") else text.decode()
            except (OSError, http.client.HTTPException):
                self.local.connection = None
                connection.close()
                if attempt or method != "GET":
                    raise

    def do(self, method, path, body=None, kind="application/json", want=(200, 201, 202)):
        for _ in range(20):
            status, answer = self.call(method, path, body, kind)
            if status != 409 or method not in ("PATCH", "PUT") or 409 in want:
                break
        if status not in want:
            raise Fault(f"{method} {path}: {status} {answer.get('message') if isinstance(answer, dict) else answer}")
        return answer

    def get(self, path):
        return self.do("GET", path)

    def list(self, path, labels=None):
        return self.get(path + (f"?labelSelector={urllib.parse.quote(labels)}" if labels else ""))["items"]

    def create(self, path, api_version, kind, name, spec=None, labels=None, annotations=None, **fields):
        body = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}}, **fields}
        if spec is not None:
            body["spec"] = spec
        return self.do("POST", path, body)

    def patch(self, path, body, kind="merge"):
        return self.do("PATCH", path, body, kind)

    def delete(self, path, policy="Background"):
        return self.do("DELETE", path, {"propagationPolicy": policy}, want=(200, 202, 404))

    def until(self, path, condition, what, seconds=150):
        """Reads `path` until `condition` accepts the object (None if it does not exist), and returns the object."""
        end, answer = time.monotonic() + seconds, None
        while time.monotonic() < end:
            status, answer = self.call("GET", path)
            if status not in (200, 404):
                raise Fault(f"GET {path}: {status} {answer}")
            if condition(answer if status == 200 else None):
                return answer
            time.sleep(0.25)
        raise Fault(f"after {seconds} s: {what}; {path} is {json.dumps(answer)[:1500]}")

    def gone(self, path, seconds=150):
        self.until(path, lambda found: found is None, "the object is gone", seconds)


class Nodes:
    """Nodes with leases. Pods that are bound to them run at once; a pod with the label `ends` ends with that phase."""

    def __init__(self, api, count, history):
        self.api, self.history, self.stop = api, history, threading.Event()
        self.names, self.addresses, self.renewed = [f"node-{i}" for i in range(count)], 0, 0.0
        for name in self.names:
            self.register(name)

    def register(self, name):
        self.api.create("/api/v1/nodes", "v1", "Node", name, {}, labels={"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"})
        self.renew(name, create=True)

    @staticmethod
    def now(fraction=""):
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + fraction + "Z"

    def renew(self, name, create=False):
        room = {"cpu": "64", "memory": "64Gi", "pods": "500", "ephemeral-storage": "100Gi"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready", "lastHeartbeatTime": self.now(), "lastTransitionTime": self.now()}
        self.api.patch(f"/api/v1/nodes/{name}/status", {"status": {"capacity": room, "allocatable": room, "conditions": [ready]}}, "strategic")
        leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": self.now(".000000")}
        if create:
            self.api.create(leases, "coordination.k8s.io/v1", "Lease", name, spec)
        else:
            self.api.patch(f"{leases}/{name}", {"spec": spec})

    def run(self):
        while not self.stop.is_set():
            try:
                if time.monotonic() - self.renewed > 10:
                    self.renewed = time.monotonic()
                    for name in self.names:
                        self.renew(name)
                for pod in self.api.list("/api/v1/pods"):
                    if pod["spec"].get("nodeName") in self.names:
                        self.advance(pod)
            except (Fault, OSError, http.client.HTTPException) as error:
                self.history.fault(f"nodes: {error}")
            self.stop.wait(0.5)

    def advance(self, pod):
        """Does the next step of a pod's life."""
        meta, phase = pod["metadata"], pod.get("status", {}).get("phase")
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        if meta.get("deletionTimestamp"):
            # A pod with a finalizer was deleted before, and waits for its controller.
            if meta.get("deletionGracePeriodSeconds") != 0:
                self.api.do("DELETE", path, {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}, want=(200, 202, 404, 409))
        elif phase == "Pending":
            self.addresses += 1
            address = f"10.244.{self.addresses // 250 % 250}.{self.addresses % 250 + 1}"
            self.write(path, pod, "Running", {"running": {"startedAt": self.now()}}, podIP=address, podIPs=[{"ip": address}], hostIP="192.0.2.1",
                       hostIPs=[{"ip": "192.0.2.1"}], startTime=self.now())
            self.history.count("pods run")
        elif phase == "Running" and (end := meta.get("labels", {}).get("ends")):
            code = 0 if end == "Succeeded" else 3
            self.write(path, pod, end, {"terminated": {"exitCode": code, "reason": "Completed" if end == "Succeeded" else "Error", "finishedAt": self.now()}})

    def write(self, path, pod, phase, state, **fields):
        ready = "True" if phase == "Running" else "False"
        conditions = [{"type": kind, "status": status, "lastTransitionTime": self.now()}
                      for kind, status in (("Initialized", "True"), ("Ready", ready), ("ContainersReady", ready))]
        containers = [{"name": one["name"], "image": one["image"], "imageID": one["image"], "ready": phase == "Running", "restartCount": 0, "started": phase == "Running", "state": state}
                      for one in pod["spec"]["containers"]]
        status = {"phase": phase, "conditions": conditions, "containerStatuses": containers, **fields}
        body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        self.api.do("PATCH", path + "/status", body, "strategic", want=(200, 404, 409))

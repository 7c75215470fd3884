"""The faults: processes are killed and paused, and their connections to etcd are interrupted, one after the other."""
import itertools
import os
import random
import select
import signal
import socket
import threading
import time


class Cable:
    """A TCP proxy to etcd. While `plugged` is not set it forwards nothing, and connections stay open."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.plugged = threading.Event()
        self.plugged.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        self.plugged.wait()
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            client.close()
            return
        both = {client: server, server: client}
        try:
            while True:
                readable, _, _ = select.select(list(both), [], [], 1)
                self.plugged.wait()
                for one in readable:
                    data = one.recv(65536)
                    if not data:
                        return
                    both[one].sendall(data)
        except OSError:
            pass
        finally:
            client.close()
            server.close()


class Faults(threading.Thread):
    """Applies each fault to each process, in random order. Each of `meshes` is a KubeApiserver that reaches etcd through its Cable."""

    def __init__(self, etcd, meshes, cables, stop, pause, seed):
        super().__init__(daemon=True)
        self.etcd, self.meshes, self.cables, self.stop, self.pause = etcd, meshes, cables, stop, pause
        self.random = random.Random(seed)
        self.done = []

    def run(self):
        services = ("core-api", "aggregator", "extensions-api", "authn-authz")
        plan = [("etcd", None, fault) for fault in ("kill", "pause")]
        plan += [(name, i, fault) for i, name, fault in itertools.product(range(len(self.meshes)), services, ("kill", "pause"))]
        plan += [("cable", i, "cut") for i in range(len(self.meshes))]
        while not self.stop.is_set():
            self.random.shuffle(plan)
            for what, mesh, fault in plan:
                if self.stop.wait(self.pause * self.random.uniform(0.5, 1.5)):
                    return
                try:
                    self._do(what, mesh, fault)
                    self.done.append(f"{fault} {what}")
                except (ProcessLookupError, KeyError):
                    pass  # the process is being restarted

    def _do(self, what, mesh, fault):
        seconds = self.random.uniform(0.5, 3)
        if fault == "cut":
            cable = self.cables[mesh]
            cable.plugged.clear()
            self.stop.wait(seconds)
            cable.plugged.set()
            return
        pid = self.etcd.process.pid if what == "etcd" else self.meshes[mesh].children()[what]
        if fault == "pause":
            os.kill(pid, signal.SIGSTOP)
            self.stop.wait(seconds)
            os.kill(pid, signal.SIGCONT)
            return
        os.kill(pid, signal.SIGKILL)
        if what == "etcd":
            self.etcd.process.wait()
            time.sleep(seconds / 3)
            self.etcd.start()

"""Measures the cost of an attack: CPU time and peak memory over all processes of the mesh."""
import os
import pathlib
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def processes(server):
    """Returns {name: pid} of the launcher and the services."""
    return {"launcher": server.process.pid, **server.children()}


def cpu_seconds(pid):
    """Returns the CPU time of a process, from schedstat if the kernel has it."""
    try:
        total = 0
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9
    except OSError:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def thread_seconds(pid):
    """Returns {thread: CPU time in seconds}. It needs schedstat."""
    return {task.name: int((task / "schedstat").read_text().split()[0]) / 1e9 for task in pathlib.Path(f"/proc/{pid}/task").iterdir()}


def resident_bytes(pid):
    """Returns the resident memory of a process without file-backed pages."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


class Cost:
    """Use as a context manager around the attack. Afterwards `cpu` is the CPU time in seconds and `memory` the largest growth of
    resident memory in bytes, both summed over the processes; `by_process` has {name: (cpu, memory)}."""

    def __init__(self, server, interval=0.005):
        self.pids, self.interval = processes(server), interval
        self.cpu = self.memory = 0
        self.by_process = {}

    def __enter__(self):
        self._cpu = {name: cpu_seconds(pid) for name, pid in self.pids.items()}
        self._memory = {name: resident_bytes(pid) for name, pid in self.pids.items()}
        self._peak = dict(self._memory)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    def _sample(self):
        while not self._done.wait(self.interval):
            for name, pid in self.pids.items():
                try:
                    self._peak[name] = max(self._peak[name], resident_bytes(pid))
                except OSError:
                    pass  # The process ended, which the test detects itself.

    def __exit__(self, *_):
        time.sleep(2 * self.interval)
        self._done.set()
        self._thread.join()
        for name, pid in self.pids.items():
            self.by_process[name] = (cpu_seconds(pid) - self._cpu[name], self._peak[name] - self._memory[name])
        self.cpu = sum(cpu for cpu, _ in self.by_process.values())
        self.memory = sum(memory for _, memory in self.by_process.values())

"""A clean Debian 12 in a folder."""
import os
import pathlib
import shutil
import signal
import subprocess

import mesh

ARCHIVE = mesh.ROOT / "build/clean-root/bookworm.tar"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def why_not():
    """Returns why there can be no clean root; None if there can."""
    if os.geteuid() != 0:
        return "debootstrap and chroot need root"
    missing = [name for name in ("debootstrap", "unshare", "tar") if not shutil.which(name)]
    return f"needs {', '.join(missing)}" if missing else None


def make_archive():
    """Installs the base system from the mirror that debootstrap uses by default, once."""
    if ARCHIVE.exists():
        return
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    made = ARCHIVE.parent / "bookworm"
    shutil.rmtree(made, ignore_errors=True)
    done = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", str(made)], capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    unfinished = ARCHIVE.with_suffix(".part")
    subprocess.run(["tar", "--one-file-system", "-cf", str(unfinished), "-C", str(made), "."], check=True)
    unfinished.rename(ARCHIVE)
    shutil.rmtree(made)


class CleanRoot:
    """A copy of the clean system in `folder`. Programs in it have their own processes and mounts, and the network of this machine."""

    def __init__(self, folder):
        make_archive()
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        subprocess.run(["tar", "-xf", str(ARCHIVE), "-C", str(self.folder)], check=True)
        for name in ("resolv.conf", "hosts"):
            shutil.copyfile(f"/etc/{name}", self.folder / "etc" / name)
        # Nothing may start a service while packages are installed.
        policy = self.folder / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        self.environment = {key: value for key, value in os.environ.items() if key.lower().endswith("_proxy")} | {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}

    def command(self, script):
        inside = f'mount -t proc proc "{self.folder}/proc" && mount -t tmpfs tmpfs "{self.folder}/tmp" && chmod 1777 "{self.folder}/tmp" && exec chroot "{self.folder}" sh -euc \'{script}\''
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", inside]

    def run(self, script, timeout=600):
        """Runs a script, which has no single quotes, and returns its output. All processes end with it."""
        done = subprocess.run(self.command(script), env=self.environment, capture_output=True, text=True, timeout=timeout, cwd="/")
        assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def start(self, script, log):
        """Starts a program in the background: `script` must replace the shell by it (exec). stop() ends it."""
        return subprocess.Popen(self.command(script), env=self.environment, stdout=open(log, "wb"), stderr=subprocess.STDOUT, cwd="/")


def stop(running):
    """Ends the first process of a CleanRoot.start(), for whose end unshare waits."""
    if running.poll() is None:
        child, = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        os.kill(int(child), signal.SIGTERM)
    return running.wait(90)

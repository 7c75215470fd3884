"""An external signer of service-account tokens, whose keys and behaviour a test changes while it runs."""
import subprocess

import mesh


class TokenSigner:
    def __init__(self, folder):
        self.folder, self.socket, self.process = folder, folder / "signer.sock", None
        folder.mkdir(parents=True, exist_ok=True)

    def add_key(self, name, kind="ec"):
        """The key that is last in alphabetical order signs."""
        command = ["genrsa", "2048"] if kind == "rsa" else ["ecparam", "-genkey", "-name", "prime256v1", "-noout"]
        made = subprocess.run(["openssl", *command], check=True, capture_output=True).stdout
        unfinished = self.folder / f"{name}.new"
        unfinished.write_bytes(made)
        unfinished.rename(self.folder / f"{name}.key")

    def remove_key(self, name):
        (self.folder / f"{name}.key").unlink()

    def hide(self, *names):
        (self.folder / "hidden").write_text(" ".join(names))

    def set(self, **settings):
        (self.folder / "settings").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))

    def start(self):
        self.socket.unlink(missing_ok=True)
        self.process = subprocess.Popen([mesh.BIN / "test-token-signer", self.socket, self.folder])
        mesh.wait_until(self.socket.exists, 10, "the signer listens")
        return self

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def server_with(signer, folder, etcd_url, *extra, binary=None):
    """A kube-apiserver whose tokens the signer signs."""
    server = mesh.KubeApiserver(folder, etcd_url, f"--service-account-signing-endpoint={signer.socket}", *extra, binary=binary)
    server.arguments = [flag for flag in server.arguments if not flag.startswith(("--service-account-key-file", "--service-account-signing-key-file"))]
    return server

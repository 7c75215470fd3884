"""Certificates for tests, made with the openssl command."""
import pathlib
import subprocess


def openssl(*arguments, stdin=None):
    """The output of an openssl command."""
    return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, input=stdin).stdout


class Pki:
    """A certificate authority, whose files are in a folder. Several authorities may share the folder."""

    def __init__(self, folder, name="test"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ca, self.key = self.folder / f"{name}-ca.crt", self.folder / f"{name}-ca.key"
        openssl("req", "-x509", *self._new_key(self.key), "-out", self.ca, "-days", "2", "-subj", f"/CN={name}",
                "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,digitalSignature,keyCertSign,cRLSign")

    def issue(self, name, subject=None, usage="clientAuth", days=("-days", "1"), san="IP:127.0.0.1,DNS:localhost"):
        """(certificate file, key file) of a client. A falsy `usage` sets no limit."""
        certificate, key, request, extensions = (self.folder / f"{name}.{end}" for end in ("crt", "key", "csr", "ext"))
        openssl("req", "-new", *self._new_key(key), "-out", request, "-subj", subject or f"/CN={name}")
        extensions.write_text((f"extendedKeyUsage={usage}\n" if usage else "") + f"subjectAltName={san}\n")
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.key, "-CAcreateserial", "-out", certificate, *days, "-extfile", extensions)
        return str(certificate), str(key)

    def issue_server(self, name, san="IP:127.0.0.1,DNS:localhost", days=("-days", "1")):
        """(certificate file, key file) of a server with these subject alternative names."""
        return self.issue(name, usage="serverAuth", san=san, days=days)

    @staticmethod
    def _new_key(file):
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file

"""The web console as a process of the tests, and browsers that use it."""
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import urllib.parse

import mesh

PAGES = mesh.BIN.parent / "console"
CHROMIUM = os.environ.get("APIMESH_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


class Client:
    """Sends requests to a console, like a browser or an attacker."""

    def __init__(self, port):
        self.port, self.host, self.url = port, f"127.0.0.1:{port}", f"http://127.0.0.1:{port}"

    def listens(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.send("GET", "/").code == 200

    def send(self, method, path, body=None, headers=None, timeout=20):
        """A request with exactly these headers; the path is not normalised."""
        headers = dict(headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout * mesh.SLOWDOWN)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            if isinstance(body, dict):
                body = json.dumps(body)
                headers.setdefault("Content-Type", "application/json")
            if body is not None:
                headers.setdefault("Content-Length", str(len(body)))
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(body.encode() if body is not None else None)
            answer = connection.getresponse()
            return mesh.Answer(answer.status, answer.headers, answer.read().decode(errors="replace"))
        finally:
            connection.close()

    def session(self, credential):
        """Logs in and returns the headers of the session."""
        answer = self.send("POST", "/console/login", credential)
        assert answer.code == 200, answer.body
        return {"Cookie": answer.headers["Set-Cookie"].split(";")[0], "X-Console-Key": answer.json()["key"]}


class Console(Client):
    """A console for the cluster of a kubeconfig."""

    def __init__(self, folder, kubeconfig, pages=PAGES):
        super().__init__(mesh.free_port())
        self.folder = pathlib.Path(folder)
        self.logins = self.folder / "logins"
        self.logins.mkdir(mode=0o700, parents=True)
        arguments = [str(mesh.BIN / "console"), f"--console-port={self.port}", f"--console-files={pages}", f"--console-kubeconfig={kubeconfig}",
                     f"--console-login-folder={self.logins}"]
        self.log = self.folder / "console.log"
        self.process = subprocess.Popen(arguments, stdout=open(self.log, "ab"), stderr=subprocess.STDOUT)
        mesh.wait_until(self.is_up, 20, "the console listens")

    def is_up(self):
        assert self.process.poll() is None, self.log.read_text()
        return self.listens()

    def new_login(self):
        """A one-time login, as the launcher issues it."""
        secret = secrets.token_hex(32)
        (self.logins / hashlib.sha256(secret.encode()).hexdigest()).touch(mode=0o600)
        return secret

    def session(self, credential=None):
        return super().session(credential or {"secret": self.new_login()})

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


@contextlib.contextmanager
def browser(folder):
    """A headless Chromium with its own profile."""
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(pathlib.Path(folder) / "profile"), executable_path=CHROMIUM, headless=True, viewport=DESKTOP, color_scheme="light",
            args=["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"])
        context.set_default_timeout(15_000 * mesh.SLOWDOWN)
        try:
            yield context
        finally:
            context.close()


class Tab:
    """A page of the console in a browser; collects what its console and its requests report."""

    def __init__(self, context, console, viewport=DESKTOP):
        self.console, self.page = console, context.new_page()
        self.page.set_viewport_size(viewport)
        self.problems, self.hosts = [], set()
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda message: self.problems.append(message.text) if "Content Security Policy" in message.text else None)
        self.page.on("request", lambda request: self.hosts.add(urllib.parse.urlsplit(request.url).netloc))

    def log_in(self):
        self.page.goto(f"{self.console.url}/#login={self.console.new_login()}")
        self.page.get_by_role("heading", name="Mesh").wait_for()
        return self

    def open(self, fragment):
        self.page.evaluate("fragment => { location.hash = fragment }", fragment)

    def picture(self, name):
        """Writes a screenshot if APIMESH_SCREENSHOTS names a folder, as for docs/guide/console."""
        if folder := os.environ.get("APIMESH_SCREENSHOTS"):
            self.page.wait_for_timeout(300)  # transitions
            self.page.screenshot(path=f"{folder}/{name}.png")

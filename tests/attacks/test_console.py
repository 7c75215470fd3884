"""The web console: nobody gets more from it than a user's own credentials permit, and nothing without a session."""
import concurrent.futures
import json
import pathlib
import socket
import subprocess
import threading
import time

import pytest

import console
import mesh
import pki
import tls_server

SELF = "/cluster/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
SECRETS = "/cluster/api/v1/namespaces/default/secrets"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder in the place of the built pages, so that the tests need no npm, with a file outside of it."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "outside.txt").write_text("outside")
    root = folder / "console"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("<!doctype html><title>console</title>")
    (root / "assets/app.js").write_text("1")
    (root / "link.txt").symlink_to(folder / "outside.txt")
    return root


@pytest.fixture(scope="module")
def app(server, pages, tmp_path_factory):
    app = console.Console(tmp_path_factory.mktemp("console"), server.kubeconfig(), pages)
    yield app
    app.stop()


def test_a_login_works_once(app):
    """Someone reads the link in the history of a shell, or two processes use it at the same time."""
    secret = app.new_login()
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(lambda _: app.send("POST", "/console/login", {"secret": secret}).code, range(16)))
    assert sorted(codes) == [200] + [401] * 15
    answer = app.send("POST", "/console/login", {"secret": secret})
    assert answer.code == 401 and "Set-Cookie" not in answer.headers


def test_logins_that_were_not_issued(app):
    issued = app.new_login()
    digests = [path.name for path in app.logins.iterdir()]
    for secret in ("", "0" * 64, issued[:-1], issued.upper() + "0", "../" + digests[0], *digests, "a" * 60_000):
        assert app.send("POST", "/console/login", {"secret": secret}).code == 401, secret[:80]
    for body in ("", "[]", "null", '"x"', "{", '{"secret": 1}', '{"secret": {"a": {"b": {"c": 1}}}}', "[" * 30_000):
        assert app.send("POST", "/console/login", body, {"Content-Type": "application/json"}).code in (400, 401), body[:80]
    assert app.send("POST", "/console/login", {"secret": issued}).code == 200


def test_large_logins_are_refused_before_they_are_read(app):
    for length in ("70000", "3000000", "-1", "x", ""):
        answer = app.send("POST", "/console/login", None, {"Content-Type": "application/json", "Content-Length": length})
        assert answer.code == 400, length


def test_an_expired_login(app):
    secret = app.new_login()
    path = max(app.logins.iterdir(), key=lambda file: file.stat().st_ctime)
    subprocess.run(["touch", "-d", "20 minutes ago", str(path)], check=True)
    assert app.send("POST", "/console/login", {"secret": secret}).code == 401


def test_bearer_tokens_that_the_api_server_refuses(app):
    for token in ("nope", "", "a b", "a\nX-Injected: 1", "ü", "x" * 50_000):
        assert app.send("POST", "/console/login", {"token": token}).code == 401, token[:80]


def test_attributes_of_the_cookie(app):
    """Scripts cannot read it, and other sites cannot send it."""
    answer = app.send("POST", "/console/login", {"secret": app.new_login()})
    attributes = {part.strip().lower() for part in answer.headers["Set-Cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= attributes
    assert not any(part.startswith("domain") for part in attributes)
    assert answer.json()["key"] not in answer.headers["Set-Cookie"]
    assert answer.headers["Cache-Control"] == "no-store"


def test_nothing_without_a_session(app):
    session = app.session()
    cookie, key = {"Cookie": session["Cookie"]}, {"X-Console-Key": session["X-Console-Key"]}
    other = app.session()
    refused = [{}, cookie, key, {**cookie, "X-Console-Key": ""}, {**cookie, "X-Console-Key": other["X-Console-Key"]}, {**session, "Cookie": session["Cookie"][:-1]},
               {"Authorization": f"Bearer {mesh.ADMIN_TOKEN}"}, {**cookie, "Authorization": f"Bearer {mesh.ADMIN_TOKEN}"},
               {**session, "Cookie": f"{session['Cookie']}; {other['Cookie']}"}]
    for headers in refused:
        for method, path in (("GET", SECRETS), ("POST", SELF), ("GET", "/cluster/version"), ("GET", "/cluster/metrics"), ("POST", "/console/logout")):
            answer = app.send(method, path, headers=headers)
            assert answer.code == 401 and answer.json()["reason"] == "Unauthorized", (method, path, headers)
    assert app.send("GET", SECRETS, headers=session).code == 200


def test_a_session_ends_with_its_logout(app):
    session = app.session()
    assert app.send("POST", "/console/logout", headers=session).code == 200
    assert app.send("GET", "/cluster/version", headers=session).code == 401


def test_the_number_of_sessions_is_bounded(app):
    first = app.session()
    sessions = [app.session() for _ in range(70)]
    assert app.send("GET", "/cluster/version", headers=first).code == 401
    assert app.send("GET", "/cluster/version", headers=sessions[-1]).code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost:{port}.evil.example", "127.0.0.1:{port}@evil.example", ""])
def test_dns_rebinding(app, host):
    """The name of an attacker's page resolves to the address of the console."""
    session = app.session()
    for path in ("/", "/cluster/version"):
        answer = app.send("GET", path, headers={**session, "Host": host.format(port=app.port)})
        assert answer.code in (400, 421), answer.body
        assert "<title>" not in answer.body


@pytest.mark.parametrize("header", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:1"}, {"Origin": "https://{host}"},
                                    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none"}])
def test_requests_of_other_pages(app, header):
    """Another page, also one on another port of the same machine, uses the browser of a user with a session."""
    session = app.session()
    headers = {**session, **{name: value.format(host=app.host) for name, value in header.items()}}
    secret = app.new_login()
    assert app.send("GET", SECRETS, headers=headers).code == 403
    assert app.send("POST", SELF, REVIEW, headers).code == 403
    assert app.send("POST", "/console/login", {"secret": secret}, headers).code == 403
    assert app.send("POST", "/console/logout", headers=headers).code == 403
    assert app.send("POST", SELF, REVIEW, {**session, "Origin": app.url, "Sec-Fetch-Site": "same-origin"}).code == 201


def test_forms_of_other_pages_cannot_log_in(app):
    """A form can send only these types without asking the console, which does not answer such questions."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        assert app.send("POST", "/console/login", json.dumps({"secret": app.new_login()}), {"Content-Type": kind}).code == 400
    answer = app.send("OPTIONS", SECRETS, headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-console-key"})
    assert answer.code >= 400 and not any(name.lower().startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize("path", ["/../outside.txt", "/assets/../../outside.txt", "/%2e%2e/outside.txt", "/assets/%2e%2e%2f%2e%2e%2foutside.txt", "//etc/passwd", "/link.txt", "/assets/",
                                  "/assets", "/index.html/", "/\\..\\outside.txt", "/index.html%00.js", "/./outside.txt", "/.git/config", "/console/login/../../outside.txt"])
def test_paths_outside_of_the_pages(app, path):
    answer = app.send("GET", path)
    assert answer.code in (400, 404) and "outside" not in answer.body


def test_headers_of_pages_and_data(app):
    page, data = app.send("GET", "/"), app.send("GET", "/cluster/version", headers=app.session())
    assert page.headers["Content-Security-Policy"].startswith("default-src 'self';") and "unsafe" not in page.headers["Content-Security-Policy"]
    assert "sandbox" in data.headers["Content-Security-Policy"] and data.headers["Cache-Control"] == "no-store"
    for answer in (page, data):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_the_identity_is_that_of_the_session(app):
    """Headers of the browser do not change it."""
    session = app.session()
    for extra in ({}, {"Authorization": "Bearer other"}, {"Impersonate-User": "system:kube-scheduler"}, {"X-Remote-User": "root", "X-Remote-Group": "system:masters"},
                  {"X-Forwarded-Client-Cert": "Subject=\"CN=root\""}, {"Connection": "x-console-key"}):
        answer = app.send("POST", SELF, REVIEW, {**session, **extra})
        assert answer.code == 201, answer.body
        assert answer.json()["status"]["userInfo"]["username"] == "admin"


def test_a_token_has_no_certificate(server, app, tmp_path):
    """A session with a bearer token has only the permissions of the token, although the kubeconfig has an administrator."""
    assert server.client("POST", "/api/v1/namespaces/default/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "console-guest"}}).code == 201
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = server.client("POST", "/api/v1/namespaces/default/serviceaccounts/console-guest/token", review).json()["status"]["token"]
    session = app.session({"token": token})
    assert app.send("POST", SELF, REVIEW, session).json()["status"]["userInfo"]["username"] == "system:serviceaccount:default:console-guest"
    assert app.send("GET", SECRETS, headers=session).code == 403
    server.client("DELETE", "/api/v1/namespaces/default/serviceaccounts/console-guest")
    mesh.wait_until(lambda: app.send("GET", "/cluster/api", headers=session).code == 401, 15, "the token of a deleted account ends the permissions of its session")


def test_methods_and_upgrades_are_not_forwarded(app):
    session = app.session()
    for method in ("OPTIONS", "TRACE", "CONNECT", "HEAD", "PROPFIND"):
        assert app.send(method, "/cluster/version", headers=session).code in (400, 405, 501), method
    answer = app.send("GET", "/cluster/api/v1/pods?watch=1&timeoutSeconds=1", headers={**session, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="})
    assert answer.code == 200


def test_an_api_server_with_hostile_headers(tmp_path, pages):
    """Cookies, redirects and policies of a server behind the aggregator do not reach the browser."""
    authority = pki.Pki(tmp_path / "pki", "hostile")

    def answer(request, body):
        request.send(302, "<script>alert(1)</script>", content_type="text/html", **{"Set-Cookie": "a=b", "Location": "http://evil.example", "Access-Control-Allow-Origin": "*",
                     "Content-Security-Policy": "default-src *", "Clear-Site-Data": "*", "Refresh": "0"})
    hostile = tls_server.TlsServer(authority.issue_server("hostile"), authority.ca, answer)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(f"""apiVersion: v1
kind: Config
clusters: [{{name: e, cluster: {{server: "https://127.0.0.1:{hostile.port}", certificate-authority: "{authority.ca}"}}}}]
users: [{{name: e, user: {{token: secret-token}}}}]
contexts: [{{name: e, context: {{cluster: e, user: e}}}}]
current-context: e
""")
    app = console.Console(tmp_path / "console", kubeconfig, pages)
    try:
        answer = app.send("GET", "/cluster/x", headers=app.session())
        names = {name.lower() for name in answer.headers}
        assert not names & {"set-cookie", "location", "access-control-allow-origin", "clear-site-data", "refresh"}
        assert answer.headers.get_all("Content-Security-Policy") == ["default-src 'none'; frame-ancestors 'none'; sandbox"]
        received = {name.lower(): value for name, value in hostile.seen[-1][2].items()}
        assert received["authorization"] == "Bearer secret-token"
        assert not [name for name in received if name == "cookie" or name.startswith(("x-console", "origin", "sec-", "x-forwarded"))]
    finally:
        app.stop()
        hostile.stop()


def test_unencrypted_only_on_loopback(app, pages):
    for address in ("0.0.0.0", "::", "localhost"):
        run = subprocess.run([mesh.BIN / "console", f"--console-address={address}", f"--console-files={pages}", "--console-kubeconfig=/nope"], capture_output=True, text=True, timeout=30)
        assert run.returncode == 1 and address in run.stderr


def test_the_log_has_no_secrets(app):
    secret = app.new_login()
    session = app.session({"secret": secret})
    app.send("POST", "/console/login", {"token": "token-in-a-login"})
    log = app.log.read_text()
    for hidden in (secret, session["X-Console-Key"], session["Cookie"].split("=")[1], mesh.ADMIN_TOKEN, "token-in-a-login"):
        assert hidden not in log


def watches(server, resource="configmaps"):
    """The watches of a resource by clients of the API server."""
    lines = server.client.get("/metrics").body.splitlines()
    found = [line for line in lines if line.startswith("apiserver_longrunning_requests{") and f'resource="{resource}"' in line and 'verb="WATCH"' in line]
    return sum(float(line.rpartition(" ")[2]) for line in found)


def test_a_browser_that_does_not_read(server, app):
    """A watch of a browser that does not read costs the console a bounded amount of memory, and its end closes the watch at the API server."""
    maps = "/api/v1/namespaces/default/configmaps"
    session = app.session()
    status = pathlib.Path(f"/proc/{app.process.pid}/status")

    def resident():
        return int(next(line for line in status.read_text().splitlines() if line.startswith("VmRSS")).split()[1])
    before = resident()
    connection = socket.create_connection(("127.0.0.1", app.port))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    lines = [f"GET /cluster{maps}?watch=1 HTTP/1.1", f"Host: {app.host}", *(f"{name}: {value}" for name, value in session.items())]
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    time.sleep(0.2)
    big = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"}, "data": {"a": "x" * 500_000}}
    assert server.client("POST", maps, big).code == 201
    for number in range(32):  # 16 MB of events
        big["data"]["a"] = f"{number:06}" + "x" * 500_000
        assert server.client("PUT", f"{maps}/big", big).code == 200
    assert resident() - before < 8_000
    assert watches(server) > 0
    connection.close()
    mesh.wait_until(lambda: watches(server) == 0, 10, "the watch at the API server ends with its browser")
    server.client("DELETE", f"{maps}/big")


def test_the_watch_of_a_browser_that_leaves_ends(server, app):
    """Also if the watch is idle, so that nothing is written to the browser."""
    session = app.session()
    for _ in range(3):
        connection = socket.create_connection(("127.0.0.1", app.port))
        lines = ["GET /cluster/api/v1/namespaces/kube-public/pods?watch=1 HTTP/1.1", f"Host: {app.host}", *(f"{name}: {value}" for name, value in session.items())]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        assert b" 200 OK" in connection.recv(1000)
        mesh.wait_until(lambda: watches(server, "pods") == 1, 10, "the watch is open")
        connection.close()
        mesh.wait_until(lambda: watches(server, "pods") == 0, 10, "the watch at the API server ends with its browser")


def test_many_connections(app):
    """Connections without requests are closed when there are too many, so that other users still connect."""
    sockets = []
    try:
        for _ in range(700):
            sockets.append(socket.create_connection(("127.0.0.1", app.port), timeout=5))
        assert app.send("GET", "/").code == 200
    finally:
        for one in sockets:
            one.close()
    assert threading.active_count() < 50

"""Small real HTTPS servers for tests: whatever the API server forwards requests to."""
import http.server
import pathlib
import socket
import ssl
import subprocess
import threading


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Pki:
    """A CA of a test's own."""

    def __init__(self, folder, name):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ca, self.key = self.folder / f"{name}-ca.crt", self.folder / f"{name}-ca.key"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.key, "-out", self.ca, "-days", "2", "-subj", f"/CN={name}")

    def issue(self, common_name, alternative_names="DNS:localhost"):
        """(certificate, key)"""
        base = self.folder / common_name.replace(":", "-")
        certificate, key, request, extensions = base.with_suffix(".crt"), base.with_suffix(".key"), base.with_suffix(".csr"), base.with_suffix(".ext")
        extensions.write_text(f"subjectAltName={alternative_names}\n")
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={common_name}")
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.key, "-CAcreateserial", "-out", certificate, "-days", "2", "-extfile", extensions)
        return certificate, key


class TlsServer:
    """Serves with `handler`; the requests it saw are in `seen` as (method, path, headers, common name of the client)."""

    def __init__(self, certificate, client_ca, answer):
        seen = self.seen = []
        connections = self.connections = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                connections.append(self.connection)

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                peer = self.connection.getpeercert() or {}
                names = [value for part in peer.get("subject", ()) for key, value in part if key == "commonName"]
                seen.append((self.command, self.path, dict(self.headers.items()), names[0] if names else None))
                answer(self, body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def send(self, code, body, content_type="application/json", **headers):
                body = body if isinstance(body, bytes) else body.encode()
                self.send_response(code)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(client_ca)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        """Connections that are kept alive end as well."""
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.server.shutdown()
        self.server.server_close()

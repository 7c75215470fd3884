"""HTTPS servers to which the API server forwards requests in tests."""
import http.server
import socket
import ssl
import threading


class TlsServer:
    """Responds with `answer(request, body)` at a free port of `host`. `seen` has the received requests as (method, path, headers, common name of the client)."""

    def __init__(self, certificate, client_ca, answer, host="127.0.0.1"):
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
        self.server = http.server.ThreadingHTTPServer((host, 0), Handler)
        self.server.daemon_threads = True
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        """Stops the server and closes persistent connections."""
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.server.shutdown()
        self.server.server_close()

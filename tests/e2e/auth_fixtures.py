"""The environment of an API server: an OpenID issuer and webhooks, as HTTPS servers."""
import base64
import http.server
import json
import pathlib
import ssl
import threading
import time

from pki import openssl

# The request with which a user asks who the server takes them for.
SELF_REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
SELF_REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


def base64url(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).rstrip(b"=").decode()


class SigningKey:
    def __init__(self, folder, name):
        self.id, self.file = name, pathlib.Path(folder) / f"{name}.pem"
        openssl("genrsa", "-out", self.file, "2048")

    def jwk(self):
        modulus = openssl("rsa", "-in", self.file, "-noout", "-modulus").decode().strip().split("=")[1]
        return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": self.id, "n": base64url(bytes.fromhex(modulus)), "e": "AQAB"}

    def sign(self, claims, **header):
        text = base64url({"alg": "RS256", "kid": self.id, "typ": "JWT"} | header) + "." + base64url(claims)
        return text + "." + base64url(openssl("dgst", "-sha256", "-sign", self.file, stdin=text.encode()))


class HttpsServer:
    """Responds with the (code, document) that `answer(method, path, body)` returns, as JSON. `requests` has the received requests."""

    def __init__(self, pki, name, client_ca=None):
        certificate, key = pki.issue_server(name)
        self.requests, self.delay, self.ca = [], 0, pki.ca
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                peer = self.connection.getpeercert()
                outer.requests.append((self.command, self.path, json.loads(body) if body else None, peer, dict(self.headers)))
                time.sleep(outer.delay)
                code, document = outer.answer(self.command, self.path, json.loads(body) if body else None)
                data = json.dumps(document).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = serve

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if client_ca:
            context.load_verify_locations(str(client_ca))
            context.verify_mode = ssl.CERT_REQUIRED
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, method, path, body):
        raise NotImplementedError

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class OidcIssuer(HttpsServer):
    """Serves OpenID discovery and keys. `rotate` replaces the key."""

    def __init__(self, pki, folder, name="issuer"):
        self.folder, self.name, self.count = folder, name, 0
        self.keys = []
        self.rotate()
        super().__init__(pki, name)

    def rotate(self):
        self.count += 1
        self.key = SigningKey(self.folder, f"{self.name}-key-{self.count}")
        self.keys = [self.key]

    def answer(self, method, path, body):
        if path == "/.well-known/openid-configuration":
            return 200, {"issuer": self.url, "jwks_uri": self.url + "/keys", "response_types_supported": ["id_token"],
                         "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256"]}
        return (200, {"keys": [key.jwk() for key in self.keys]}) if path == "/keys" else (404, {})

    def token(self, subject="jane", audience="my-client", lifetime=600, key=None, header=None, **claims):
        now = int(time.time())
        claims = {"iss": self.url, "sub": subject, "aud": audience, "iat": now, "exp": now + lifetime} | claims
        return (key or self.key).sign({name: value for name, value in claims.items() if value is not None}, **(header or {}))


class Webhook(HttpsServer):
    """A review webhook that requires a client certificate. `decide(spec)` returns the status of the review."""

    def __init__(self, pki, name, decide):
        super().__init__(pki, name, client_ca=pki.ca)
        self.decide = decide

    def answer(self, method, path, body):
        result = self.decide(body["spec"])
        if isinstance(result, int):
            return result, {}
        return 200, {"apiVersion": body["apiVersion"], "kind": body["kind"], "status": result}

    def kubeconfig(self, path, client, ca=None):
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "w", "clusters": [{"name": "w", "cluster": {
                "server": self.url + "/review", "certificate-authority": str(ca or self.ca)}}],
            "users": [{"name": "w", "user": {"client-certificate": client[0], "client-key": client[1]}}],
            "contexts": [{"name": "w", "context": {"cluster": "w", "user": "w"}}]}))
        return path

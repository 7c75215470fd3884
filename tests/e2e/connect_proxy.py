"""A proxy that opens connections at the request CONNECT, for tests of --egress-selector-config-file."""
import pathlib
import socket
import ssl
import threading

from slow_connection import copy


class ConnectProxy:
    """Listens at a free port of 127.0.0.1 or at a Unix socket. `certificate` is that of the proxy, which then requires client certificates of `client_ca`.
    `asked` has the addresses that were requested. `answer`: None opens connections, bytes are sent instead, and "hang" leaves clients without an answer."""

    def __init__(self, path=None, certificate=None, client_ca=None):
        self.asked, self.answer = [], None
        if path:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.bind(str(path))
            self.path = pathlib.Path(path)
        else:
            self.socket = socket.create_server(("127.0.0.1", 0))
            self.port = self.socket.getsockname()[1]
        self.socket.listen(64)
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
            self.context.verify_mode = ssl.CERT_REQUIRED
            self.context.load_verify_locations(client_ca)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            if self.context:
                client = self.context.wrap_socket(client, server_side=True)
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(4096)
                if not piece:
                    return
                head += piece
            method, address, _ = head.split(b"\r\n")[0].split(b" ")
            assert method == b"CONNECT", head
            self.asked.append(address.decode())
            if self.answer == "hang":
                client.recv(1)
                return
            if self.answer is not None:
                client.sendall(self.answer)
                return
            host, port = address.decode().rsplit(":", 1)
            upstream = socket.create_connection((host.strip("[]"), int(port)), 10)
            upstream.settimeout(None)
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=copy, args=(upstream, client), daemon=True)
            back.start()
            copy(client, upstream)
            back.join()
        except OSError:
            pass
        finally:
            client.close()

    def stop(self):
        """Refuses new connections. May be called again."""
        if self.socket.fileno() < 0:
            return
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        if hasattr(self, "path"):
            self.path.unlink(missing_ok=True)

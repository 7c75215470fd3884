"""A server of the tests behind a connection that delays what it passes on."""
import socket
import threading
import time


def copy(source, target, delay=lambda: 0):
    """Passes on what `source` receives until either socket is closed, then closes both directions. `delay` returns the seconds before each piece."""
    try:
        while piece := source.recv(65536):
            time.sleep(delay())
            target.sendall(piece)
    except OSError:
        pass
    for one in (source, target):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class SlowConnection:
    """Listens at `url` and forwards connections to the port of `target`. `delay`: seconds before each piece is passed on."""

    def __init__(self, target):
        self.port, self.delay = int(target.rsplit(":", 1)[1]), 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
                server = socket.create_connection(("127.0.0.1", self.port), 10)
            except OSError:
                return
            server.settimeout(None)
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=copy, args=(source, target, lambda: self.delay), daemon=True).start()

    def stop(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

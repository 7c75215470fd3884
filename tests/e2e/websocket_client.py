"""A WebSocket client for the tests: one connection, messages in full, no extensions."""
import base64
import os
import socket
import ssl
import struct

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


class Refused(Exception):
    def __init__(self, head, body):
        super().__init__(head)
        self.head, self.body = head, body


class WebSocket:
    def __init__(self, port, path, protocol, token, timeout=30):
        raw = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket = ssl._create_unverified_context().wrap_socket(raw)
        self.buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            self._receive()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.head = head.decode()
        if not self.head.startswith("HTTP/1.1 101"):
            raise Refused(self.head, self.buffer.decode())

    def _receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise EOFError
        self.buffer += data

    def _take(self, size):
        while len(self.buffer) < size:
            self._receive()
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def send(self, payload, opcode=BINARY, final=True):
        size, mask = len(payload), os.urandom(4)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size)
        repeated = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
        self.socket.sendall(bytes([(0x80 if final else 0) | opcode]) + length + mask + masked)

    def receive(self):
        """Returns (opcode, payload) of the next frame. Raises EOFError at the end of the connection."""
        first, second = self._take(2)
        size = second & 0x7f
        if size == 126:
            size = struct.unpack(">H", self._take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self._take(8))[0]
        return first & 0xf, self._take(size)

    def channels(self):
        """Reads until the connection ends. Returns {channel: data}, and the code of the close frame as "close"."""
        seen = {}
        while True:
            try:
                opcode, payload = self.receive()
            except EOFError:
                return {channel: data if channel == "close" else bytes(data) for channel, data in seen.items()}
            if opcode == CLOSE:
                seen["close"] = struct.unpack(">H", payload[:2])[0]
            elif opcode == BINARY:
                seen.setdefault(payload[0], bytearray()).extend(payload[1:])

    def close(self):
        self.socket.close()


class WatchSocket(WebSocket):
    """A watch over WebSocket. Its handshake may be refused, so `status` is to be checked. A header replaces that of the handshake, or removes it (None)."""

    def __init__(self, address, path, token, receive_buffer=None, **headers):
        host, port = address.rsplit(":", 1)
        raw = socket.socket()
        if receive_buffer:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        raw.settimeout(30)
        raw.connect((host, int(port)))
        self.socket = ssl._create_unverified_context().wrap_socket(raw)
        self.buffer = b""
        sent = {"Authorization": f"Bearer {token}", "Connection": "Upgrade", "Upgrade": "websocket", "Origin": "http://localhost",
                "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), "Sec-WebSocket-Version": "13"}
        names = {name.lower(): name for name in sent}
        for name, value in headers.items():
            name = name.replace("_", "-")
            sent[names.get(name.lower(), name)] = value
        lines = [f"GET {path} HTTP/1.1", f"Host: {address}"] + [f"{name}: {value}" for name, value in sent.items() if value is not None]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self.buffer:
            self._receive()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.head = head.decode()
        self.status = int(self.head.split()[1])
        self.headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in self.head.split("\r\n")[1:])}

    def rest(self):
        """Returns all messages until the connection ends: [(opcode, payload)]."""
        found = []
        while True:
            try:
                found.append(self.receive())
            except (EOFError, ConnectionResetError, ssl.SSLError):
                return found

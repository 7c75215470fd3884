"""HTTP/2 for the tests, frame by frame: TLS with ALPN on the port of the server. Heads are sent without compression; the heads of responses are not decoded,
because curl and Go's client do that in other tests."""
import socket
import ssl

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4


def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS)


def number(value, bits):
    """An HPACK integer whose first byte has `bits` bits for it, the others being 0."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([value])
    encoded, value = bytes([most]), value - most
    while value >= 128:
        encoded, value = encoded + bytes([128 | value & 127]), value >> 7
    return encoded + bytes([value])


def fields(*pairs):
    return b"".join(b"\0" + b"".join(number(len(text), 7) + text.encode() for text in pair) for pair in pairs)


def head(method, path, token=None, *more):
    sent = [(":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost")]
    return fields(*sent, *([("authorization", f"Bearer {token}")] if token else []), *more)


class Http2:
    def __init__(self, port, window=65535, timeout=20):
        context = ssl._create_unverified_context()
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=timeout), server_hostname="localhost")
        assert self.socket.selected_alpn_protocol() == "h2"
        self.buffer, self.next_stream = b"", 1
        self.send(PREFACE + (frame(SETTINGS, 0, 0, b"\0\4" + window.to_bytes(4, "big")) if window != 65535 else b""))

    def send(self, data):
        self.socket.sendall(data)

    def request(self, method, path, token=None, *more, body=None, end=True):
        """Sends a request and returns its stream. `end`: the request is complete."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.send(frame(HEADERS, END_HEADERS | (END_STREAM if end and body is None else 0), stream, head(method, path, token, *more))
                  + (b"" if body is None else frame(DATA, END_STREAM if end else 0, stream, body)))
        return stream

    def receive(self):
        """Returns (kind, flags, stream, payload) of the next frame. Raises EOFError at the end of the connection."""
        while len(self.buffer) < 9 or len(self.buffer) < 9 + int.from_bytes(self.buffer[:3], "big"):
            try:
                data = self.socket.recv(1 << 16)
            except ConnectionError:
                data = b""
            if not data:
                raise EOFError
            self.buffer += data
        end = 9 + int.from_bytes(self.buffer[:3], "big")
        taken, self.buffer = self.buffer[:end], self.buffer[end:]
        return taken[3], taken[4], int.from_bytes(taken[5:9], "big"), taken[9:]

    def until(self, *wanted):
        """Reads until a frame of a wanted (kind, stream) arrives, and returns all frames so far."""
        seen = []
        while True:
            seen.append(self.receive())
            if (seen[-1][0], seen[-1][2]) in wanted:
                return seen

    def finish(self, stream):
        """Reads until the stream has ended. Returns its body; raises EOFError if it was reset or the connection ended."""
        body = b""
        while True:
            kind, flags, of, payload = self.receive()
            if of != stream:
                continue
            if kind == RST_STREAM:
                raise EOFError(int.from_bytes(payload, "big"))
            if kind == DATA:
                body += payload
                if payload:
                    self.send(frame(WINDOW_UPDATE, 0, stream, len(payload).to_bytes(4, "big")) + frame(WINDOW_UPDATE, 0, 0, len(payload).to_bytes(4, "big")))
            if kind in (DATA, HEADERS) and flags & END_STREAM:
                return body

    def rest(self):
        """Reads until the connection ends. Returns the kinds of the frames."""
        kinds = []
        while True:
            try:
                kinds.append(self.receive()[0])
            except EOFError:
                return kinds

    def close(self):
        self.socket.close()

"""A TLS client that can send records of any type and content after a normal handshake with TLS 1.3 or 1.2 and AES-128-GCM. Python's `ssl` makes the
handshake, the keys are derived from its key log, and libcrypto encrypts the records."""
import ctypes
import ctypes.util
import hmac
import pathlib
import socket
import ssl
import tempfile
import time

HANDSHAKE, ALERT, APPLICATION_DATA = 22, 21, 23
KEY_UPDATE_REQUESTED, KEY_UPDATE = b"\x18\0\0\1\1", b"\x18\0\0\1\0"
_crypto = ctypes.CDLL(ctypes.util.find_library("crypto") or "libcrypto.so.3")
for _name in ("EVP_CIPHER_CTX_new", "EVP_aes_128_gcm"):
    getattr(_crypto, _name).restype = ctypes.c_void_p


def seal(key, nonce, associated, plain):
    """Encrypts with AES-128-GCM."""
    context = ctypes.c_void_p(_crypto.EVP_CIPHER_CTX_new())
    out, size = ctypes.create_string_buffer(len(plain) + 16), ctypes.c_int()
    _crypto.EVP_EncryptInit_ex(context, ctypes.c_void_p(_crypto.EVP_aes_128_gcm()), None, key, nonce)
    _crypto.EVP_EncryptUpdate(context, None, ctypes.byref(size), associated, len(associated))
    _crypto.EVP_EncryptUpdate(context, out, ctypes.byref(size), plain, len(plain))
    _crypto.EVP_EncryptFinal_ex(context, None, ctypes.byref(size))
    tag = ctypes.create_string_buffer(16)
    _crypto.EVP_CIPHER_CTX_ctrl(context, 0x10, 16, tag)  # EVP_CTRL_GCM_GET_TAG
    _crypto.EVP_CIPHER_CTX_free(context)
    return out.raw[: len(plain)] + tag.raw


def expand_label(secret, label, size):
    """HKDF-Expand-Label (RFC 8446, section 7.1) with SHA-256 and without a context."""
    label = b"tls13 " + label
    return hmac.digest(secret, size.to_bytes(2, "big") + bytes([len(label)]) + label + b"\0\x01", "sha256")[:size]


def prf(secret, seed, size):
    """The pseudo-random function of TLS 1.2 with SHA-256."""
    out, block = b"", seed
    while len(out) < size:
        block = hmac.digest(secret, block, "sha256")
        out += hmac.digest(secret, block + seed, "sha256")
    return out[:size]


class RecordClient:
    def __init__(self, port, version=ssl.TLSVersion.TLSv1_3):
        context = ssl._create_unverified_context()
        context.minimum_version = context.maximum_version = version
        context.set_ciphers("ECDHE+AES128+AESGCM")
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        with tempfile.TemporaryDirectory() as folder:
            context.keylog_filename = f"{folder}/keys"
            session = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
            received = b""
            while True:
                try:
                    session.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    self.socket.sendall(outgoing.read())
                    part = self.socket.recv(1 << 16)
                    received += part
                    incoming.write(part)
            self.socket.sendall(outgoing.read())
            log = dict(line.split(" ", 1) for line in pathlib.Path(f"{folder}/keys").read_text().splitlines() if line.startswith("CLIENT"))
        self.tls13 = version == ssl.TLSVersion.TLSv1_3
        self.sequence = 0
        if self.tls13:
            assert session.cipher()[0] in ("TLS_AES_128_GCM_SHA256",), session.cipher()
            self._use(bytes.fromhex(log["CLIENT_TRAFFIC_SECRET_0"].split()[1]))
        else:
            client_random, master = (bytes.fromhex(part) for part in log["CLIENT_RANDOM"].split())
            server_random = received[11:43]  # record header, message header, version
            block = prf(master, b"key expansion" + server_random + client_random, 40)
            self.key, self.iv, self.sequence = block[:16], block[32:36], 1  # Finished was number 0

    def _use(self, secret):
        self.secret, self.sequence = secret, 0
        self.key, self.iv = expand_label(secret, b"key", 16), expand_label(secret, b"iv", 12)

    def record(self, kind, content=b""):
        number = self.sequence.to_bytes(8, "big")
        self.sequence += 1
        if self.tls13:
            header = b"\x17\3\3" + (len(content) + 17).to_bytes(2, "big")
            nonce = bytes(a ^ b for a, b in zip(self.iv, b"\0\0\0\0" + number))
            return header + seal(self.key, nonce, header, content + bytes([kind]))
        associated = number + bytes([kind]) + b"\3\3" + len(content).to_bytes(2, "big")
        return bytes([kind]) + b"\3\3" + (len(content) + 24).to_bytes(2, "big") + number + seal(self.key, self.iv + number, associated, content)

    def key_update(self, requested=True):
        """Returns a KeyUpdate record. Later records use the next key."""
        record = self.record(HANDSHAKE, KEY_UPDATE_REQUESTED if requested else KEY_UPDATE)
        self._use(expand_label(self.secret, b"traffic upd", 32))
        return record

    def flood(self, make_record, seconds, batch=200, prepared=None):
        """Sends records, those in `prepared` first, without reading. Returns whether the server closed the connection in time."""
        self.socket.settimeout(1)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if prepared is not None and not prepared:
                break
            chunk = prepared.pop(0) if prepared else b"".join(make_record() for _ in range(batch))
            try:
                self.socket.sendall(chunk)
            except TimeoutError:
                continue
            except OSError:
                return True
        return self.closed(end - time.monotonic())

    def closed(self, seconds):
        """Reads and discards data. Returns whether the server closes the connection within this time."""
        self.socket.settimeout(max(seconds, 0.1))
        try:
            while self.socket.recv(1 << 16):
                pass
        except TimeoutError:
            return False
        except OSError:
            pass
        return True

    def close(self):
        self.socket.close()

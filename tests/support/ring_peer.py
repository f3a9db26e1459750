"""The client's end of shared memory, written from protocol.md's section 12 alone, in Python: nothing of sweepd's code is used.
It never sleeps on its side of the rings; it looks, and wakes the server for every record."""
import fcntl
import mmap
import os
import socket
import struct
import time

from support.served import OK, PATIENCE, SHM_OPEN, Ended, Peer

F_ADD_SEALS = 1033
SEAL, SHRINK, GROW, WRITE, FUTURE_WRITE = 1, 2, 4, 8, 16
PAGE = mmap.PAGESIZE
TAIL, SLEEPING, WAITS = 64, 128, 192


def memory(ring_bytes, seals=SEAL | SHRINK | GROW | FUTURE_WRITE, size=None, fill=True, header=None):
    """(descriptor, writable mapping) of our own memory, sealed; by other arguments, of one that is not as it must be."""
    size = PAGE + ring_bytes if size is None else size
    fd = os.memfd_create("test-ring", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    if fill:
        os.posix_fallocate(fd, 0, size)
    mapped = mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    if fill:
        mapped[:24] = struct.pack("<8sIIQ", b"swp-ring", 1, PAGE, ring_bytes) if header is None else header
    if seals:
        fcntl.fcntl(fd, F_ADD_SEALS, seals)
    return fd, mapped


def ask(peer, ring_bytes, fd, id=1):
    """Sends SHM_OPEN; (reply, the server's descriptor or None)."""
    data = struct.pack("<IBBHIQ", 16, SHM_OPEN, 0, 0, id, ring_bytes)
    socket.send_fds(peer.sock, [data], [fd])
    first, fds, _, _ = socket.recv_fds(peer.sock, 4, 1)
    body = peer.recv(struct.unpack("<I", first)[0])
    return body, fds[0] if fds else None


class RingPeer(Peer):
    def __init__(self, sock, ring_bytes=1 << 16):
        super().__init__(sock)
        self.size = ring_bytes
        fd, self.ours = memory(ring_bytes)
        body, theirs = ask(Peer(sock), ring_bytes, fd)
        os.close(fd)
        assert body[1] == OK and struct.unpack_from("<Q", body, 8) == (ring_bytes,), body
        self.theirs = mmap.mmap(theirs, PAGE + ring_bytes, mmap.MAP_SHARED, mmap.PROT_READ)
        os.close(theirs)
        assert self.theirs[:24] == struct.pack("<8sIIQ", b"swp-ring", 1, PAGE, ring_bytes)
        self.head = self.position = 0
        self.patience = PATIENCE
        self.rest = b""

    @classmethod
    def connect(cls, url, ring_bytes=1 << 16):
        return cls(Peer.connect(url).sock, ring_bytes)

    def close(self):
        self.ours.close()
        self.theirs.close()
        super().close()

    # sending

    def word(self, at, value):
        """As one: struct would store it byte by byte, and the server may look in between."""
        with memoryview(self.ours) as view, view.cast("Q") as words:
            words[at // 8] = value

    def their_word(self, at):
        with memoryview(self.theirs) as view, view.cast("Q") as words:
            return words[at // 8]

    def write(self, position, data):
        at = position % self.size
        first = data[:self.size - at]
        self.ours[PAGE + at:PAGE + at + len(first)] = first
        self.ours[PAGE:PAGE + len(data) - len(first)] = data[len(first):]

    def wake(self, fds=()):
        try:
            if fds:
                socket.send_fds(self.sock, [bytes(4)], list(fds))
            else:
                self.sock.sendall(bytes(4))
        except (BrokenPipeError, ConnectionResetError):
            pass

    def put(self, data):
        bytes_ = (8 + len(data) + 63) // 64 * 64
        end = time.monotonic() + self.patience
        while self.head + bytes_ + 64 - self.their_word(TAIL) > self.size:
            assert time.monotonic() < end and self.is_alive(), "no room"
            time.sleep(0)
        self.write(self.head + 8, data)
        self.write(self.head + bytes_, bytes(8))
        self.write(self.head, struct.pack("<IHH", len(data), self.head // self.size & 0xFFFF, 0))
        self.head += bytes_
        self.wake()

    def send(self, data):
        most = self.size // 4 - 8
        for at in range(0, len(data), most):
            self.put(data[at:at + most])

    # taking

    def is_alive(self):
        self.sock.setblocking(False)
        try:
            data = self.sock.recv(4096)
            assert not data.strip(b"\0")
            return data != b""
        except BlockingIOError:
            return True
        except ConnectionResetError:
            return False
        finally:
            self.sock.settimeout(PATIENCE)

    def read(self, position, size):
        at = position % self.size
        first = self.theirs[PAGE + at:PAGE + min(at + size, self.size)]
        return first + self.theirs[PAGE:PAGE + size - len(first)]

    def take(self):
        """The next record; None: there is none."""
        size, lap, zero = struct.unpack("<IHH", self.read(self.position, 8))
        if size == 0:
            return None
        assert (lap, zero) == (self.position // self.size & 0xFFFF, 0) and size <= self.size // 4 - 8
        data = self.read(self.position + 8, size)
        self.position += (8 + size + 63) // 64 * 64
        self.word(TAIL, self.position)
        if self.their_word(WAITS) != 0:
            self.wake()
        return data

    def recv_some(self, size):
        end = time.monotonic() + PATIENCE
        while not self.rest:
            self.rest = self.take() or b""
            if not self.rest and not self.is_alive():
                self.rest = self.take() or b""
                if not self.rest:
                    return b""
            assert time.monotonic() < end, "nothing came"
        data, self.rest = self.rest[:size], self.rest[size:]
        return data


__all__ = ["Ended", "RingPeer", "ask", "memory"]

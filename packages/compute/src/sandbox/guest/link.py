"""The agent's end of the serial port: sessions, calls, and streams with credit.

A session begins with HELLO, which ends all calls and streams of the one before. A stream may send as many bytes of DATA
as the other end gave credit for, so neither end has to keep more than that.
"""
import errno
import json
import os

import frames
from loop import READ, WRITE

WINDOW = 256 * 1024
CALLS = 512
"""At the same time."""
CALL_BYTES = 8 * 1024 * 1024
VERSION = 1


class Refused(Exception):
    """What a call answers with when it is not done; `code` is one of SandboxErrorCode."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Link:
    def __init__(self, loop, fd, handlers):
        self.loop, self.fd, self.handlers = loop, fd, handlers
        self.parser = frames.Parser()
        self.out = bytearray()
        self.streams = {}
        self.partial = {}
        self.attend()

    def attend(self):
        self.loop.watch(self.fd, READ | (WRITE if self.out else 0), self.ready)

    def ready(self, events):
        if events & WRITE:
            self.flush()
        if events & READ:
            try:
                data = os.read(self.fd, 2 * frames.PAYLOAD_BYTES)
            except OSError as error:
                if error.errno != errno.EAGAIN:
                    raise
                return
            if not data:
                # Nobody is connected, which the port says again and again.
                self.loop.watch(self.fd, 0, None)
                self.loop.later(0.02, self.attend)
                return
            for frame in self.parser.feed(data):
                self.take(*frame)

    def flush(self):
        try:
            while self.out:
                del self.out[: os.write(self.fd, self.out[: 4 * frames.PAYLOAD_BYTES])]
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EPIPE):
                raise
        self.attend()

    def send(self, data):
        self.out += data
        self.flush()

    def take(self, kind, flags, stream, payload):
        if kind == frames.HELLO:
            self.begin(payload)
        elif kind == frames.CALL:
            self.partial.setdefault(stream, bytearray()).extend(payload)
            if len(self.partial[stream]) > CALL_BYTES:
                del self.partial[stream]
            elif not flags & frames.MORE:
                self.call(stream, self.partial.pop(stream))
        elif stream in self.streams:
            self.streams[stream].take(kind, payload)

    def begin(self, nonce):
        for stream in list(self.streams.values()):
            stream.drop()
        self.streams.clear()
        self.partial.clear()
        self.out.clear()
        self.send(frames.encode(frames.WELCOME, VERSION, nonce))

    def call(self, number, payload):
        stream = Stream(self, number)
        try:
            if len(self.streams) >= CALLS:
                raise Refused("too_many", "too many calls at once")
            head, body = frames.decode_message(payload)
            self.streams[number] = stream
            handler = self.handlers.get(head.get("op"))
            if not handler:
                raise Refused("guest_failed", "the agent knows no such call")
            handler(stream, head, body)
        except Refused as refusal:
            stream.refuse(refusal.code, str(refusal))
        except Exception as error:  # Whatever it is, only this call fails.
            stream.refuse("guest_failed", f"{type(error).__name__}: {error}")


class Stream:
    """One call, and the bytes either way that may follow it."""

    def __init__(self, link, number):
        self.link, self.number = link, number
        self.credit = WINDOW
        self.taken = 0
        self.on_data = self.on_end = self.on_credit = self.on_drop = None

    def answer(self, head=None, body=b""):
        """The end of the call, unless bytes follow."""
        self.link.send(frames.encode_message(frames.ANSWER, self.number, head or {}, body))
        if not self.on_drop:
            self.close()

    def refuse(self, code, message):
        text = json.dumps({"code": code, "message": message[:1000]}).encode()
        self.link.send(frames.encode(frames.ABORT, self.number, text))
        self.close()

    def data(self, payload):
        """At most `credit` bytes."""
        self.credit -= len(payload)
        for at in range(0, len(payload), frames.PAYLOAD_BYTES):
            piece = payload[at : at + frames.PAYLOAD_BYTES]
            self.link.send(frames.encode(frames.DATA, self.number, piece))

    def end(self):
        self.link.send(frames.encode(frames.END, self.number))

    def consumed(self, count):
        """Lets the other end send as much again."""
        self.taken += count
        if self.taken >= WINDOW // 2:
            self.link.send(frames.encode(frames.CREDIT, self.number, self.taken.to_bytes(4, "little")))
            self.taken = 0

    def close(self):
        self.link.streams.pop(self.number, None)

    def drop(self):
        self.close()
        if self.on_drop:
            self.on_drop()

    def take(self, kind, payload):
        if kind == frames.DATA and self.on_data:
            self.on_data(payload)
        elif kind == frames.END and self.on_end:
            self.on_end()
        elif kind == frames.CREDIT:
            self.credit += int.from_bytes(payload[:4], "little")
            if self.on_credit:
                self.on_credit()
        elif kind == frames.ABORT:
            self.drop()


class Pump:
    """Carries bytes between a stream and a socket, either way until its end."""

    def __init__(self, loop, stream, sock, on_done=lambda: None):
        self.loop, self.stream, self.sock, self.on_done = loop, stream, sock, on_done
        self.waiting = bytearray()
        self.ended_in = self.ended_out = False
        sock.setblocking(False)
        stream.on_data, stream.on_end = self.from_stream, self.stream_ended
        stream.on_credit, stream.on_drop = self.attend, self.drop
        self.attend()

    def attend(self):
        wants_read = not self.ended_out and self.stream.credit > 0
        self.loop.watch(self.sock, (READ if wants_read else 0) | (WRITE if self.waiting else 0), self.ready)

    def ready(self, events):
        try:
            if events & WRITE:
                self.write()
            if events & READ and not self.ended_out:
                data = self.sock.recv(min(self.stream.credit, frames.PAYLOAD_BYTES))
                if data:
                    self.stream.data(data)
                else:
                    self.ended_out = True
                    self.stream.end()
        except BlockingIOError:
            pass
        except OSError:
            self.stream.refuse("guest_failed", "the connection was reset")
            return self.drop()
        self.settle()

    def write(self):
        while self.waiting:
            count = self.sock.send(self.waiting[: frames.PAYLOAD_BYTES])
            del self.waiting[:count]
            self.stream.consumed(count)
        if self.ended_in:
            self.shut()

    def from_stream(self, payload):
        if self.ended_in or len(self.waiting) + len(payload) > 2 * WINDOW:
            self.stream.refuse("guest_failed", "more than was asked for")
            return self.drop()
        self.waiting += payload
        self.ready(WRITE)

    def stream_ended(self):
        self.ended_in = True
        if not self.waiting:
            self.shut()
        self.settle()

    def shut(self):
        try:
            self.sock.shutdown(1)
        except OSError:
            pass

    def settle(self):
        if self.ended_in and self.ended_out and not self.waiting:
            self.stream.close()
            self.drop()
        elif self.sock.fileno() >= 0:
            self.attend()

    def drop(self):
        if self.sock.fileno() < 0:
            return
        self.loop.watch(self.sock, 0, None)
        self.sock.close()
        self.on_done()

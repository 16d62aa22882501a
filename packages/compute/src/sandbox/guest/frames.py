"""The frames that agent and service exchange over the machine's serial port; see session-frames.ts for the other end.

A frame is a header and up to 64 KiB: magic, type, flags, stream, length, CRC-32 of all but itself. After a break the
reader skips to the next frame whose sum is right, so half a frame harms nothing but itself.
"""
import json
import struct
import zlib

MAGIC = b"\xc7\x1a"
HEADER = struct.Struct("<2sBBIII")
PAYLOAD_BYTES = 65536

HELLO, WELCOME, CALL, ANSWER, DATA, END, ABORT, CREDIT = range(1, 9)
MORE = 1
"""Flag of CALL and ANSWER: the message goes on in the next frame of the stream."""

_SUMMED = struct.Struct("<2sBBII")
_to_json = json.JSONEncoder(separators=(",", ":")).encode
_from_json = json.JSONDecoder().raw_decode


def encode(kind, stream, payload=b"", flags=0):
    """One frame as bytes."""
    crc = zlib.crc32(payload, zlib.crc32(_SUMMED.pack(MAGIC, kind, flags, stream, len(payload))))
    return HEADER.pack(MAGIC, kind, flags, stream, len(payload), crc) + payload


def encode_message(kind, stream, head, body=b""):
    """A message of JSON and bytes, in as many frames as it takes."""
    text = _to_json(head).encode()
    whole = struct.pack("<I", len(text)) + text + body
    pieces = [whole[at : at + PAYLOAD_BYTES] for at in range(0, len(whole), PAYLOAD_BYTES)]
    last = len(pieces) - 1
    return b"".join(encode(kind, stream, piece, MORE if at < last else 0) for at, piece in enumerate(pieces))


def decode_message(payload):
    """The JSON and the bytes of a whole message."""
    (length,) = struct.unpack_from("<I", payload)
    return _from_json(payload[4 : 4 + length].decode())[0], bytes(payload[4 + length :])


class Parser:
    """Finds frames in what was read."""

    def __init__(self):
        self.buffer = bytearray()

    def feed(self, data):
        """Yields (type, flags, stream, payload) of each frame that is complete."""
        buffer = self.buffer
        buffer += data
        while len(buffer) >= HEADER.size:
            magic, kind, flags, stream, length, crc = HEADER.unpack_from(buffer)
            if magic != MAGIC or length > PAYLOAD_BYTES:
                at = buffer.find(MAGIC, 1)
                # The last byte may be the first of the magic.
                del buffer[: at if at > 0 else len(buffer) - 1]
                continue
            end = HEADER.size + length
            if len(buffer) < end:
                return
            payload = bytes(buffer[HEADER.size : end])
            if zlib.crc32(payload, zlib.crc32(bytes(buffer[: HEADER.size - 4]))) != crc:
                del buffer[:2]
                continue
            del buffer[:end]
            yield kind, flags, stream, payload

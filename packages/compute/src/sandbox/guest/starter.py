"""A process that is about to become a program: all that takes time before is done, only the program is not known yet."""
import fcntl
import marshal
import os
import socket
import struct
import termios

import spawn
from link import Refused

AGAIN_SECONDS = 0.5
"""After one was taken, whose program needs the processor more than the next one."""
ANSWER_SECONDS = 2
MESSAGE_BYTES = 4 * 1024 * 1024


def users_now():
    """Tells what who the user is, and in which groups, was read from; None when somebody removed it."""
    try:
        known = [os.stat(path).st_mtime_ns for path in ("/etc/passwd", "/etc/group")]
        return [*known, spawn.defaults(), root_of(spawn.defaults())]
    except OSError:
        return None


def root_of(said):
    return said.get("root") and [os.stat(said["root"] + path).st_mtime_ns for path in ("/etc/passwd", "/etc/group")]


class Starters:
    """One at most is ready."""

    def __init__(self, loop):
        self.loop, self.ready = loop, None

    def warm(self):
        if not self.ready:
            self.ready = Starter(self.loop)

    def take(self):
        starter, self.ready = self.ready, None
        if not starter:
            return None
        self.loop.later(AGAIN_SECONDS, self.try_warm)
        if starter.users == users_now():
            return starter
        spawn.remove_group(self.loop, starter.group)
        return None

    def try_warm(self):
        try:
            self.warm()
        except Refused:
            pass


class Starter:
    count = 0

    def __init__(self, loop):
        """Of the user that programs have unless they are given another."""
        Starter.count += 1
        self.loop, self.users, self.user = loop, users_now(), spawn.find_user(None)
        self.group = f"program-{Starter.count}"
        self.line, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        empty = os.open("/dev/null", os.O_RDWR)
        its_end = [empty, empty, empty, its.detach()]
        try:
            self.pid = spawn.fork(stand_by, self.user, its_end, self.group)
        finally:
            for fd in set(its_end):
                os.close(fd)
        for limit in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self.line.setsockopt(socket.SOL_SOCKET, limit, struct.pack("ll", ANSWER_SECONDS, 0))
        loop.on_exit(self.pid, lambda *_: None)

    def start(self, args, env, fds, cwd, terminal):
        """Becomes the program, with the descriptors as its first ones, and returns its pid; None when it cannot.

        Whoever has the machine may have broken it. Then it is ended.
        """
        request = marshal.dumps((args, env, cwd, terminal))
        failed = b""
        try:
            with self.line as line:
                socket.send_fds(line, [len(request).to_bytes(4, "little")], fds)
                line.sendall(request)
                while len(failed) < 1024 and (piece := line.recv(1024)):
                    failed += piece
        except OSError:
            spawn.remove_group(self.loop, self.group)
            return None
        if failed:
            raise Refused("spec_invalid", failed.decode(errors="replace"))
        return self.pid


def stand_by(started):
    started()
    line = socket.socket(fileno=3)
    length, fds, _, _ = socket.recv_fds(line, 4, 3)
    request = b""
    while length and len(request) < int.from_bytes(length, "little"):
        piece = line.recv(MESSAGE_BYTES)
        if not piece:
            return
        request += piece
    if not request:
        return
    args, env, cwd, terminal = marshal.loads(request)
    said = spawn.place(fds, line.detach())
    try:
        if terminal:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        os.chdir(cwd)
        os.execvpe(args[0], args, env)
    except BaseException as error:  # The agent tells it.
        os.write(said, str(error).encode()[:1000] or b"failed")

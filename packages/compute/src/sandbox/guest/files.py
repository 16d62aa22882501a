"""Work on files, each piece of it in a process that has the rights of its user and may wait as long as it likes.

What comes back begins with a line of JSON: what was found, or `refused`. Bytes of a file, or more lines, may follow.
"""
import ctypes
import grp
import json
import os
import pwd
import select
import shutil
import socket
import stat
import struct

import spawn
from link import Pump, Refused

WORKERS = 64
ENTRIES = 10_000
PIECE = 65536
# inotify(7)
EVENTS = {0x100: "created", 0x8: "written", 0x200: "removed", 0x40: "renamed", 0x80: "created", 0x4: "mode", 0x4000: "overflow"}
MASK = 0x100 | 0x8 | 0x200 | 0x40 | 0x80 | 0x4
IS_FOLDER = 0x40000000
WATCHES = 2000


class Files:
    def __init__(self, loop):
        self.loop = loop
        self.workers = 0

    def handlers(self):
        return {f"files.{name}": lambda stream, head, _, work=work: self.begin(stream, head, work) for name, work in WORK.items()}

    def begin(self, stream, head, work):
        if self.workers >= WORKERS:
            raise Refused("too_many", f"more than {WORKERS} files at once")
        user = spawn.find_user(head.get("user"))
        mine, its = socket.socketpair()
        null = os.open("/dev/null", os.O_RDWR)
        try:
            pid = spawn.fork(lambda started: (started(), serve(work, head)), user, [null, null, null, its.fileno()])
        except BaseException:
            mine.close()
            raise
        finally:
            its.close()
            os.close(null)
        self.workers += 1
        self.loop.on_exit(pid, self.ended)

        def done():
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass

        Pump(self.loop, stream, mine, done)
        stream.answer()

    def ended(self, *_):
        self.workers -= 1


def serve(work, head):
    with socket.socket(fileno=3) as sock:
        sock.setblocking(True)
        try:
            work(sock, head)
        except Refusal as refusal:
            refuse(sock, str(refusal))
        except OSError as error:
            refuse(sock, f"{error.filename or head.get('path')}: {error.strerror}")


def refuse(sock, why):
    """Takes what is still on its way: a connection that was closed on it would lose what is said here."""
    say(sock, {"refused": why})
    sock.shutdown(socket.SHUT_WR)
    while sock.recv(PIECE):
        pass


class Refusal(Exception):
    pass


def say(sock, message):
    sock.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")


def path_of(head, key="path"):
    """Absolute: what does not begin with a slash is in the home folder, which is the current one."""
    return os.path.normpath(os.path.join(os.getcwd(), head[key]))


def name_of(find, number):
    try:
        return find(number)[0]
    except KeyError:
        return str(number)


def info(path, found=None):
    found = found or os.lstat(path)
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    kind = kinds.get(stat.S_IFMT(found.st_mode), "other")
    return {
        "path": path.encode("utf-8", "replace").decode(),
        "type": kind,
        "size": found.st_size,
        "mode": stat.S_IMODE(found.st_mode),
        "user": name_of(pwd.getpwuid, found.st_uid),
        "group": name_of(grp.getgrgid, found.st_gid),
        "modified": found.st_mtime,
        **({"target": os.readlink(path)} if kind == "link" else {}),
    }


def tell(sock, head):
    say(sock, info(path_of(head)))


def list_folder(sock, head):
    found, folders = [], [(path_of(head), head.get("depth", 1))]
    while folders:
        folder, left = folders.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) >= ENTRIES:
                    raise Refusal(f"more than {ENTRIES} entries")
                try:
                    found.append(info(entry.path, entry.stat(follow_symlinks=False)))
                except FileNotFoundError:
                    continue
                if left > 1 and entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, left - 1))
    say(sock, {"entries": sorted(found, key=lambda one: one["path"])})


def open_regular(path, flags, mode=0):
    """A regular file; anything else is refused without waiting for it."""
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise Refusal(f"{path} is no file")
    os.set_blocking(fd, True)
    return fd


def read(sock, head):
    fd = open_regular(path_of(head), os.O_RDONLY)
    say(sock, {"size": os.fstat(fd).st_size})
    at, left = head.get("offset", 0), head.get("length")
    while left is None or left > 0:
        sent = os.sendfile(sock.fileno(), fd, at, PIECE if left is None else min(left, PIECE))
        if sent == 0:
            break
        at += sent
        left = None if left is None else left - sent


def write(sock, head):
    path = os.path.realpath(path_of(head))
    there = os.stat(path) if os.path.lexists(path) else None
    if there and not stat.S_ISREG(there.st_mode):
        raise Refusal(f"{path} is no file")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = f"{path}.part-{os.getpid()}"
    if there and not os.access(path, os.W_OK):
        raise Refusal(f"{path}: Permission denied")
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        size = 0
        # The last thing is how much it was: a sender that went away has not said it.
        trailer = b""
        while data := sock.recv(PIECE):
            trailer += data
            if len(trailer) > 8:
                write_all(fd, trailer[:-8])
                size += len(trailer) - 8
                trailer = trailer[-8:]
        expected = struct.unpack("<Q", trailer)[0] if len(trailer) == 8 else None
        if expected != size:
            raise Refusal("the sender went away")
        if there:
            if os.geteuid() == 0:
                os.fchown(fd, there.st_uid, there.st_gid)
            os.fchmod(fd, stat.S_IMODE(there.st_mode))
        else:
            os.fchmod(fd, head.get("mode", 0o644))
        os.rename(part, path)
    except BaseException:
        os.unlink(part)
        raise
    say(sock, {"size": size})


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def make_folder(sock, head):
    path = path_of(head)
    made = not os.path.isdir(path)
    os.makedirs(path, exist_ok=True)
    say(sock, {"made": made})


def move(sock, head):
    target = path_of(head, "to")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.move(path_of(head), target)
    say(sock, {})


def remove(sock, head):
    path = path_of(head)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
    say(sock, {})


def watch(sock, head):
    root = path_of(head)
    if not os.path.isdir(root):
        raise Refusal(f"{root} is no folder")
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_CLOEXEC)
    folders = {}

    def add(folder):
        if len(folders) >= WATCHES:
            return
        number = libc.inotify_add_watch(fd, os.fsencode(folder), MASK)
        if number < 0:
            if folder == root:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), folder)
            return
        folders[number] = folder
        if head.get("recursive"):
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        add(entry.path)

    add(root)
    say(sock, {})
    while True:
        ready, _, _ = select.select([fd, sock], [], [])
        if sock in ready and not sock.recv(1024):
            return
        if fd not in ready:
            continue
        data, at = os.read(fd, PIECE), 0
        while at < len(data):
            number, mask, _, length = struct.unpack_from("iIII", data, at)
            name = data[at + 16 : at + 16 + length].rstrip(b"\0").decode("utf-8", "replace")
            at += 16 + length
            kind = next((kind for bit, kind in EVENTS.items() if mask & bit), None)
            folder = folders.get(number)
            if kind is None or (folder is None and kind != "overflow"):
                continue
            path = os.path.join(folder, name) if folder else root
            if kind == "created" and mask & IS_FOLDER and head.get("recursive"):
                add(path)
            say(sock, {"type": kind, "path": os.path.relpath(path, root)})


WORK = {
    "stat": tell,
    "list": list_folder,
    "read": read,
    "write": write,
    "makeFolder": make_folder,
    "move": move,
    "remove": remove,
    "watch": watch,
}

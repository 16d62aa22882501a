"""The first program of a sandbox: does what the service asks for over the machine's serial port.

Whoever is in the machine owns it: nothing here protects the machine from its user, only the service from the machine,
and that is done at the other end.
"""
import gc
import os
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from contexts import Contexts
from files import Files
from link import Link, Pump, Refused
from loop import WRITE, Loop
from renew import IDENTITY, renew
from spawn import PATH
from starter import Starters
from tasks import Tasks
from usage import Usage

PORT_NAME = "coinrack.agent"
CONNECTIONS = 128
MOUNTS = [
    ("sysfs", "/sys", "-"),
    ("devpts", "/dev/pts", "gid=5,mode=620,ptmxmode=666"),
    ("tmpfs", "/dev/shm", "mode=1777"),
    ("tmpfs", "/run", "mode=755"),
    ("cgroup2", "/sys/fs/cgroup", "-"),
]
ROOM_FOR_AGENT = 32 * 1024 * 1024


def prepare(processes):
    """What a system's first program does."""
    for kind, where, options in MOUNTS:
        os.makedirs(where, exist_ok=True)
        subprocess.run(["mount", "-t", kind, kind, where, *(["-o", options] if options != "-" else [])], check=True)
    os.chmod("/tmp", 0o1777)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2")):
        if not os.path.lexists(f"/dev/{name}"):
            os.symlink(target, f"/dev/{name}")
    for path in IDENTITY:
        # Written anew in each copy of this machine, before anything else: no disk is waited for.
        real = f"/run/{os.path.basename(path)}"
        write(real, "")
        if os.path.lexists(path):
            os.remove(path)
        os.symlink(real, path)
    write("/sys/fs/cgroup/cgroup.subtree_control", "+memory +pids")
    os.makedirs("/sys/fs/cgroup/programs", exist_ok=True)
    write("/sys/fs/cgroup/programs/pids.max", str(processes))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    write("/sys/fs/cgroup/programs/memory.max", str(memory - ROOM_FOR_AGENT))
    ip = lambda *words: subprocess.run(["ip", *words], check=False)
    ip("link", "set", "lo", "up")
    if os.path.exists("/sys/class/net/eth0"):
        # There is none behind it, and it would be looked for whenever the address of the hardware changes.
        write("/proc/sys/net/ipv6/conf/eth0/disable_ipv6", "1")
        ip("link", "set", "eth0", "up")
        ip("address", "add", "10.0.2.15/24", "dev", "eth0")
        ip("route", "add", "default", "via", "10.0.2.2")


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def open_port():
    """The serial port of our name, which has no udev to find it."""
    base = "/sys/class/virtio-ports"
    while True:
        for port in os.listdir(base) if os.path.isdir(base) else []:
            with open(f"{base}/{port}/name", encoding="ascii") as name:
                if name.read().strip() == PORT_NAME:
                    return os.open(f"/dev/{port}", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        time.sleep(0.02)


class Ports:
    """Connections to what listens in the sandbox."""

    def __init__(self, loop):
        self.loop = loop
        self.count = 0

    def connect(self, stream, head, _):
        if self.count >= CONNECTIONS:
            raise Refused("too_many", f"more than {CONNECTIONS} connections")
        self.count += 1
        sock = socket.socket()
        sock.setblocking(False)
        sock.connect_ex(("127.0.0.1", head["port"]))

        def ready(_):
            self.loop.watch(sock, 0, None)
            error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if error:
                drop()
                return stream.refuse("port_refused", f"port {head['port']}: {os.strerror(error)}")
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Pump(self.loop, stream, sock, self.ended)
            stream.answer()

        def drop():
            self.loop.watch(sock, 0, None)
            sock.close()
            self.ended()

        stream.on_drop = drop
        self.loop.watch(sock, WRITE, ready)

    def ended(self):
        self.count -= 1


def main():
    os.environ.update(PATH=PATH, LANG="C.UTF-8", HOME="/root")
    prepare(processes=4096)
    os.nice(-10)
    loop = Loop()
    contexts, starters, usage = Contexts(loop), Starters(loop), Usage(loop)

    def renewed(stream, head, seed):
        renew(contexts, head, seed)
        usage.begin(is_new="hostname" in head)
        stream.answer()

    def warmed(stream, head, _):
        """Before the machine is saved as a template: the disk is as large as it gets, interpreters run."""
        if "disk" in head:
            subprocess.run(["resize2fs", head["disk"]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if head.get("first"):
            contexts.load(head["first"])
        starters.warm()
        awaited = [*head["languages"]]

        def ready(language):
            awaited.remove(language)
            if not awaited:
                stream.answer()

        if not awaited:
            stream.answer()
        for language in head["languages"]:
            contexts.warm(language, lambda language=language: ready(language))

    def synced(stream, _head, _body):
        os.sync()
        stream.answer()

    handlers = {
        "ping": lambda stream, _head, _body: stream.answer(),
        "renew": renewed,
        "warm": warmed,
        "sync": synced,
        "connect": Ports(loop).connect,
        **usage.handlers(),
        **Tasks(loop, contexts, starters).handlers(),
        **contexts.handlers(),
        **Files(loop).handlers(),
    }
    Link(loop, open_port(), handlers)
    # What is here stays: processes that are forked off share it.
    gc.collect()
    gc.freeze()
    loop.run()


if __name__ == "__main__":
    main()

"""Makes this machine one of its own, after it began as a copy of another or slept."""
import fcntl
import os
import socket
import struct
import subprocess
import time

import spawn

# linux/random.h
RNDADDENTROPY, RNDRESEEDCRNG = 0x40085203, 0x5207
# linux/sockios.h
SIOCSIFHWADDR = 0x8924
LINK = "eth0"
HOSTNAME, HOSTS, MACHINE_ID = IDENTITY = ["/etc/hostname", "/etc/hosts", "/etc/machine-id"]


def renew(contexts, head, seed):
    """The time, and all that was drawn at random, are of now; names as far as they are given."""
    time.clock_settime(time.CLOCK_REALTIME, head["now"])
    fd = os.open("/dev/urandom", os.O_RDWR)
    try:
        fcntl.ioctl(fd, RNDADDENTROPY, struct.pack("ii", len(seed) * 8, len(seed)) + seed)
        fcntl.ioctl(fd, RNDRESEEDCRNG)
    finally:
        os.close(fd)
    if "hostname" in head:
        hostname = head["hostname"]
        socket.sethostname(hostname)
        put(HOSTNAME, f"{hostname}\n")
        put(HOSTS, f"127.0.0.1 localhost {hostname}\n::1 localhost\n")
    if "machineId" in head:
        put(MACHINE_ID, f"{head['machineId']}\n")
    if "bootId" in head:
        put("/run/boot_id", f"{head['bootId']}\n")
        if not os.path.ismount("/proc/sys/kernel/random/boot_id"):
            subprocess.run(["mount", "--bind", "/run/boot_id", "/proc/sys/kernel/random/boot_id"], check=True)
    if "mac" in head and os.path.exists(f"/sys/class/net/{LINK}"):
        mac = bytes.fromhex(head["mac"].replace(":", ""))
        with socket.socket() as sock:
            fcntl.ioctl(sock, SIOCSIFHWADDR, struct.pack("16sH6s8x", LINK.encode(), 1, mac))
    if "env" in head:
        spawn.environment.clear()
        spawn.environment.update(head["env"])
    contexts.renew()


def put(path, text):
    """In place, since it may be mounted somewhere."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    os.write(fd, text.encode())
    os.close(fd)

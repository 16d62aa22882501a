"""A Python with libraries loaded, off which interpreters are forked: they share what it loaded, and are there at once."""
import gc
import json
import os
import socket

import python_kernel
import spawn
from link import Refused

GROUP = "python-parent"
ANSWER_SECONDS = 2
MESSAGE_BYTES = 256 * 1024


class PythonParent:
    def __init__(self, loop, code):
        """Returns when the code has run."""
        user = spawn.system_user("user")
        self.line, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        empty = os.open("/dev/null", os.O_RDWR)
        its_end = [empty, empty, empty, its.detach()]
        try:
            pid = spawn.fork(lambda started: load(user, code, started), user, its_end, GROUP)
        finally:
            for fd in set(its_end):
                os.close(fd)
        self.line.settimeout(ANSWER_SECONDS)
        loop.on_exit(pid, lambda *_: self.stop())

    def fork(self, user, fds, group, cwd, env):
        """The pid of a new interpreter with the descriptors as its first ones; None when this one cannot."""
        if not self.line:
            return None
        try:
            os.makedirs(f"{spawn.GROUPS}/{group}", exist_ok=True)
            request = json.dumps({"cwd": cwd, "env": spawn.env_of(user, env)}).encode()
            socket.send_fds(self.line, [request], fds)
            answer = json.loads(self.line.recv(MESSAGE_BYTES))
            if "refused" in answer:
                raise Refused("spec_invalid", str(answer["refused"]))
            pid = int(answer["pid"])
            with open(f"{spawn.GROUPS}/{group}/cgroup.procs", "w", encoding="ascii") as file:
                file.write(str(pid))
            return pid
        except (OSError, ValueError, KeyError, TypeError):
            self.stop()
            return None

    def stop(self):
        """Whoever has the machine may have broken it: then there is none any more."""
        if self.line:
            self.line.close()
            self.line = None
            spawn.kill_group(GROUP)


def load(user, code, started):
    os.environ.clear()
    os.environ.update(spawn.env_of(user, python_kernel.ENVIRONMENT))
    python_kernel.find_libraries()
    error = python_kernel.Runner().run(code).get("error")
    if error:
        raise RuntimeError(error["traceback"])
    gc.collect()
    gc.freeze()
    started()
    with socket.socket(fileno=3) as line:
        while True:
            request, fds, _, _ = socket.recv_fds(line, MESSAGE_BYTES, 8)
            if not request:
                return
            # Its parent ends at once, so that it becomes the agent's.
            between = os.fork()
            if between == 0:
                try:
                    if os.fork() == 0:
                        begin(line, json.loads(request), fds)
                finally:
                    os._exit(0)
            os.waitpid(between, 0)
            for fd in fds:
                os.close(fd)


def begin(line, request, fds):
    os.setsid()
    try:
        os.chdir(request["cwd"])
    except OSError as error:
        line.send(json.dumps({"refused": str(error)}).encode())
        return
    line.send(json.dumps({"pid": os.getpid()}).encode())
    spawn.place(fds)
    os.environ.clear()
    os.environ.update(request["env"])
    python_kernel.renew()
    python_kernel.serve(3)

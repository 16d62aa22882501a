"""Interpreters that keep their state, and the code that runs in them.

A kernel is a process of the user's: it reads pieces of code from descriptor 3, one JSON in a line, and writes one JSON
in a line when it is there, one for each thing that a piece shows, and one when the piece has ended. What it prints
meanwhile belongs to the task of that code.
"""
import collections
import json
import os
import shlex
import signal
import socket

import python_kernel
import spawn
from python_parent import PythonParent
from link import Refused
from loop import READ, WRITE

FOLDER = "/usr/lib/coinrack"
CONTEXTS = 32
REPORT_BYTES = 8 * 1024 * 1024
INTERRUPT_SECONDS = 1
LOST = b"The interpreter of this context has ended: what was defined in it is gone, and the next code begins anew.\n"
PROGRAMS = {
    "node": ["/usr/local/bin/node", "--expose-internals", f"{FOLDER}/node_kernel.cjs"],
    "bash": ["/bin/bash", "--noprofile", "--norc", f"{FOLDER}/bash_kernel.sh"],
}


class Kernel:
    """One interpreter's process."""

    count = 0

    def __init__(self, loop, language, cwd=None, parent=None):
        Kernel.count += 1
        self.loop, self.language = loop, language
        self.user = spawn.system_user("user")
        self.cwd = cwd or self.user.pw_dir
        self.group = f"kernel-{Kernel.count}"
        self.task = None
        self.said = bytearray()
        self.unsent = bytearray()
        self.is_ready = self.is_taken = self.is_gone = False
        self.keeps_state = False
        self.count_of_runs = 0
        self.on_ready = self.on_gone = lambda: None
        mine, its = socket.socketpair()
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        empty = os.open("/dev/null", os.O_RDONLY)
        its_end = [empty, out_write, err_write, its.detach()]
        try:
            forked = parent and parent.fork(self.user, its_end, self.group, self.cwd, python_kernel.ENVIRONMENT)
            self.pid = forked or spawn.fork(self.begin, self.user, its_end, self.group, self.cwd)
        except BaseException:
            for fd in (out_read, err_read):
                os.close(fd)
            mine.close()
            raise
        finally:
            for fd in its_end:
                os.close(fd)
        self.socket, self.fds = mine, {"stdout": out_read, "stderr": err_read}
        mine.setblocking(False)
        loop.watch(mine, READ, self.ready)
        for fd in self.fds.values():
            os.set_blocking(fd, False)
        loop.on_exit(self.pid, self.exited)

    def begin(self, started):
        env = spawn.env_of(self.user, python_kernel.ENVIRONMENT)
        if self.language == "python":
            os.environ.clear()
            os.environ.update(env)
            python_kernel.find_libraries()
            started()
            python_kernel.serve(3)
            return
        program = PROGRAMS[self.language]
        os.execve(program[0], program, env)

    def send(self, message):
        if self.language == "bash":
            # A shell reads no JSON.
            sets = [f"export {name}={shlex.quote(value)}" for name, value in message.get("env", {}).items()]
            sets += ["RANDOM=" + str(int.from_bytes(os.urandom(4), "little"))] if "renew" in message else []
            self.unsent += "\n".join([*sets, message.get("code", "")]).replace("\0", "").encode() + b"\0"
        else:
            self.unsent += json.dumps(message).encode() + b"\n"
        self.ready(WRITE)

    def renew(self):
        """It draws at random anew, and has the environment of its sandbox, whose it was not when it began."""
        self.send({"renew": True, "env": spawn.environment})

    def ready(self, events):
        try:
            if events & WRITE and self.unsent:
                del self.unsent[: self.socket.send(self.unsent)]
            if events & READ:
                data = self.socket.recv(262144)
                self.said += data
                if not data or len(self.said) > REPORT_BYTES:
                    self.loop.watch(self.socket, 0, None)
                    return self.kill()
        except BlockingIOError:
            pass
        except OSError:
            return self.kill()
        while (at := self.said.find(b"\n")) >= 0:
            line = bytes(self.said[:at])
            del self.said[: at + 1]
            self.done(line)
        if not self.is_gone:
            self.loop.watch(self.socket, READ | (WRITE if self.unsent else 0), self.ready)

    def done(self, line):
        if not self.is_ready:
            self.is_ready = True
            if not self.is_taken:
                # Nothing that it does by itself costs anybody anything meanwhile.
                os.kill(self.pid, signal.SIGSTOP)
            return self.on_ready()
        try:
            report = json.loads(line)
        except ValueError:
            report = None
        if isinstance(report, dict) and "result" in report:
            return self.take_result(report["result"], len(line))
        task, self.task = self.task, None
        if not task:
            return
        self.settle(task)
        try:
            end = {"exitCode": int(report.get("exitCode", 0)), "count": self.count_of_runs}
            if report.get("error"):
                end["error"] = report["error"]
        except (ValueError, TypeError, AttributeError):
            end = {"exitCode": 1}
        task.finish(end)
        if not self.is_gone:
            self.on_idle()

    def take_result(self, result, size):
        """What code has shown, while it goes on; what it printed before that is its own as well."""
        task = self.task
        if not task:
            return
        for fd in list(task.sources):
            if not task.is_full(task.outputs[task.sources[fd]]):
                task.take(fd)
        if not task.add_result(result, size) and task.end is None:
            self.kill()

    def on_idle(self):
        """Set by whoever has more code for it."""

    def run(self, task, code, request):
        self.task = task
        self.count_of_runs += 1
        task.pid = self.pid
        task.owns_sources = False
        task.kill = task.on_timeout = self.kill
        task.signal = lambda number: os.killpg(self.pid, number) if self.task is task else None
        for name, fd in self.fds.items():
            task.sources[fd] = name
        task.attend()
        options = {name: bool(request["run"].get(name)) for name in ("data", "quiet")}
        self.send({"code": code, "env": request.get("env") or {}, **options})

    def settle(self, task):
        """What is printed already is the task's; its outputs stay with the kernel."""
        for fd in list(task.sources):
            while task.take(fd):
                pass
            self.loop.watch(fd, 0, None)
            task.sources.pop(fd, None)

    def interrupt(self):
        """Stops the code, and the kernel too when it does not heed."""
        task = self.task
        os.killpg(self.pid, signal.SIGINT)
        self.loop.later(INTERRUPT_SECONDS, lambda: self.kill() if task and self.task is task else None)

    def go_on(self):
        self.is_taken = True
        os.kill(self.pid, signal.SIGCONT)

    def kill(self):
        spawn.kill_group(self.group)

    def exited(self, code, signal_name):
        self.is_gone = True
        task, self.task = self.task, None
        if task:
            self.settle(task)
            if self.keeps_state:
                task.add(task.outputs["stderr"], LOST)
            task.finish({"exitCode": code} if signal_name is None else {"signal": signal_name})
        self.loop.watch(self.socket, 0, None)
        self.socket.close()
        for fd in self.fds.values():
            self.loop.watch(fd, 0, None)
            try:
                os.close(fd)
            except OSError:
                pass
        spawn.remove_group(self.loop, self.group)
        self.on_gone()


class Context:
    """Code of one context runs piece after piece; its kernel is there from the first on."""

    def __init__(self, contexts, language, cwd=None):
        self.contexts, self.language, self.cwd = contexts, language, cwd
        self.waiting = collections.deque()
        self.kernel = None

    def add(self, task, code, request):
        self.waiting.append((task, code, request))
        task.kill = task.on_timeout = lambda: self.cancel(task)
        self.next()

    def cancel(self, task):
        self.waiting = collections.deque(item for item in self.waiting if item[0] is not task)
        task.finish({"signal": "SIGKILL"})

    def next(self):
        if self.kernel and self.kernel.task:
            return
        while self.waiting:
            task, code, request = self.waiting.popleft()
            if task.end:
                continue
            try:
                self.start()
            except Refused as refusal:
                task.add(task.outputs["stderr"], f"{refusal}\n".encode())
                task.finish({"exitCode": 1})
                continue
            self.kernel.run(task, code, request)
            task.on_timeout = self.kernel.interrupt
            return

    def start(self):
        if self.kernel and not self.kernel.is_gone:
            return
        self.kernel = self.contexts.take_kernel(self.language, self.cwd)
        self.kernel.keeps_state = True
        self.kernel.on_idle = self.next
        self.kernel.on_gone = self.next

    def stop(self):
        if self.kernel:
            self.kernel.on_gone = lambda: None
            self.kernel.on_idle = lambda: None
            self.kernel.kill()
        self.kernel = None

    def drop(self):
        for task, _, _ in list(self.waiting):
            self.cancel(task)
        self.stop()


def demand_interpreter(language):
    if language not in ("python", "node", "bash"):
        raise Refused("language_unknown", f"no interpreter of {language}")
    if spawn.defaults().get("root"):
        raise Refused("language_unknown", f"interpreters of an image are its own: run {language} as a command")


class Contexts:
    def __init__(self, loop):
        self.loop = loop
        self.all = {language: Context(self, language) for language in ("python", "node", "bash")}
        self.spares = {}
        self.stale = set()
        self.python_parent = None

    def handlers(self):
        return {
            "contexts.create": self.create,
            "contexts.list": self.list,
            "contexts.restart": self.restart,
            "contexts.remove": self.remove,
        }

    def renew(self):
        """Interpreters that have run code may go on by themselves; those that stand by have time until they are taken."""
        for context in self.all.values():
            if context.kernel and not context.kernel.is_gone:
                context.kernel.renew()
        self.stale.update(self.spares.values())

    def load(self, code):
        """Interpreters of Python have loaded from now on what this code loads."""
        self.python_parent = PythonParent(self.loop, code)

    def make_kernel(self, language, cwd=None):
        return Kernel(self.loop, language, cwd, self.python_parent if language == "python" else None)

    def warm(self, language, on_ready=None):
        """Keeps an interpreter ready that nothing has run in."""
        if language not in self.spares:
            kernel = self.spares[language] = self.make_kernel(language)
            kernel.on_gone = lambda: self.spares.pop(language, None)
        kernel = self.spares[language]
        if not on_ready:
            return
        if kernel.is_ready:
            on_ready()
        else:
            kernel.on_ready = on_ready

    def take_kernel(self, language, cwd=None):
        kernel = None if cwd else self.spares.pop(language, None)
        if not kernel or kernel.is_gone:
            kernel = self.make_kernel(language, cwd)
            kernel.is_taken = True
            return kernel
        kernel.on_gone = lambda: None
        kernel.go_on()
        if kernel in self.stale:
            self.stale.remove(kernel)
            kernel.renew()
        if language == "node":
            self.loop.later(0.5, lambda: self.try_warm(language))
        return kernel

    def try_warm(self, language):
        try:
            self.warm(language)
        except Refused:
            pass

    def run(self, task, run, code, request):
        language, name = run["language"], run.get("context")
        demand_interpreter(language)
        if name:
            context = self.find(name)
            if context.language != language:
                raise Refused("context_unknown", f"context {name} is none of {language}")
            context.add(task, code, request)
        else:
            kernel = self.take_kernel(language, request.get("cwd"))
            kernel.on_idle = kernel.kill
            kernel.run(task, code, request)

    def find(self, name):
        if name not in self.all:
            raise Refused("context_unknown", f"there is no context {name}")
        return self.all[name]

    def create(self, stream, head, _):
        name, language, cwd = head["contextId"], head["language"], head.get("cwd")
        if name not in self.all:
            demand_interpreter(language)
            if cwd and not os.path.isdir(cwd):
                raise Refused("spec_invalid", f"there is no folder {cwd}")
            if len(self.all) >= CONTEXTS:
                raise Refused("too_many", f"more than {CONTEXTS} contexts")
            self.all[name] = Context(self, language, cwd)
        stream.answer()

    def list(self, stream, _head, _body):
        home = spawn.system_user("user").pw_dir
        found = [
            {"contextId": name, "language": context.language, "cwd": context.cwd or home}
            for name, context in self.all.items()
        ]
        stream.answer({"contexts": found})

    def restart(self, stream, head, _):
        context = self.find(head["contextId"])
        context.drop()
        stream.answer()

    def remove(self, stream, head, _):
        context = self.all.pop(head["contextId"], None)
        if context:
            context.drop()
        stream.answer()

"""Programs that run in the background, and what they wrote."""
import collections
import fcntl
import os
import pty
import signal
import struct
import termios
import time

import spawn
from link import Refused
from loop import READ, WRITE

OUTPUT_BYTES = 1024 * 1024
READ_BYTES = 256 * 1024
"""Of each output, in one read."""
INPUT_BYTES = 1024 * 1024
TASKS = 256
DRAIN_SECONDS = 0.05
RESULT_BYTES = 8 * 1024 * 1024
READER_SECONDS = 10
"""For so long after its last read a named reader holds up a task that is followed."""


class Output:
    """The last of what was written, with the offset at which that begins."""

    def __init__(self):
        self.start = 0
        self.bytes = bytearray()

    @property
    def end(self):
        return self.start + len(self.bytes)

    def drop(self, count):
        if count > 0:
            count = min(count, len(self.bytes))
            del self.bytes[:count]
            self.start += count

    def part(self, offset):
        """From where, and the bytes."""
        at = min(max(offset, self.start), self.end)
        return at, bytes(self.bytes[at - self.start : at - self.start + READ_BYTES])


class Task:
    def __init__(self, loop, task_id, title, request):
        self.loop, self.task_id, self.title = loop, task_id, title
        self.args, self.env, self.cwd = None, request.get("env") or {}, request.get("cwd")
        self.has_terminal = bool(request.get("terminal"))
        self.waits, self.is_followed = request.get("overflow") == "wait", request.get("overflow") == "follow"
        self.outputs = {"stdout": Output(), "stderr": Output()}
        self.results, self.result_bytes = [], 0
        self.started, self.began = time.time(), time.monotonic()
        # At first it waits for any reader.
        self.followers = {"": (self.began, {"stdout": 0, "stderr": 0})} if self.is_followed else {}
        self.patience = None
        self.pid = self.group = self.terminal = self.timer = self.end = None
        self.timed_out = False
        self.sources = {}
        self.owns_sources = True
        self.input = None
        self.typed = collections.deque()
        self.readers = []
        self.kill = self.on_timeout = self.kill_all

    def listen(self, name, fd):
        os.set_blocking(fd, False)
        self.sources[fd] = name
        self.loop.watch(fd, READ, lambda _: self.take(fd))

    def take(self, fd):
        output = self.outputs[self.sources[fd]]
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            return False
        except OSError:  # A terminal that nobody has any more.
            data = b""
        if not data:
            self.loop.watch(fd, 0, None)
            del self.sources[fd]
            if self.owns_sources and fd != self.terminal:
                os.close(fd)
            return False
        if self.end is None:
            self.add(output, data)
        if self.is_full(output):
            self.loop.watch(fd, 0, None)
        return True

    def add(self, output, data):
        output.bytes += data
        if not self.is_held():
            output.drop(len(output.bytes) - OUTPUT_BYTES)
        self.wake()

    def add_result(self, result, size):
        """@returns whether there was room for it"""
        self.result_bytes += size
        if self.end is not None or self.result_bytes > RESULT_BYTES:
            return False
        self.results.append(result)
        self.wake()
        return True

    def is_held(self):
        """Whether what it writes is kept until it was read, and it waits for that."""
        return self.waits or bool(self.followers)

    def is_full(self, output):
        full = self.is_held() and self.end is None and len(output.bytes) >= OUTPUT_BYTES
        if full and self.followers and not self.patience:
            self.patience = self.loop.later(READER_SECONDS, self.lose_followers)
        return full

    def follow(self, reader, offsets):
        """Keeps what this reader and the others have still to read."""
        self.followers.pop("", None)
        self.followers[reader] = (time.monotonic(), offsets)
        self.drop_read()

    def lose_followers(self):
        """A reader that stays away holds nothing up any more."""
        self.patience = None
        waiting = {reader for _, _, _, reader, _ in self.readers}
        latest = time.monotonic() - READER_SECONDS
        self.followers = {name: (at, offsets) for name, (at, offsets) in self.followers.items() if at > latest or name in waiting}
        self.drop_read()
        self.attend()

    def drop_read(self):
        for name, output in self.outputs.items():
            unread = [offsets[name] for _, offsets in self.followers.values()]
            output.drop(min(unread) - output.start if unread else len(output.bytes) - OUTPUT_BYTES)

    def attend(self):
        for fd, name in self.sources.items():
            if not self.is_full(self.outputs[name]):
                self.loop.watch(fd, READ, lambda _, fd=fd: self.take(fd))

    def exited(self, code, signal_name):
        """What is in its outputs is taken first; what children that it left write later is not."""
        self.loop.later(0, lambda: self.drain(code, signal_name, time.monotonic() + DRAIN_SECONDS))

    def drain(self, code, signal_name, until):
        if self.end is not None:
            return
        more = any([self.take(fd) for fd in list(self.sources) if not self.is_full(self.outputs[self.sources[fd]])])
        full = any(self.is_full(self.outputs[name]) for name in self.sources.values())
        if more or full or (self.sources and time.monotonic() < until):
            until = max(until, time.monotonic() + 0.01) if more or full else until
            self.loop.later(0 if more else 0.01, lambda: self.drain(code, signal_name, until))
            return
        self.finish({"exitCode": code} if signal_name is None else {"signal": signal_name})

    def finish(self, end):
        if self.end is not None:
            return
        took = round((time.monotonic() - self.began) * 1000)
        self.end = {"results": self.results, **end, "timedOut": self.timed_out, "durationMs": took}
        for timer in (self.timer, self.patience):
            if timer:
                timer.cancel()
        for stream, _ in self.typed:
            stream.refuse("task_ended", "it has ended")
        self.typed.clear()
        self.close_input()
        self.wake(True)

    def limit(self, milliseconds):
        if milliseconds is not None:
            self.timer = self.loop.later(milliseconds / 1000, self.time_out)

    def time_out(self):
        self.timed_out = True
        self.on_timeout()

    def kill_all(self):
        if self.group:
            spawn.kill_group(self.group)
        self.signal(signal.SIGKILL)

    def signal(self, number):
        if self.end is None and self.pid:
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                pass

    def read(self, stream, offsets, wait_ms, until_end, reader=None):
        if self.waits:
            for name, output in self.outputs.items():
                output.drop(offsets[name] - output.start)
            self.attend()
        elif self.is_followed and reader:
            self.follow(reader, offsets)
            self.attend()
        least = READ_BYTES if until_end else 1
        if wait_ms <= 0 or self.end or self.has(least, offsets):
            return self.tell(stream, offsets)
        waiting = [stream, offsets, least, reader]
        self.readers.append(waiting)

        def stop():
            if waiting in self.readers:
                self.readers.remove(waiting)

        def give_up():
            stop()
            if stream.number in stream.link.streams:
                self.tell(stream, offsets)

        stream.on_drop = lambda: (stop(), timer.cancel())
        waiting.append(timer := self.loop.later(wait_ms / 1000, give_up))

    def wake(self, ended=False):
        for waiting in self.readers[:]:
            stream, offsets, least, _, timer = waiting
            if ended or self.has(least, offsets):
                timer.cancel()
                self.readers.remove(waiting)
                self.tell(stream, offsets)

    def has(self, count, offsets):
        """So many bytes of an output or more, from there on; or a result, for who reads them."""
        if len(self.results) > offsets.get("results", len(self.results)):
            return True
        return any(output.end - offsets[name] >= count for name, output in self.outputs.items())

    def tell(self, stream, offsets):
        stream.on_drop = None
        (out_at, out), (err_at, err) = (self.outputs[name].part(offsets[name]) for name in ("stdout", "stderr"))
        following = {"stdout": out_at + len(out), "stderr": err_at + len(err)}
        is_all = all(following[name] == output.end for name, output in self.outputs.items())
        head = {"from": {"stdout": out_at, "stderr": err_at}, "next": following, "stdoutBytes": len(out)}
        if "results" in offsets:
            head["results"] = self.results[offsets["results"] :]
            following["results"] = len(self.results)
        stream.answer({**head, "end": self.end if is_all else None}, out + err)

    def type(self, stream, data, ends):
        if self.end or self.input is None or sum(len(piece) for _, piece in self.typed) > INPUT_BYTES:
            raise Refused("task_ended", "it takes no input")
        self.typed.append((stream, data))
        stream.on_drop = lambda: None
        if ends:
            self.typed.append((None, None))
        self.type_on()

    def type_on(self, _=None):
        while self.typed and self.input is not None:
            stream, data = self.typed[0]
            if data is None:
                self.typed.popleft()
                self.close_input()
                return
            try:
                data = data[os.write(self.input, data) :] if data else data
            except BlockingIOError:
                pass
            except OSError:
                self.typed.popleft()
                stream.on_drop = None
                stream.refuse("task_ended", "it closed its input")
                continue
            if data:
                self.typed[0] = (stream, data)
                return self.loop.watch(self.input, WRITE, self.type_on)
            self.typed.popleft()
            stream.on_drop = None
            stream.answer()
        if self.input is not None and self.input != self.terminal:
            self.loop.watch(self.input, 0, None)

    def close_input(self):
        if self.input is None or self.input == self.terminal:
            return
        self.loop.watch(self.input, 0, None)
        os.close(self.input)
        self.input = None

    def resize(self, columns, rows):
        if self.terminal is None:
            raise Refused("spec_invalid", "it has no terminal")
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def forget(self):
        # An interpreter has other code to run when this has ended.
        if self.end is None or self.owns_sources:
            self.kill()
        self.finish({"signal": "SIGKILL"})
        for fd in {*self.sources, self.terminal} - {None}:
            self.loop.watch(fd, 0, None)
            if self.owns_sources:
                os.close(fd)
        self.sources.clear()
        self.terminal = self.input = None
        if self.group:
            spawn.remove_group(self.loop, self.group)


def start_program(task, args, request, starters):
    """Runs the program of a task, with pipes or a terminal."""
    starter = None if request.get("user") else starters.take()
    user = starter.user if starter else spawn.find_user(request.get("user"))
    env = spawn.env_of(user, request.get("env"))
    args = [args[0] or spawn.shell_of(user), *args[1:]]
    size = request.get("terminal")
    opened = []
    try:
        if size:
            master, slave = pty.openpty()
            opened += [master, slave]
            env.setdefault("TERM", "xterm-256color")
            task.terminal = task.input = master
            task.resize(size["columns"], size["rows"])
            os.fchown(slave, user.pw_uid, user.pw_gid)
            fds, mine, sources = [slave] * 3, [slave], [("stdout", master)]
        else:
            out_read, out_write = os.pipe()
            err_read, err_write = os.pipe()
            opened += [out_read, out_write, err_read, err_write]
            if request.get("stdin"):
                in_read, task.input = os.pipe()
                opened += [in_read, task.input]
                os.set_blocking(task.input, False)
            else:
                in_read = os.open("/dev/null", os.O_RDONLY)
                opened.append(in_read)
            fds = mine = [in_read, out_write, err_write]
            sources = [("stdout", out_read), ("stderr", err_read)]
        cwd = request.get("cwd") or spawn.cwd_of(user)
        if starter:
            task.group = starter.group
            task.pid = starter.start(args, env, fds, cwd, bool(size))
        if task.pid is None:
            task.group = f"task-{task.task_id}"
            run = lambda _: os.execvpe(args[0], args, env)
            task.pid = spawn.fork(run, user, fds, task.group, cwd, terminal=bool(size))
    except BaseException:
        for fd in opened:
            os.close(fd)
        if task.group:
            spawn.remove_group(task.loop, task.group)
        raise
    for fd in mine:
        os.close(fd)
    for name, fd in sources:
        task.listen(name, fd)
    task.loop.on_exit(task.pid, task.exited)


class Tasks:
    def __init__(self, loop, contexts, starters):
        self.loop, self.contexts, self.starters = loop, contexts, starters
        self.all = {}

    def handlers(self):
        return {
            "tasks.start": self.start,
            "tasks.read": lambda stream, head, _: self.read(stream, head),
            "tasks.write": lambda stream, head, body: self.find(head).type(stream, body, head.get("end")),
            "tasks.signal": self.signal,
            "tasks.resize": self.resize,
            "tasks.list": self.list,
            "tasks.remove": self.remove,
        }

    def find(self, head):
        task = self.all.get(head["taskId"])
        if not task:
            raise Refused("task_unknown", f"there is no task {head['taskId']}")
        return task

    def start(self, stream, head, body):
        task_id, request = head["taskId"], head["request"]
        if task_id not in self.all:
            self.make_room()
            run = request["run"]
            if "program" in run:
                args, title = run["program"], " ".join(run["program"])
            elif "command" in run:
                args, title = [None, "-c", run["command"]], run["command"]
            elif run["language"] == "bash" and not run.get("context"):
                args, title = [None, "-c", body.decode()], "bash"
            else:
                args, title = None, run["language"]
            task = Task(self.loop, task_id, title[:200], request)
            task.args = args
            if args is None:
                self.contexts.run(task, run, body.decode(), request)
            else:
                start_program(task, args, request, self.starters)
            task.limit(request.get("timeoutMs"))
            self.all[task_id] = task
        if "read" in head:
            self.read(stream, {"taskId": task_id, **head["read"]})
        else:
            stream.answer({"pid": self.all[task_id].pid})

    def read(self, stream, head):
        self.find(head).read(stream, head["from"], head.get("waitMs", 0), head.get("untilEnd"), head.get("reader"))

    def make_room(self):
        """The oldest that has ended gives way."""
        if len(self.all) < TASKS:
            return
        ended = next((task_id for task_id, task in self.all.items() if task.end), None)
        if ended is None:
            raise Refused("too_many", f"more than {TASKS} tasks")
        self.all.pop(ended).forget()

    def signal(self, stream, head, _):
        task = self.find(head)
        if head["signal"] == "SIGKILL":
            task.kill()
        else:
            task.signal(getattr(signal, head["signal"]))
        stream.answer()

    def resize(self, stream, head, _):
        self.find(head).resize(head["columns"], head["rows"])
        stream.answer()

    def list(self, stream, _head, _body):
        tell = lambda task: {
            "taskId": task.task_id,
            "title": task.title,
            "isRunning": task.end is None,
            "pid": task.pid,
            "startedAt": task.started,
            "args": task.args or [],
            "env": task.env,
            "cwd": task.cwd,
            "hasTerminal": task.has_terminal,
        }
        stream.answer({"tasks": [tell(task) for task in self.all.values()]})

    def remove(self, stream, head, _):
        task = self.all.pop(head["taskId"], None)
        if task:
            task.forget()
        stream.answer()

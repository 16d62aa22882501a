"""One thread that waits for descriptors, timers and ended children."""
import heapq
import os
import select
import signal
import time

READ, WRITE = select.EPOLLIN, select.EPOLLOUT


class Loop:
    def __init__(self):
        self.epoll = select.epoll()
        self.watched = {}
        self.timers = []
        self.count = 0
        self.children = {}
        self.orphans = {}
        wake_out, wake_in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
        self.watch(wake_out, READ, lambda _: (os.read(wake_out, 4096), self.reap()))

    def watch(self, file, events, callback):
        """Calls back with the events whenever the descriptor or socket is ready; no events: no more."""
        fd = file if isinstance(file, int) else file.fileno()
        known = self.watched.get(fd)
        if not events:
            if known:
                del self.watched[fd]
                self.epoll.unregister(fd)
            return
        if not known:
            self.epoll.register(fd, events)
        elif known[0] != events:
            self.epoll.modify(fd, events)
        self.watched[fd] = (events, callback)

    def later(self, seconds, callback):
        """Calls back once. The answer's `cancel` prevents it."""
        self.count += 1
        timer = Timer(callback)
        heapq.heappush(self.timers, (time.monotonic() + seconds, self.count, timer))
        return timer

    def on_exit(self, pid, callback):
        """Calls back with the child's exit code and signal, one of which is None."""
        self.children[pid] = callback
        if pid in self.orphans:
            self.finish(pid, self.orphans.pop(pid))

    def reap(self):
        """All that have ended, also those that others left to the first process."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.finish(pid, status)

    def finish(self, pid, status):
        callback = self.children.pop(pid, None)
        if not callback:
            # A child that ended before anybody asked; of processes of others only the last are remembered.
            self.orphans[pid] = status
            if len(self.orphans) > 64:
                del self.orphans[next(iter(self.orphans))]
        elif os.WIFSIGNALED(status):
            callback(None, signal.Signals(os.WTERMSIG(status)).name)
        else:
            callback(os.WEXITSTATUS(status), None)

    def run(self):
        while True:
            now = time.monotonic()
            while self.timers and self.timers[0][0] <= now:
                heapq.heappop(self.timers)[2].fire()
            wait = max(self.timers[0][0] - now, 0) if self.timers else None
            ready = [(fd, events, self.watched.get(fd)) for fd, events in self.epoll.poll(wait)]
            for fd, events, known in ready:
                # What an earlier one of these took away is not called.
                if known and self.watched.get(fd) is known:
                    # An end, or an error, is for whoever waits.
                    met = known[0] & ((READ if events & ~WRITE else 0) | (WRITE if events & ~READ else 0))
                    if met:
                        known[1](met)


class Timer:
    def __init__(self, callback):
        self.callback = callback

    def cancel(self):
        self.callback = None

    def fire(self):
        if self.callback:
            self.callback()

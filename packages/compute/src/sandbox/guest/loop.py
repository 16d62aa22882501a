"""One thread that waits for descriptors, timers and ended children."""
import heapq
import os
import selectors
import signal
import time

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class Loop:
    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.timers = []
        self.count = 0
        self.children = {}
        self.orphans = {}
        wake_out, wake_in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
        self.watch(wake_out, READ, lambda _: (os.read(wake_out, 4096), self.reap()))

    def watch(self, fd, events, callback):
        """Calls back with the events whenever the descriptor is ready; no events: no more."""
        known = self.selector.get_map().get(fd)
        if not events:
            if known:
                self.selector.unregister(fd)
        elif not known:
            self.selector.register(fd, events, callback)
        elif (known.events, known.data) != (events, callback):
            self.selector.modify(fd, events, callback)

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
            for key, events in self.selector.select(wait):
                # What an earlier one of these took away is not called.
                if self.selector.get_map().get(key.fd) is key:
                    key.data(events)


class Timer:
    def __init__(self, callback):
        self.callback = callback

    def cancel(self):
        self.callback = None

    def fire(self):
        if self.callback:
            self.callback()

"""What the machine uses: now, and in the last hour."""
import collections
import os
import time

EVERY_SECONDS = 5
SAMPLES = 720
FRESH_SECONDS = 1


def measure():
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(field) for field in file.readline().split()[1:]]
    memory = {}
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            name, value = line.split(":")
            memory[name] = int(value.split()[0]) * 1024
    disk = os.statvfs("/")
    return {
        "cpuSeconds": (sum(fields[:3]) + sum(fields[5:8])) / os.sysconf("SC_CLK_TCK"),
        "vcpus": os.cpu_count(),
        "memoryUsedBytes": memory["MemTotal"] - memory["MemAvailable"],
        "memoryTotalBytes": memory["MemTotal"],
        "memoryCacheBytes": memory["Cached"],
        "diskUsedBytes": (disk.f_blocks - disk.f_bfree) * disk.f_frsize,
        "diskTotalBytes": disk.f_blocks * disk.f_frsize,
    }


class Usage:
    def __init__(self, loop):
        self.loop = loop
        self.samples = collections.deque(maxlen=SAMPLES)
        self.last = self.timer = None

    def handlers(self):
        return {"metrics": self.now, "metrics.history": self.history}

    def begin(self, is_new):
        """Counts from now on: after a sleep, or in a machine of its own, which has no past."""
        if is_new:
            self.samples.clear()
        if self.timer:
            self.timer.cancel()
        self.last = (time.monotonic(), measure()["cpuSeconds"])
        self.timer = self.loop.later(EVERY_SECONDS, self.tick)

    def tick(self):
        self.timer = self.loop.later(EVERY_SECONDS, self.tick)
        self.sample()

    def sample(self):
        found, now = measure(), time.monotonic()
        since, cpu = self.last or (now, found["cpuSeconds"])
        took = max(now - since, 0.01)
        self.last = (now, found["cpuSeconds"])
        percent = round(100 * max(found["cpuSeconds"] - cpu, 0) / took, 2)
        self.samples.append({"at": time.time(), "cpuPercent": percent, **found})

    def now(self, stream, _head, _body):
        stream.answer({**measure(), "processes": sum(name.isdigit() for name in os.listdir("/proc"))})

    def history(self, stream, head, _body):
        if not self.samples or time.time() - self.samples[-1]["at"] > FRESH_SECONDS:
            self.sample()
        since, until = head.get("since", 0), head.get("until", float("inf"))
        stream.answer({"samples": [sample for sample in self.samples if since <= sample["at"] <= until]})

"""Starts programs as a user, each with all that it will start in a control group of its own."""
import collections
import json
import os
import pwd
import resource
import signal

from link import Refused

GROUPS = "/sys/fs/cgroup/programs"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEFAULTS = "/etc/coinrack/defaults.json"
"""Of programs that are not told another: `user`, `cwd`, and `root`, the folder that is the root of their file system."""
environment = {}
"""Of the sandbox; every program gets it."""

User = collections.namedtuple("User", "pw_name pw_uid pw_gid pw_dir pw_shell root groups")
"""As in pwd, with its groups, and the folder that is the root of its programs; None: that of the system."""


def defaults():
    try:
        with open(DEFAULTS, encoding="utf-8") as file:
            found = json.load(file)
        return {name: value for name, value in found.items() if name in ("user", "cwd", "root") and isinstance(value, str)}
    except (OSError, ValueError, AttributeError):
        return {}


def find_user(name):
    """The user of a program that is told this one, or none."""
    said = defaults()
    name, root = name or said.get("user") or "user", said.get("root")
    return find_in(root, name) if root else system_user(name)


def system_user(name):
    """The user of the sandbox's own system, where interpreters run."""
    try:
        found = pwd.getpwuid(int(name)) if name.isdecimal() else pwd.getpwnam(name)
    except (KeyError, ValueError, OverflowError):
        raise Refused("spec_invalid", f"there is no user {name}") from None
    groups = os.getgrouplist(found.pw_name, found.pw_gid)
    return User(found.pw_name, found.pw_uid, found.pw_gid, found.pw_dir, found.pw_shell, None, groups)


def find_in(root, name):
    """The same by the files of another system, which may be as broken as their owner likes. A number needs no entry there."""
    fields = next((line for line in lines_of(f"{root}/etc/passwd", 7) if name in (line[0], line[2])), None)
    if not fields and not name.isdecimal():
        raise Refused("spec_invalid", f"there is no user {name}")
    name, _, uid, gid, _, home, shell = fields or [name, "", name, "0", "", "/", "/bin/sh"]
    try:
        uid, gid = int(uid), int(gid)
        groups = {int(line[2]) for line in lines_of(f"{root}/etc/group", 4) if name in line[3].split(",")}
    except ValueError:
        raise Refused("spec_invalid", f"the user {name} is broken") from None
    home = home if home.startswith("/") and os.path.isdir(root + home) else "/"
    return User(name, uid, gid, home, shell or "/bin/sh", root, sorted(groups | {gid}))


def lines_of(path, count):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(1024 * 1024).splitlines()
    except OSError:
        return []
    fields = [line.split(":") for line in lines]
    return [each for each in fields if len(each) == count]


def cwd_of(user):
    """Where a program of the user begins that is told no other folder."""
    return defaults().get("cwd") or user.pw_dir


def shell_of(user):
    bash = "/bin/bash"
    return bash if not user.root or os.path.lexists(user.root + bash) else "/bin/sh"


def env_of(user, extra=None):
    # What the user installed for itself comes first, as in a login shell.
    path = f"{user.pw_dir}/.local/bin:{PATH}"
    base = {"PATH": path, "HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name}
    return {**base, "SHELL": user.pw_shell, "LANG": "C.UTF-8", **environment, **(extra or {})}


def become(user, group=None):
    """Turns this process into one of the user's, in the control group."""
    if group:
        with open(f"{GROUPS}/{group}/cgroup.procs", "w", encoding="ascii") as file:
            file.write("0")
    os.nice(10)
    if user.root:
        os.chroot(user.root)
    os.setgroups(user.groups)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    os.umask(0o022)


def fork(child, user, fds, group=None, cwd=None, terminal=False):
    """Runs `child` in a new session with the descriptors as its first ones, and returns its pid.

    Descriptors are closed by the caller; those that the child is not given end with it, unless it only forks.
    """
    try:
        if group:
            os.makedirs(f"{GROUPS}/{group}", exist_ok=True)
        said, say = os.pipe()
        pid = os.fork()
    except OSError as error:
        raise Refused("too_many", f"no more programs: {error.strerror}") from None
    if pid == 0:
        status = 127
        try:
            os.close(said)
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            say = place(fds, say)
            if terminal:
                import fcntl, termios

                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.RLIM_INFINITY))
            become(user, group)
            os.chdir(cwd or user.pw_dir)
            os.set_inheritable(say, False)
            child(lambda: os.close(say))
            status = 0
        except BaseException as error:  # The parent tells it.
            try:
                os.write(say, str(error).encode()[:1000] or b"failed")
            except OSError:
                pass
        finally:
            os._exit(status)
    os.close(say)
    failed = b""
    while piece := os.read(said, 1024):
        failed += piece
    os.close(said)
    if failed:
        raise Refused("spec_invalid", failed.decode(errors="replace"))
    return pid


def place(fds, keep=None):
    """Makes these descriptors 0, 1, 2 and so on, closes the others, and returns where `keep` is."""
    import fcntl

    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in fds]
    kept = len(fds) if keep is None else fcntl.fcntl(keep, fcntl.F_DUPFD_CLOEXEC, 100)
    for number, fd in enumerate(high):
        os.dup2(fd, number)
    os.closerange(len(fds), kept)
    os.closerange(kept if keep is None else kept + 1, 65536)
    return kept


def kill_group(group):
    """Ends all that is in it, however it got away from its process group."""
    try:
        with open(f"{GROUPS}/{group}/cgroup.kill", "w", encoding="ascii") as file:
            file.write("1")
    except OSError:
        pass


def remove_group(loop, group):
    kill_group(group)
    try:
        os.rmdir(f"{GROUPS}/{group}")
    except FileNotFoundError:
        pass
    except OSError:
        loop.later(0.1, lambda: remove_group(loop, group))

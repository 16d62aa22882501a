"""Answers the names of one sandbox, in its network namespace, as the rules of the file say, which are read again when
they change. What an allowed name resolves to joins one set of the namespace's rules before the answer goes out, what a
denied one does joins another; each stays as long as the answer may be used, and at least an hour.

Usage: name-resolver.py FILE ADDRESS. It needs CAP_NET_ADMIN and CAP_NET_BIND_SERVICE, and no file but that one.
"""
import concurrent.futures
import ctypes
import json
import os
import re
import socket
import sys
import threading
import time
import traceback
import typing

import dns.edns
import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdataclass
import dns.rdatatype

PORT = 53
PATIENCE = 2.5
AT_LEAST, AT_MOST = 3600, 86400
# How long an address that is in its set already is not put there again.
FRESH = 30
# How often what denied names resolve to is asked for, whether the sandbox asks or not; and again without an answer.
WATCH, AGAIN = 300, 10
DATAGRAM = 1232
WORKERS = 16
WAITING = 64
STACK = 512 * 1024
# The types of record that give a name an address.
ADDRESSES = (dns.rdatatype.A, dns.rdatatype.AAAA)
PLAIN = re.compile(r"[a-z0-9_.-]+")
# Questions for a whole zone, and for every record of a name.
NOT_ANSWERED = {dns.rdatatype.AXFR, dns.rdatatype.IXFR, dns.rdatatype.ANY}


class Rules(typing.NamedTuple):
    resolvers: list
    allow: list
    deny: list
    isOpen: bool

    def verdict(self, name):
        """`allowed`, `denied`, `open` or `refused`, and the entry of a list that says so."""
        for verdict, entries in (("allowed", self.allow), ("denied", self.deny)):
            for entry in entries:
                if name == entry or (entry.startswith("*.") and name.endswith(entry[1:])):
                    return verdict, entry
        return ("open" if self.isOpen else "refused"), ""


class RulesFile:
    def __init__(self, path, on_change):
        self.path, self.on_change, self.seen, self.rules = path, on_change, None, None

    def now(self):
        stat = os.stat(self.path)
        if self.seen != (stat.st_ino, stat.st_mtime_ns):
            with open(self.path, encoding="utf-8") as file:
                self.rules = Rules(**json.load(file))
            self.seen = (stat.st_ino, stat.st_mtime_ns)
            self.on_change()
        return self.rules


class Sets:
    """The sets of the namespace's rules that addresses join, each with the entry that it is there by."""

    SET_OF = {
        ("allowed", dns.rdatatype.A): "allowed_names",
        ("allowed", dns.rdatatype.AAAA): "allowed_names6",
        ("denied", dns.rdatatype.A): "denied_names",
        ("denied", dns.rdatatype.AAAA): "denied_names6",
    }

    def __init__(self):
        self.nft = ctypes.CDLL("libnftables.so.1")
        self.nft.nft_ctx_new.restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.nft.nft_ctx_new(0))
        self.nft.nft_ctx_buffer_error(self.context)
        self.lock = threading.Lock()
        self.fresh = {}

    def forget(self):
        """What was put there may have been taken out."""
        with self.lock:
            self.fresh.clear()

    def add(self, verdict, entry, rrset):
        """Whether they are in the set now."""
        where = f"inet coinrack {self.SET_OF[verdict, rrset.rdtype]}"
        seconds = min(max(rrset.ttl, AT_LEAST), AT_MOST)
        now = time.monotonic()
        with self.lock:
            new = [data.address for data in rrset if self.fresh.get((where, entry, data.address), 0) <= now]
            # Linux before 6.12 renews no element that is there; what is deleted and added in one step never misses.
            commands = "".join(
                f"add element {where} {{ {address} }}\n"
                f"delete element {where} {{ {address} }}\n"
                f'add element {where} {{ {address} timeout {seconds}s comment "{entry[-120:]}" }}\n'
                for address in new
            )
            if commands and self.nft.nft_run_cmd_from_buffer(self.context, commands.encode()) != 0:
                return False
            if len(self.fresh) > 4096:
                self.fresh.clear()
            self.fresh.update({(where, entry, address): now + FRESH for address in new})
        return True


class Resolver:
    def __init__(self, path):
        self.sets = Sets()
        self.file = RulesFile(path, self.sets.forget)

    def answer(self, query, ask):
        """To one query; `ask` is the way in which it came."""
        name, verdict, entry = self.judge(query)
        if verdict == "denied":
            self.learn(query.question[0].name, entry, ask)
        if verdict in ("denied", "refused"):
            return refusal(query)
        found = self.ask(query.question[0].name, query.question[0].rdtype, ask, query.ednsflags & dns.flags.DO)
        if found is None:
            return failure(query)
        # The rules may be others by now.
        if self.file.now().verdict(name) != (verdict, entry) or not self.let_through(verdict, entry, found):
            return refusal(query)
        found.id = query.id
        for rrset in found.answer:
            rrset.ttl = min(rrset.ttl, AT_MOST)
        if query.edns < 0:
            found.use_edns(-1)
        return found

    def judge(self, query):
        if len(query.question) != 1 or query.opcode() != 0 or query.flags & dns.flags.QR:
            return "", "refused", ""
        (question,) = query.question
        name = str(question.name).rstrip(".").lower()
        is_common = question.rdclass == dns.rdataclass.IN and question.rdtype not in NOT_ANSWERED
        if not is_common or not PLAIN.fullmatch(name):
            return name, "refused", ""
        return name, *self.file.now().verdict(name)

    def let_through(self, verdict, entry, found):
        """Whether the answer may go out; what it resolves to is in the set that it belongs to."""
        try:
            chain = found.resolve_chaining()
        except dns.exception.DNSException:
            return True
        if verdict == "open":
            aliases = [str(data.target).rstrip(".").lower() for rrset in chain.cnames for data in rrset]
            verdicts = (self.file.now().verdict(alias) for alias in aliases)
            verdict, entry = next((each for each in verdicts if each[0] == "denied"), (verdict, entry))
        is_added = True
        if verdict != "open" and chain.answer and chain.answer.rdtype in ADDRESSES:
            is_added = self.sets.add(verdict, entry, chain.answer)
        return verdict != "denied" and is_added

    def learn(self, name, entry, ask):
        """What a denied name resolves to is denied too. Whether it was found out."""
        answers = [self.ask(name, rdtype, ask) for rdtype in ADDRESSES]
        for found in filter(None, answers):
            self.let_through("denied", entry, found)
        return all(answers)

    def ask(self, name, rdtype, ask, ednsflags=0):
        query = dns.message.make_query(name, rdtype, use_edns=0, payload=DATAGRAM, ednsflags=ednsflags)
        for where in self.file.now().resolvers:
            try:
                return ask(query, where)
            except (dns.exception.DNSException, OSError, EOFError):
                continue
        return None

    def watch(self):
        """Asks for what denied names resolve to: who knows their addresses needs not ask for their names."""
        while True:
            rules = self.file.now()
            names = [name for name in rules.deny if not name.startswith("*.")]
            is_done = all([self.learn(name, name, by_udp) for name in names])
            until = time.monotonic() + (WATCH if is_done else AGAIN)
            while self.file.now() is rules and time.monotonic() < until:
                time.sleep(0.2)


def by_udp(query, where):
    """What is answered by another than the one that was asked, or to another question, is passed over."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect((where, PORT))
        asked.send(query.to_wire())
        until = time.monotonic() + PATIENCE
        while (left := until - time.monotonic()) > 0:
            asked.settimeout(left)
            found = dns.message.from_wire(asked.recv(65535))
            if query.is_response(found):
                return found
    raise TimeoutError


def by_tcp(query, where):
    with socket.create_connection((where, PORT), PATIENCE) as asked:
        send_message(asked, query)
        found = dns.message.from_wire(receive_message(asked))
    if not query.is_response(found):
        raise OSError(f"{where} answered something else")
    return found


def send_message(connection, message):
    wire = message.to_wire()
    connection.sendall(len(wire).to_bytes(2) + wire)


def receive_message(connection):
    """One that does not come within the patience, as a whole, does not come."""
    until = time.monotonic() + PATIENCE

    def receive(size):
        received = b""
        while len(received) < size:
            connection.settimeout(max(until - time.monotonic(), 0.001))
            piece = connection.recv(size - len(received))
            if not piece:
                raise EOFError
            received += piece
        return received

    wire = receive(int.from_bytes(receive(2)))
    connection.settimeout(PATIENCE)
    return wire


def refusal(query):
    response = dns.message.make_response(query)
    response.set_rcode(dns.rcode.REFUSED)
    if query.edns >= 0:
        why = dns.edns.EDEOption(dns.edns.EDECode.PROHIBITED, "by the network rules of this sandbox")
        response.use_edns(0, payload=DATAGRAM, options=[why])
    return response


def failure(query):
    response = dns.message.make_response(query)
    response.set_rcode(dns.rcode.SERVFAIL)
    return response


def datagram(response, query):
    limit = min(max(query.payload, 512), DATAGRAM) if query.edns >= 0 else 512
    try:
        return response.to_wire(max_size=limit)
    except dns.exception.TooBig:
        short = dns.message.make_response(query)
        short.flags |= dns.flags.TC
        return short.to_wire()


class Workers:
    """Of work that is too much, some is left undone: whoever asked asks again."""

    def __init__(self):
        self.pool = concurrent.futures.ThreadPoolExecutor(WORKERS)
        self.room = threading.BoundedSemaphore(WAITING)

    def do(self, work):
        """Whether there was room for it."""
        if not self.room.acquire(blocking=False):
            return False
        self.pool.submit(self.run, work)
        return True

    def run(self, work):
        try:
            work()
        except (dns.exception.DNSException, OSError, EOFError, ValueError):
            pass  # It was no query, or nobody waits for the answer any more.
        finally:
            self.room.release()


def serve_datagrams(resolver, server):
    workers = Workers()

    def reply(wire, client):
        query = dns.message.from_wire(wire)
        server.sendto(datagram(resolver.answer(query, by_udp), query), client)

    while True:
        wire, client = server.recvfrom(4096)
        workers.do(lambda wire=wire, client=client: reply(wire, client))


def serve_connections(resolver, server):
    workers = Workers()

    def converse(connection):
        with connection:
            while True:
                query = dns.message.from_wire(receive_message(connection))
                send_message(connection, resolver.answer(query, by_tcp))

    while True:
        connection, _ = server.accept()
        if not workers.do(lambda connection=connection: converse(connection)):
            connection.close()


def essential(work, *arguments):
    """Without one of its parts it ends, and is begun anew."""
    try:
        work(*arguments)
    except Exception:
        traceback.print_exc()
    os._exit(1)


def main(path, address):
    threading.stack_size(STACK)
    resolver = Resolver(path)
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind((address, PORT))
    connections = socket.create_server((address, PORT), backlog=WAITING)
    print("ready", flush=True)
    threading.Thread(target=essential, args=(serve_connections, resolver, connections)).start()
    threading.Thread(target=essential, args=(resolver.watch,)).start()
    essential(serve_datagrams, resolver, datagrams)


if __name__ == "__main__":
    main(*sys.argv[1:])

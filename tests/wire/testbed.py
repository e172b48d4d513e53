# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The environment of a case: our peer at one end of the link, QPs of the device at the other.

A case is a function marked @case("what it shows"), and gets a Testbed:

    @case("a WRITE with a key that does not exist is refused")
    def wrong_key(b):
        rc = b.rc()
        b.send(rc, "RC_WRITE_ONLY", b"data", va=rc.memory.va, rkey=rc.memory.rkey ^ 0x100, dma_len=4)
        b.nak(rc, roce.NAK_ACCESS)
        b.state(rc, "ERR")

No case waits for silence. After its packets, a packet is sent to another QP, the bystander. All packets that the device sends
before the bystander's ACK are the response to the case, and the ACK shows that other QPs are not affected."""

import contextlib
import os
import random
import subprocess
import time

import constants as e
import roce
from peer import Peer
from pyverbs.device import Context
from target import Memory, Target, Victim

CASES = []
PATIENCE = 120
# Bursts of a QP of sroce in the queue: SROCE_TX_LIMIT of drivers/sroce/net/tx.h
TX_LIMIT = 32


class Failure(Exception):
    """Raised by a case that has found an error."""


def case(what, ipv4_only=False):
    def mark(function):
        CASES.append((what, function, ipv4_only))
        return function
    return mark


def short(value):
    """Long memory is shown by its first bytes that differ from zero, and its length."""
    if not isinstance(value, bytes) or len(value) <= 64:
        return repr(value)
    at = len(value) - len(value.lstrip(b"\0"))
    return f"{len(value)} bytes, at {at}: {value[at:at + 16].hex()}"


def expect(what, got, wanted):
    if got != wanted:
        raise Failure(f"{what}: got {short(got)[:300]}, wanted {short(wanted)[:300]}")


class Testbed:
    """Reads the environment variables that tests/suites/wire.sh sets: the peer is on h1, the device is D2 on h2."""

    def __init__(self, env, ipv6=False):
        self.ipv6 = ipv6
        self.ours, self.theirs = (env["IP1_6"], env["IP2_6"]) if ipv6 else (env["IP1"], env["IP2"])
        self.stranger = "fd00::77" if ipv6 else "10.0.0.77"
        self.gid = int(env["G2_6" if ipv6 else "G2"])
        self.others = (env["IP1"], env["IP2"]) if ipv6 else (env["IP1_6"], env["IP2_6"])  # of the other family
        self.device = env["D2"]
        self.context = Context(name=self.device)
        self.peer = Peer("h1", "eth0", *(bytes.fromhex(env[name].replace(":", "")) for name in ("MAC1", "MAC2")))
        self.random = random.Random(1)
        self.victims = []
        self.set_lifespan()
        self.bystander = Victim(self.context)
        self.bystander.connect(self.gid, self.ours, self.peer.qpn - 1)

    # --- QPs ---

    def unconnected(self, transport="RC", psn=None, sq_psn=500, depth=16):
        """A QP in RESET, whose PSNs are near the wraparound or not."""
        if psn is None:
            psn = self.random.choice((0, 100, 0xFFFFFF))
        victim = (Target if transport == "XRC" else Victim)(self.context, transport, psn, sq_psn, depth)
        self.victims.append(victim)
        victim.first_psn = psn
        return victim

    def qp(self, transport="RC", psn=None, sq_psn=500, depth=16, **options):
        """A QP whose peer is this program."""
        victim = self.unconnected(transport, psn, sq_psn, depth)
        victim.connect(self.gid, self.ours, self.peer.qpn, **options)
        return victim

    def rc(self, **options):
        return self.qp("RC", **options)

    def clean(self):
        """Cleans up after a case, whether it passed or failed."""
        for victim in self.victims:
            with contextlib.suppress(Exception):
                victim.close()
        self.victims.clear()
        self.answers(settled=False)

    # --- sending ---

    def raw(self, body, source=None, target=None, vlan=None, **ip):
        """Sends a packet, given from BTH to pad; adds IP, UDP and ICRC."""
        self.peer.send(roce.datagram(source or self.ours, target or self.theirs, body, **ip), vlan)

    def find_gid(self, text):
        """The index of this GID; waits until the kernel has added it."""
        folder = f"/sys/class/infiniband/{self.device}/ports/1/gids"
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for index in os.listdir(folder):
                with contextlib.suppress(OSError), open(f"{folder}/{index}", encoding="ascii") as file:
                    if file.read().strip() == text:
                        return int(index)
            time.sleep(0.05)
        raise Failure(f"no GID {text}")

    def body(self, victim, opcode, payload=b"", **fields):
        """The packet that the QP expects next, apart from the fields given."""
        fields.setdefault("qpn", victim.qpn)
        fields.setdefault("psn", victim.psn)
        if victim.transport == "XRC":
            fields.setdefault("srqn", victim.srqn)
        if "rkey" not in fields and victim.transport != "UD":
            fields.update(rkey=victim.memory.rkey)
            fields.setdefault("va", victim.memory.va)
        named = {name for header in roce.OPCODES[roce.CODE[opcode]][1] for name in roce.HEADERS[header][1]}
        unused = [name for name in ("rkey", "va", "srqn") if name not in named]
        for name in unused:
            fields.pop(name, None)
        if "dma_len" in named:
            fields.setdefault("dma_len", len(payload))
        fields.setdefault("ack_req", True)
        qpn, psn = fields.pop("qpn"), fields.pop("psn")
        return roce.transport(opcode, qpn, psn & 0xFFFFFF, payload, **fields)

    def send(self, victim, opcode, payload=b"", **fields):
        self.raw(self.body(victim, opcode, payload, **fields))

    def advance(self, victim, psns=1):
        victim.psn = victim.psn + psns & 0xFFFFFF

    def send_next(self, victim, opcode, payload=b"", **fields):
        """Sends a valid packet in order, and advances to the next PSN."""
        self.send(victim, opcode, payload, **fields)
        self.advance(victim)

    # --- answers ---

    def probe(self):
        self.raw(self.bystander_body())
        self.bystander.psn = self.bystander.psn + 1 & 0xFFFFFF

    def bystander_body(self):
        by = self.bystander
        return roce.transport("RC_WRITE_ONLY", by.qpn, by.psn, b"probe678", va=by.memory.va, rkey=by.memory.rkey,
                              dma_len=8, ack_req=True)

    def answers(self, settled=True):
        """All packets that the device has sent so far. If memory that it sends from changes, so do packets that were captured
        already, because they contain references to the pages."""
        self.probe()
        found = []
        while True:
            packet = self.peer.receive(PATIENCE)
            if packet is None:
                raise Failure("the bystander's probe is not acknowledged")
            if packet.qpn == self.peer.qpn - 1 and packet.psn == self.bystander.psn - 1 & 0xFFFFFF:
                expect("class of the bystander's ACK", packet.syndrome >> 5, 0)
                return found
            if packet.qpn == self.peer.qpn:
                if settled and not packet.icrc_right or not packet.length_right:
                    raise Failure(f"answer with a wrong ICRC or length: {packet}")
                found.append(packet)

    def silence(self):
        expect("answers", [str(packet) for packet in self.answers()], [])

    def one_answer(self, name):
        """The only response. Probes, which repeat requests of the device, may come at any time."""
        found = [packet for packet in self.answers() if not packet.is_request]
        expect("answers", [packet.name for packet in found], [name])
        return found[0]

    @staticmethod
    def reliable(victim):
        return "XRC" if victim.transport == "XRC" else "RC"

    def nak(self, victim, syndrome):
        answer = self.one_answer(self.reliable(victim) + "_ACKNOWLEDGE")
        expect("syndrome", f"{answer.syndrome:#x}", f"{syndrome:#x}")
        expect("PSN of the NAK", answer.psn, victim.psn)
        return answer

    def acked(self, victim):
        """Checks that there is an ACK of all packets up to the victim's PSN."""
        answer = self.one_answer(self.reliable(victim) + "_ACKNOWLEDGE")
        expect("class of the syndrome", answer.syndrome >> 5, 0)
        expect("PSN of the ACK", answer.psn, victim.psn - 1 & 0xFFFFFF)
        return answer

    def works(self, victim):
        """Checks that the connection goes on as if nothing had happened."""
        data = os.urandom(12)
        self.send_next(victim, victim.transport + "_WRITE_ONLY", data, va=victim.memory.va + 64)
        if victim.transport in ("RC", "XRC"):
            self.acked(victim)
        else:
            self.silence()
        expect("data of a WRITE afterwards", victim.memory.read(12, 64), data)
        expect("state", victim.state, "RTS")

    def state(self, victim, wanted):
        expect("state", victim.state, wanted)

    @staticmethod
    def wait_for(what, condition):
        """Waits for a condition that no response reports."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise Failure(f"never: {what}")
            time.sleep(0.01)

    def outgoing(self, *names):
        """The requests that the device has sent so far. On a slow machine probes may follow, which repeat one of them."""
        found = self.answers()
        while len(found) > len(names) and found[-1].psn in {packet.psn for packet in found[:-1]}:
            found.pop()
        expect("requests", [packet.name for packet in found], list(names))
        return found

    def until_sent(self, psn):
        """The PSNs that the device sends until this one, each once. On a slow machine the round trip is long, packets are
        paced, and probes repeat them."""
        found = []

        def is_sent():
            found.extend(packet.psn for packet in self.answers())
            return psn in found

        self.wait_for(f"PSN {psn}", is_sent)
        return list(dict.fromkeys(found))

    def wait_outgoing(self, name, seconds=PATIENCE):
        """Waits for the next packet with this name; any packet if the name is None."""
        while True:
            packet = self.peer.receive(seconds)
            if packet is None:
                raise Failure(f"no {name}")
            if packet.qpn == self.peer.qpn:
                expect("packet", packet.name, name or packet.name)
                return packet

    @contextlib.contextmanager
    def plugged_queue(self):
        """The device's packets stay in the queue of its netdev until the end of the block; bursts are not segmented there."""
        self.tc("replace", "plug", "limit", "1000000")
        try:
            self.tc("change", "plug", "block")
            yield
            self.tc("change", "plug", "release_indefinite")
        finally:
            self.tc("delete")

    @contextlib.contextmanager
    def small_queue(self):
        """The queue holds one packet of a kilobyte for two milliseconds, and refuses others meanwhile."""
        self.tc("replace", "tbf", "rate", "4mbit", "burst", "1600", "limit", "1100")
        try:
            yield
        finally:
            self.tc("delete")

    @contextlib.contextmanager
    def stuck_queue(self):
        """The device's packets stay in the queue of its netdev, apart from one or two, and are lost at the end of the block."""
        self.tc("replace", "tbf", "rate", "80bit", "burst", "1600", "limit", "1000000")
        try:
            yield
        finally:
            self.tc("delete")

    @contextlib.contextmanager
    def setting(self, name, value, device=None):
        """A setting of the device (verbs/settings.c) has this value within the block, and its former value afterwards."""
        path = f"/sys/kernel/debug/sroce/{device or self.device}/{name}"
        with open(path, "r+", encoding="ascii") as file:
            before = file.read()
            file.write(value)
        try:
            yield
        finally:
            with open(path, "w", encoding="ascii") as file:
                file.write(before.strip())

    def tc(self, verb, *what):
        subprocess.run(["ip", "netns", "exec", "h2", "tc", "qdisc", verb, "dev", "eth0", "root", *what], check=True)

    # --- counters ---

    def counter_file(self, name, device=None):
        return f"/sys/class/infiniband/{device or self.device}/ports/1/hw_counters/{name}"

    def set_lifespan(self):
        with open(self.counter_file("lifespan"), "w", encoding="ascii") as file:
            file.write("0")

    def counter(self, name, device=None):
        time.sleep(0.009 if device is None else 0.02)  # the core gives old values within a tick, and as long as the lifespan
        with open(self.counter_file(name, device), encoding="ascii") as file:
            return int(file.read())

    @contextlib.contextmanager
    def counts(self, name, times=1):
        """Checks that this counter grows by "times" within the block."""
        before = self.counter(name)
        yield
        expect(f"{name} moved by", self.counter(name) - before, times)

    def memory(self, victim, access=e.IBV_ACCESS_LOCAL_WRITE):
        return Memory(victim.pd, 4096, access)

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Partitions (IBTA vol. 1, 10.9): the table that an administrator fills, P_Keys in packets, which QPs can communicate."""

import contextlib
import time

import roce
from testbed import Failure, case, expect
from mad import CLASS_PORT_INFO, GET, ask
from pyverbs.addr import AH
from pyverbs.base import PyverbsRDMAError
from target import address_vector

EINVAL = 22
DEFAULT, FULL, LIMITED = 0xFFFF, 0x8123, 0x0456
TABLE = 32


def file_of(b, name="pkey_table"):
    return f"/sys/class/infiniband/{b.device}/ports/1/{name}"


def written(b, text):
    """Returns 0 or the errno."""
    try:
        with open(file_of(b), "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        return error.errno
    return 0


def read(b, name="pkey_table"):
    with open(file_of(b, name), encoding="ascii") as file:
        return file.read().strip()


@contextlib.contextmanager
def table(b, *pkeys):
    expect("errno of a table", written(b, " ".join(hex(pkey) for pkey in (DEFAULT, *pkeys))), 0)
    try:
        yield
    finally:
        expect("errno of the first table", written(b, hex(DEFAULT)), 0)


def bad_pkeys(b):
    time.sleep(0.02)  # it may be 10 ms old
    return b.context.query_port(1).bad_pkey_cntr


@contextlib.contextmanager
def violations(b, times):
    """The value of the port counter that programs see."""
    before = bad_pkeys(b)
    with b.counts("rx_bad_pkey", times):
        yield
    expect("bad_pkey_cntr moved by", bad_pkeys(b) - before, times)


def write(b, victim, **fields):
    b.send(victim, victim.transport + "_WRITE_ONLY", b"data", **fields)


@case("the P_Key table shows its entries and refuses invalid ones")
def contents(b):
    expect("at first", read(b), "0xffff")
    expect("its size", b.context.query_port(1).pkey_tbl_len, TABLE)
    expect("largest", b.context.query_device().max_pkeys, TABLE)
    with table(b, FULL, 0, LIMITED):
        expect("table", read(b), "0xffff 0x8123 0x0000 0x0456")
        expect("query_pkey", [b.context.query_pkey(1, i) & 0xFFFF for i in range(5)], [0xFFFF, 0x2381, 0, 0x5604, 0])
        expect("core", [read(b, f"pkeys/{i}") for i in (1, 2, 3, 31)], ["0x8123", "0x0000", "0x0456", "0x0000"])
        for text, errno in ((" ", EINVAL), ("0x8123", EINVAL), ("0xffff 0x8000", EINVAL), ("0xffff 0x10000", 34),
                            ("0xffff nonsense", EINVAL), ("0xffff -1", EINVAL), ("0xffff 0x8123 0x8123", 17),
                            ("0xffff " * 2, 17), ("0xffff" + " 0" * TABLE, 7)):
            expect(f"errno of {text!r}", written(b, text), errno)
        expect("nothing has changed", read(b), "0xffff 0x8123 0x0000 0x0456")
        expect("both memberships of a partition", written(b, "0x7fff 0x8123 0x0123"), 0)
    expect("a table as long as it can be", written(b, " ".join(hex(0xFFFF - i) for i in range(TABLE))), 0)
    expect("its last", read(b, f"pkeys/{TABLE - 1}"), f"0x{0xFFFF - TABLE + 1:04x}")
    expect("back", written(b, "0xffff\n"), 0)


@case("a QP's P_Key is in its requests and responses")
def in_packets(b):
    with table(b, FULL, LIMITED):
        for index, pkey in ((1, FULL), (2, LIMITED)):
            for transport in ("RC", "UC"):
                victim = b.qp(transport, pkey_index=index)
                victim.send(2500)
                names = (f"{transport}_SEND_{name}" for name in ("FIRST", "MIDDLE", "LAST"))
                expect("P_Keys of requests", {packet.pkey for packet in b.outgoing(*names)}, {pkey})
            rc = b.rc(pkey_index=index)
            attr, _ = rc.qp.query(0)
            expect("query_qp", attr.pkey_index, index)
            write(b, rc, pkey=pkey | 0x8000)
            b.advance(rc)
            expect("P_Key of an ACK", b.acked(rc).pkey, pkey)
            b.send(rc, "RC_READ_REQUEST", dma_len=2500, pkey=pkey | 0x8000)
            expect("P_Keys of READ responses", {packet.pkey for packet in b.answers()}, {pkey})
            ud = b.qp("UD", pkey_index=index)
            handle = AH(ud.pd, attr=address_vector(b.gid, b.ours))
            ud.send_to(handle, b.peer.qpn)
            expect("P_Key of a datagram", b.outgoing("UD_SEND_ONLY")[0].pkey, pkey)
            handle.close()
            b.clean()


@case("full members accept all members, limited ones only full ones, nobody other partitions")
def membership(b):
    with table(b, FULL, LIMITED):
        for transport in ("RC", "UC"):
            full = b.qp(transport, pkey_index=1)
            limited = b.qp(transport, pkey_index=2)
            with violations(b, 9):
                for pkey in (0xFFFF, 0x7FFF, 0, 0x8000, LIMITED | 0x8000):
                    write(b, full, pkey=pkey)
                for pkey in (LIMITED, 0xFFFF, 0, 0x8000):
                    write(b, limited, pkey=pkey)
                b.silence()
            for victim, pkey in ((full, FULL), (full, FULL & 0x7FFF), (limited, LIMITED | 0x8000)):
                write(b, victim, pkey=pkey)
                b.advance(victim)
            found = b.answers()
            expect("answers", len(found), 3 if transport == "RC" else 0)
            expect("data", (full.memory.read(4), limited.memory.read(4)), (b"data", b"data"))
            b.clean()


@case("the P_Key of every packet of a message is checked")
def every_packet(b):
    with table(b, FULL):
        rc = b.rc(pkey_index=1)
        with violations(b, 1):
            b.send_next(rc, "RC_WRITE_FIRST", b"x" * 1024, dma_len=3072, pkey=FULL, ack_req=False)
            b.send(rc, "RC_WRITE_MIDDLE", b"y" * 1024, pkey=0xFFFF)
            b.silence()
        b.send_next(rc, "RC_WRITE_MIDDLE", b"y" * 1024, pkey=FULL, ack_req=False)
        b.send_next(rc, "RC_WRITE_LAST", b"z" * 1024, pkey=FULL)
        b.acked(rc)
        expect("data", rc.memory.read(3072), b"x" * 1024 + b"y" * 1024 + b"z" * 1024)


@case("datagrams: only the P_Key of the QP is accepted")
def datagrams(b):
    with table(b, FULL):
        ud = b.qp("UD", pkey_index=1)
        ud.post_recv()
        fields = {"qkey": 0x11111111, "src_qpn": 5}
        with violations(b, 2):
            for pkey in (0xFFFF, 0x8124):
                b.send(ud, "UD_SEND_ONLY", b"no", pkey=pkey, **fields)
            b.silence()
        b.send(ud, "UD_SEND_ONLY", b"yes", pkey=FULL, **fields)
        b.silence()
        expect("length", ud.completion().byte_len, 43)


@case("QP 1 accepts all P_Keys of the table and replies with that of the request")
def gsi(b):
    with table(b, FULL, LIMITED):
        for asked, answered in ((0xFFFF, 0xFFFF), (0x7FFF, 0xFFFF), (FULL, FULL), (0x0123, FULL), (LIMITED | 0x8000, LIMITED)):
            expect("status", ask(b, GET, CLASS_PORT_INFO, pkey=asked, answered=answered)[0], 0)
        with violations(b, 3):
            for pkey in (0x8124, LIMITED, 0):
                b.raw(roce.transport("UD_SEND_ONLY", 1, 0, bytes(256), qkey=0x80010000, src_qpn=1, pkey=pkey))
            b.silence()


@case("a QP cannot use an index without a P_Key")
def refused(b):
    with table(b, FULL, 0, LIMITED):
        for index in (2, 4, TABLE - 1, TABLE, 0xFFFF):
            victim = b.unconnected()
            try:
                victim.connect(b.gid, b.ours, b.peer.qpn, pkey_index=index)
            except PyverbsRDMAError as error:
                expect("errno", error.error_code, EINVAL)
            else:
                raise Failure(f"index {index} is accepted")
            b.state(victim, "RESET")


@case("the P_Key of a QP follows its table entry; without one it accepts nothing")
def changes(b):
    with table(b, FULL):
        rc = b.rc(pkey_index=1)
        write(b, rc, pkey=FULL)
        b.advance(rc)
        b.acked(rc)
        expect("errno", written(b, "0xffff 0x8777"), 0)
        with violations(b, 1):
            write(b, rc, pkey=FULL)
            b.silence()
        write(b, rc, pkey=0x8777)
        b.advance(rc)
        expect("P_Key of the ACK", b.acked(rc).pkey, 0x8777)
        expect("errno", written(b, "0xffff"), 0)
        with violations(b, 4):
            for pkey in (0xFFFF, 0x8777, 0x8000, 0):
                write(b, rc, pkey=pkey)
            b.silence()
        b.state(rc, "RTS")
        expect("errno", written(b, f"0xffff {FULL:#x}"), 0)
        write(b, rc, pkey=FULL)
        b.advance(rc)
        b.acked(rc)


@case("programs get an event when a P_Key changes")
def event(b):
    while True:
        with table(b, FULL):
            pass
        got = b.context.get_async_event()
        got.ack()
        if got.event_type == 12:
            break

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Management datagrams of class 4 and their responses."""

import struct

import roce
from testbed import PATIENCE, Failure, expect

GSI_QKEY = 0x80010000
GET, SET, RESPONSE = 1, 2, 0x81
CLASS_PORT_INFO = 0x01
BAD_METHOD, BAD_ATTRIBUTE, BAD_VALUE = 2 << 2, 3 << 2, 7 << 2


def ask(b, method, attribute, data=b"", version=1, pkey=0xFFFF, answered=0xFFFF):
    """Returns status and data of the response, after checking its partition."""
    transaction = b.random.randbytes(8)
    head = struct.pack(">BBBBHH8sHHI", 1, 4, version, method, 0, 0, transaction, attribute, 0, 0)
    mad = (head + bytes(40) + data).ljust(256, b"\0")
    b.raw(roce.transport("UD_SEND_ONLY", 1, 0, mad, qkey=GSI_QKEY, src_qpn=b.peer.qpn, pkey=pkey))
    while True:
        packet = b.peer.receive(PATIENCE)
        if packet is None:
            raise Failure("no answer")
        if packet.qpn == b.peer.qpn and packet.payload[8:16] == transaction:
            break
    expect("ICRC", packet.icrc_right, True)
    expect("P_Key", packet.pkey, answered)
    got = struct.unpack(">BBBBHH8sHHI", packet.payload[:24])
    expect("class, version, method", got[1:4], (4, version, RESPONSE))
    return got[4], packet.payload[64:]

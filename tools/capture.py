# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""capture.py FILE PORT...: writes what comes in at the ports of a bridge into a pcap file, until it is terminated.

What comes in at one port goes out of others, so that each packet is seen once."""

import selectors
import signal
import socket
import struct
import sys
import time

ETH_P_ALL = 3
PACKET_OUTGOING = 4
SNAP = 65535


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with selectors.DefaultSelector() as selector, open(sys.argv[1], "wb") as file:
        for port in sys.argv[2:]:
            end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
            end.bind((port, 0))
            selector.register(end, selectors.EVENT_READ)
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, SNAP, 1))
        file.flush()
        while True:
            for key, _ in selector.select():
                data, address = key.fileobj.recvfrom(SNAP)
                if address[2] != PACKET_OUTGOING:
                    now = time.time_ns()
                    file.write(struct.pack("<IIII", now // 10 ** 9, now // 1000 % 10 ** 6, len(data), len(data)) + data)


main()

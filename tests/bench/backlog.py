# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In the guest: samples the length of a queue every two milliseconds.

  python3 backlog.py DEVICE WAIT SECONDS      prints {"mean": bytes, "peak": bytes, "samples": number} as JSON"""

import json
import socket
import struct
import sys
import time

INTERVAL = 0.002
RTM_GETQDISC, NLM_F_REQUEST, NLM_F_ECHO, TC_H_ROOT = 38, 1, 8, 0xFFFFFFFF
HEADER, QDISC = "=IHHII", "=BxxxiIII"
TCA_STATS2, TCA_STATS_QUEUE = 7, 3


def attributes(data):
    """{type: value} of netlink attributes."""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


def backlog(channel, index):
    """Bytes that wait in the device's root queueing discipline."""
    size = struct.calcsize(HEADER) + struct.calcsize(QDISC)
    channel.send(struct.pack(HEADER, size, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_ECHO, 1, 0) +
                 struct.pack(QDISC, socket.AF_UNSPEC, index, 0, TC_H_ROOT, 0))
    answer = channel.recv(8192)
    queue = attributes(attributes(answer[size:])[TCA_STATS2])[TCA_STATS_QUEUE]
    return struct.unpack_from("=II", queue)[1]


def main():
    device, wait, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    channel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    channel.settimeout(5)
    index = socket.if_nametoindex(device)
    time.sleep(wait)
    end, samples = time.monotonic() + seconds, []
    while time.monotonic() < end:
        samples.append(backlog(channel, index))
        time.sleep(INTERVAL)
    print(json.dumps({"mean": sum(samples) / len(samples), "peak": max(samples), "samples": len(samples)}))


if __name__ == "__main__":
    main()

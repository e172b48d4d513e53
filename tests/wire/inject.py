#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""inject.py SOURCE TARGET QPN TEXT [ADDRESS]: sends TEXT to the peer of a connection whose queue pair on this host has the number
QPN, in one datagram and without privileges: "rdma resource show" shows all numbers that are needed. ADDRESS is the one that NAT
replaces by SOURCE. For tests/suites/users.sh."""

import ipaddress
import json
import socket
import subprocess
import sys

import roce

# From linux/in.h and linux/in6.h: no fragments, and for IPv4 an identification of 0
IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, DO = 10, 23, 2


def connection(qpn):
    text = subprocess.run(["rdma", "-jd", "resource", "show", "qp"], capture_output=True, check=True, text=True).stdout
    return next(qp for qp in json.loads(text) if qp["lqpn"] == qpn)


def inject(source, target, qp, text, own):
    body = roce.transport("RC_SEND_ONLY", qp["rqpn"], qp["sq-psn"], text.encode())
    kind = socket.AF_INET if source.version == 4 else socket.AF_INET6
    with socket.socket(kind, socket.SOCK_DGRAM) as sock:
        if source.version == 4:
            sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, DO)
        else:
            sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, DO)
        sock.bind((str(own), 0))
        packet = roce.datagram(source, target, body, sport=sock.getsockname()[1])
        udp = (20 if source.version == 4 else 40) + 8
        sock.sendto(packet[udp:], (str(target), roce.UDP_PORT))


def main():
    source, target = (ipaddress.ip_address(address) for address in sys.argv[1:3])
    own = ipaddress.ip_address(sys.argv[5]) if len(sys.argv) > 5 else source
    inject(source, target, connection(int(sys.argv[3])), sys.argv[4], own)


main()

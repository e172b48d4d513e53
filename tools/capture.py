# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""capture.py FILE BRIDGE: writes what the ports of a bridge receive into a pcap file, until it is terminated.

A bridge in promiscuous mode gets each packet once, when it arrives, even if it then drops it. Packets that are waiting at the
end are written, too. Lost packets are reported, so a capture never has unknown gaps."""

import ctypes
import selectors
import signal
import socket
import struct
import sys

# linux/if_packet.h, asm-generic/socket.h: what Python has no names for
SOL_PACKET = 263
PACKET_ADD_MEMBERSHIP, PACKET_STATISTICS, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 1, 6, 8, 23
PACKET_MR_PROMISC = 1
TP_STATUS_VLAN_VALID, TP_STATUS_VLAN_TPID_VALID = 1 << 4, 1 << 6
AUXDATA = struct.Struct("=IIIHHHH")  # struct tpacket_auxdata
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 26, 33, 35
TIMESPEC = struct.Struct("=qq")
ETH_P_ALL, ETH_P_8021Q = 3, 0x8100
ACCEPT_NOTHING = struct.pack("=HBBI", 6, 0, 0, 0)  # linux/filter.h: BPF_RET, of 0 bytes
ADDRESSES = 12  # bytes of an Ethernet header before the tag
SNAP = 65535
WAITING = 256 << 20  # bytes
AT_ONCE = 1000  # packets between two looks for the end


def listen(bridge):
    """Bound from the beginning, so that nothing of other devices comes."""
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, WAITING // 2)  # the kernel doubles it
    end.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    end.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    end.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    end.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, struct.pack("=iHH8x", socket.if_nametoindex(bridge), PACKET_MR_PROMISC, 0))
    end.bind((bridge, ETH_P_ALL))
    end.setblocking(False)
    return end


def stop_listening(end):
    """Waiting packets stay, and no more come. (To be bound to protocol 0 leaves a packet socket the one it has.)"""
    program = ctypes.create_string_buffer(ACCEPT_NOTHING, len(ACCEPT_NOTHING))
    end.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("@HP", 1, ctypes.addressof(program)))


def tagged(data, auxdata):
    """With the VLAN tag that the kernel has taken out."""
    status, _, _, _, _, tci, tpid = AUXDATA.unpack(auxdata)
    if not status & TP_STATUS_VLAN_VALID:
        return data
    tag = struct.pack(">HH", tpid if status & TP_STATUS_VLAN_TPID_VALID else ETH_P_8021Q, tci)
    return data[:ADDRESSES] + tag + data[ADDRESSES:]


def write_waiting(end, file, most):
    """Packets that have come, with the time at which they did."""
    for _ in range(most):
        try:
            data, ancillary, _, _ = end.recvmsg(SNAP, 256)
        except BlockingIOError:
            return
        about = {(level, kind): value for level, kind, value in ancillary}
        data = tagged(data, about[SOL_PACKET, PACKET_AUXDATA])
        seconds, nanoseconds = TIMESPEC.unpack(about[socket.SOL_SOCKET, SO_TIMESTAMPNS])
        file.write(struct.pack("<IIII", seconds, nanoseconds // 1000, len(data), len(data)) + data)


def main():
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    signal.signal(signal.SIGTERM, lambda *_: None)
    with selectors.DefaultSelector() as selector, open(sys.argv[1], "wb") as file:
        end = listen(sys.argv[2])
        selector.register(end, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, SNAP, 1))
        file.flush()
        going = True
        while going:
            going = all(key.fileobj is end for key, _ in selector.select())
            write_waiting(end, file, AT_ONCE)
        stop_listening(end)  # who goes on sending must not keep us
        write_waiting(end, file, sys.maxsize)
        _, lost = struct.unpack("=II", end.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        if lost:
            print(f"sroce-run: the capture lacks {lost} packets: they came faster than it could write", file=sys.stderr)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""migration.py FOLDER ADDRESS PORT: QEMU migrates a running virtual machine from host h1 to host h2 over RDMA.

The machine's memory contains random bytes. Afterwards the machine on h2 must have them."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time

PLACE = 16 << 20
LENGTH = 8 << 20


class Machine:
    """A machine of 32 MiB on a host, and its QMP socket."""

    def __init__(self, stack, host, folder, *options):
        path = os.path.join(folder, host)
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["ip", "netns", "exec", host, "qemu-system-x86_64", "-accel", "tcg", "-machine", "pc", "-m", "32", "-nodefaults",
             "-display", "none", "-qmp", f"unix:{path},server=on,wait=off", *options])
        stack.callback(self.process.kill)
        self.qmp = self.connect(path).makefile("rw")
        self.qmp.readline()
        self.ask("qmp_capabilities")

    def connect(self, path):
        while True:
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                qmp = socket.socket(socket.AF_UNIX)
                qmp.connect(path)
                return qmp
            if self.process.poll() is not None:
                sys.exit(f"QEMU ended with {self.process.returncode}")
            time.sleep(0.1)

    def ask(self, command, **arguments):
        self.qmp.write(json.dumps({"execute": command, "arguments": arguments}))
        self.qmp.flush()
        while True:
            answer = json.loads(self.qmp.readline() or '{"error": "QEMU is gone"}')
            if "error" in answer:
                sys.exit(f"{command}: {answer['error']}")
            if "return" in answer:
                return answer["return"]


def move(source, target, where):
    source.ask("migrate", uri=where)
    while (status := source.ask("query-migrate")).get("status") not in ("completed", "failed"):
        time.sleep(0.2)
    print(json.dumps(status))
    if status["status"] == "failed":
        sys.exit("the migration failed")
    while target.ask("query-status")["status"] != "running":
        time.sleep(0.1)


def main(folder, address, port):
    where = f"rdma:{address}:{port}"
    before, after = os.path.join(folder, "before"), os.path.join(folder, "after")
    data = os.urandom(LENGTH)
    with open(before, "wb") as file:
        file.write(data)
    with contextlib.ExitStack() as stack:
        target = Machine(stack, "h2", folder, "-incoming", where)
        source = Machine(stack, "h1", folder, "-device", f"loader,file={before},addr={PLACE},force-raw=on")
        move(source, target, where)
        target.ask("pmemsave", val=PLACE, size=LENGTH, filename=after)
    with open(after, "rb") as file:
        if file.read() != data:
            sys.exit("the memory is not what it was")


main(*sys.argv[1:])

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs in the second of two guests, and executes the commands of the first.

  python3 agent.py ADDRESS WORD...    runs a program there; passes its output and status on; kills it when this ends"""

import json
import os
import select
import socket
import subprocess
import sys

PORT = 19000
STATUS = "status of what was run: "


def open_request(address, request):
    connection = socket.create_connection((address, PORT), timeout=10)
    connection.settimeout(None)
    connection.sendall(json.dumps(request).encode() + b"\n")
    return connection


def call(address, **request):
    """A short thing: its result."""
    with open_request(address, request) as connection:
        return json.loads(connection.makefile().readline())


def run_there(address, words):
    status = 1
    with open_request(address, {"run": words}) as connection:
        for line in connection.makefile(errors="replace"):
            if line.startswith(STATUS):
                status = int(line[len(STATUS):])
            else:
                print(line, end="", flush=True)
    return status


def serve_program(connection, words):
    """Runs the program until it ends, or the other end of the connection is gone."""
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while True:
            ready, _, _ = select.select([process.stdout, connection], [], [])
            if connection in ready:
                process.kill()
                return
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            connection.sendall(data)
        connection.sendall(f"\n{STATUS}{process.wait()}\n".encode())


def serve_one(connection, functions):
    request = json.loads(connection.makefile().readline())
    if "run" in request:
        serve_program(connection, request["run"])
    else:
        result = functions[request["call"]](*request["arguments"])
        connection.sendall(json.dumps(result).encode() + b"\n")


def serve(functions):
    """A process for each request, until one says that it is over."""
    with socket.create_server(("", PORT)) as server:
        while True:
            connection, _ = server.accept()
            if os.fork() == 0:
                serve_one(connection, functions)
                os._exit(0)
            connection.close()
            reap()


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    sys.exit(run_there(sys.argv[1], sys.argv[2:]))

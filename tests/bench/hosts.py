# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Two hosts for each of the competitors, in one guest.

sroce and TCP share two namespaces. rxe works in the initial namespace only, so both ends of its veth pair are there, and
routing rules send the packets between them over the pair.

    namespace h1            namespace h2            initial namespace
    sroce1                  sroce2                  rxe1                      rxe2
    eth0 10.8.0.1 - veth -  eth0 10.8.0.2           r1 10.9.0.1  --- veth --- r2 10.9.0.2

Or in two guests (Pair): both competitors in the initial namespaces, one after the other.
"""

import glob
import json
import os
import subprocess
import sys
import time

import agent

STACKS = ("sroce", "rxe")
PATIENCE = 60


class Trouble(Exception):
    """Something that keeps a measurement from being made."""


def run(command):
    """A command of a few words that has to work."""
    done = subprocess.run(command.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Trouble(f"{command}: {done.stdout.strip()}")
    return done.stdout


def attempt(command):
    subprocess.run(command.split(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def read(path):
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()


def wait_for(what, condition, seconds=PATIENCE):
    """The condition's result when it was true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value is not None and value is not False:
            return value
        time.sleep(0.02)
    raise Trouble(f"{what}: not within {seconds} s")


def find_gid(device, address):
    """Index of the GID that is this IPv4 address."""
    wanted = "0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x" % tuple(int(part) for part in address.split("."))
    for path in glob.glob(f"/sys/class/infiniband/{device}/ports/1/gids/*"):
        try:
            if read(path).strip() == wanted:
                return int(os.path.basename(path))
        except OSError:
            pass  # an index that is not in use
    return None


# On a single processor, a polling process would keep the processor for its whole time slice, although the other end has work.
AS_IDLE = ["chrt", "--idle", "0"] if os.cpu_count() == 1 else []
# User Mode Linux sometimes has both ends on one of its processors for a while: the 99 % of latency was then a tick or more.
CLIENT, SERVER = ((["taskset", "-c", str(number)] for number in (0, 1))
                  if os.environ.get("SROCE_KIND") == "uml" and os.cpu_count() > 1 else ([], []))


class End:
    """One end of a connection: where its programs run, and what it calls its device."""
    as_idle = AS_IDLE

    def __init__(self, device, address, namespace=None):
        self.device, self.address, self.namespace = device, address, namespace
        self.gid = None

    def find_gid(self):
        self.gid = wait_for(f"GID of {self.device}", lambda: find_gid(self.device, self.address))

    def listens(self, process, port):
        return listens(process.pid, port)

    def start(self, words, **keywords):
        """A program there; its process is the one that is returned."""
        prefix = ["ip", "netns", "exec", self.namespace] if self.namespace else []
        return subprocess.Popen(prefix + self.as_idle + words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace", **keywords)


def listens(process, port):
    """Whether somebody in that process's namespace listens there."""
    suffix = f":{port:04X}"
    try:
        lines = read(f"/proc/{process}/net/tcp").splitlines() + read(f"/proc/{process}/net/tcp6").splitlines()
    except OSError:
        return False
    return any(line.split()[1].endswith(suffix) and line.split()[3] == "0A" for line in lines if ":" in line)


class GuestEnd(End):
    """An end in this guest; the other end has its own processors."""
    as_idle = []


class RemoteEnd(GuestEnd):
    """An end in the other guest."""

    def find_gid(self):
        self.gid = wait_for(f"GID of {self.device}", lambda: self.call("find_gid", self.device, self.address))

    def listens(self, process, port):
        return self.call("listens", "self", port)

    def call(self, name, *arguments):
        return agent.call(self.address, call=name, arguments=arguments)

    def start(self, words, **keywords):
        return super().start([sys.executable, agent.__file__, self.address, *words], **keywords)


def named(name, namespace):
    """A netdev to be made, as ip names it."""
    return f"name {name}" + (f" netns {namespace}" if namespace else "")


class Veth:
    """Each competitor has a pair of veth devices."""
    name = "veth"

    def __init__(self, mtu):
        self.mtu = mtu
        self.ends = {
            "sroce": (End("sroce1", "10.8.0.1", "h1"), End("sroce2", "10.8.0.2", "h2")),
            "rxe": (End("rxe1", "10.9.0.1"), End("rxe2", "10.9.0.2")),
            "tcp": (End(None, "10.8.0.1", "h1"), End(None, "10.8.0.2", "h2")),
        }

    def choose(self, stack):
        """All competitors are there at the same time; returns whether that is new, so that one has to warm up."""
        return False

    def up(self):
        self._namespaces()
        self._one_namespace()
        run("modprobe rdma_rxe")
        run("rdma link add rxe1 type rxe netdev r1")
        run("rdma link add rxe2 type rxe netdev r2")
        for number in (1, 2):
            run(f"ip netns exec h{number} rdma link add sroce{number} type sroce netdev eth0")
        for stack in STACKS:
            for end in self.ends[stack]:
                end.find_gid()

    def _namespaces(self):
        for number in (1, 2):
            run(f"ip netns add h{number}")
        self._join(("eth0", "h1"), ("eth0", "h2"))
        for number in (1, 2):
            inside = f"ip netns exec h{number} ip"
            run(f"{inside} link set lo up")
            run(f"{inside} link set eth0 mtu {self.mtu}")
            run(f"{inside} addr add 10.8.0.{number}/24 dev eth0")
            run(f"{inside} link set eth0 up")

    def _join(self, one, two):
        """A cable between two netdevs, each (name, namespace)."""
        run(f"ip link add {named(*one)} type veth peer {named(*two)}")

    def _one_namespace(self):
        self._join(("r1", None), ("r2", None))
        write("/proc/sys/net/ipv4/conf/all/rp_filter", 0)
        for name in ("r1", "r2"):
            for key, value in (("rp_filter", 0), ("accept_local", 1), ("arp_ignore", 1)):
                write(f"/proc/sys/net/ipv4/conf/{name}/{key}", value)
            run(f"ip link set {name} mtu {self.mtu} up")
        for here, there in ((1, 2), (2, 1)):
            run(f"ip addr add 10.9.0.{here}/32 dev r{here}")
            run(f"ip route add 10.9.0.{there} dev r{here} table 10{here}")
            run(f"ip rule add pref 1{here} iif lo from 10.9.0.{here} to 10.9.0.{there} lookup 10{here}")
        # The rule for local addresses comes behind these, or nothing would leave the host.
        run("ip rule add pref 100 lookup local")
        attempt("ip rule del pref 0")

    def down(self):
        for path in glob.glob("/sys/class/infiniband/*"):
            attempt(f"rdma link delete {os.path.basename(path)}")
        for here, there in ((1, 2), (2, 1)):
            attempt(f"ip rule del pref 1{here}")
            attempt(f"ip route flush table 10{here}")
        attempt("ip link delete r1")
        for number in (1, 2):
            attempt(f"ip netns delete h{number}")
        wait_for("the end of the devices", lambda: not glob.glob("/sys/class/infiniband/*"))


class Same(Veth):
    """Both ends on one device; TCP over loopback."""
    name = "same"

    def __init__(self, mtu):
        super().__init__(mtu)
        self.ends = {stack: (ends[0], ends[0]) for stack, ends in self.ends.items()}
        self.ends["tcp"] = (End(None, "127.0.0.1", "h1"),) * 2

    def up(self):
        super().up()
        for stack in STACKS:
            self.ends[stack][0].find_gid()


class Nic(Veth):
    """veth without fragment lists: payload is copied, as for a NIC that segments UDP, and bursts arrive whole."""
    name = "nic"

    def up(self):
        super().up()
        for number in (1, 2):
            run(f"ip netns exec h{number} ethtool -K eth0 tx-scatter-gather-fraglist off")
            run(f"ethtool -K r{number} tx-scatter-gather-fraglist off")


def use_stack(stack, number):
    """Gives this guest's one netdev to a competitor, in the initial namespace: the other has to go, module and all."""
    module = {"sroce": "sroce", "rxe": "rdma_rxe"}
    for path in glob.glob("/sys/class/infiniband/*"):
        attempt(f"rdma link delete {os.path.basename(path)}")
    for other in STACKS:
        if other != stack:
            attempt(f"modprobe -r {module[other]}")
    run(f"modprobe {module[stack]}")
    run(f"rdma link add {stack}{number} type {stack} netdev eth0")
    return True


def set_netdev(mtu, uso):
    """Of this guest.  Some kernels have UDP segmentation off at first; others cannot."""
    run(f"ip link set eth0 mtu {mtu}")
    attempt(f"ethtool -K eth0 tx-udp-segmentation {'on' if uso else 'off'}")
    return True


def set_tso(value):
    run(f"ethtool -K eth0 tso {value}")
    return True


class Pair:
    """Two guests, each with one virtio-net device: the competitors take turns.  "single" is TCP whose segments leave one by one."""
    name = "pair"
    FUNCTIONS = {"find_gid": find_gid, "listens": listens, "use_stack": use_stack, "set_netdev": set_netdev, "set_tso": set_tso}

    def __init__(self, mtu):
        self.mtu, self.uso, self.chosen = mtu, False, None
        self.ends = {stack: (GuestEnd(f"{stack}1", "10.99.0.1"), RemoteEnd(f"{stack}2", "10.99.0.2"))
                     for stack in STACKS + ("tcp", "single")}

    def up(self):
        wait_for("the other guest", self._answers, 60)
        self._both("set_netdev", self.mtu, self.uso)

    def _both(self, name, *arguments):
        self.FUNCTIONS[name](*arguments)
        self.ends["tcp"][1].call(name, *arguments)

    def _answers(self):
        try:
            return bool(self.ends["tcp"][1].call("listens", "self", agent.PORT))
        except OSError:
            return None

    def choose(self, stack):
        if stack in ("tcp", "single"):
            self._both("set_tso", "on" if stack == "tcp" else "off")
            return False
        if stack == self.chosen:
            return False
        here, there = self.ends[stack]
        use_stack(stack, 1)
        there.call("use_stack", stack, 2)
        for end in (here, there):
            end.find_gid()
        self.chosen = stack
        return True

    def down(self):
        pass


TOPOLOGIES = {"veth": Veth, "same": Same, "nic": Nic, "pair": Pair}


def wait_for_server(end, server, port):
    wait_for("the server", lambda: end.listens(server, port) or server.poll() is not None)
    if server.poll() is not None:
        raise Trouble("the server: " + server.stdout.read().strip()[-300:])


class Ports:
    """A new port each time, for an old one may still be in use."""
    last = 20000

    @classmethod
    def next(cls):
        cls.last += 1
        return cls.last


def excerpt(output):
    """The first and last lines: errors come first, because only the standard output of a program is buffered."""
    text = output.strip()
    return text if len(text) <= 600 else f"{text[:300]} ... {text[-300:]}"


def output_of(process, seconds, what):
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.communicate()
        raise Trouble(f"{what}: no end after {seconds} s") from error
    if process.returncode:
        raise Trouble(f"{what}: status {process.returncode}: {excerpt(output)}")
    return output


def end_of(server, may_lose):
    """A server of datagrams waits for the lost ones: it need not end."""
    try:
        server.communicate(timeout=1 if may_lose else 20)
    except subprocess.TimeoutExpired as error:
        if not may_lose:
            raise Trouble("the server does not end") from error


def perftest(ends, program, options, seconds=45, before=lambda server: None, after=lambda: None):
    """Runs a program of perftest between two ends; returns the client's output."""
    client_end, server_end = ends
    port = Ports.next()

    def words(end):
        return [program, "-F", "-d", end.device, "-x", str(end.gid), "-p", str(port), *options.split()]

    server = server_end.start(SERVER + words(server_end))
    try:
        wait_for_server(server_end, server, port)
        before(server)
        client = client_end.start(CLIENT + words(client_end) + [server_end.address])
        output = output_of(client, seconds, program)
        after()
        end_of(server, "-c UD" in options)
    finally:
        server.kill()
        server.wait()
    return output


COLUMNS = {  # of perftest's tables, by their number
    5: ("bytes", "iterations", "peak", "average", "rate"),
    9: ("bytes", "iterations", "min", "max", "typical", "average", "deviation", "p99", "p999"),
}


def figures(output):
    """{column: value} of the last table in perftest's output."""
    lines = output.splitlines()
    heads = [i for i, line in enumerate(lines) if line.lstrip().startswith("#bytes")]
    values = lines[heads[-1] + 1].split() if heads else []
    if len(values) not in COLUMNS:
        raise Trouble("no figures: " + output.strip()[-200:])
    return dict(zip(COLUMNS[len(values)], map(float, values)))


def iperf(ends, options, seconds=60, before=lambda: None):
    """Runs iperf3 between two ends; returns the part "end" of its report."""
    client_end, server_end = ends
    port = Ports.next()
    server = server_end.start(["iperf3", "-s", "-1", "-p", str(port)])
    try:
        wait_for_server(server_end, server, port)
        before()
        words = f"iperf3 -c {server_end.address} -p {port} -J {options}"
        output = output_of(client_end.start(words.split()), seconds, "iperf3")
    finally:
        server.kill()
        server.wait()
    return json.loads(output)["end"]

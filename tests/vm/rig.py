"""The guest rig: finds kernels and QEMU, boots guests, and relays their output. Used by guest and pair."""

import argparse
import contextlib
import ctypes
import fcntl
import hashlib
import os
import platform
import re
import selectors
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time
import tty

import machines
import tsc

VM = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(VM))
BUILD = os.path.join(TOP, "build")
CACHE = os.environ.get("SROCE_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sroce")
DISTRO_KERNEL = re.compile(r"(bookworm|trixie|sid)(-[0-9.]+)?")  # a release's own kernel, or another series that it has
TIMED_OUT = 124
GUEST_DIED = 125
DRAIN = 10  # seconds without output that a guest still owes


class RigError(Exception):
    """Something is missing or broken on the host."""


def script(name, *arguments):
    """Runs one of the shell scripts here, and returns its output."""
    done = subprocess.run([os.path.join(VM, name), *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise RigError(f"{name} failed")
    return done.stdout.strip()


def find_program(name):
    """Path of a program, also in the folders that only root has in PATH."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not found:
        raise RigError(f"{name} is missing on this machine: run tests/setup --run")
    return found


def build(*targets):
    """Makes targets of the Makefile; the output goes to standard error."""
    if subprocess.run(["make", "-s", "-C", TOP, *targets], stdout=sys.stderr, check=False).returncode:
        raise RigError("the build failed")


def own_folder(folder):
    """Makes a folder for this user only; False if it is another user's, others may write there, or it cannot be made."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)  # not what a link of somebody else's leads to
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def work_folder():
    """The folder for the files of a run: build/vm, or another one if build/vm cannot belong to this user."""
    folders = [os.path.join(BUILD, "vm")] if os.access(TOP, os.W_OK) else []
    folders += [os.path.join(tempfile.gettempdir(), f"sroce-{os.getuid()}"), os.path.join(CACHE, "work")]
    folder = next(filter(own_folder, folders), None)
    if not folder:
        raise RigError("no folder to work in: none of these is this user's alone: " + " ".join(folders))
    return folder


def default_share():
    """The default of /out: build/vm-out, if this user may write there."""
    folder = os.path.join(BUILD, "vm-out")
    with contextlib.suppress(OSError):
        os.makedirs(folder, exist_ok=True)
    return folder if os.access(folder, os.W_OK) else os.path.join(work_folder(), "out")


class Kernel:
    """A kernel folder of the cache: release, modules/, and an image."""
    MAKERS = {"stock": ["fetch-kernel"], "debug": ["build-debug-kernel"], "kcsan": ["build-debug-kernel", "kcsan"],
              "uml": ["build-uml-kernel"], "uml-fast": ["build-uml-kernel", "fast"],
              "uml-smp": ["build-uml-smp-kernel"], "uml-smp-fast": ["build-uml-smp-kernel", "fast"], "arm64": ["fetch-arm64"]}
    IMAGES = ("Image", "vmlinux", "build/linux", "build/vmlinux")  # of arm64; User Mode Linux has both of the last

    def __init__(self, which):
        maker = self.maker(which)
        self.folder = script(*maker) if maker else os.path.realpath(which)
        self.flavour = which if maker else os.path.basename(self.folder)
        self.uml = self.flavour.startswith("uml")
        self.smp = self.flavour.startswith("uml-smp")
        self.fast = self.flavour.startswith(("uml-fast", "uml-smp-fast"))
        self.debug = self.flavour.startswith(("debug", "kcsan")) or (self.uml and not self.fast)
        if not os.path.isfile(os.path.join(self.folder, "release")):
            raise RigError(f"{which}: neither a kernel's name nor a folder with one")
        with open(os.path.join(self.folder, "release"), encoding="ascii") as file:
            self.release = file.read().strip()
        self.machine = machines.Arm if self.release.endswith("-arm64") else machines.Pc
        # KASAN initializes all memory at boot, kmemleak scans a part of it.
        self.memory = "2G" if self.debug else "4G"
        images = [os.path.join(self.folder, name) for name in self.IMAGES]
        self.image = next((image for image in images if os.path.exists(image)), None)
        if not self.image:
            raise RigError(f"no kernel in {self.folder}")

    @classmethod
    def maker(cls, which):
        """The script that gets a kernel of that name; None if the name is a folder."""
        if re.fullmatch(r"[0-9]+\.[0-9]+", which):
            return ["fetch-kernel", which]
        if DISTRO_KERNEL.fullmatch(which):
            return ["fetch-distro", *which.split("-", 1)]
        return cls.MAKERS.get(which)

    def module(self):
        """The project's module as built for this kernel."""
        return os.path.join(BUILD, "" if self.flavour == "stock" else self.flavour, "sroce.ko")

    def built_for(self):
        """The kernel release that the module was built for."""
        done = subprocess.run([find_program("modinfo"), "-F", "vermagic", self.module()],
                              stdout=subprocess.PIPE, text=True, check=False)
        return done.stdout.split(" ", 1)[0]

    def modules(self, bare):
        """The folder for /lib/modules/RELEASE: that of the kernel, or a copy with the project's module."""
        own = os.path.join(self.folder, "modules/lib/modules", self.release)
        if bare or not os.path.exists(self.module()):
            return own
        root = os.path.join(work_folder(), self.release)
        folder = os.path.join(root, "lib/modules", self.release)
        os.makedirs(root, exist_ok=True)
        with open(os.path.join(root, ".lock"), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # guests may start at the same time
            if not self._current(own, folder):
                self._install(own, root, folder)
        return folder

    def _current(self, own, folder):
        installed = os.path.join(folder, "updates/sroce.ko")
        index = os.path.join(folder, "modules.dep.bin")
        try:
            return (os.readlink(os.path.join(folder, "kernel")) == os.path.join(own, "kernel")
                    and os.path.getmtime(installed) == os.path.getmtime(self.module())
                    and os.path.getmtime(index) >= os.path.getmtime(installed))
        except FileNotFoundError:
            return False

    def _install(self, own, root, folder):
        os.makedirs(os.path.join(folder, "updates"), exist_ok=True)
        link = os.path.join(folder, "kernel")
        if os.path.islink(link):
            os.unlink(link)
        os.symlink(os.path.join(own, "kernel"), link)
        for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
            shutil.copy(os.path.join(own, name), folder)
        shutil.copy2(self.module(), os.path.join(folder, "updates/sroce.ko"))
        subprocess.run([find_program("depmod"), "-b", root, self.release], check=True)


class Qemu:
    """The QEMU to use: version 10 in the cache if it is available, otherwise the system's."""

    def __init__(self, machine=machines.Pc):
        self.machine = machine
        self.prefix = script("fetch-qemu", machine.KIND)
        self.environment = dict(os.environ)
        if self.prefix:
            libraries = os.path.join(self.prefix, "usr/lib/x86_64-linux-gnu")
            self.program = [os.path.join(self.prefix, "usr/bin", machine.PROGRAM)]
            self.environment["LD_LIBRARY_PATH"] = libraries
            self.environment["QEMU_MODULE_DIR"] = os.path.join(libraries, "qemu")
            for data in machine.DATA:
                self.program += ["-L", os.path.join(self.prefix, "usr/share", data)]
        else:
            self.program = [find_program(machine.PROGRAM)]

    def key(self):
        """The result of the KVM test is valid for this processor and QEMU."""
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            model = [line for line in file if line.startswith("model name")][:1]
        return hashlib.sha256(repr((platform.release(), model, self.prefix)).encode()).hexdigest()[:10]


def accelerator(qemu):
    """kvm or tcg: /dev/kvm may open and still not run a kernel, so one timed boot decides, once."""
    wanted = os.environ.get("SROCE_ACCEL")
    if wanted and wanted not in ("kvm", "tcg"):
        raise RigError(f"SROCE_ACCEL is {wanted}, neither kvm nor tcg")
    if wanted:
        return wanted
    if qemu.machine.HOST != platform.machine() or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    memory = os.path.join(CACHE, "accelerator-" + qemu.key())
    if not os.path.exists(memory):
        trial = Trial(Kernel("stock"), qemu, "kvm", Options(command=["true"], bare=True))
        status = trial.run(20, sink=lambda data: None)
        if status:
            print("KVM does not work here: processors are emulated", file=sys.stderr)
        with open(memory, "w", encoding="ascii") as file:
            file.write("tcg" if status else "kvm")
    with open(memory, encoding="ascii") as file:
        return file.read()


class Options(argparse.Namespace):
    """The options of a guest; the command line has the same defaults."""
    command = None
    memory = None
    cpus = 2
    icount = False
    share = None
    dmesg = None
    bare = False
    shell = False
    systemd = False
    name = "guest"
    environment = {}
    networks = []
    nic = None
    cards = {}
    taps = False
    perfmap = False
    distro = None
    append = []  # argparse copies it


def distro_root(options):
    """The guest's root, if it is that of another release; None for the host's."""
    if not options.distro or os.path.isdir(options.distro):
        return options.distro
    return os.path.join(os.path.dirname(script(*Kernel.maker(options.distro))), "root")


def quoted(text):
    return "'" + str(text).replace("'", "'\\''") + "'"


def in_option(path):
    """Escapes commas, which would end the value of an option of QEMU."""
    return path.replace(",", ",,")


class Guest:
    """One boot: a job folder, a QEMU process and two channels (output, status)."""
    KIND = "qemu"

    def __init__(self, kernel, qemu, accel, options):
        self.kernel, self.qemu, self.accel, self.options = kernel, qemu, accel, options
        options.share = os.path.realpath(options.share or default_share())
        os.makedirs(options.share, exist_ok=True)
        self.root = distro_root(options)
        self.build = os.path.join(BUILD, "" if self.root is None else os.path.basename(options.distro))
        if self.root and not options.bare and not os.path.exists(os.path.join(self.build, "sroce.driver")):
            raise RigError(f"no provider for {options.distro}: run tests/vm/build-in {options.distro} provider")
        self.job = tempfile.mkdtemp(prefix="job.", dir=work_folder())
        self.console = options.dmesg or os.path.join(self.job, "console")
        self.output, self.output_far = socket.socketpair()
        self.status, self.status_far = socket.socketpair()
        self.process = None
        self.answer = b""
        self.received = 0  # bytes of output
        self._write_job()

    def _write_job(self):
        environment = {
            "HOSTNAME_IN_GUEST": self.options.name,
            "SROCE_TOP": TOP,
            "SROCE_BUILD": self.build,
            "SROCE_PROGRAMS": os.path.join(BUILD, self.kernel.machine.BUILD),
            "SROCE_KERNEL": self.kernel.flavour,
            "SROCE_UNPACKED": os.path.join(CACHE, "programs/root") if self.root is None else "",
            "SROCE_SMB": os.path.join(CACHE, "smb", self.kernel.release) if self.root is None else "",
            "SROCE_DEBUG_KERNEL": int(self.kernel.debug),
            "SROCE_KIND": self.KIND,
            "SROCE_ICOUNT": int(self.options.icount),
            "SHELL_IN_GUEST": int(self.options.shell),
            "SYSTEMD_IN_GUEST": int(self.options.systemd),
            "HOME": "/root", "LANG": "C.UTF-8", "TERM": os.environ.get("TERM", "dumb"),
            **self.options.environment,
        }
        if self.options.shell:
            size = shutil.get_terminal_size()
            environment.update(COLUMNS_ON_HOST=size.columns, ROWS=size.lines)
        with open(os.path.join(self.job, "environment"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(f"{name}={quoted(value)}\n" for name, value in environment.items())
        with open(os.path.join(self.job, "command"), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"cd {quoted(os.getcwd())}\n")
            if not self.options.bare:
                file.write(f"{quoted(os.path.join(VM, 'prepare'))} || exit\n")
            file.write("exec " + " ".join(quoted(word) for word in self.options.command) + "\n")

    def _modules(self):
        """The folder for /lib/modules/RELEASE; empty if the root has the modules of the kernel already."""
        if self.root and self.options.bare and os.path.isdir(os.path.join(self.root, "lib/modules", self.kernel.release, "kernel")):
            return ""
        return self.kernel.modules(self.options.bare)

    def _cmdline(self, kind):
        """The settings that the guest's first processes read."""
        return (f"{os.environ.get('GUEST_CMDLINE', '')} {' '.join(self.options.append)} quiet panic=-1 rig.kind={kind} rig.modules={self._modules()} "
                f"rig.init={VM}/init rig.job={self.job} rig.out={self.options.share}"
                + (f" rig.host={TOP}:{CACHE}:{os.getcwd()}{self._elsewhere()}" if self.root else ""))

    def _elsewhere(self):
        """The job's folder, if it is outside of the project's folders."""
        folder = os.path.dirname(self.job)
        return "" if folder.startswith((TOP + "/", CACHE + "/")) else ":" + folder

    def _processor(self):
        emulated = self.kernel.machine.EMULATED
        if self.options.icount:  # instruction counts that repeat need one processor and virtual time
            return ["-accel", "tcg,thread=single", "-cpu", emulated, "-icount", "shift=0,sleep=off", "-smp", "1"]
        cpus = self.options.cpus
        # Each processor in its own socket: a kernel without ACPI has only the MP table, which lists sockets.
        return {"kvm": ["-accel", "kvm", "-cpu", "host"],
                "tcg": ["-accel", "tcg,thread=multi", "-cpu", emulated],
                }[self.accel] + ["-smp", f"{cpus},sockets={cpus},cores=1,threads=1"]

    def _clock(self):
        """Tells the guest the rate of the counter: on a busy machine its own measurement would be many times too low."""
        khz = tsc.khz() if self.kernel.machine is machines.Pc and self.accel == "tcg" and not self.options.icount else None
        return f"tsc_early_khz={khz} " if khz else ""

    def _network(self):
        return self._first_networks() + [word for i, (model, tap) in enumerate(self.options.cards.items())
                                         for word in ("-netdev", f"{self._backend(tap)},id=card{i}", *self._further_card(i, model))]

    def _further_card(self, i, model):
        """A card of that model. One for USB plugs into a controller."""
        mac = f"mac=52:54:00:99:{16 + i:02x}:0{self.options.environment['ROLE']}"
        if model.startswith("usb-"):
            return ["-device", f"qemu-xhci,id=usb{i}", "-device", f"{model},bus=usb{i}.0,netdev=card{i},{mac}"]
        return ["-device", f"{model},netdev=card{i},{mac},romfile="]

    def _first_networks(self):
        if not self.options.networks and self.options.nic:
            # The other port of the hub discards everything. Without it, no packet would leave the card.
            return ["-netdev", "hubport,id=net0,hubid=0", "-netdev", "hubport,id=nobody,hubid=0", *self._card(0)]
        return [word for i, end in enumerate(self.options.networks) for word in (
            "-netdev", f"{self._backend(end)},id=net{i}", *self._card(i, 1 if isinstance(end, socket.socket) else len(end)))]

    @staticmethod
    def _backend(end):
        """A socket, or the files of a tap's queues."""
        if isinstance(end, socket.socket):
            return f"socket,fd={end.fileno()}"
        return f"tap,fd={end[0].fileno()}" if len(end) == 1 else "tap,fds=" + ":".join(str(file.fileno()) for file in end)

    def _card(self, i, queues=1):
        # A vector for each direction of each queue, for configuration and for control
        more = f",mq=on,vectors={2 * queues + 2}" if queues > 1 else ""
        return ["-device", f"{self.options.nic or 'virtio-net-pci'},netdev=net{i},"
                           f"mac=52:54:00:99:00:0{self.options.environment.get('ROLE', 1) + i},romfile={more}"]

    def _root(self):
        """The guest's root. If it is not the host's, the host's root, too, from which the guest takes some folders."""
        roots = {"root": self.root, "host": "/"} if self.root else {"root": "/"}
        return [word for tag, path in roots.items() for word in (
            "-fsdev", f"local,id={tag},path={in_option(path)},security_model=none,readonly=on,multidevs=remap",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}")]

    def _command(self):
        cmdline = (self.kernel.machine.CMDLINE + " mitigations=off nokaslr random.trust_cpu=on net.ifnames=0 "
                   "log_buf_len=16M secretmem.enable=1 " + self._clock() + self._cmdline("qemu"))
        return [
            *self.qemu.program, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-machine", self.kernel.machine.MACHINE,
            *self._processor(), "-m", self.options.memory or self.kernel.memory,
            "-kernel", self.kernel.image, "-initrd", script("make-initramfs", self.kernel.folder), "-append", cmdline,
            *self._root(),
            "-fsdev", f"local,id=out,path={in_option(self.options.share)},security_model=none,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=out,mount_tag=out",
            "-chardev", f"file,id=console,path={in_option(self.console)}", "-serial", "chardev:console",
            "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=output,fd={self.output_far.fileno()}",
            "-device", ("virtconsole" if self.options.shell else "virtserialport") + ",chardev=output,name=output",
            "-chardev", f"socket,id=status,fd={self.status_far.fileno()}",
            "-device", "virtserialport,chardev=status,name=status",
            *self._network(),
            *self._perfmap(),
        ]

    def _perfmap(self):
        """perf on the host finds the guest's code in /tmp/perf-PID.map, and threads by their names."""
        return ["-perfmap", "-name", f"{self.options.name},debug-threads=on"] if self.options.perfmap else []

    def _environment(self):
        return self.qemu.environment

    def _channels(self):
        ends = [*self.options.networks, *self.options.cards.values()]
        files = [file for end in ends for file in ([end] if isinstance(end, socket.socket) else end)]
        return [self.output_far, self.status_far] + files

    def start(self):
        """Starts QEMU in its own session, so that Ctrl-C reaches only this process."""
        passed = self._channels()
        with open(os.path.join(self.job, "qemu.log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                self._command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment(),
                pass_fds=[end.fileno() for end in passed], start_new_session=True)
        for end in passed:
            end.close()

    def _read_status(self):
        data = self.status.recv(64)
        self.answer += data
        return bool(data) and not self.answer.endswith(b"\n")

    def _read_output(self, sink):
        data = self.output.recv(65536)
        self.received += len(data)
        sink(data)
        return bool(data)

    def _drain(self, sink):
        """Waits for output that the guest wrote before its status; all guests except UML tell how much it is."""
        sent = int(b"".join(self.answer.split()[2:]) or -1)
        self.output.settimeout(0.05 if sent < 0 else DRAIN)
        try:
            while self.received != sent and self._read_output(sink):
                pass
        except (TimeoutError, ConnectionError):
            pass

    def relay(self, timeout, sink, keyboard=None):
        """Relays output until there is a status, QEMU has ended, or time is up; False if time is up."""
        end = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            for source in (self.output, self.status, *([keyboard] if keyboard else [])):
                selector.register(source, selectors.EVENT_READ)
            running = True
            while running:
                left = end - time.monotonic()
                if left <= 0:
                    return False
                ready = selector.select(min(left, 3600))  # it takes no more than 24 days
                for key, _ in ready:
                    if key.fileobj is self.status:
                        running = self._read_status()
                    elif key.fileobj is self.output:
                        running = self._read_output(sink) and running
                    else:
                        self.output.sendall(os.read(keyboard.fileno(), 1024))
        self._drain(sink)
        return True

    def kill(self):
        """Ends the guest and its helper processes; User Mode Linux has some."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def stop(self):
        self.kill()
        if self.process:
            self.process.wait()
        self.output.close()
        self.status.close()

    def verdict(self, in_time):
        """The job's exit status, or the reason why there is none."""
        words = self.answer.split()
        if len(words) >= 2:
            return int(words[1])
        if not in_time:
            return TIMED_OUT
        self._explain()
        return GUEST_DIED

    def _explain(self):
        print(f"{self.options.name}: the guest died; its last words:", file=sys.stderr)
        for path in filter(os.path.exists, (os.path.join(self.job, "qemu.log"), self.console)):
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.readlines()
            fatal = [at for at, line in enumerate(lines) if re.search("Kernel panic|BUG:|Oops", line)]
            sys.stderr.writelines(lines[max(fatal[0] - 5, 0):fatal[0] + 45] if fatal else lines[-25:])

    def run(self, timeout, sink, keyboard=None, linger=lambda: None):
        """Boots, relays output, and always ends the guest; returns the exit status."""
        try:
            self.start()
            in_time = self.relay(timeout, sink, keyboard)
            linger()
            self.stop()
            return self.verdict(in_time)
        finally:
            self.stop()
            shutil.rmtree(self.job, ignore_errors=True)


class Trial(Guest):
    """A guest that may crash: the test shows if KVM can run it."""

    def _explain(self):
        pass


class UmlGuest(Guest):
    """User Mode Linux: the kernel is a process, and its first consoles are the two channels."""
    KIND = "uml"

    def __init__(self, kernel, options):
        if options.shell or options.networks or options.nic or options.taps or options.icount or options.distro or options.systemd:
            raise RigError("the uml kernel has no shell, network card, instruction count, other root or systemd here")
        options.environment = {**options.environment, **self._clock()}
        self.cpus = options.cpus if kernel.smp else 1
        super().__init__(kernel, None, None, options)
        self.log = open(self.console, "wb")  # pylint: disable=consider-using-with
        self._write_cpuinfo()

    @staticmethod
    def _clock():
        """Reading the clock is an expensive system call, and how long it takes varies: perftest then cannot measure the rate of the
        processor's counter. Programs read that counter instead."""
        library = os.path.join(BUILD, "uml-clock.so")
        if not os.path.exists(library):
            return {}
        clock = ctypes.CDLL(library)
        clock.tsc_hz.restype = ctypes.c_double
        return {"LD_PRELOAD": library, "TSC_HZ": f"{clock.tsc_hz():.0f}"}

    def _write_cpuinfo(self):
        """perftest needs the processor's MHz: the guest gets the /proc/cpuinfo of the host, with the guest's processors."""
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            first = file.read().split("\n\n")[0] + "\n\n"
        text = "".join(re.sub(r"(?m)^(processor\s*: ).*", rf"\g<1>{number}", first) for number in range(self.cpus))
        hertz = float(self.options.environment.get("TSC_HZ", 0))
        if hertz:
            text = re.sub(r"(?m)^(cpu MHz\s*: ).*", lambda match: f"{match[1]}{hertz / 1e6:.3f}", text)
        with open(os.path.join(self.job, "cpuinfo"), "w", encoding="ascii") as file:
            file.write(text)

    def _processors(self):
        """Wakes across the host's processors would double the cost of everything, so one processor is pinned to one of them."""
        return ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if self.cpus == 1 else []

    def _command(self):
        smp = [f"ncpus={self.cpus}", "seccomp=on"] if self.kernel.smp else []
        return [*self._processors(), "setarch", "-R", self.kernel.image, f"mem={self.options.memory or '2G'}",
                "rootfstype=hostfs", "root=/dev/root", "rootflags=/", "ro", f"init={VM}/first-init",
                "con=null", "ssl=null", f"con0=null,fd:{self.log.fileno()}", f"con1=null,fd:{self.output_far.fileno()}",
                f"con2=null,fd:{self.status_far.fileno()}", *smp,
                *self._cmdline("uml").split()]

    def _channels(self):
        return super()._channels() + [self.log]

    def _environment(self):
        return {**os.environ, "TMPDIR": "/dev/shm"}  # holds the guest's memory


def kernel_of(options):
    """The requested kernel; by default that of the release whose root the guest has."""
    return Kernel(options.kernel or options.distro or "stock")


class Taps:
    """As on hosts of virtual machines: bursts pass the bridge before they are segmented, with a virtio-net header."""
    CLONE_NEWNET = 0x40000000
    TUNSETIFF = 0x400454CA
    IFF_TAP, IFF_MULTI_QUEUE, IFF_NO_PI, IFF_VNET_HDR = 0x2, 0x100, 0x1000, 0x4000
    MTU = 9000

    @classmethod
    def make(cls, queues=1):
        """Two taps, each a list of its queues' files, on a bridge in a namespace that this process and the guests have; none
        without the right to."""
        try:
            if ctypes.CDLL(None, use_errno=True).unshare(cls.CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "unshare")
            cls.ip("link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
            cls.ip("link", "set", "br0", "up")
            return [cls.tap(f"tap{role}", queues) for role in (1, 2)]
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"no taps: {error}", file=sys.stderr)
            return []

    @staticmethod
    def ip(*arguments):
        subprocess.run([find_program("ip"), *arguments], check=True)

    @classmethod
    def tap(cls, name, queues):
        flags = cls.IFF_TAP | cls.IFF_NO_PI | cls.IFF_VNET_HDR | (cls.IFF_MULTI_QUEUE if queues > 1 else 0)
        files = [cls.queue(name, flags) for _ in range(queues)]
        cls.ip("link", "set", name, "mtu", str(cls.MTU), "master", "br0", "up")
        return files

    @classmethod
    def queue(cls, name, flags):
        file = open("/dev/net/tun", "r+b", buffering=0)  # pylint: disable=consider-using-with
        fcntl.ioctl(file, cls.TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
        os.set_blocking(file.fileno(), False)
        return file


def boot(options):
    """A guest for these options."""
    kernel = kernel_of(options)
    if kernel.uml:
        return UmlGuest(kernel, options)
    qemu = Qemu(kernel.machine)
    accel = accelerator(qemu)
    if options.taps:
        options.networks = Taps.make()
    return Guest(kernel, qemu, accel, options)


def to_stdout(data):
    """Ends the run when nobody reads any more, as a shell does it."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python tries once more at its end
        sys.exit(128 + signal.SIGPIPE)


class RawTerminal:
    """Every key goes to the guest while this is held."""

    def __enter__(self):
        self.saved = termios.tcgetattr(sys.stdin)
        tty.setraw(sys.stdin)
        return sys.stdin

    def __exit__(self, *_):
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self.saved)


def some(number):
    """A type of argparse's: above 0, without end at most."""
    def check(text):
        value = number(text)
        if not value > 0:
            raise argparse.ArgumentTypeError("not above 0")
        return value
    check.__name__ = number.__name__  # by which argparse calls it
    return check


def memory_size(text):
    """A type of argparse's, as QEMU and User Mode Linux take it."""
    if not re.fullmatch("[1-9][0-9]*[KMGkmg]?", text):
        raise argparse.ArgumentTypeError("not a size such as 4G")
    return text


def parser(description):
    """The options that guest and pair share."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--kernel", metavar="stock|6.12|trixie|trixie-7|arm64|debug|kcsan|uml|uml-fast|uml-smp|uml-smp-fast|DIR",
                        help="which kernel to boot: stock, or the one of --distro, if not given")
    result.add_argument("--distro", default=Options.distro, metavar="bookworm|trixie|sid|arm64|DIR",
                        help="the root of that release of Debian, or of Debian 12 for arm64, instead of the host's")
    result.add_argument("--mem", dest="memory", type=memory_size, default=Options.memory, help="memory of a guest (4G; debug: 2G)")
    result.add_argument("--append", action="append", default=[], metavar="WORD",
                        help="one more word of the kernel's command line, such as init_on_alloc=0 (may be repeated)")
    result.add_argument("--cpus", type=some(int), default=Options.cpus)
    result.add_argument("--timeout", type=some(float), default=600, metavar="SECS", help="status 124 when it is over")
    result.add_argument("--share", default=Options.share, metavar="DIR", help="the host folder that is /out (build/vm-out)")
    result.add_argument("--dmesg", metavar="FILE", help="keep the kernel's messages there")
    result.add_argument("--bare", action="store_true", help="do not install the project's build in the guest")
    result.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND...")
    return result


def command_of(options):
    return options.command[1:] if options.command[:1] == ["--"] else options.command


def exit_on_signals():
    """SIGTERM, and SIGHUP but with nohup, end a run like Ctrl-C does: through the finally blocks, leaving no QEMU behind."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))


def main(name, function):
    """Runs a program of the rig, its troubles in one line."""
    try:
        sys.exit(function())
    except (RigError, OSError) as error:
        sys.exit(f"{name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)

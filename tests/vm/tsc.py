"""The rate of this machine's time-stamp counter. An emulated guest has the same rate."""
import ctypes
import mmap
import platform
import time

READ = bytes.fromhex("0f31 48c1e220 4809d0 c3")  # rdtsc; shl $32, %rdx; or %rdx, %rax; ret
TRIES = 10
SPAN = 0.05  # seconds


def reader():
    """A function that reads the counter, or None."""
    if platform.machine() != "x86_64":
        return None
    try:
        memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:  # where memory may not be written and run
        return None
    memory.write(READ)
    function = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    return lambda: memory and function()  # the memory lives as long as this


def moment(read):
    """Nanoseconds and the counter at the same time: the shortest of several attempts, because a busy machine may interrupt one."""
    tries = []
    for _ in range(TRIES):
        before = time.monotonic_ns()
        counter = read()
        after = time.monotonic_ns()
        tries.append((after - before, (before + after) // 2, counter))
    return min(tries)[1:]


def khz():
    """Kilohertz, or None if they cannot be measured."""
    read = reader()
    if not read:
        return None
    first = moment(read)
    time.sleep(SPAN)
    last = moment(read)
    return (last[1] - first[1]) * 1000000 // (last[0] - first[0])

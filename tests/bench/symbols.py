# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Functions by address, for the profiles."""

import bisect


class Symbols:
    """Function by address, from sorted lists."""

    def __init__(self, pairs):
        self.pairs = sorted(pairs)
        self.addresses = [address for address, _ in self.pairs]

    def find(self, address):
        i = bisect.bisect_right(self.addresses, address) - 1
        return self.pairs[i][1] if i >= 0 else None


def kernel_symbols(path):
    """(function, module) by address, from a copy of /proc/kallsyms."""
    pairs = []
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[1] in "tTwW":
                pairs.append((int(words[0], 16), (words[2], words[3][1:-1] if len(words) > 3 else "kernel")))
    return Symbols(pairs)


def name_of(place):
    """Of a (function, module) in a table."""
    name, module = place
    return f"{name} [{module}]" if module != "kernel" else name

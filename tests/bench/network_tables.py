# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""On the host: makes tables of the results of networks.py and queues.py in build/bench."""

import json
import os
import re

import networks
import queues
import report

COLUMNS = ("sroce WRITE", "rxe WRITE", "TCP", "sroce READ", "rxe READ")
OURS = ("sroce WRITE", "sroce READ")
# The aims: {row: (of which row or column or of how many MiB/s, percent for WRITE, for READ)}; none: the row "good".
TEN_PACKETS = "200 Mbit/s, a queue of ten packets"
AIMS = {
    "0.1 % lost": ("good", 92, 92),
    "1 % lost": ("good", 85, 80),
    "5 % lost": ("good", 60, 50),
    "20 % lost": ("MiB/s", 10, 5),
    "1 % lost, in bursts": ("good", 80, 75),
    "5 % in the wrong order": ("good", 97, 95),
    "1 ms away, 0.3 % lost": ("1 ms away", None, None),
    "10 ms away, 0.1 % lost": ("10 ms away", 70, 70),
    "100 ms away, after 10 s": ("TCP", 100, 100),
    TEN_PACKETS: ("the rate", 85, 85),
}
# Payload of 200 Mbit/s, MiB/s: 1024 of 1082 bytes
RATE = 200e6 / 8 / (1 << 20) * 1024 / 1082


def load(folder, name):
    """{name of a row: its figures}, if there are any."""
    path = os.path.join(folder, name + ".json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)["rows"]


def percent(part, whole, digits=0):
    return f"{100 * part / whole:.{digits}f} %" if whole else report.NONE


def figure(value):
    """Goodput, or in a word why there is none."""
    return value if isinstance(value, str) else f"{value:.3g}"


# --- tables that are there already ---

def cells(line, rule):
    """Of a line of a table; its columns are where the rule's are."""
    starts = [match.start() for match in re.finditer("=+", rule)]
    return [line[start:end].strip() for start, end in zip(starts, starts[1:] + [None])]


def old_rows(block, header):
    """The rows of the table in a block that has this header."""
    lines = block.splitlines()
    for number, line in enumerate(lines[:-1]):
        if line.startswith("==") and cells(lines[number + 1], line) == header:
            end = lines.index(line, number + 3)
            return [cells(row, line) for row in lines[number + 3:end]]
    return []


def table(header, rows, block, order):
    """New rows take the places of old ones with the same first cells; other old rows, and old cells, stay."""
    keys = len(order[0])
    result = {tuple(row[:keys]): row for row in old_rows(block, header)}
    for row in rows:
        old = result.get(tuple(row[:keys]), row)
        result[tuple(row[:keys])] = [there if cell == report.NONE else cell for cell, there in zip(row, old)]
    return report.table(header, [result[key] for key in order if key in result])


NETWORKS = [(network.name,) for network in networks.NETWORKS]
QUEUES = [(case.queue.name, case.flows) for case in queues.CASES]


def commit_of(row):
    return row.get("commit") or report.NONE


def goodput_table(rows, block):
    return table(["network", *COLUMNS, "commit"],
                 [[name, *(figure(row["values"].get(column, report.NONE)) for column in COLUMNS), commit_of(row)]
                  for name, row in rows.items()], block, NETWORKS)


# --- what a loss costs ---

def base(rows, name, column):
    """MiB/s that a row is compared with; none if it was not measured."""
    of = AIMS.get(name, ("good",))[0]
    if of == "MiB/s":
        return 1
    if of == "the rate":
        return RATE
    value = rows[name]["values"].get("TCP") if of == "TCP" else rows.get(of, {}).get("values", {}).get(column)
    return value if isinstance(value, float) else None


def share(rows, name, column):
    value, whole = rows[name]["values"].get(column), base(rows, name, column)
    return value / whole if isinstance(value, float) and whole else None


def of_text(rows, name, column):
    value = share(rows, name, column)
    if value is None:
        return report.NONE
    return figure(value) if AIMS.get(name, ("good",))[0] == "MiB/s" else percent(value, 1)


def microseconds(rows, name, column):
    """Time that each loss took from what the good network carries."""
    value, good = rows[name]["values"].get(column), rows.get("good", {}).get("values", {}).get(column)
    if "away" in name or name == TEN_PACKETS or not isinstance(value, float) or not isinstance(good, float):
        return report.NONE
    found = rows[name]["details"][column]
    return f"{max(0, 1 - value / good) * found['ran'] / found['lost'] * 1e6:.0f}"


def cost_cells(rows, name, column):
    """Goodput compared, part of the packets that arrived in vain, packets resent and microseconds for each lost one."""
    compared, found = of_text(rows, name, column), rows[name].get("details", {}).get(column)
    if not found:
        return [compared, report.NONE, report.NONE, report.NONE]
    lost, vain = found["lost"], found["in_vain"]
    part = percent(vain, found["sent"], 2)
    if not lost:
        return [compared, part, report.NONE, report.NONE]
    return [compared, part, f"{(lost + vain) / lost:.2f}", microseconds(rows, name, column)]


def aim_text(name, index):
    of, *aims = AIMS.get(name, ("good", None, None))
    return report.NONE if aims[index] is None else f"{aims[index]}" + ("" if of == "MiB/s" else " %")


def cost_table(rows, block):
    wanted = [name for name, row in rows.items()
              if name in AIMS or any(found["lost"] for found in row.get("details", {}).values())]
    lines = []
    for name in wanted:
        line = [name, AIMS.get(name, ("good",))[0]]
        for index, column in enumerate(OURS):
            compared, *rest = cost_cells(rows, name, column)
            line += [compared, aim_text(name, index), *rest]
        lines.append(line)
    half = ["must", "in vain", "resent/lost", "us/loss"]
    return table(["network", "of", "WRITE", *half, "READ", *half], lines, block, NETWORKS)


# --- queues ---

def mark_rows(rows):
    for row in rows.values():
        if len(row["kinds"]) > 1:
            continue
        if "trouble" in row:
            yield [row["queue"], row["flows"], row["trouble"]] + ["-"] * 5 + [commit_of(row)]
            continue
        waiting, bdp = row["backlog"], row["bdp"]
        yield [row["queue"], row["flows"], percent(row["shares"][0], 1, 1), row["drops"], row["marks"], row["np_cnp_sent"],
               percent(waiting["mean"], bdp), percent(waiting["peak"], bdp), commit_of(row)]


def mark_table(rows, block):
    return table(["queue", "flow", "of the link", "dropped", "marked", "CNPs", "mean queue/BDP", "longest queue/BDP", "commit"],
                 list(mark_rows(rows)), block, QUEUES)


def deviation(shares):
    """Of the flow that is farthest from the mean."""
    mean = sum(shares) / len(shares)
    return max(abs(share / mean - 1) for share in shares)


def jain(shares):
    return sum(shares) ** 2 / len(shares) / sum(share * share for share in shares)


def share_rows(rows):
    for row in rows.values():
        if len(row["kinds"]) == 1:
            continue
        if "trouble" in row:
            yield [row["queue"], row["flows"], row["trouble"]] + ["-"] * 6 + [commit_of(row)]
            continue
        shares, total = row["shares"], sum(row["shares"])
        yield [row["queue"], row["flows"], percent(total, 1, 1), " ".join(f"{100 * share / total:.0f}" for share in shares),
               percent(deviation(shares), 1), f"{jain(shares):.3f}", row["drops"], row["marks"],
               percent(row["backlog"]["mean"], row["bdp"]), commit_of(row)]


def share_table(rows, block):
    return table(["queue", "flows", "of the link", "share of each, %", "farthest from mean", "Jain", "dropped", "marked",
                  "mean queue/BDP", "commit"], list(share_rows(rows)), block, QUEUES)


# --- the text ---

def part(title, text):
    """A table without rows would be none."""
    return f"{title}\n\n{text}\n" if len(text.splitlines()) > 4 else ""


def networks_block(rows, old=""):
    return (part("Goodput in MiB/s:", goodput_table(rows, old)) + "\n" +
            part("The same compared with what is wanted, and what the losses cost:", cost_table(rows, old)))


def queues_block(rows, old=""):
    return part("A flow alone:", mark_table(rows, old)) + "\n" + part("Flows together:", share_table(rows, old))


BLOCKS = {"networks": networks_block, "queues": queues_block}


def write(folder, names):
    """Prints the tables of these jobs, and leaves them in NAME.txt."""
    for name in set(BLOCKS).intersection(names):
        rows = load(folder, name)
        if rows:
            text = BLOCKS[name](rows)
            print(f"\n{name}\n\n{text}")
            with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as file:
                file.write(text)


def write_document(folder, path):
    """New rows in the blocks of the document, which are between ".. NAME: begin" and ".. NAME: end"."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, make in BLOCKS.items():
        rows = load(folder, name)
        if rows:
            begin, end = f".. {name}: begin\n", f".. {name}: end\n"
            before, rest = text.split(begin)
            block, after = rest.split(end)
            text = f"{before}{begin}\n{make(rows, block)}\n{end}{after}"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)

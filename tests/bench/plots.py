# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""SVG plots of the measurements, by gnuplot; none if it is not installed.

  python3 tests/bench/plots.py    draws those of the README anew, from the tables of Documentation/performance.rst"""

import os
import re
import shutil
import subprocess

STYLE = """set terminal svg size 720,440 font "sans,12" background "white"
set key left top
set grid
set style data linespoints
"""
COMPETITORS = ("sroce", "rxe", "tcp")

# The README's: of which tables of performance.rst which rows are shown, under which label
INSTRUCTIONS = (("veth, MTU 1500", "WRITE 64 KiB bandwidth", "WRITE 64 KiB,\\nMTU 1500"),
                ("veth, MTU 1500", "READ 64 KiB bandwidth", "READ 64 KiB,\\nMTU 1500"),
                ("veth, MTU 9000", "WRITE 64 KiB bandwidth", "WRITE 64 KiB,\\nMTU 9000"),
                ("one device", "WRITE 64 KiB bandwidth", "WRITE 64 KiB,\\nin one host"))
BARS = """set terminal svg size 720,360 font "sans,12" background "white"
set title "Instructions for each KiB that is moved, both ends together (fewer are better)"
set bmargin 3.5
set xrange [-0.6:3.6]
set style data histograms
set style histogram clustered gap 1.5
set style fill solid 0.9 border -1
set grid ytics
set yrange [0:*]
set key top right
set ytics format "%'.0f"
"""
# And goodput over loss: of the columns of the table of networks, which line is drawn how
LOSS = (("TCP", "TCP", "#c09000", "1 pointtype 9"), ("sroce WRITE", "sroce WRITE", "#1f5fa8", "1 pointtype 7"),
        ("sroce READ", "sroce READ", "#1f5fa8", "2 pointtype 6"), ("rxe WRITE", "rxe WRITE", "#808080", "1 pointtype 5"),
        ("rxe READ", "rxe READ", "#808080", "2 pointtype 4"))
LINES = """set terminal svg size 720,400 font "sans,12" background "white"
set title "What gets through a network that loses packets (more is better)"
set xlabel "packets lost, in each direction"
set ylabel "MiB/s"
set style data linespoints
set grid ytics
set logscale y
set yrange [0.004:400]
set ytics ("0.01" 0.01, "0.1" 0.1, "1" 1, "10" 10, "100" 100)
set key bottom left
set offsets 0.2, 0.2, 0, 0
"""


def sizes(results, job, pattern):
    """{competitor: [(size, median)]} of the cases whose key fits."""
    lines = {}
    for (key, metric), row in results.rows.get(job, {}).items():
        if re.fullmatch(pattern, key) and metric in ("mib_s", "typical", "ns"):
            for who in COMPETITORS:
                if row.median(who) is not None:
                    lines.setdefault(who, []).append((row.size, row.median(who)))
    return lines


def draw(path, title, labels, lines, logscale):
    """lines: {name: [(x, y)]}"""
    script = [STYLE, f'set output "{path}"', f'set title "{title}"', f'set xlabel "{labels[0]}"', f'set ylabel "{labels[1]}"',
              logscale, "set format x '%.0b%B'"]
    parts = []
    for i, (name, points) in enumerate(lines.items()):
        script.append(f"$data{i} << EOD\n" + "\n".join(f"{x} {y}" for x, y in sorted(points)) + "\nEOD")
        parts.append(f'$data{i} title "{name}"')
    script.append("plot " + ", ".join(parts))
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=False)


def merged(results, job, form):
    """The three verbs in one plot."""
    lines = {}
    for verb in ("send", "write", "read"):
        for who, points in sizes(results, job, form % verb).items():
            lines["TCP" if who == "tcp" else f"{verb.upper()} {who}"] = points
    return lines


def write(folder, results):
    if not shutil.which("gnuplot"):
        return
    for job in results.rows:
        if not job.startswith("smp"):
            continue
        for name, form, labels in (("bandwidth", r"bw-%s-\d+", ("message", "MiB/s")),
                                   ("latency", r"lat-%s-\d+", ("message", "microseconds"))):
            lines = merged(results, job, form)
            if any(len(points) > 1 for points in lines.values()):
                draw(os.path.join(folder, f"{name}-{job}.svg"), f"{name}, {job}", labels, lines, "set logscale xy 2")
        lines = sizes(results, job, r"size-\d+")
        if lines:
            draw(os.path.join(folder, f"size-{job}.svg"), f"time of a WRITE, {job}", ("message", "ns"), lines,
                 "set logscale xy 2")


def table_row(document, table, name):
    """{competitor: median} of a row of performance.rst, instructions per KiB."""
    part = document.split(f"Instructions, both ends together: {table}\n")[1]
    cells = re.search(rf"^{re.escape(name)}  +insns/KiB  +(.*)$", part, re.M).group(1)
    numbers = re.split(r"  +", cells)
    return {who: numbers[column].split()[0].replace(",", "")
            for who, column in (("rxe", 1), ("sroce", 0), ("TCP", 3)) if numbers[column] != "n/a"}


def draw_document(script):
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def instructions(text, path):
    """A plot of the README, from what the page says."""
    rows = [(label, table_row(text, table, name)) for table, name, label in INSTRUCTIONS]
    colours = {"rxe": "#b0b0b0", "sroce": "#1f5fa8", "TCP": "#e0c060"}
    data = "\n".join(" ".join([f'"{label}"', *(values.get(who, "nan") for who in colours)]) for label, values in rows)
    bars = ", ".join(f'$data using {i + 2}:xtic(1) title "{who}" linecolor rgb "{colour}"'
                     for i, (who, colour) in enumerate(colours.items()))
    draw_document(f'{BARS}set output "{path}"\n$data << EOD\n{data}\nEOD\nplot {bars}\n')


def loss_rows(text):
    """[(part that is lost, {column: MiB/s or a word})] of the page's table of networks, of which "good" has no loss."""
    lines = text.split(".. networks: begin\n")[1].split(".. networks: end\n")[0].splitlines()
    head = next(line for line in lines if line.startswith("network "))
    columns = re.split(r"  +", head)[1:]
    rows = []
    for line in lines[lines.index(head):]:
        name, *cells = re.split(r"  +", line)
        if len(cells) == len(columns) and re.fullmatch(r"good|[\d.]+ % lost", name):
            rows.append(("0 %" if name == "good" else name.removesuffix(" lost"), dict(zip(columns, cells))))
        elif name == "" and rows:
            break
    return rows


def loss(text, path):
    """The other one. Rows without figures are left out."""
    rows = loss_rows(text)
    data = "\n".join(" ".join([f'"{part}"', *(cells[column] if re.match(r"\d", cells[column]) else "nan"
                                            for column, *_ in LOSS)]) for part, cells in rows)
    drawn = ", ".join(f'$data using 0:{i + 2}:xtic(1) title "{title}" linewidth 2 linecolor rgb "{colour}" dashtype {form}'
                      for i, (_, title, colour, form) in enumerate(LOSS))
    draw_document(f'{LINES}set output "{path}"\n$data << EOD\n{data}\nEOD\nplot {drawn}\n')


def documents(folder):
    """The plots of the README, from what the page says."""
    with open(os.path.join(folder, "performance.rst"), encoding="utf-8") as file:
        text = file.read()
    instructions(text, os.path.join(folder, "instructions.svg"))
    loss(text, os.path.join(folder, "loss.svg"))


if __name__ == "__main__":
    documents(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../Documentation"))

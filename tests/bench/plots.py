# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""SVG plots of what was measured, by gnuplot; none where it is not installed."""

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

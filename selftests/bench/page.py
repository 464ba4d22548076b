# SPDX-License-Identifier: GPL-2.0
"""The same facts as the table, as a page that needs nothing but itself: curves over the size of a buffer."""

import math
import re
from html import escape

from report import write_text

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 360, 84, 150, 12, 40
COLOURS = {"platform": "#3a9d5d", "direct": "#2a7fba", "swiotlb": "#c98a1b", "bounce none": "#c39bd3",
           "bounce zero": "#8e4fa8", "bounce preserve": "#5b2c6f"}
CHARTS = {"to_device": "To the device: map, copy, unmap", "from_device": "From the device: map, fill, unmap, copy",
          "uncopied": "From the device, nothing copied back (DMA_ATTR_SKIP_CPU_SYNC); swiotlb copies out all the same"}

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
h1 { font-size: 1.5em; } h2 { font-size: 1.1em; margin: 1.8em 0 .3em; }
svg { width: 100%; height: auto; } text { font-size: 12px; fill: #222; } polyline { fill: none; stroke-width: 2; }
.grid { stroke: #ddd; } .y { text-anchor: end; } .x { text-anchor: middle; }
table { border-collapse: collapse; } td, th { padding: .15em .8em .15em 0; text-align: left; }
td.number { text-align: right; } .missed { color: #b00; }
"""


def write(path, document):
    write_text(path, html(document))


def html(document):
    title = f"What DMA mappings cost on {document['kernel']}"
    flags = " ".join(f"{name}={value}" for name, value in document["cpu_flags"].items() if name != "khz")
    parts = [f"<h1>{escape(title)}</h1>",
             f"<p>Instructions for each map and unmap, counted by QEMU; pools of {document['pool_mib']} MiB; "
             f"CPU {flags}; {escape(document['qemu'])}; {document['when']}.</p>", table(document["table"])]
    for way, heading in CHARTS.items():
        parts += [f"<h2>{escape(heading)}</h2>", chart(curves(document["figures"], way), heading)]
    parts += ["<h2>dd and netperf in virtual time</h2>", throughput(document["throughput"])]
    return (f"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{escape(title)}</title>"
            f"<style>{STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n")


def table(rows):
    cells = "".join(table_row(row) for row in rows)
    return ("<table><tr><th></th><th>ours</th><th>peer</th><th></th><th>ratio</th><th>goal</th><th></th></tr>"
            f"{cells}</table>")


def table_row(row):
    verdict = "" if row["goal"] is None else "met" if row["met"] else "<b class=\"missed\">missed</b>"
    peer = "" if row["peer"] is None else f"{row['peer']:.0f}"
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3f}"
    goal = "" if row["goal"] is None else f"{row['goal']:g}"
    numbers = [f"{row['ours']:.0f}" if row["ours"] >= 10 else f"{row['ours']:.3f}", peer]
    return (f"<tr><td>{escape(row['what'])}</td>"
            + "".join(f"<td class=\"number\">{text}</td>" for text in numbers)
            + f"<td>{escape(row['peer_is'])}</td>"
            + "".join(f"<td class=\"number\">{text}</td>" for text in (ratio, goal)) + f"<td>{verdict}</td></tr>")


def throughput(figures):
    paths = list(next(iter(figures.values())))
    head = "".join(f"<th>{escape(path)}</th>" for path in paths)
    rows = "".join(f"<tr><td>{escape(test)}</td>" + "".join(
        f"<td>{escape(', '.join(f'{value:.4g}' for value in of_path[path]))}</td>" for path in paths) + "</tr>"
                   for test, of_path in figures.items())
    return f"<table><tr><th></th>{head}</tr>{rows}</table>"


def curves(figures, way):
    """{configuration: [(size, instructions for each call)]}"""
    found = {}
    for configuration in COLOURS:
        points = []
        for what, figure in figures[configuration].items():
            match = re.fullmatch(rf"calls way={way} size=(\d+)", what)
            if match:
                points.append((int(match.group(1)), figure["ticks"] / figure["rounds"]))
        found[configuration] = sorted(points)
    return found


def chart(lines, label):
    """Both axes are logarithmic."""
    points = [point for line in lines.values() for point in line]
    across = Axis([size for size, _ in points], LEFT, WIDTH - RIGHT, 4)
    up = Axis([count for _, count in points], HEIGHT - BOTTOM, TOP, 10)
    parts = [grid(across, up)]
    for configuration, line in lines.items():
        if not line:
            continue
        path = " ".join(f"{across.at(size):.1f},{up.at(count):.1f}" for size, count in line)
        parts.append(f'<polyline stroke="{COLOURS[configuration]}" points="{path}"/>')
    parts += legend(lines)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def grid(across, up):
    parts = []
    for size in across.marks():
        x = across.at(size)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
                     f'<text class="x" x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}">{bytes_text(size)}</text>')
    for count in up.marks():
        y = up.at(count)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                     f'<text class="y" x="{LEFT - 6}" y="{y + 4:.1f}">{count:,}</text>')
    return "".join(parts)


def legend(lines):
    for number, configuration in enumerate(name for name, line in lines.items() if line):
        y = TOP + 14 + 20 * number
        yield (f'<line x1="{WIDTH - RIGHT + 12}" x2="{WIDTH - RIGHT + 32}" y1="{y - 4}" y2="{y - 4}" '
               f'stroke-width="3" stroke="{COLOURS[configuration]}"/>'
               f'<text x="{WIDTH - RIGHT + 38}" y="{y}">{escape(configuration)}</text>')


def bytes_text(size):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


class Axis:
    """Values from the least to the most of these, on a logarithmic scale between two places."""

    def __init__(self, values, begin, end, base):
        self.base = base
        self.least = math.floor(math.log(min(values), base) + 1e-9)
        self.most = math.ceil(math.log(max(values), base) - 1e-9)
        self.begin, self.end = begin, end

    def at(self, value):
        part = (math.log(value, self.base) - self.least) / (self.most - self.least)
        return self.begin + part * (self.end - self.begin)

    def marks(self):
        return [self.base ** power for power in range(self.least, self.most + 1)]

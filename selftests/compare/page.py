# SPDX-License-Identifier: GPL-2.0
"""The same facts as the table, as a page that needs nothing but itself: bars with their spread."""

from html import escape

from report import significant, write_text

WIDTH, BAR, GAP, LABELS, FIGURES = 760, 22, 10, 90, 190
PLOT = WIDTH - LABELS - FIGURES

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
h1 { font-size: 1.5em; } h2 { font-size: 1.1em; margin: 1.8em 0 .3em; }
svg { width: 100%; height: auto; } text { font-size: 13px; fill: #222; }
.off { fill: #888; } .direct { fill: #2a7fba; } .platform { fill: #3a9d5d; }
.swiotlb { fill: #c98a1b; } .bounce { fill: #8e4fa8; }
.spread { stroke: #222; stroke-width: 1.5; } .axis { stroke: #ccc; }
table { border-collapse: collapse; } td, th { padding: .2em .8em .2em 0; text-align: left; vertical-align: top; }
code { font-size: 12px; overflow-wrap: anywhere; }
"""


def write(path, results):
    write_text(path, document(results))


def document(results):
    options = results["options"]
    title = f"DMA paths on {results['kernel']}"
    facts = [("accelerator", results["accelerator"].upper()), ("QEMU", results["qemu"]),
             ("guest", f"{options['cpus']} CPUs, {options['mem']} MiB, {options['ring']} rings"),
             ("disk cache on the host", results["cache_mode"]), ("rounds", options["runs"]),
             ("when", results["when"])]
    parts = [f"<h1>{escape(title)}</h1>",
             "<p>Bars are medians, lines go from the least to the most of all rounds. The ratio is the median of "
             "the ratios to <b>off</b>, the unmodified driver, in the same round.</p>", key_values(facts)]
    for test, unit in results["units"].items():
        parts += [f"<h2>{escape(test)} <small>({escape(unit)})</small></h2>", chart(test, results)]
        parts.append(f"<p><code>{escape(results['commands'][test])}</code></p>")
    parts += ["<h2>What proves that each row ran on its path</h2>", key_values(proofs(results))]
    parts += ["<h2>Command line</h2>", f"<p><code>{escape(' '.join(results['command_line']))}</code></p>"]
    return (f"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{escape(title)}</title>"
            f"<style>{STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n")


def key_values(pairs):
    rows = "".join(f"<tr><th>{escape(str(key))}</th><td>{escape(str(value))}</td></tr>" for key, value in pairs)
    return f"<table>{rows}</table>"


def proofs(results):
    for path in results["options"]["paths"]:
        for device, evidence in results["proofs"][-1][path].items():
            yield f"{path}, {device}", evidence
        for device, reason in results["refused"].get(path, {}).items():
            yield f"{path}, {device}", f"n/a: {reason}"


def chart(test, results):
    paths = results["options"]["paths"]
    figures = {path: results["summary"][path].get(test) for path in paths}
    most = max((figure["max"] for figure in figures.values() if figure), default=1)
    height = len(paths) * (BAR + GAP)
    bars = [bar(path, figures[path], number * (BAR + GAP), PLOT / most) for number, path in enumerate(paths)]
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(test)}">'
            f'<line class="axis" x1="{LABELS}" x2="{LABELS}" y1="0" y2="{height}"/>' + "".join(bars) + "</svg>")


def bar(path, figure, top, scale):
    middle = top + BAR / 2
    label = f'<text x="0" y="{middle + 5}">{escape(path)}</text>'
    if not figure:
        return label + f'<text x="{LABELS + 6}" y="{middle + 5}">n/a</text>'
    least, median, most = (LABELS + figure[name] * scale for name in ("min", "median", "max"))
    ratio = f" × {figure['ratio']:.2f}" if figure["ratio"] and path != "off" else ""
    text = f"{significant(figure['median'])} ({significant(figure['min'])}–{significant(figure['max'])}){ratio}"
    return (label + f'<rect class="{path}" x="{LABELS}" y="{top}" width="{median - LABELS:.1f}" height="{BAR}"/>'
            f'<line class="spread" x1="{least:.1f}" x2="{most:.1f}" y1="{middle}" y2="{middle}"/>'
            f'<line class="spread" x1="{least:.1f}" x2="{least:.1f}" y1="{middle - 5}" y2="{middle + 5}"/>'
            f'<line class="spread" x1="{most:.1f}" x2="{most:.1f}" y1="{middle - 5}" y2="{middle + 5}"/>'
            f'<text x="{WIDTH - FIGURES + 10}" y="{middle + 5}">{text}</text>')

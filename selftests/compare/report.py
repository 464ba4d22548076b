# SPDX-License-Identifier: GPL-2.0
"""The table on the screen, and files written at once or not at all."""

import json
import os
from statistics import median

COLUMN = 13
FIRST_COLUMN = 10


def summary(tests, paths, rounds):
    """{path: {test: {median, min, max, ratio to off or None, cpu_percent or None}}} of the rounds' figures."""
    return {path: {test.name: summary_of(test.name, path, rounds) for test in tests if test.name in rounds[0][path]}
            for path in paths}


def summary_of(test, path, rounds):
    figures = [figures_of_round[path][test] for figures_of_round in rounds]
    values = [figure["value"] for figure in figures]
    # Each round compares with its own off: what slows the machine down for a while slows both.
    ratios = [figures_of_round[path][test]["value"] / figures_of_round["off"][test]["value"]
              for figures_of_round in rounds if "off" in figures_of_round]
    cpu = [figure["cpu_percent"] for figure in figures if "cpu_percent" in figure]
    return {"median": median(values), "min": min(values), "max": max(values),
            "ratio": median(ratios) if ratios else None, "cpu_percent": median(cpu) if cpu else None}


def table(tests, paths, results):
    lines = [row("path", [test.name for test in tests]), row("", [test.unit for test in tests])]
    for path in paths:
        lines += ["", *path_rows(path, [results[path].get(test.name) for test in tests])]
    return "\n".join(lines)


def path_rows(path, figures):
    def cells(text):
        return [text(figure) if figure else "" for figure in figures]

    yield row(path, [significant(figure["median"]) if figure else "n/a" for figure in figures])
    if any(figures):
        yield row("  min-max", cells(lambda figure: f"{significant(figure['min'])}-{significant(figure['max'])}"))
        if path != "off":
            yield row("  to off", cells(lambda figure: f"x {figure['ratio']:.2f}" if figure["ratio"] else ""))
        yield row("  cpu", cells(lambda figure: f"{figure['cpu_percent']:.0f} %" if figure["cpu_percent"] else ""))


def row(first, cells):
    return (first.ljust(FIRST_COLUMN) + "".join(cell.rjust(COLUMN) for cell in cells)).rstrip()


def significant(value):
    """Three digits are more than these figures are good for."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def write_json(path, content):
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_text(path, text):
    """At once or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)

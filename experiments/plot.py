# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG, the same bytes for the same numbers."""

import io
import math
import pathlib
import textwrap

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  (after the backend is chosen)

import files  # noqa: E402

matplotlib.rcParams.update({"svg.hashsalt": "weft", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "figure.figsize": (6.4, 3.8),
                            "legend.fontsize": 8, "font.family": "sans-serif"})


NOTE_WIDTH = 140  # letters of the note that fit into a line


def save(figure, path, note):
    """With the note below."""
    words = textwrap.wrap(note, round(NOTE_WIDTH * figure.get_figwidth() / 6.4))
    figure.text(0.01, 0.01, "\n".join(words), fontsize=6, color="#555555", verticalalignment="bottom")
    figure.tight_layout(rect=(0, 0.01 + 0.033 * len(words) * 3.8 / figure.get_figheight(), 1, 1))
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    files.write_whole(pathlib.Path(path), "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n")


def intervals(points):
    """As errorbar takes them: below and above the medians; none above where it is open."""
    return [[p.median - p.low for p in points], [0 if math.isinf(p.high) else p.high - p.median for p in points]]


def bars(path, title, y_label, panels, note, *, limits=None, log=True):
    """panels: (title, names along x, series of (label, colour, values)), two in a row, logarithmic or from 0; limits: a line in each panel. Values of None have no bar; points (runs.Point) have a bar for their median and its interval, if they have one."""
    rows = (len(panels) + 1) // 2
    figure, axes = plt.subplots(rows, 2, figsize=(10, 2.9 * rows), squeeze=False)
    for place, (panel_title, names, series) in enumerate(panels):
        panel = axes[place // 2][place % 2]
        width = 0.8 / len(series)
        for i, (label, colour, values) in enumerate(series):
            places = [x + (i + 0.5) * width - 0.4 for x in range(len(names))]
            panel.bar(places, [getattr(value, "median", value) or 0 for value in values], width, label=label, color=colour)
            measured = [(x, p) for x, p in zip(places, values) if getattr(p, "median", None) is not None]
            if measured:
                panel.errorbar([x for x, _ in measured], [p.median for _, p in measured], yerr=intervals([p for _, p in measured]), fmt="none", ecolor="#000000", elinewidth=0.8, capsize=2)
        if limits:
            panel.axhline(limits[place], color="#888888", linewidth=0.8, linestyle="--")
        if log:
            panel.set_yscale("log")
        panel.set_xticks(range(len(names)), names, rotation=20, ha="right", fontsize=7)
        panel.set_title(panel_title, fontsize=9)
        panel.set_ylabel(y_label)
        panel.grid(axis="x", visible=False)
    for empty in range(len(panels), 2 * rows):
        axes[empty // 2][empty % 2].set_visible(False)
    axes[0][0].legend()
    figure.suptitle(title)
    save(figure, path, note)


def columns(path, title, x_label, y_label, series, note, *, bottom=0):
    """Steps side by side: (label, colour, values) for 0, 1, 2 and so on. bottom: of the axis; None: as the values need."""
    figure, axes = plt.subplots()
    for label, colour, values in series:
        axes.step(range(len(values)), values, where="mid", label=label, color=colour, linewidth=1)
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_ylim(bottom=bottom)
    axes.legend()
    save(figure, path, note)


def lines(path, title, x_label, y_label, series, note, *, log_x=False, log_y=False, ticks=None, legend_beside=False):
    """legend_beside: of many lines, which leave it no room among them. series: (label, colour, marker, xs, points of runs.Point); points without a median are marked at the upper edge, those with unfinished runs are hollow."""
    figure, axes = plt.subplots(figsize=(8.4, 4.4) if legend_beside else None)
    for label, colour, marker, xs, points in series:
        shown = [(x, p) for x, p in zip(xs, points) if p.median is not None]
        places = [x for x, _ in shown]
        medians = [p.median for _, p in shown]
        errors = intervals([p for _, p in shown])
        axes.errorbar(places, medians, yerr=errors, label=label, color=colour, marker=marker, markersize=4 if legend_beside else 0, linewidth=1.2, capsize=2, elinewidth=0.8)
        for x, p in shown:
            axes.plot([x], [p.median], marker=marker, markersize=5, color=colour, markerfacecolor="white" if p.unfinished else colour)
        for x in [x for x, p in zip(xs, points) if p.median is None]:
            axes.plot([x], [1], marker="x", markersize=6, color=colour, transform=axes.get_xaxis_transform(), clip_on=False)
    if log_x:
        axes.set_xscale("log", base=2)
    if log_y:
        axes.set_yscale("log")
    if ticks:
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off() if log_x else None
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.legend(**({"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} if legend_beside else {}))
    save(figure, path, note)

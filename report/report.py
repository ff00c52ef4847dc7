# SPDX-License-Identifier: Apache-2.0
"""Writes the report: one HTML file that shows what was run and measured, and needs no other file and no network (docs/report.md).

usage: report.py --results DIR --figures DIR --matrix FILE --traces DIR --run FILE [--matrix-command TEXT] [--run-command TEXT] -o FILE
Exit status 0: written; 1: written, and a run that it shows has failed; 2: bad input.
"""

import argparse
import datetime
import html
import json
import pathlib
import subprocess
import sys

import groups
import packets
import pages
import timeline

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


# Shown at the beginning: a figure of each part.
HIGHLIGHTS = ["rdma_loss_pair.svg", "mcast_figure6.svg", "vtftr_8x8_q8_latency.svg", "barrier_figure6_10.svg"]


class Section:
    """What the page shows at a time."""

    def __init__(self, name, group, title, body):
        self.name, self.group, self.title, self.body = name, group, title, body


def text(value):
    return html.escape(str(value))


def git(*words):
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def mark(ok, words):
    return f'<span class="{"ok" if ok else "bad"}">{text(words)}</span>'


def matrix_section(matrix, command):
    head = ["case", "mode", "nodes", "transfers", "window", "cycles", "goodput", "packets", "resent", "dropped", "events compared", "differences", "verdict"]
    rows = []
    for case in matrix["cases"]:
        wrong = case["trace_mismatches"] + case["wrong_bytes"]
        verdict = mark(case["ok"], "ok" if case["ok"] else "not finished" if case["hang"] else "failed")
        rows.append([text(case["case"]), case["mode"], case["nodes"], case["transfers"], case["window"], f"{case['cycles']:,}", f"{100 * case['goodput_fraction']:.1f} %",
                     f"{case['packets_sent']:,}", f"{case['packets_resent']:,}", f"{case['packets_dropped']:,}", f"{case['events_compared']:,}", wrong, verdict])
    words = ("The same file through many kinds of bad network, between RTL engines: every event compared with the golden model, every byte with the source. "
             "Goodput is the share of what a link can carry in full DATA packets.")
    body = (f"<h2>Regression matrix</h2><p>Run for this report by <code>{text(command)}</code>, seed {matrix['seed']}, {matrix['bytes']:,} bytes a node. {words}</p>"
            f"<p>{matrix_verdict(matrix)}</p>{pages.table(head, rows, ' names')}")
    return Section("matrix", "Run for this report", "Regression matrix", body)


def matrix_verdict(matrix):
    good = sum(case["ok"] for case in matrix["cases"])
    events = sum(case["events_compared"] for case in matrix["cases"])
    return mark(matrix["ok"], f"{good} of {len(matrix['cases'])} cases ok, {events:,} events compared") + ("" if matrix["ok"] or good < len(matrix["cases"]) else
                                                                                                     " " + mark(False, "a fault that was asked for did not happen"))


def figures_section(folder, shown):
    """Every figure; shown: pages by figure."""
    parts = ["<h2>All figures</h2>", '<div class="gallery">']
    for file in sorted(folder.glob("*.svg")):
        on = ", ".join(f'<a href="#{page.name}">{text(page.title)}</a>' for page in shown.get(file.name, []))
        title = file.stem.replace("_", " ")
        parts.append(f'<figure id="figures--{file.stem}"><img src="{pages.image_data(file)}" alt="{text(title)}"><figcaption><code>{file.name}</code>{" on " + on if on else ""}</figcaption></figure>')
    return Section("figures", "Figures", "All figures", "\n".join([*parts, "</div>"]))


def highlights(shown):
    """Some figures, each of which leads to its page."""
    figures = [(page, figure) for name in HIGHLIGHTS for page in shown.get(name, [])[:1] for figure in page.figures if figure.name == name]
    links = [f'<a href="#{page.name}" title="{text(page.title)}"><img src="{pages.image_data(figure)}" alt="{text(page.title)}"></a>' for page, figure in figures]
    return f'<div class="gallery highlights">{"".join(links)}</div>' if links else ""


def says(page):
    """What its tables say; of a page that counts nothing, what it is about."""
    if page.verdicts:
        return text("; ".join(page.verdicts))
    return f'<span class="about">{text(page.about)}</span>' if page.about else "–"


def overview_section(matrix, run_words, sections, results, shown):
    rows = [["<a href=\"#matrix\">Regression matrix</a>", "<code>weft-sim matrix</code>", matrix_verdict(matrix), "now"],
            ["<a href=\"#timeline\">Packet timeline</a>", "<code>weft-sim rdma</code>", run_words, "now"]]
    by_name = {page.name: page for page in results}
    for section in sections:
        page = by_name.get(section.name)
        if page:
            date = git("log", "-1", "--format=%cs", "--", str(page.file))
            rows.append([f'<a href="#{page.name}">{text(page.title)}</a>', f"<code>{text(page.command)}</code>", says(page), f"<time>{date}</time>" if date else "–"])
    words = ("The first two lines of the table were run for this report. The others are results as they stand in <code>docs/results</code>, written by the command beside them at the date of their last change; "
             "what is said of them is read from their own tables; of those that count nothing, in grey, what they are about.")
    return Section("overview", "", "Overview", f"<h2>Overview</h2><p>{words}</p>{highlights(shown)}{pages.table(['what', 'written by', 'what it says', 'of'], rows)}")


def result_sections(results):
    by_name = {page.name: page for page in results}
    return [Section(name, group, by_name[name].title, by_name[name].body) for group, names in groups.grouped(by_name.keys()) for name in names]


def navigation(sections):
    lines, group = [], None
    for section in sections:
        if section.group != group:
            lines.append(("</ul>" if group is not None else "") + (f"<h2>{text(section.group)}</h2>" if section.group else "") + "<ul>")
            group = section.group
        lines.append(f'<li><a href="#{section.name}">{text(section.title)}</a></li>')
    return "\n".join(lines) + "</ul>"


def page_of(sections, data):
    """The one file. Data stands in it so that no end of a script element can be inside."""
    template = (HERE / "page.html").read_text(encoding="utf-8")
    revision = git("describe", "--always", "--dirty") or "unknown revision"
    parts = {
        "style": (HERE / "style.css").read_text(encoding="utf-8"),
        "navigation": navigation(sections),
        "sections": "\n".join(f'<section id="{section.name}" class="page">\n{section.body}\n</section>' for section in sections),
        "run": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        "scripts": "\n".join((HERE / name).read_text(encoding="utf-8") for name in ("navigate.js", "timeline.js")),
        "revision": f"{revision}, <time>{datetime.date.today().isoformat()}</time>",
    }
    for name, part in parts.items():
        place = f"<!--{name}-->" if name not in ("style", "run", "scripts") else f"/*{name}*/"
        before, found, after = template.partition(place)
        assert found, place
        template = before + part + after
    return template


def arguments_of(words):
    parser = argparse.ArgumentParser(description="Writes the report: one HTML file (docs/report.md).")
    for name, what in (("results", "folder of pages"), ("figures", "folder of SVG figures"), ("matrix", "result of weft-sim matrix --json"),
                       ("traces", "what weft-sim rdma --trace wrote"), ("run", "result of weft-sim rdma --json")):
        parser.add_argument(f"--{name}", required=True, help=what)
    parser.add_argument("--matrix-command", default="weft-sim matrix", help="that made the matrix")
    parser.add_argument("--run-command", default="weft-sim rdma", help="that made the run")
    parser.add_argument("-o", "--output", required=True, help="the report")
    return parser.parse_args(words)


def load(file):
    return json.loads(pathlib.Path(file).read_text(encoding="utf-8"))


def write(arguments):
    """Writes the report. False if a run that it shows has failed."""
    matrix, result = load(arguments.matrix), load(arguments.run)
    run = packets.join(arguments.traces)
    wrong = packets.differences(run, result)
    data = timeline.data_of(run, result)
    files = sorted(pathlib.Path(arguments.results).glob("*.md"))
    results = [pages.Page(file, {file.stem for file in files}) for file in files]
    shown = {}
    for page in results:
        for figure in page.figures:
            shown.setdefault(figure.name, []).append(page)
    run_ok = result["ok"] and not wrong
    run_words = mark(run_ok, f"{len(run.packets)} packets of {len(run.transfers)} transfers, {result['packets_lost']} lost, {result['packets_resent']} sent again" +
                     ("" if run_ok else ": " + ("; ".join(wrong) or "the run has failed")))
    sections = [matrix_section(matrix, arguments.matrix_command), Section("timeline", "Run for this report", "Packet timeline", timeline.body(result, arguments.run_command, run_words)), *result_sections(results),
                figures_section(pathlib.Path(arguments.figures), shown)]
    sections.insert(0, overview_section(matrix, run_words, sections, results, shown))
    output = pathlib.Path(arguments.output)
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_name(output.name + ".part")
    part.write_text(page_of(sections, data), encoding="utf-8")
    part.replace(output)
    print(f"{output}: {output.stat().st_size / 1e6:.1f} MB, {len(sections)} pages, {len(data['items'])} events in the timeline")
    return matrix["ok"] and run_ok


def main():
    try:
        return 0 if write(arguments_of(sys.argv[1:])) else 1
    except (OSError, ValueError, packets.JoinError, packets.traces.TraceError, pages.PageError) as fault:
        print(f"report.py: {fault}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

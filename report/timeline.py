# SPDX-License-Identifier: Apache-2.0
"""What the timeline of the report shows: the packets of a run and what happened at its nodes, as plain data for timeline.js."""

import html

# In the order in which filters list them.
KINDS = ("post", "RQT", "RSP", "DATA", "ACK", "RESEND", "DONE", "RELEASE", "timeout", "completion")


def items_of(run):
    """Everything that can be pointed at, in the order of its start."""
    places = {(transfer.node, transfer.msgid): place for place, transfer in enumerate(run.transfers)}
    items = []
    for packet in run.packets:
        header = packet.header
        items.append({
            "type": header["type"], "transfer": places.get(packet.transfer), "from": int(header["src"]), "to": int(header["dst"]), "start": packet.start, "left": packet.left,
            "ordered": [packet.ordered.cycle, packet.ordered.outcome] if packet.ordered else None,
            "arrivals": [[arrival.cycle, arrival.outcome] for arrival in packet.arrivals], "again": packet.again,
            "lost": packet.lost, "corrupted": packet.corrupted, "duplicated": packet.duplicated, "held_back": packet.held_back, "results": packet.results,
            "header": {key: header[key] for key in ("sid", "msgid", "cid", "gen", "pidx", "len", "flags", "arg")},
        })
    for place, transfer in enumerate(run.transfers):
        items.append(mark("post", place, transfer.node, transfer.posted, "SUBMIT", tag=transfer.tag, bytes=transfer.bytes, to=transfer.to))
        if transfer.completed is not None:
            items.append(mark("completion", place, transfer.node, transfer.completed, transfer.status, tag=transfer.tag, cycles=transfer.completed - transfer.posted))
    for timeout in run.timeouts:
        items.append(mark("timeout", places.get(timeout.transfer), timeout.node, timeout.cycle, timeout.outcome, unit=timeout.unit))
    return sorted(items, key=lambda item: item["start"])


def mark(kind, transfer, node, cycle, outcome, **fields):
    """Something that happens at one node."""
    return {"type": kind, "transfer": transfer, "from": node, "to": node, "start": cycle, "again": False, "results": [outcome], "header": fields}


def data_of(run, result):
    items = items_of(run)
    types = {item["type"] for item in items}
    return {
        "nodes": run.nodes,
        "transfers": [{"node": each.node, "to": each.to, "msgid": each.msgid, "bytes": each.bytes, "posted": each.posted, "completed": each.completed, "status": each.status}
                      for each in run.transfers],
        "types": [kind for kind in KINDS if kind in types] + sorted(types - set(KINDS)),
        "items": items,
        "seed": result["seed"],
    }


def body(result, command, verdict):
    """The section around the picture, which timeline.js draws."""
    words = (f"Every packet of one run: from the event that ordered it to the event that it led to. Run for this report: <code>{html.escape(command)}</code>; {result['nodes']} nodes, "
             f"{result['bytes']:,} bytes each, {result['loss']:.0%} of the packets lost, {result['duplicate']:.0%} doubled, {result['corrupt']:.0%} damaged, {result['held']:.0%} held back while up to {result['reorder']} others pass. "
             "Cycles are those of its traces and waves.")
    return f"""<h2>Packet timeline</h2>
<p>{words}</p>
<p>{verdict}</p>
<noscript><p>The timeline is drawn by a script in this file.</p></noscript>
<div id="timeline-app" hidden></div>"""

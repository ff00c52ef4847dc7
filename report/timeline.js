// SPDX-License-Identifier: Apache-2.0
// The packet timeline: what report/timeline.py has put into the page, as lines over time and as a table; filters, zoom, what is chosen.
"use strict";

(() => {
  const app = document.getElementById("timeline-app");
  const run = JSON.parse(document.getElementById("run").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const GUTTER = 150;
  const AXIS = 26;
  const RIGHT = 16;
  const TRANSFER_HEIGHT = 62;
  const NODE_HEIGHT = 130;
  const LOST_WAY = 0.45; // how far towards its receiver a lost packet is drawn
  const CONTROL = new Set(["RQT", "RSP", "ACK", "RESEND", "DONE", "RELEASE"]);
  const KEY_STEP = 0.15; // of the picture that a key moves it by
  const SHORTEST = 40; // cycles that the picture shows at least

  const items = run.items.map((item, index) => ({ ...item, index, ends: ends(item) }));
  const whole = { from: Math.min(...items.map((item) => item.start)), to: Math.max(...items.map((item) => Math.max(item.start, ...item.ends))) };
  const flights = items.flatMap((item) => (item.arrivals || []).map(([cycle]) => cycle - item.left)).sort((a, b) => a - b);
  const usualFlight = flights.length ? flights[Math.floor(flights.length / 2)] : 50;
  const margin = (whole.to - whole.from) * 0.01;
  const everything = { from: whole.from - margin, to: whole.to + margin };

  const state = {
    view: "transfers", transfer: "all", again: false,
    types: new Set(run.types), nodes: new Set(run.nodes), results: new Set(allResults()),
    from: everything.from, to: everything.to, chosen: null,
  };

  // ---- the data ----

  function ends(item) {
    return item.arrivals ? item.arrivals.map(([cycle]) => cycle) : [];
  }

  function isPacket(item) {
    return item.arrivals !== undefined;
  }

  function isDropped(outcome) {
    return outcome.startsWith("DROP_") || outcome.startsWith("REFUSE");
  }

  function inTrouble(item) {
    return isPacket(item) && (item.lost || item.arrivals.some(([, outcome]) => isDropped(outcome)));
  }

  /** First what went wrong, then the others. */
  function allResults() {
    const names = [...new Set(run.items.flatMap((item) => item.results))].sort();
    const wrong = (name) => name === "LOST" || name === "NEVER_SENT" || name === "UNDER_WAY" || isDropped(name);
    return [...names.filter(wrong), ...names.filter((name) => !wrong(name))];
  }

  function isShown(item) {
    return state.types.has(item.type) && (state.nodes.has(item.from) || state.nodes.has(item.to)) &&
      (state.transfer === "all" || item.transfer === Number(state.transfer)) && (!state.again || item.again) &&
      item.results.some((result) => state.results.has(result));
  }

  function transferName(index) {
    if (index === null) return "–";
    const { node, to, msgid } = run.transfers[index];
    return `${node} → ${to} #${msgid}`;
  }

  function isNumbered(item) {
    return item.type === "DATA" || item.type === "ACK" || item.type === "RESEND";
  }

  function nameOf(item) {
    return isNumbered(item) ? `${item.type} ${item.header.pidx}` : item.type;
  }

  function number(value) {
    return Math.round(value).toLocaleString("en");
  }

  /** What became of it, in a few words. */
  function fateOf(item) {
    const words = [];
    if (item.lost) words.push("lost in the network");
    if (item.corrupted) words.push("damaged in the network");
    if (item.held_back) words.push("held back");
    if (item.duplicated) words.push("doubled");
    if (item.results.includes("NEVER_SENT")) words.push("never sent: its transfer was over");
    if (item.results.includes("UNDER_WAY")) words.push("did not arrive");
    return words.join(", ");
  }

  // ---- small helpers for elements ----

  function add(parent, name, attributes = {}, text = null) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== null) element.textContent = text;
    parent.append(element);
    return element;
  }

  function draw(parent, name, attributes = {}, text = null) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== null) element.textContent = text;
    parent.append(element);
    return element;
  }

  // ---- filters ----

  const filters = add(app, "form", { class: "filters", "aria-label": "What is shown" });
  filters.addEventListener("submit", (event) => event.preventDefault());

  function addChoice(legend, name, values) {
    const set = add(filters, "fieldset");
    add(set, "legend", {}, legend);
    for (const [value, label] of values) {
      const line = add(set, "label");
      const box = add(line, "input", { type: "radio", name, value });
      box.checked = state[name] === value;
      box.addEventListener("change", () => { state[name] = value; update(); });
      line.append(label);
    }
  }

  function addTransfers() {
    const set = add(filters, "fieldset");
    add(set, "legend", {}, "Transfer");
    const list = add(set, "select", { id: "transfer", "aria-label": "Transfer" });
    add(list, "option", { value: "all" }, "all");
    run.transfers.forEach((transfer, index) => add(list, "option", { value: index }, `${transferName(index)}, ${number(transfer.bytes)} bytes`));
    list.addEventListener("change", () => { state.transfer = list.value; update(); });
  }

  /** Boxes for a set of values, with how many items there are of each, and a button for all or none. */
  function addBoxes(legend, name, values, isOf) {
    const set = add(filters, "fieldset", { "data-filter": name });
    const title = add(set, "legend", {}, legend);
    const every = add(title, "button", { type: "button", class: "every" }, "none");
    const boxes = values.map((value) => {
      const line = add(set, "label");
      const box = add(line, "input", { type: "checkbox", value });
      box.checked = true;
      box.addEventListener("change", () => {
        if (box.checked) state[name].add(value);
        else state[name].delete(value);
        tell();
        update();
      });
      line.append(String(value));
      add(line, "span", {}, items.filter((item) => isOf(item, value)).length);
      return [value, box];
    });
    const tell = () => { every.textContent = state[name].size ? "none" : "all"; };
    every.addEventListener("click", () => {
      state[name] = new Set(state[name].size ? [] : values);
      for (const [value, box] of boxes) box.checked = state[name].has(value);
      tell();
      update();
    });
  }

  function addAgain() {
    const set = add(filters, "fieldset");
    add(set, "legend", {}, "Repeats");
    const line = add(set, "label");
    const box = add(line, "input", { type: "checkbox", id: "again" });
    box.addEventListener("change", () => { state.again = box.checked; update(); });
    line.append("only what was sent again ");
    add(line, "span", {}, items.filter((item) => item.again).length);
  }

  addChoice("Lanes", "view", [["transfers", "by transfer"], ["nodes", "by node"]]);
  addTransfers();
  addBoxes("Node", "nodes", run.nodes, (item, node) => item.from === node || item.to === node);
  addAgain();
  addBoxes("Event", "types", run.types, (item, type) => item.type === type);
  addBoxes("Outcome", "results", allResults(), (item, result) => item.results.includes(result));

  // ---- frame ----

  const bar = add(app, "div", { class: "bar" });
  const count = add(bar, "span", { class: "count", id: "shown", role: "status" });
  for (const [id, label, title, act] of [
    ["zoom-in", "+", "Zoom in", () => zoom(0.5)], ["zoom-out", "−", "Zoom out", () => zoom(2)],
    ["zoom-all", "whole run", "Show the whole run", () => setRange(everything.from, everything.to)],
  ]) {
    add(bar, "button", { type: "button", id, title, "aria-label": title }, label).addEventListener("click", act);
  }
  addLegend();
  const strip = draw(app, "svg", { class: "strip", role: "img", "aria-label": "Packets over the whole run; drag to choose what is shown below" });
  const frame = add(app, "div", { class: "frame" });
  const chart = draw(frame, "svg", { class: "chart", tabindex: 0, role: "application", "aria-label": "Packets over time. Left and right: previous and next event; plus and minus: zoom; shift with left and right: move; 0: whole run." });
  add(app, "p", { class: "hint" }, "Drag to move, wheel with Ctrl or + and − to zoom, click for everything known of a packet. With the picture in focus: ← → previous and next event, Shift with ← → move, 0 whole run.");
  const below = add(app, "div", { class: "below" });
  const details = add(below, "div", { class: "details", "aria-live": "polite" });
  const box = add(below, "div", { class: "table events", tabindex: 0, role: "region", "aria-label": "Events shown; up and down choose one" });
  const tip = add(document.body, "div", { class: "tip" });
  tip.hidden = true;

  function addLegend() {
    const list = add(app, "ul", { class: "legend" });
    const samples = [
      ["data", "M2 2L32 10", "", "DATA"], ["", "M2 2L32 10", "", "control packet"], ["again", "M2 2L32 10", "", "sent again"],
      ["data", "M2 2L18 6", "lost", "lost: ends in the void"], ["data", "M2 2L32 10", "dropped", "dropped on arrival"], ["data", "M2 2L32 10", "copy", "copy made by the network"],
    ];
    for (const [kind, path, shape, label] of samples) {
      const line = add(list, "li");
      const picture = draw(line, "svg", { viewBox: "0 0 34 12", "aria-hidden": "true" });
      const group = draw(picture, "g", { class: `item ${kind}` });
      draw(group, "path", { d: path, class: shape });
      if (shape === "lost") cross(group, 18, 6);
      if (shape === "dropped") diamond(group, 30, 9.5);
      line.append(label);
    }
    for (const [kind, mark, label] of [["", triangle, "post"], ["", timer, "timeout"], ["", completed, "completion"]]) {
      const line = add(list, "li");
      const picture = draw(line, "svg", { viewBox: "0 0 34 12", "aria-hidden": "true" });
      mark(draw(picture, "g", { class: `item ${kind}` }), 17, 6);
      line.append(label);
    }
  }

  function cross(group, x, y) {
    draw(group, "path", { class: "lost", d: `M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7` });
  }

  function diamond(group, x, y) {
    draw(group, "path", { class: "dot dropped", d: `M${x} ${y - 4.5}l4 4.5l-4 4.5l-4 -4.5z` });
  }

  function triangle(group, x, y) {
    draw(group, "path", { class: "dot", d: `M${x - 4} ${y + 4}l4 -8l4 8z` });
  }

  function timer(group, x, y) {
    draw(group, "circle", { cx: x, cy: y, r: 3.5 });
    draw(group, "path", { d: `M${x} ${y - 2.5}v2.5h2` });
  }

  function completed(group, x, y, ok = true) {
    if (ok) draw(group, "circle", { class: "fine", cx: x, cy: y, r: 4.5 });
    else draw(group, "path", { class: "failed", d: `M${x - 4} ${y - 4}h8v8h-8z` });
  }

  // ---- the picture ----

  let width = 0;
  let lanes = [];

  function xOf(cycle) {
    return GUTTER + ((cycle - state.from) / (state.to - state.from)) * (width - GUTTER - RIGHT);
  }

  function cycleAt(x) {
    return state.from + ((x - GUTTER) / (width - GUTTER - RIGHT)) * (state.to - state.from);
  }

  /** Lanes of the view, with the height at which an item's node lies in them. */
  function lay(shown) {
    if (state.view === "nodes") {
      const y = new Map(run.nodes.map((node, index) => [node, AXIS + 24 + index * NODE_HEIGHT]));
      lanes = run.nodes.map((node) => ({ name: `node ${node}`, lines: [y.get(node)] }));
      return { height: AXIS + 48 + (run.nodes.length - 1) * NODE_HEIGHT, at: (item, node) => y.get(node) };
    }
    const used = [...new Set(shown.map((item) => item.transfer))].filter((index) => index !== null).sort((a, b) => a - b);
    const row = new Map(used.map((index, place) => [index, AXIS + place * TRANSFER_HEIGHT]));
    lanes = used.map((index) => ({ name: transferName(index), transfer: run.transfers[index], lines: [row.get(index) + 14, row.get(index) + TRANSFER_HEIGHT - 14] }));
    const stray = AXIS + used.length * TRANSFER_HEIGHT + 14;
    const at = (item, node) => {
      if (item.transfer === null) return stray;
      return row.get(item.transfer) + (node === run.transfers[item.transfer].node ? 14 : TRANSFER_HEIGHT - 14);
    };
    const strays = shown.some((item) => item.transfer === null);
    if (strays) lanes.push({ name: "no transfer", lines: [stray] });
    return { height: AXIS + used.length * TRANSFER_HEIGHT + (strays ? 28 : 8), at };
  }

  function step(range) {
    const rough = range / 8;
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  }

  function drawAxis(height) {
    const every = Math.max(1, step(state.to - state.from));
    for (let cycle = Math.ceil(state.from / every) * every; cycle <= state.to; cycle += every) {
      const x = xOf(cycle);
      draw(chart, "line", { class: "grid", x1: x, x2: x, y1: AXIS - 6, y2: height });
      draw(chart, "text", { x, y: 14, "text-anchor": "middle" }, number(cycle));
    }
    draw(chart, "text", { x: 8, y: 14 }, "cycle");
  }

  function drawLanes() {
    for (const lane of lanes) {
      for (const y of lane.lines) draw(chart, "line", { class: "lane", x1: GUTTER, x2: width, y1: y, y2: y });
      if (!lane.transfer) continue;
      const { posted, completed: over } = lane.transfer;
      draw(chart, "line", { class: "span", x1: xOf(posted), x2: xOf(over ?? whole.to), y1: lane.lines[0], y2: lane.lines[0] });
    }
  }

  /** Over what has been moved to the left of the picture. */
  function drawNames(height) {
    draw(chart, "rect", { class: "gutter", x: 0, y: AXIS - 8, width: GUTTER - 8, height });
    for (const lane of lanes) {
      draw(chart, "text", { class: "name", x: 8, y: lane.lines[0] + 4 }, lane.name);
      if (lane.transfer) {
        draw(chart, "text", { x: 8, y: lane.lines[0] + 19 }, `${number(lane.transfer.bytes)} bytes`);
        draw(chart, "text", { x: 8, y: lane.lines[1] + 4 }, lane.transfer.status === null ? "no completion" : `${lane.transfer.status}, ${number(lane.transfer.completed - lane.transfer.posted)} cycles`);
      }
    }
  }

  function drawMark(group, item, at) {
    const node = item.from;
    const [x, y] = [xOf(item.start), at(item, node)];
    if (item.type === "post") triangle(group, x, y);
    else if (item.type === "completion") completed(group, x, y, item.results[0] === "OK");
    else timer(group, x, y);
    draw(group, "path", { class: "hit", d: `M${x - 4} ${y}h8` });
  }

  function drawLine(group, kind, from, to) {
    const d = `M${from[0].toFixed(1)} ${from[1]}L${to[0].toFixed(1)} ${to[1]}`;
    draw(group, "path", { class: kind, d });
    draw(group, "path", { class: "hit", d });
  }

  function drawPacket(group, item, at) {
    const y = [at(item, item.from), at(item, item.to)];
    const left = item.left ?? item.start;
    const start = [xOf(left), y[0]];
    if (item === state.chosen && item.ordered && item.left !== null) {
      draw(group, "path", { class: "way", d: `M${xOf(item.ordered[0])} ${y[0]}H${start[0]}` });
      draw(group, "circle", { cx: xOf(item.ordered[0]), cy: y[0], r: 3 });
    }
    if (item.left === null) {
      draw(group, "circle", { cx: start[0], cy: start[1], r: 3 });
      draw(group, "path", { class: "hit", d: `M${start[0] - 4} ${start[1]}h8` });
      return;
    }
    item.arrivals.forEach(([cycle, outcome], place) => {
      const end = [xOf(cycle), y[1]];
      const copy = place > 0 || item.lost ? "copy" : "";
      drawLine(group, `${copy} ${isDropped(outcome) ? "dropped" : ""}`, start, end);
      if (isDropped(outcome)) diamond(group, ...end);
    });
    if (item.lost || item.arrivals.length === 0) {
      const end = [xOf(left + usualFlight * LOST_WAY), y[0] + (y[1] - y[0]) * LOST_WAY];
      drawLine(group, "lost", start, end);
      cross(group, ...end);
    }
    draw(group, "circle", { class: "dot", cx: start[0], cy: start[1], r: 1.8 });
  }

  function classesOf(item) {
    const classes = ["item"];
    if (item.type === "DATA") classes.push("data");
    if (item.again) classes.push("again");
    if (item === state.chosen) classes.push("chosen");
    return classes.join(" ");
  }

  function render(shown) {
    width = frame.clientWidth;
    if (width === 0) return;
    const { height, at } = lay(shown);
    chart.replaceChildren();
    chart.setAttribute("height", height);
    chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawAxis(height);
    drawLanes();
    const layer = draw(chart, "g");
    const inFront = [...shown].sort((one, other) => inTrouble(one) - inTrouble(other) || (one === state.chosen) - (other === state.chosen));
    for (const item of inFront) {
      const group = draw(layer, "g", { class: classesOf(item), "data-item": item.index });
      if (isPacket(item)) drawPacket(group, item, at);
      else drawMark(group, item, at);
    }
    drawNames(height);
    renderStrip();
  }

  // ---- the strip: the whole run ----

  const STRIP_HEIGHT = 38;

  function stripX(cycle) {
    return GUTTER + ((cycle - everything.from) / (everything.to - everything.from)) * (width - GUTTER - RIGHT);
  }

  function renderStrip() {
    strip.replaceChildren();
    strip.setAttribute("viewBox", `0 0 ${width} ${STRIP_HEIGHT}`);
    const bins = Math.max(1, Math.floor((width - GUTTER - RIGHT) / 4));
    const size = (everything.to - everything.from) / bins;
    const sent = new Array(bins).fill(0);
    const packets = items.filter((item) => isPacket(item) && isShown(item));
    for (const item of packets) sent[Math.floor((item.start - everything.from) / size)] += 1;
    const most = Math.max(1, ...sent);
    sent.forEach((value, bin) => {
      if (value) draw(strip, "rect", { class: "sent", x: GUTTER + bin * 4, width: 3, y: 34 - (26 * value) / most, height: (26 * value) / most });
    });
    for (const item of packets.filter(inTrouble)) draw(strip, "rect", { class: "trouble", x: stripX(item.left) - 0.5, width: 1.5, y: 2, height: 5 });
    draw(strip, "rect", { class: "view", x: stripX(state.from), width: Math.max(2, stripX(state.to) - stripX(state.from)), y: 0.5, height: STRIP_HEIGHT - 1 });
  }

  let brush = null;

  function stripCycle(event) {
    const x = event.clientX - strip.getBoundingClientRect().left;
    return everything.from + ((x - GUTTER) / (width - GUTTER - RIGHT)) * (everything.to - everything.from);
  }

  strip.addEventListener("pointerdown", (event) => { brush = stripCycle(event); strip.setPointerCapture(event.pointerId); });
  strip.addEventListener("pointermove", (event) => {
    if (brush === null) return;
    const other = stripCycle(event);
    if (Math.abs(other - brush) >= SHORTEST) setRange(Math.min(brush, other), Math.max(brush, other));
  });
  strip.addEventListener("pointerup", (event) => {
    const other = stripCycle(event);
    const half = (state.to - state.from) / 2;
    if (brush !== null && Math.abs(other - brush) < SHORTEST) setRange(other - half, other + half);
    brush = null;
  });

  // ---- zoom and pan ----

  function setRange(from, to) {
    const size = Math.min(Math.max(to - from, SHORTEST), everything.to - everything.from);
    state.from = Math.min(Math.max(from, everything.from), everything.to - size);
    state.to = state.from + size;
    render(items.filter(isShown));
  }

  function zoom(factor, around = (state.from + state.to) / 2) {
    setRange(around - (around - state.from) * factor, around + (state.to - around) * factor);
  }

  function pan(part) {
    const by = (state.to - state.from) * part;
    setRange(state.from + by, state.to + by);
  }

  let drag = null;

  function chartX(event) {
    return event.clientX - chart.getBoundingClientRect().left;
  }

  chart.addEventListener("pointerdown", (event) => { drag = { x: chartX(event), from: state.from, to: state.to, moved: false }; });
  chart.addEventListener("pointermove", (event) => {
    hover(event);
    if (!drag || event.buttons === 0) return;
    const by = ((drag.x - chartX(event)) / (width - GUTTER - RIGHT)) * (drag.to - drag.from);
    if (!drag.moved && Math.abs(drag.x - chartX(event)) < 4) return;
    if (!drag.moved) chart.setPointerCapture(event.pointerId);
    drag.moved = true;
    setRange(drag.from + by, drag.to + by);
  });
  chart.addEventListener("pointerup", (event) => {
    const moved = drag?.moved;
    drag = null;
    const item = itemAt(event);
    if (!moved && item) choose(item, false);
  });
  chart.addEventListener("pointerleave", () => { tip.hidden = true; });
  chart.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, cycleAt(chartX(event)));
  }, { passive: false });

  chart.addEventListener("keydown", (event) => {
    const acts = {
      ArrowLeft: () => (event.shiftKey ? pan(-KEY_STEP) : next(-1)), ArrowRight: () => (event.shiftKey ? pan(KEY_STEP) : next(1)),
      Home: () => first(1), End: () => first(-1), "+": () => zoom(0.5, focusCycle()), "=": () => zoom(0.5, focusCycle()), "-": () => zoom(2, focusCycle()),
      0: () => setRange(everything.from, everything.to), Escape: () => choose(null),
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  });

  function focusCycle() {
    return state.chosen && isShown(state.chosen) ? state.chosen.start : (state.from + state.to) / 2;
  }

  // ---- what is pointed at, what is chosen ----

  function itemAt(event) {
    const group = document.elementFromPoint(event.clientX, event.clientY)?.closest(".chart .item");
    return group ? items[Number(group.dataset.item)] : null;
  }

  function hover(event) {
    const item = drag?.moved ? null : itemAt(event);
    tip.hidden = !item;
    if (!item) return;
    const lines = [`${nameOf(item)}${item.again ? ", again" : ""}   ${transferName(item.transfer)}`];
    if (isPacket(item)) {
      lines.push(`left ${item.left === null ? "never" : number(item.left)}${item.arrivals.map(([cycle, outcome]) => `, ${number(cycle)} ${outcome}`).join("")}`);
      if (fateOf(item)) lines.push(fateOf(item));
    } else {
      lines.push(`${number(item.start)} ${item.results[0]}`);
    }
    tip.textContent = lines.join("\n");
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 260)}px`;
    tip.style.top = `${event.clientY + 16}px`;
  }

  /** Chooses the event before or after the chosen one, among those shown. */
  function next(by) {
    const shown = items.filter(isShown);
    if (shown.length === 0) return;
    const at = shown.indexOf(state.chosen);
    choose(at < 0 ? shown.find((item) => item.start >= state.from) || shown[0] : shown[Math.min(Math.max(at + by, 0), shown.length - 1)]);
  }

  function first(from) {
    const shown = items.filter(isShown);
    if (shown.length) choose(shown.at(from > 0 ? 0 : -1));
  }

  /** @param follow moves picture and table to it */
  function choose(item, follow = true) {
    state.chosen = item;
    tellDetails();
    if (item && follow && (item.start < state.from || item.start > state.to)) {
      const half = (state.to - state.from) / 2;
      setRange(item.start - half, item.start + half);
    } else {
      render(items.filter(isShown));
    }
    for (const row of box.querySelectorAll("tr[aria-selected]")) row.removeAttribute("aria-selected");
    const row = item && box.querySelector(`tr[data-item="${item.index}"]`);
    if (!row) return;
    row.setAttribute("aria-selected", "true");
    const head = box.querySelector("thead").offsetHeight;
    if (row.offsetTop < box.scrollTop + head || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }

  function tellDetails() {
    const item = state.chosen;
    details.replaceChildren();
    if (!item) {
      add(details, "p", { class: "hint" }, "Choose an event in the picture or in the table.");
      return;
    }
    add(details, "h3", {}, nameOf(item) + (item.again ? ", sent again" : ""));
    const path = add(details, "dl", { class: "path" });
    const tell = (name, value) => { add(path, "dt", {}, name); add(path, "dd", {}, value); };
    tell("transfer", transferName(item.transfer));
    if (isPacket(item)) {
      const transfer = item.transfer === null ? null : run.transfers[item.transfer];
      tell("from, to", `node ${item.from} → node ${item.to}`);
      if (transfer) tell("posted", number(transfer.posted));
      tell("ordered", item.ordered ? `${number(item.ordered[0])} by ${item.ordered[1]}` : "–");
      tell("left", item.left === null ? "never" : number(item.left));
      if (fateOf(item)) tell("network", fateOf(item));
      item.arrivals.forEach(([cycle, outcome], place) => tell(place > 0 || item.lost ? "copy arrived" : "arrived", `${number(cycle)}: ${outcome}`));
      if (transfer) tell("completion", transfer.completed === null ? "none" : `${number(transfer.completed)}: ${transfer.status}`);
    } else {
      tell("node", item.from);
      tell("cycle", number(item.start));
      tell("outcome", item.results[0]);
    }
    for (const [name, value] of Object.entries(item.header)) tell(name, value);
    if (item.transfer !== null && state.transfer === "all") {
      add(details, "button", { type: "button" }, "only this transfer").addEventListener("click", () => {
        document.getElementById("transfer").value = item.transfer;
        state.transfer = String(item.transfer);
        update();
      });
    }
  }

  // ---- the table ----

  const HEAD = [["event", ""], ["transfer", ""], ["way", ""], ["PIDX", "n"], ["ordered", "n"], ["by", ""], ["left", "n"], ["arrived", "n"], ["outcome", ""], ["network", ""]];

  function cellsOf(item) {
    if (!isPacket(item)) return [item.type, transferName(item.transfer), `at ${item.from}`, "", "", "", "", number(item.start), item.results.join(", "), ""];
    return [item.type + (item.again ? ", again" : ""), transferName(item.transfer), `${item.from} → ${item.to}`, isNumbered(item) ? item.header.pidx : "",
      item.ordered ? number(item.ordered[0]) : "", item.ordered ? item.ordered[1] : "", item.left === null ? "" : number(item.left),
      item.arrivals.map(([cycle]) => number(cycle)).join(", "), item.results.join(", "), fateOf(item)];
  }

  function tabulate(shown) {
    box.replaceChildren();
    const table = add(box, "table", { id: "events" });
    const head = add(add(table, "thead"), "tr");
    for (const [name, kind] of HEAD) add(head, "th", { class: kind, scope: "col" }, name);
    const body = add(table, "tbody");
    for (const item of shown) {
      const row = add(body, "tr", { "data-item": item.index });
      if (item === state.chosen) row.setAttribute("aria-selected", "true");
      cellsOf(item).forEach((text, place) => {
        const cell = add(row, "td", { class: HEAD[place][1] }, text);
        if (HEAD[place][0] === "outcome" && inTrouble(item)) cell.classList.add("bad");
      });
    }
  }

  box.addEventListener("click", (event) => {
    const row = event.target.closest("tbody tr");
    if (row) choose(items[Number(row.dataset.item)]);
  });
  box.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    next(by);
  });

  function update() {
    const shown = items.filter(isShown);
    count.textContent = `${number(shown.length)} of ${number(items.length)} events shown`;
    tabulate(shown);
    tellDetails();
    render(shown);
  }

  app.hidden = false;
  update();
  app.closest("section").addEventListener("shown", () => render(items.filter(isShown)));
  window.addEventListener("resize", () => render(items.filter(isShown)));
})();

// SPDX-License-Identifier: Apache-2.0
// Shows one page of the report at a time; sorts and filters the rows of its tables.
"use strict";

(() => {
  const sections = [...document.querySelectorAll("section.page")];
  const links = [...document.querySelectorAll("nav a")];

  /** The page that an address means, and the place in it. */
  function wanted() {
    const id = decodeURIComponent(location.hash.slice(1));
    const place = id && document.getElementById(id);
    const section = place ? place.closest("section.page") : null;
    return { section: section || sections[0], place };
  }

  function show() {
    const { section, place } = wanted();
    for (const each of sections) each.hidden = each !== section;
    for (const link of links) {
      if (link.hash === `#${section.id}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${section.querySelector("h2").textContent} · weft report`;
    if (place && place !== section) place.scrollIntoView();
    else window.scrollTo(0, 0);
    section.dispatchEvent(new Event("shown"));
  }

  /** What a cell is sorted by: its number if it begins with one. */
  function key(row, column) {
    const text = row.cells[column].textContent.trim();
    const number = parseFloat(text.replace(/,/g, ""));
    return Number.isNaN(number) ? text : number;
  }

  function compare(one, other) {
    if (typeof one === typeof other) return typeof one === "number" ? one - other : one.localeCompare(other);
    return typeof one === "number" ? -1 : 1;
  }

  function sortBy(table, head) {
    const column = head.cellIndex;
    const falling = head.getAttribute("aria-sort") === "ascending";
    for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows].sort((one, other) => compare(key(one, column), key(other, column)));
    table.tBodies[0].append(...(falling ? rows.reverse() : rows));
  }

  function makeSortable(table) {
    if (!table.tHead || table.tBodies.length === 0) return;
    for (const head of table.tHead.rows[0].cells) {
      head.tabIndex = 0;
      head.addEventListener("click", () => sortBy(table, head));
      head.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        sortBy(table, head);
      });
    }
  }

  /** A field above a large table that leaves the rows with some text. */
  function addFilter(box) {
    const rows = [...box.querySelectorAll("tbody tr")];
    const line = document.createElement("p");
    const field = document.createElement("input");
    const count = document.createElement("span");
    line.className = "rows";
    field.type = "search";
    field.placeholder = "rows with …";
    field.setAttribute("aria-label", "Show rows that have this text");
    const tell = () => {
      const text = field.value.toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = text !== "" && !row.textContent.toLowerCase().includes(text);
        if (!row.hidden) shown += 1;
      }
      count.textContent = ` ${shown} of ${rows.length} rows`;
    };
    field.addEventListener("input", tell);
    line.append(field, count);
    box.before(line);
    tell();
  }

  /** In a narrow window the list of pages is shown only when asked for. */
  const menu = document.querySelector(".menu");
  function openMenu(open) {
    menu.parentElement.classList.toggle("open", open);
    menu.setAttribute("aria-expanded", open);
  }
  menu.addEventListener("click", () => openMenu(menu.getAttribute("aria-expanded") !== "true"));

  for (const table of document.querySelectorAll("section table")) makeSortable(table);
  for (const box of document.querySelectorAll(".table.large")) addFilter(box);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("content").focus();
  });
  window.addEventListener("hashchange", () => {
    openMenu(false);
    show();
    document.getElementById("content").focus({ preventScroll: true });
  });
  document.addEventListener("DOMContentLoaded", show);
})();

// The list of pairs: filters, search, pages; confirm, reject, or choose another partner.
import { request } from "./api.js";
import { announce, count, h, iconButton, toast } from "./dom.js";
import { mix } from "./match-colours.js";

const PAGE = 25;
const FILTERS = [["all", "All"], ["uncertain", "Below 80%"], ["changed", "Changed"], ["confirmed", "Confirmed"], ["rejected", "Rejected"], ["alone", "Without partner"]];
const ORDERS = [["uncertain", "uncertain first"], ["sure", "sure first"], ["row", "as in the file"], ["name", "by name"]];
const percent = (share) => `${Math.round(100 * share)}%`;

function meter(share) {
  const bar = h("span", { class: "bar-fill" });
  bar.style.width = percent(share);
  bar.style.background = mix(share);
  return h("span", { class: "meter" }, h("span", { class: "track", "aria-hidden": "true" }, bar), h("span", { class: "share" }, percent(share)));
}

function thing(name, cells, columns, className) {
  const text = cells.map((cell, k) => (columns[k] === undefined ? cell : `${columns[k]} ${cell}`)).join(" · ");
  return h("div", { class: `thing ${className}` }, h("span", { class: "name", title: name }, name), text ? h("span", { class: "cells", title: text }, text) : null);
}

export function createPairs(client, { point }) {
  const state = { show: "all", order: "uncertain", search: "", only: null, offset: 0 };
  const opened = new Set();
  let shown = null, total = 0, loading = 0, timer = null;
  const filters = FILTERS.map(([key, label]) => h("button", { type: "button", "aria-pressed": "false", dataset: { show: key }, onclick: () => go({ show: key, offset: 0, only: null }) }, label));
  const order = h("select", { "aria-label": "Order", onchange: () => go({ order: order.value, offset: 0 }) }, ORDERS.map(([value, text]) => h("option", { value }, text)));
  const search = h("input", { type: "search", placeholder: "Search by name", "aria-label": "Search by name", maxlength: "200", oninput: () => { clearTimeout(timer); timer = setTimeout(() => go({ search: search.value, offset: 0, only: null }), 150); } });
  const only = h("button", { type: "button", class: "chip", hidden: true, onclick: () => go({ only: null, offset: 0 }) });
  const list = h("ol", { class: "pairs", "aria-label": "Pairs" });
  const before = h("button", { type: "button", onclick: () => go({ offset: Math.max(0, state.offset - PAGE) }, true) }, "Previous");
  const after = h("button", { type: "button", onclick: () => go({ offset: state.offset + PAGE }, true) }, "Next");
  const place = h("span", { class: "muted small" });
  const element = h("section", { class: "panel list", hidden: true, "aria-label": "Pairs" },
    h("div", { class: "head" }, h("h2", {}, "Pairs"), h("span", { class: "muted small keys" }, "Keys: ↑ ↓ move, C confirm, R reject, O others")),
    h("div", { class: "tools" }, h("div", { class: "row filters", role: "group", "aria-label": "Show" }, filters, only), h("div", { class: "row" }, search, order)),
    list, h("div", { class: "row pages" }, before, place, after));

  const judge = async (x, y, as, words) => {
    try {
      await client.act({ type: "judge", x, y, as });
      announce(words);
    } catch (error) {
      toast(error.message, { bad: true });
    }
  };

  /** Two buttons that confirm and reject a pair, each also taking itself back. */
  const buttons = (row, candidate, words) => {
    const name = `${row.name} and ${candidate.name}`;
    const yes = candidate.judged === "confirmed", no = candidate.judged === "rejected";
    return [
      iconButton("check", `${yes ? "Take back" : words.yes}: ${name}`, () => judge(row.row, candidate.row, yes ? "open" : "confirmed", yes ? "Taken back." : `Confirmed: ${name}.`), { class: "confirm", "aria-pressed": String(yes), dataset: { do: `yes-${candidate.row}` } }),
      iconButton("close", `${no ? "Take back" : "Reject"}: ${name}`, () => judge(row.row, candidate.row, no ? "open" : "rejected", no ? "Taken back." : `Rejected: ${name}.`), { class: "reject", "aria-pressed": String(no), dataset: { do: `no-${candidate.row}` } }),
    ];
  };

  const toggle = (row) => { if (!opened.delete(row.row)) opened.add(row.row); load(); };

  const others = (row, columns) => h("ul", { class: "candidates", "aria-label": `Candidates for ${row.name}` },
    row.candidates.map((candidate) => h("li", { class: candidate.judged }, meter(candidate.probability), thing(candidate.name, candidate.cells, columns[1], "y"),
      h("span", { class: "buttons" }, buttons(row, candidate, { yes: "Choose" })))));

  const draw = (row, columns) => {
    const { partner } = row;
    const state = row.chosen ? "chosen" : partner?.judged ?? "alone";
    const notes = [
      state === "confirmed" ? h("span", { class: "tag good" }, "confirmed") : null,
      row.chosen ? h("span", { class: "tag good" }, `you chose ${row.chosen.name}`) : null,
      partner?.judged === "rejected" ? h("span", { class: "tag bad" }, "rejected") : null,
      row.before === null ? null : h("span", { class: "tag" }, row.before ? `was ${row.before}` : "had no partner"),
    ];
    const expand = row.candidates.length ? h("button", { type: "button", class: "quiet others", "aria-expanded": String(opened.has(row.row)), dataset: { do: "others" }, "aria-label": `Other partners for ${row.name}`, onclick: () => toggle(row) }, "Others") : null;
    const item = h("li", { class: `item ${state}`, tabindex: "-1", dataset: { row: row.row } },
      h("div", { class: "line" }, thing(row.name, row.cells, columns[0], "x"), h("span", { class: "join", "aria-hidden": "true" }),
        partner ? thing(partner.name, partner.cells, columns[1], "y") : h("div", { class: "thing y" }, h("span", { class: "muted" }, "no partner")),
        h("span", { class: "sure" }, row.confidence === null || !partner ? null : meter(row.confidence), h("span", { class: "tags" }, notes)),
        h("span", { class: "buttons" }, partner ? buttons(row, partner, { yes: "Confirm" }) : null, expand)),
      opened.has(row.row) ? others(row, columns) : null);
    item.addEventListener("pointerenter", () => point(row.row));
    item.addEventListener("focusin", () => point(row.row));
    item.addEventListener("keydown", (event) => keys(event, row, item));
    return item;
  };

  const keys = (event, row, item) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const act = { c: ".line .confirm", r: ".line .reject", o: ".line .others" }[event.key.toLowerCase()];
    if (step) { event.preventDefault(); focusItem(item[step] ?? item); }
    else if (act) { event.preventDefault(); item.querySelector(act)?.click(); }
  };

  const focusItem = (item) => {
    for (const each of list.children) each.tabIndex = each === item ? 0 : -1;
    item.focus();
  };

  /** Remember what has the focus, and give it back after the list was drawn anew. */
  const keepFocus = () => {
    const active = document.activeElement, item = active?.closest?.(".pairs > li");
    if (!item) return () => {};
    const { row } = item.dataset, index = [...list.children].indexOf(item), button = active.dataset.do;
    return () => {
      const same = list.querySelector(`li[data-row="${row}"]`);
      const target = same ?? list.children[Math.min(index, list.children.length - 1)];
      if (!target) return;
      focusItem(target);
      if (same && button) (same.querySelector(`[data-do="${button}"]`) ?? same).focus();
    };
  };

  const load = async (scroll = false) => {
    const { answer } = client.view.document;
    if (!answer) return;
    const number = ++loading;
    const query = new URLSearchParams({ show: state.show, order: state.order, search: state.search, offset: state.offset, limit: PAGE });
    if (state.only !== null) query.set("only", state.only);
    let page;
    try {
      page = await request("GET", `${client.address(`results/${answer.id}/pairs`)}?${query}`);
    } catch (error) {
      toast(error.message, { bad: true });
      return;
    }
    if (number !== loading) return; // an older question
    if (state.offset && state.offset >= page.total) return go({ offset: Math.max(0, PAGE * (Math.ceil(page.total / PAGE) - 1)) });
    total = page.total;
    const restore = keepFocus();
    list.replaceChildren(...page.rows.map((row) => draw(row, page.columns)));
    if (list.firstElementChild) list.firstElementChild.tabIndex = 0;
    else list.append(h("li", { class: "muted nothing" }, "No such pairs."));
    for (const button of filters) {
      const key = button.dataset.show, n = page.counts[key];
      button.textContent = `${FILTERS.find(([name]) => name === key)[1]} ${n.toLocaleString("en")}`;
      button.setAttribute("aria-pressed", String(state.show === key && state.only === null));
      button.hidden = !n && key !== state.show && key !== "all";
    }
    only.hidden = state.only === null;
    only.textContent = state.only === null ? "" : `Only ${page.rows[0]?.name ?? "one"} ✕`;
    const last = Math.min(state.offset + PAGE, total);
    place.textContent = total ? `${(state.offset + 1).toLocaleString("en")}–${last.toLocaleString("en")} of ${total.toLocaleString("en")}` : "";
    before.disabled = !state.offset;
    after.disabled = last >= total;
    before.parentElement.hidden = total <= PAGE;
    restore();
    if (scroll) { element.scrollIntoView({ block: "start" }); announce(`${count(total, "pair")}, ${place.textContent}`); }
    return undefined;
  };

  const go = (change, scroll = false) => { Object.assign(state, change); order.value = state.order; return load(scroll); };
  const bring = () => element.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  return {
    element,
    filter(show) { go({ show, only: null, offset: 0, search: (search.value = "") }).then(bring); },
    showOnly(row) { go({ only: row, show: "all", offset: 0, search: (search.value = "") }).then(bring); },
    update(view) {
      const { answer, anchors, forbidden } = view.document;
      element.hidden = !answer;
      const key = answer && JSON.stringify([answer.id, anchors, forbidden]);
      if (!answer || key === shown) { shown = key; return; }
      if (shown === null || JSON.parse(shown)[0] !== answer.id) {
        Object.assign(state, { offset: 0, only: null });
        if (state.show === "changed" && !answer.changed) state.show = "all";
        if (!answer.histogram.length) state.order = "row";
      }
      shown = key;
      order.value = state.order;
      load();
    },
  };
}

// The frame chooser: which cells the photos fill, with a picture of them for the present number of photos.
import { request } from "./api.js";
import { announce, count, h, toast } from "./dom.js";

const KINDS = [["auto", "Rectangle"], ["grid", "Grid"], ["shape", "Shape"], ["text", "Text"], ["paper", "Drawing"], ["mask", "Picture"], ["cells", "Paint"]];
const SHAPES = ["heart", "circle", "ring", "star", "smiley"];
const DRAWINGS = ["mountain", "smiley", "777"];

const select = (values, label) => h("select", { "aria-label": label }, values.map((value) => h("option", { value }, value)));
const number = (label, value, max) => h("input", { type: "number", min: "1", max: String(max), value: String(value), "aria-label": label });

/** Make the chooser; `choose(frame)` is called with a description when a frame is taken. */
export function frameChooser(client, choose) {
  let kind = "auto", mask = null, wanted = 0, timer = 0, cells = [];
  const canvas = h("canvas", { class: "frame-preview", width: 280, height: 180, role: "img", "aria-label": "The frame" });
  const words = h("p", { class: "small muted frame-words" });
  const aspect = h("input", { type: "range", min: "-1", max: "1", step: "any", value: String(Math.log10(1.5)), "aria-label": "Width over height" });
  const rows = number("Rows", 16, 1000), columns = number("Columns", 20, 1000);
  const shape = select(SHAPES, "Shape"), drawing = select(DRAWINGS, "Drawing");
  const text = h("input", { type: "text", maxlength: "24", value: "2026", "aria-label": "Text", placeholder: "A word or a number" });
  const paint = painter(() => show());
  const picture = h("input", { type: "file", accept: "image/*", "aria-label": "Picture whose dark part becomes the frame" });
  const bodies = {
    auto: h("label", { class: "field" }, h("span", {}, "Narrow to wide"), aspect),
    grid: h("div", { class: "row frame-grid" }, h("label", { class: "field" }, h("span", {}, "Rows"), rows), h("label", { class: "field" }, h("span", {}, "Columns"), columns)),
    shape: h("label", { class: "field" }, h("span", {}, "Shape"), shape),
    text: h("label", { class: "field" }, h("span", {}, "Letters"), text),
    paper: h("label", { class: "field" }, h("span", {}, "The paper's drawings"), drawing),
    mask: h("label", { class: "field" }, h("span", {}, "Its dark part becomes the frame"), picture),
    cells: paint.element,
  };
  const options = KINDS.map(([value, label]) => {
    const input = h("input", { type: "radio", name: "frame-kind", value, onchange: () => pick(value) });
    return h("label", { class: "choice" }, input, h("span", {}, label));
  });
  const use = h("button", { type: "button", class: "primary", onclick: () => { const frame = describe(); if (frame) choose(frame); } }, "Use this frame");
  const element = h("div", { class: "frame" },
    h("div", { class: "choices", role: "radiogroup", "aria-label": "Kind of frame" }, options),
    Object.values(bodies), canvas, words, use);

  function describe() {
    if (kind === "auto") return { kind, aspect: Math.round(10 ** Number(aspect.value) * 100) / 100 };
    if (kind === "grid") return { kind, rows: Math.max(Math.round(Number(rows.value)) || 1, 1), columns: Math.max(Math.round(Number(columns.value)) || 1, 1) };
    if (kind === "shape") return { kind, name: shape.value };
    if (kind === "text") return text.value.trim() ? { kind, text: text.value.trim() } : null;
    if (kind === "paper") return { kind, name: drawing.value };
    if (kind === "mask") return mask ? { kind, file: mask } : null;
    return paint.lines().some((line) => line.includes("#")) ? { kind, lines: paint.lines() } : null;
  }

  function pick(value) {
    kind = value;
    for (const [name, body] of Object.entries(bodies)) body.hidden = name !== value;
    canvas.hidden = value === "cells";
    options.forEach((option, i) => { option.firstChild.checked = KINDS[i][0] === value; });
    if (value === "cells") paint.begin(client.view.document.cells, client.view.document.photos.length);
    show();
  }

  /** Ask for the cells a moment after the last change. */
  function show() {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const frame = describe(), mine = ++wanted, album = client.view.document;
      const present = frame && JSON.stringify(frame) === JSON.stringify(album.frame); // no need to ask
      if (present && album.photos.length && !album.arranged) { // its cells come with the arrangement
        use.disabled = true;
        words.textContent = "";
        return;
      }
      use.disabled = !frame || !album.photos.length || present;
      if (!frame) { cells = []; tell(kind === "mask" ? "Choose a picture." : kind === "text" ? "Write something." : "Paint at least one cell."); return; }
      try {
        const found = present ? album.cells : kind === "cells" ? painted(frame.lines) : (await request("POST", client.address("frame"), { frame })).cells;
        if (mine !== wanted) return;
        cells = found;
        tell();
      } catch (error) {
        if (mine !== wanted) return;
        cells = [];
        use.disabled = true;
        tell(error.message);
      }
    }, 160);
  }

  function tell(problem = "") {
    const photos = client.view.document.photos.length, spare = cells.length - photos;
    words.textContent = problem || (photos === 0 ? "Add photos first." : spare === 0 ? `${count(photos, "photo")} fit exactly.`
      : spare > 0 ? `${count(cells.length, "cell")} for ${count(photos, "photo")}: ${spare} stay empty.`
        : `${count(cells.length, "cell")} for ${count(photos, "photo")}: ${-spare} are left out.`);
    drawCells(canvas, cells);
    canvas.setAttribute("aria-label", `The frame: ${words.textContent}`);
  }

  for (const input of [aspect, rows, columns, shape, text, drawing]) input.addEventListener("input", show);
  picture.addEventListener("change", async () => {
    const { added, refused } = await client.upload([...picture.files].slice(0, 1), "mask");
    for (const problem of refused) toast(problem.reason, { bad: true });
    mask = added[0]?.id ?? mask;
    show();
  });
  document.addEventListener("theme", () => drawCells(canvas, cells));

  let known = "", amount = -1;
  const update = (frame) => { // what the album has now, unless somebody is choosing
    const now = JSON.stringify(frame), photos = client.view.document.photos.length + Number(client.view.document.arranged) / 2;
    if (now === known && amount === photos) return;
    const changed = now !== known;
    known = now; amount = photos;
    if (changed) {
      if (frame.kind === "auto") aspect.value = String(Math.log10(frame.aspect));
      if (frame.kind === "grid") { rows.value = frame.rows; columns.value = frame.columns; }
      if (frame.kind === "shape") shape.value = frame.name;
      if (frame.kind === "text") text.value = frame.text;
      if (frame.kind === "paper") drawing.value = frame.name;
      if (frame.kind === "mask") mask = frame.file;
      if (frame.kind === "cells") paint.set(frame.lines);
      pick(frame.kind);
    } else show();
  };
  return { element, update };
}

const painted = (lines) => lines.flatMap((line, row) => [...line].flatMap((mark, column) => (mark === "#" ? [[row, column]] : [])));

function drawCells(canvas, cells) {
  const ratio = devicePixelRatio || 1, wide = 280, high = 180;
  canvas.width = wide * ratio; canvas.height = high * ratio;
  const c = canvas.getContext("2d"), read = getComputedStyle(document.documentElement);
  c.scale(ratio, ratio);
  if (!cells.length) return;
  const tops = cells.map(([row]) => row), lefts = cells.map(([, column]) => column);
  const top = Math.min(...tops), left = Math.min(...lefts), down = Math.max(...tops) - top + 1, across = Math.max(...lefts) - left + 1;
  const side = Math.min((wide - 16) / across, (high - 16) / down, 26), gap = side > 4 ? Math.max(side * 0.12, 0.6) : 0;
  const x = (wide - side * across) / 2, y = (high - side * down) / 2;
  c.fillStyle = read.getPropertyValue("--accent").trim();
  for (const [row, column] of cells) c.fillRect(x + (column - left) * side, y + (row - top) * side, side - gap, side - gap);
}

const FIELDS = [16, 24, 32, 48, 64, 80, 100]; // cells of a side; the studio takes no more than the last
const ROOM = 2; // cells of the field for each photo, so that there is a shape to paint

/** A field of cells that are painted by pointer or keyboard. */
function painter(changed) {
  let size = FIELDS[0], grid = [], stroke = null, at = [0, 0], begun = false, focused = false;
  const canvas = h("canvas", { class: "painter", width: 288, height: 288, tabindex: "0", role: "application", "aria-label": "Field to paint cells: arrow keys move, Space paints or clears a cell, held Shift paints along" });
  const clear = h("button", { type: "button", onclick: () => { grid = blank(); changed(); draw(); } }, "Clear");
  const fill = h("button", { type: "button", onclick: () => { grid = blank().map((line) => line.map(() => true)); changed(); draw(); } }, "Fill");
  const element = h("div", { class: "paint" }, canvas, h("div", { class: "row" }, clear, fill, h("span", { class: "small muted" }, "Drag to paint; drag from a cell to clear.")));
  const blank = () => Array.from({ length: size }, () => Array(size).fill(false));
  grid = blank();

  function draw() {
    const ratio = devicePixelRatio || 1, side = 288 / size, gap = side > 4 ? 1 : 0.5, read = getComputedStyle(document.documentElement);
    const [full, empty] = ["--accent", "--sunken"].map((name) => read.getPropertyValue(name).trim());
    canvas.width = canvas.height = 288 * ratio;
    const c = canvas.getContext("2d");
    c.scale(ratio, ratio);
    for (let row = 0; row < size; row++) for (let column = 0; column < size; column++) {
      c.fillStyle = grid[row][column] ? full : empty;
      c.fillRect(column * side + gap / 2, row * side + gap / 2, side - gap, side - gap);
    }
    if (focused) { c.strokeStyle = read.getPropertyValue("--text").trim(); c.lineWidth = 2; c.strokeRect(at[1] * side, at[0] * side, side, side); }
  }

  const find = (event) => {
    const box = canvas.getBoundingClientRect();
    return [Math.floor((event.clientY - box.top) / box.height * size), Math.floor((event.clientX - box.left) / box.width * size)];
  };
  const put = ([row, column], value) => { if (grid[row]?.[column] !== undefined && grid[row][column] !== value) { grid[row][column] = value; draw(); changed(); } };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    at = find(event);
    stroke = { value: !grid[at[0]]?.[at[1]], last: at };
    put(at, stroke.value);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!stroke) return;
    const next = find(event), n = Math.max(Math.abs(next[0] - stroke.last[0]), Math.abs(next[1] - stroke.last[1]), 1);
    for (let i = 1; i <= n; i++) put([Math.round(stroke.last[0] + (next[0] - stroke.last[0]) * i / n), Math.round(stroke.last[1] + (next[1] - stroke.last[1]) * i / n)], stroke.value);
    stroke.last = next;
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { stroke = null; });
  canvas.addEventListener("focus", () => { focused = canvas.matches(":focus-visible"); draw(); });
  canvas.addEventListener("blur", () => { focused = false; draw(); });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step && event.key !== " ") return;
    event.preventDefault();
    focused = true;
    if (step) at = at.map((value, i) => Math.min(Math.max(value + step[i], 0), size - 1));
    if (!step || event.shiftKey) put(at, step ? true : !grid[at[0]][at[1]]);
    announce(`Row ${at[0] + 1}, column ${at[1] + 1}, ${grid[at[0]][at[1]] ? "painted" : "empty"}`);
    draw();
  });
  document.addEventListener("theme", draw);

  const set = (lines) => {
    const needed = Math.max(lines.length, ...lines.map((line) => line.length));
    size = FIELDS.find((side) => side >= needed) ?? FIELDS.at(-1);
    grid = blank();
    lines.slice(0, size).forEach((line, row) => [...line].slice(0, size).forEach((mark, column) => { grid[row][column] = mark === "#"; }));
    begun = true;
    draw();
  };
  return {
    element, set,
    lines: () => grid.map((line) => line.map((on) => (on ? "#" : ".")).join("")),
    begin: (cells, photos) => { // the first time, from the present frame where it fits in
      if (!begun) {
        const [down, across] = [0, 1].map((axis) => cells.reduce((most, cell) => Math.max(most, cell[axis]), 0));
        size = FIELDS.find((side) => side * side >= ROOM * photos && side > Math.max(down, across)) ?? FIELDS.at(-1);
        grid = blank();
        at = [0, 0];
        const top = Math.floor((size - 1 - down) / 2), left = Math.floor((size - 1 - across) / 2);
        if (Math.max(down, across) < size) for (const [row, column] of cells) grid[row + top][column + left] = true;
      }
      begun = photos > 0; // before there are photos, nobody has painted
      draw();
    },
  };
}

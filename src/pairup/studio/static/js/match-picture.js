// Both sides of a match as points; the pair under the pointer is joined by a line.
import { request } from "./api.js";
import { announce, h, toast } from "./dom.js";
import { weigh } from "./match-colours.js";

const SIZE = 10000; // side of the square in which the points lie
const LEVELS = 12; // colours from unlikely to sure
const REACH = 18; // pixels within which a point is under the pointer

function parse(colour) {
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = colour;
  probe.fillRect(0, 0, 1, 1);
  return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

/** The colours of the page as they are now, light or dark. */
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  const low = parse(get("--y")), high = parse(get("--x"));
  const scale = Array.from({ length: LEVELS }, (_, k) => `rgb(${low.map((v, c) => Math.round(v + (high[c] - v) * k / (LEVELS - 1))).join(" ")})`);
  return { scale, text: get("--text"), muted: get("--muted"), line: get("--line"), ground: get("--sunken"), surface: get("--surface") };
}

export function createPicture(client, { open }) {
  const canvas = h("canvas", { tabindex: "0", role: "img", class: "picture" });
  const caption = h("p", { class: "muted small caption" });
  const legend = h("div", { class: "legend small muted" }, h("span", {}, "unsure"), h("span", { class: "ramp" }), h("span", {}, "sure"));
  const keep = h("button", { type: "button", class: "quiet keep", "aria-pressed": "false", title: "Stays at the top while you go through the list", onclick: () => {
    keep.setAttribute("aria-pressed", String(element.classList.toggle("kept")));
    redraw();
  } }, "Keep in view");
  const element = h("section", { class: "panel pictures", hidden: true, "aria-label": "Picture of both sets" },
    h("div", { class: "head" }, h("h2", {}, "Both sets as points"), h("span", { class: "row" }, legend, keep)), caption, canvas);
  const base = document.createElement("canvas");
  let data = null, shown = null, colours = null, layout = null, pointed = null;

  /** Where each point lies on the canvas, side by side or one above the other. */
  const arrange = () => {
    const width = canvas.clientWidth, stacked = width < 560, gap = 26, top = 30;
    const side = stacked ? Math.min(width, 320) : Math.min((width - gap) / 2, element.classList.contains("kept") ? 220 : 420);
    const wide = stacked ? width : (width - gap) / 2;
    const height = stacked ? 2 * (side + top) + gap : side + top;
    const boxes = stacked ? [[0, top], [0, 2 * top + side + gap]] : [[0, top], [wide + gap, top]];
    const pad = 16, scale = (Math.min(wide, side) - 2 * pad) / SIZE;
    const places = ["x", "y"].map((name, k) => {
      const [left, above] = boxes[k], shift = (wide - SIZE * scale) / 2;
      return data[name].points.map(([px, py]) => [left + shift + px * scale, above + pad + (SIZE - py) * scale]);
    });
    return { width, height, wide, side, boxes, places };
  };

  const colourOf = (i) => (i < 0 ? null : data.confidence ? Math.round(weigh(data.confidence[i]) * (LEVELS - 1)) : LEVELS - 1);

  const drawBase = () => {
    layout = arrange();
    const ratio = devicePixelRatio || 1, n = Math.max(data.x.points.length, data.y.points.length);
    canvas.style.height = `${layout.height}px`;
    for (const each of [canvas, base]) { each.width = Math.round(layout.width * ratio); each.height = Math.round(layout.height * ratio); }
    const pen = base.getContext("2d");
    pen.scale(ratio, ratio);
    const radius = n <= 150 ? 5 : n <= 600 ? 4 : n <= 3000 ? 2.6 : 1.8;
    layout.radius = radius;
    const names = ["x", "y"].map((side) => client.view.files.find((file) => file.id === client.view.document.settings[side].file)?.name ?? "");
    for (const [k, side] of ["x", "y"].entries()) {
      const [left, above] = layout.boxes[k];
      pen.fillStyle = colours.ground;
      pen.beginPath();
      pen.roundRect(left, above, layout.wide, layout.side, 10);
      pen.fill();
      pen.fillStyle = colours.muted;
      pen.font = "600 13px system-ui, sans-serif";
      pen.textBaseline = "middle";
      pen.fillText(`${side.toUpperCase()}  ${names[k]}`, left + 4, above - 15, layout.wide - 8);
      const groups = Array.from({ length: LEVELS + 1 }, () => []);
      layout.places[k].forEach((place, row) => groups[colourOf(k ? data.owners[row] : (data.partners[row] < 0 ? -1 : row)) ?? LEVELS].push(place));
      const order = [LEVELS, ...Array.from({ length: LEVELS }, (_, level) => LEVELS - 1 - level)]; // the unsure ones on top
      for (const level of order) {
        pen.beginPath();
        for (const [px, py] of groups[level]) { pen.moveTo(px + radius, py); pen.arc(px, py, radius, 0, 2 * Math.PI); }
        if (level === LEVELS) { pen.strokeStyle = colours.muted; pen.lineWidth = 1; pen.stroke(); continue; }
        pen.globalAlpha = n > 600 ? .8 : .92;
        pen.fillStyle = colours.scale[level];
        pen.fill();
        pen.globalAlpha = 1;
        if (n <= 600) { pen.strokeStyle = colours.ground; pen.lineWidth = 1; pen.stroke(); }
      }
    }
  };

  const label = (pen, text, px, py, side) => {
    pen.font = "600 13px system-ui, sans-serif";
    const [left] = layout.boxes[side], wide = Math.min(pen.measureText(text).width, layout.wide - 24);
    const at = Math.max(left + 4, Math.min(px - wide / 2 - 7, left + layout.wide - wide - 18));
    const above = py - layout.radius - 32 < layout.boxes[side][1] - 26 ? py + layout.radius + 8 : py - layout.radius - 32;
    pen.fillStyle = colours.text;
    pen.beginPath();
    pen.roundRect(at, above, wide + 14, 24, 6);
    pen.fill();
    pen.fillStyle = colours.surface;
    pen.fillText(text, at + 7, above + 12.5, wide);
  };

  const draw = () => {
    if (!data || element.hidden || !layout) return;
    const pen = canvas.getContext("2d"), ratio = devicePixelRatio || 1;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(base, 0, 0);
    pen.scale(ratio, ratio);
    pen.textBaseline = "middle";
    if (!pointed) return;
    const { x: i, y: j } = pointed, level = i === null ? null : colourOf(i);
    const ends = [i === null ? null : layout.places[0][i], j === null ? null : layout.places[1][j]];
    pen.strokeStyle = level === null ? colours.muted : colours.scale[level];
    if (ends[0] && ends[1]) {
      pen.lineWidth = 2.5;
      pen.beginPath();
      pen.moveTo(...ends[0]);
      pen.lineTo(...ends[1]);
      pen.stroke();
    }
    ends.forEach((end, side) => {
      if (!end) return;
      pen.beginPath();
      pen.arc(...end, layout.radius + 4, 0, 2 * Math.PI);
      pen.fillStyle = level === null ? colours.muted : colours.scale[level];
      pen.fill();
      pen.lineWidth = 2.5;
      pen.strokeStyle = colours.text;
      pen.stroke();
    });
    ends.forEach((end, side) => end && label(pen, data[side ? "y" : "x"].names[side ? j : i], ...end, side));
  };

  const tell = () => {
    if (!pointed) return "Point at a row to see its partner.";
    const { x: i, y: j } = pointed;
    if (i === null || j === null) return `${i === null ? data.y.names[j] : data.x.names[i]} has no partner.`;
    const sure = data.confidence ? `, ${Math.round(100 * data.confidence[i])}% sure` : "";
    return `${data.x.names[i]} belongs to ${data.y.names[j]}${sure}.`;
  };

  const point = (next) => {
    if (JSON.stringify(next) === JSON.stringify(pointed)) return;
    pointed = next;
    caption.textContent = tell();
    requestAnimationFrame(draw);
  };

  const pointAt = (i) => point(i === null || !data || i >= data.partners.length ? null : { x: i, y: data.partners[i] < 0 ? null : data.partners[i] });

  const nearest = (event) => {
    const box = canvas.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
    let found = null, least = REACH ** 2;
    for (const side of [0, 1]) {
      layout.places[side].forEach(([qx, qy], row) => {
        const far = (qx - px) ** 2 + (qy - py) ** 2;
        if (far < least) { least = far; found = [side, row]; }
      });
    }
    if (!found) return null;
    const [side, row] = found;
    const x = side ? (data.owners[row] < 0 ? null : data.owners[row]) : row;
    return { x, y: side ? row : (data.partners[row] < 0 ? null : data.partners[row]) };
  };

  canvas.addEventListener("pointermove", (event) => { if (data) point(nearest(event)); });
  canvas.addEventListener("pointerleave", () => data && point(null));
  canvas.addEventListener("click", (event) => { const found = data && nearest(event); if (found) { point(found); if (found.x !== null) open(found.x); } });
  canvas.addEventListener("keydown", (event) => {
    if (!data) return;
    const order = data.order, at = pointed?.x === null || !pointed ? -1 : order.indexOf(pointed.x);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      pointAt(order[(at + step + order.length) % order.length]);
      announce(tell());
    } else if (event.key === "Enter" && at >= 0) open(pointed.x);
    else if (event.key === "Escape") point(null);
  });

  const redraw = () => { if (data && !element.hidden && canvas.clientWidth) { colours = readColours(); drawBase(); draw(); } };
  document.addEventListener("theme", redraw);
  new ResizeObserver(() => { if (layout && canvas.clientWidth !== layout.width) redraw(); }).observe(canvas);

  const load = async (answer) => {
    const told = await request("GET", client.address(`results/${answer.id}/picture`));
    if (shown !== answer.id) return;
    told.owners = new Array(told.y.points.length).fill(-1);
    told.partners.forEach((j, i) => { if (j >= 0) told.owners[j] = i; });
    told.order = told.partners.map((_, i) => i).sort((a, b) => told.x.points[a][0] - told.x.points[b][0]); // as they lie
    data = told;
    pointed = null;
    legend.hidden = !told.confidence;
    canvas.setAttribute("aria-label", `${answer.graphs ? "Spectral layout" : "Two leading principal components"} of both tables side by side, partners in like places. The arrow keys go from pair to pair, Enter shows a pair in the list.`);
    caption.textContent = tell();
    redraw();
  };
  return {
    element,
    point: pointAt,
    update(view) {
      const { answer } = view.document;
      element.hidden = !answer;
      if (!answer || answer.id === shown) return;
      shown = answer.id;
      load(answer).catch((error) => toast(error.message, { bad: true }));
    },
  };
}

// The parts of the panel beside the album: what counts, the look, photos that are not shown, downloads.
import { ask, count, h, toast } from "./dom.js";

const attempt = (run) => () => run().catch((error) => toast(error.message, { bad: true }));

const slider = (label, max, step, oninput, onchange) => {
  const value = h("span", { class: "small muted", "aria-hidden": "true" });
  const input = h("input", { type: "range", min: "0", max: String(max), step: String(step), "aria-label": label });
  const show = () => { value.textContent = Number(input.value).toFixed(2).replace(/\.?0+$/, ""); };
  input.addEventListener("input", () => { show(); oninput(); });
  input.addEventListener("change", onchange);
  return { element: h("label", { class: "field slider" }, h("span", {}, label, value), input), input, set: (number) => { if (document.activeElement !== input) input.value = String(number); show(); } };
};

/** What makes photos alike; `change(weights)` is called when a slider is let go, `upload(file)` brings own features. */
export function weightPanel(change, upload) {
  const names = ["colour", "edges", "date", "pixels", "vectors"];
  let file = null;
  const read = () => ({ ...Object.fromEntries(names.map((name) => [name, Number(sliders[name].input.value)])), file });
  const make = (label) => slider(label, 2, 0.1, () => {}, () => change(read()));
  const sliders = { colour: make("Colour"), edges: make("Edges and texture"), date: make("Date"), pixels: make("Pixel by pixel"), vectors: make("Your own features") };
  const note = h("p", { class: "small muted" }, "These photos do not say when they were taken.");
  const input = h("input", { type: "file", accept: ".csv,.npy", "aria-label": "File of your own features", onchange: attempt(async () => {
    const sent = await upload(input.files[0]);
    input.value = "";
    if (!sent) return;
    file = sent;
    await change({ colour: 0, edges: 0, date: 0, pixels: 0, vectors: 1, file }); // alone at first, as on the command line
  }) });
  const choose = h("label", { class: "field" }, h("span", {}, "Or your own features: a csv with the names of the photos and numbers, or an npy with a row for each photo"), input);
  const drop = h("button", { type: "button", class: "quiet", onclick: () => {
    const rest = { ...read(), vectors: 0, file: null };
    change(rest.colour + rest.edges + rest.date + rest.pixels > 0 ? rest : { ...rest, colour: 1, edges: 0.5 });
  } }, "Remove");
  const own = h("div", { class: "row own-features" }, h("span", { class: "small muted name" }), drop);
  return {
    element: h("div", {}, sliders.colour.element, sliders.edges.element, sliders.date.element, note, sliders.pixels.element, sliders.vectors.element, own, choose),
    update(weights, dated, name) {
      for (const key of names) sliders[key].set(weights[key]);
      file = weights.file;
      sliders.date.input.disabled = !dated;
      note.hidden = dated;
      sliders.vectors.element.hidden = own.hidden = !file;
      choose.hidden = Boolean(file);
      own.firstChild.textContent = name ?? "";
      drop.setAttribute("aria-label", `Remove your own features, ${name ?? ""}`);
    },
  };
}

/** The look; `show(style)` draws it at once, `change(style)` writes it. */
export function stylePanel(show, change) {
  const read = () => ({
    gap: Number(gap.input.value), radius: Number(radius.input.value),
    background: clear.checked ? "transparent" : colour.value, fit: whole.checked ? "whole" : "crop",
  });
  const look = () => show(read()), write = () => change(read());
  const gap = slider("Space between", 0.5, 0.01, look, write), radius = slider("Round corners", 0.5, 0.01, look, write);
  const colour = h("input", { type: "color", value: "#ffffff", "aria-label": "Background", oninput: () => { clear.checked = false; look(); }, onchange: write });
  const clear = h("input", { type: "checkbox", onchange: () => { look(); write(); } });
  const crop = h("input", { type: "radio", name: "fit", onchange: () => { look(); write(); } });
  const whole = h("input", { type: "radio", name: "fit", onchange: () => { look(); write(); } });
  return {
    element: h("div", {}, gap.element, radius.element,
      h("div", { class: "row look" }, h("label", { class: "choice" }, colour, h("span", {}, "Background")), h("label", { class: "choice" }, clear, h("span", {}, "None"))),
      h("div", { class: "row look", role: "radiogroup", "aria-label": "Photos in their cells" }, h("label", { class: "choice" }, crop, h("span", {}, "Fill the cell")), h("label", { class: "choice" }, whole, h("span", {}, "Whole photo")))),
    update(style) {
      gap.set(style.gap); radius.set(style.radius);
      clear.checked = style.background === "transparent";
      if (!clear.checked && document.activeElement !== colour) colour.value = style.background;
      crop.checked = style.fit === "crop"; whole.checked = style.fit === "whole";
    },
  };
}

const LISTED = 40;

/** Photos that are not on a cell: taken out, left out, or not readable. */
export function othersPanel({ restore, place }) {
  const element = h("div", { class: "others" });
  const list = (title, items, button, all) => (items.length ? h("section", {},
    h("h3", {}, title), all,
    h("ul", {}, items.slice(0, LISTED).map((item) => h("li", {}, h("span", { class: "name", title: item.reason ?? item.name }, item.name, item.reason ? h("span", { class: "muted small" }, ` – ${item.reason}`) : null), button ? h("button", { type: "button", class: "quiet", onclick: () => button.run([item.number]), "aria-label": `${button.label}: ${item.name}` }, button.label) : null))),
    items.length > LISTED ? h("p", { class: "small muted" }, `and ${items.length - LISTED} more`) : null) : null);
  return {
    element,
    update({ removed, leftOut, skipped }) {
      const sections = [
        list(`Removed: ${count(removed.length, "photo")}`, removed, { label: "Put back", run: restore }, removed.length > 1 ? h("button", { type: "button", onclick: () => restore(removed.map((item) => item.number)) }, "Put all back") : null),
        list(`Left out: ${count(leftOut.length, "photo")}`, leftOut, { label: "Place", run: place }),
        list(`Could not be read: ${count(skipped.length, "file")}`, skipped, null),
      ].filter(Boolean);
      element.replaceChildren(...sections);
      return removed.length + leftOut.length + skipped.length;
    },
  };
}

const FORMATS = [["png", "PNG picture"], ["jpg", "JPEG picture"], ["pdf", "PDF to print"], ["html", "Web page in one file"], ["svg", "SVG drawing"], ["json", "Album file (JSON)"], ["csv", "Table (CSV)"]];
const PAPERS = ["as large as the picture", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "letter", "legal", "tabloid"];

/** Formats, sizes, and the files that were written. */
export function exportPanel(client, begin) {
  const format = h("select", { "aria-label": "Format" }, FORMATS.map(([value, label]) => h("option", { value }, label)));
  const paper = h("select", { "aria-label": "Paper" }, PAPERS.map((value) => h("option", { value }, value)));
  const dpi = h("input", { type: "number", min: "10", max: "1200", value: "300", "aria-label": "Dots per inch" });
  const cell = h("input", { type: "number", min: "8", max: "2000", placeholder: "automatic", "aria-label": "Pixels of a photo" });
  const printing = h("div", { class: "row frame-grid" }, h("label", { class: "field" }, h("span", {}, "Paper"), paper), h("label", { class: "field" }, h("span", {}, "Dots per inch"), dpi));
  const pixels = h("label", { class: "field" }, h("span", {}, "Pixels of a photo"), cell);
  const button = h("button", { type: "button", class: "primary", onclick: attempt(() => begin({
    task: "export", format: format.value,
    paper: format.value === "pdf" && paper.selectedIndex > 0 ? paper.value : null,
    dpi: Math.min(Math.max(Math.round(Number(dpi.value)) || 300, 10), 1200),
    cell: pixels.hidden || !cell.value ? null : Math.min(Math.max(Math.round(Number(cell.value)), 8), 2000),
  })) }, "Make the file");
  const list = h("ul", { class: "exports" });
  const adapt = () => { printing.hidden = format.value !== "pdf"; pixels.hidden = !["png", "jpg", "svg"].includes(format.value); };
  format.addEventListener("change", adapt);
  adapt();
  return {
    element: h("div", {}, h("label", { class: "field" }, h("span", {}, "Format"), format), printing, pixels, button, list),
    update(files, ready) {
      button.disabled = !ready;
      list.replaceChildren(...files.map((file) => h("li", {}, h("a", { href: client.fileAddress(file.id), download: file.name }, file.name), h("span", { class: "small muted" }, ` ${size(file.size)}`))));
    },
  };
}

const size = (bytes) => (bytes < 1e6 ? `${Math.max(Math.round(bytes / 1e3), 1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** Show keys that help. */
export function showKeys() {
  const keys = [["Arrow keys", "move over the photos"], ["Space", "pick a photo up; on another, swap"], ["Enter", "enlarge"], ["P", "pin or let go"], ["R", "rotate"], ["Delete", "remove"], ["+  −  0", "zoom in, out, all"], ["Ctrl Z", "undo"]];
  return ask("Keys", h("table", {}, keys.map(([key, text]) => h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, text)))), [{ label: "Close", value: "" }]);
}

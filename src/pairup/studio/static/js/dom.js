// Elements made from names, properties and children. Text is always text, never markup.

/** Make an element: h("button", {class: "primary", onclick: f, "aria-label": "Close"}, "Close"). */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key === "dataset") Object.assign(element.dataset, value);
    else if (key in element && key !== "list" && key !== "form" && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const PATHS = {
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  redo: "m15 14 5-5-5-5M20 9H10a6 6 0 0 0 0 12h3",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z",
  trash: "M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  pencil: "M4 20h4L19 9l-4-4L4 16v4ZM13 7l4 4",
  pin: "M12 17v5M7 4h10l-1 6 3 4H5l3-4-1-6Z",
  rotate: "M20 11a8 8 0 1 0-2.3 6.3M20 4v7h-7",
  close: "M6 6l12 12M18 6 6 18",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  upload: "M12 20V9M7 12l5-5 5 5M5 4h14",
  play: "M7 4v16l13-8L7 4Z",
  pause: "M8 5v14M16 5v14",
  stop: "M6 6h12v12H6z",
  microphone: "M12 3a3 3 0 0 0-3 3v6a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3ZM5 11a7 7 0 0 0 14 0M12 18v4",
  grid: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z",
  pair: "M3 6h7v12H3zM14 6h7v12h-7zM10 12h4",
  wave: "M3 12h2l2-7 3 14 3-11 2 6 2-2h4",
  check: "m5 12 5 5L20 7",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  left: "m15 5-7 7 7 7",
  right: "m9 5 7 7-7 7",
  folder: "M3 6h6l2 3h10v10H3z",
  whole: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  keys: "M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M8 14h8",
  zoom: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM20 20l-4.8-4.8M10.5 7.5v6M7.5 10.5h6",
};

/** Draw one of the icons; it says nothing to a screen reader, so its button needs a label. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 24 24", fill: "none", stroke: "currentColor", "stroke-width": "2",
    "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true",
  })) svg.setAttribute(key, value);
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** A button with an icon; without words it has a label and a tooltip. */
export function iconButton(name, label, onclick, { words = false, ...rest } = {}) {
  const kind = rest.class ?? "quiet";
  return h("button", { type: "button", ...rest, class: words ? kind : `icon ${kind}`, onclick, "aria-label": label, title: label }, icon(name), words ? label : null);
}

/** A message at the foot of the page; with an action, such as Undo, it stays longer. */
export function toast(text, { bad = false, action = null } = {}) {
  const box = document.getElementById("toasts");
  const message = h("div", { class: bad ? "toast bad" : "toast" }, h("span", {}, text));
  const remove = () => message.remove();
  if (action) message.append(h("button", { type: "button", onclick: () => { remove(); action.run(); } }, action.label));
  box.append(message);
  while (box.children.length > 3) box.firstChild.remove();
  setTimeout(remove, action ? 12000 : bad ? 9000 : 4500);
}

const said = []; // what waits to be read

/** Tell a screen reader something that is seen elsewhere on the page; what comes at the same time is read together. */
export function announce(text) {
  const live = document.getElementById("live");
  live.textContent = ""; // the same words twice are read twice
  said.push(text);
  if (said.length === 1) setTimeout(() => { live.textContent = said.splice(0).join(" "); }, 50);
}

/** Open a dialog with a title, content and buttons [{label, value, kind}]; resolves to the value, null if closed. */
export function ask(title, content, buttons) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { "aria-label": title });
    const form = h("form", { method: "dialog" }, h("h2", {}, title), content,
      h("div", { class: "buttons" }, buttons.map((button) => button.value
        ? h("button", { value: button.value, class: button.kind ?? "" }, button.label)
        : h("button", { type: "button", class: button.kind ?? "", onclick: () => dialog.close("") }, button.label)))); // Enter takes the first that has a value
    dialog.append(form);
    dialog.addEventListener("close", () => { resolve(dialog.returnValue || null); dialog.remove(); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** 1 photo, 2 photos. */
export function count(n, noun, plural = `${noun}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;
}

/** Take files that are dropped on an element or chosen by a button in it. */
export function acceptFiles(element, { accept, multiple = true, folder = false, take }) {
  const input = h("input", { type: "file", accept, multiple, class: "visually-hidden", tabindex: "-1", "aria-hidden": "true", onchange: () => { take([...input.files]); input.value = ""; } });
  if (folder) input.setAttribute("webkitdirectory", "");
  element.append(input);
  element.addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) { event.preventDefault(); element.classList.add("over"); } });
  element.addEventListener("dragleave", () => element.classList.remove("over"));
  element.addEventListener("drop", async (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    element.classList.remove("over");
    take(await filesOf(event.dataTransfer));
  });
  return () => input.click();
}

/** All files of a drop, those in folders included, which say in which. */
async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  const files = [];
  const walk = async (entry) => {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      const [, folder, inside] = entry.fullPath.split("/");
      files.push(Object.assign(file, { folder: inside === undefined ? "" : folder }));
    }
    else {
      const reader = entry.createReader();
      for (;;) {
        const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (!batch.length) break;
        for (const inner of batch) await walk(inner);
      }
    }
  };
  for (const entry of entries) await walk(entry);
  return files;
}

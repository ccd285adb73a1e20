// The recordings of one role: dropped in, chosen or recorded; heard, removed and put back.
import { acceptFiles, announce, count, h, iconButton, toast } from "./dom.js";
import { Player, clock } from "./voice-player.js";
import { recorder } from "./voice-recorder.js";
import { toReadable } from "./voice-wav.js";

const ACCEPTED = "audio/*,.wav,.flac,.ogg,.opus,.mp3,.aif,.aiff,.au,.caf,.w64,.m4a,.webm";
const LARGEST = 200e6; // bytes; the studio refuses more
const PER_PAGE = 200; // rows; more are counted, not drawn

/** Bring the children of a list up to date without touching those that stay, so that focus and sound go on. */
export function arrange(list, elements) {
  elements.forEach((element, i) => { if (list.children[i] !== element) list.insertBefore(element, list.children[i] ?? null); });
  while (list.children.length > elements.length) list.lastChild.remove();
}

/** `role` is source, target or input; returns {element, update(view)}. */
export function recordings(client, { role, tone, title, text, empty, convert = null }) {
  const rows = new Map();
  let refused = [];
  const heading = h("h2", {}, h("i", { class: `mark ${tone}`, "aria-hidden": "true" }), title);
  const total = h("span", { class: "muted small total" });
  const list = h("ul", { class: "recordings", "aria-label": `Recordings: ${title}` });
  const skipped = h("ul", { class: "skipped small", "aria-label": `Skipped: ${title}` });
  const away = h("details", { class: "removed small", hidden: true });
  const status = h("p", { class: "muted small", role: "status", hidden: true });
  const hint = h("p", { class: "muted small hint" }, empty);
  const choose = iconButton("upload", `Choose files: ${title}`, () => open(), { words: true, class: "" });
  choose.lastChild.textContent = "Choose files";
  const element = h("section", { class: `panel recordings-panel ${tone}`, "aria-label": title },
    h("div", { class: "row heading" }, heading, total), h("p", { class: "muted small" }, text), list, hint, skipped, away, status,
    h("div", { class: "row adders" }, choose, recorder(title.toLowerCase(), (file) => add([file]))));
  const open = acceptFiles(element, { accept: ACCEPTED, take: (files) => add(files) });

  async function add(files) {
    if (!files.length) return;
    const small = files.filter((file) => file.size <= LARGEST);
    for (const file of files) if (file.size > LARGEST) refused.push({ name: file.name, reason: `${file.name} has ${Math.round(file.size / 1e6)} MB; 200 MB may be sent at most.` });
    status.hidden = false;
    const say = (done) => { status.textContent = `sending ${count(small.length, "recording")}: ${done} done`; };
    say(0);
    for (const [i, file] of small.entries()) {
      const sent = await client.upload([await toReadable(file)], role);
      refused.push(...sent.refused.map(({ name, reason }) => ({ name, reason: `${name}: ${reason}` })));
      say(i + 1);
    }
    status.hidden = true;
    update(client.view);
    if (small.length) await client.start({ task: "look" }).catch((error) => toast(error.message, { bad: true }));
  }

  const attempt = (run) => run().catch((error) => toast(error.message, { bad: true }));

  function remove(file) {
    return attempt(async () => {
      const place = [...list.children].indexOf(rows.get(file.id)?.element);
      rows.get(file.id)?.player?.stop();
      await client.act({ type: "remove", files: [file.id] });
      toast(`“${file.name}” was removed.`, { action: { label: "Undo", run: () => attempt(() => client.act({ type: "put_back", files: [file.id] })) } });
      announce(`${file.name} was removed.`);
      (list.children[Math.min(place, list.children.length - 1)]?.querySelector(".remove") ?? choose).focus();
    });
  }

  function makeRow(file) {
    const { seconds, note, rate, channels } = file.details;
    const player = new Player({ label: file.name, sound: client.address(`sounds/${file.id}`), outline: client.address(`outlines/${file.id}`), seconds, tone, small: true });
    const meta = [`${rate / 1000} kHz`, channels > 1 ? count(channels, "channel") : null].filter(Boolean).join(", ");
    const convertButton = convert && iconButton("wave", `Convert ${file.name}`, () => convert([file.id]), { class: "quiet convert" });
    const row = h("li", {},
      h("div", { class: "name", title: `${file.name} (${clock(seconds)}, ${meta})` }, file.name), player.element,
      h("div", { class: "tools" }, convertButton, iconButton("close", `Remove ${file.name}`, () => remove(file), { class: "quiet remove" })),
      note ? h("div", { class: "note small" }, note) : null);
    return { element: row, player, convertButton };
  }

  function problem(text, dismiss) {
    return h("li", {}, h("span", {}, text), iconButton("close", `Dismiss: ${text}`, dismiss, { class: "quiet" }));
  }

  function update(view) {
    const gone = new Set(view.document.removed);
    const mine = view.files.filter((file) => file.role === role);
    const here = mine.filter((file) => !gone.has(file.id));
    const read = here.filter((file) => "seconds" in file.details);
    for (const file of read) if (!rows.has(file.id)) rows.set(file.id, makeRow(file));
    arrange(list, read.slice(0, PER_PAGE).map((file) => rows.get(file.id).element));
    for (const file of read) if (rows.get(file.id).convertButton) rows.get(file.id).convertButton.hidden = !view.document.voice;
    const waiting = here.filter((file) => !("seconds" in file.details) && !("problem" in file.details));
    const seconds = read.reduce((sum, file) => sum + file.details.seconds, 0);
    total.textContent = [read.length ? `${count(read.length, "recording")}, ${clock(seconds)}` : "", waiting.length ? `${waiting.length} being read` : ""].filter(Boolean).join(", ");
    hint.hidden = read.length > 0;
    list.hidden = !read.length;
    skipped.replaceChildren(
      ...here.filter((file) => file.details.problem).map((file) => problem(`Skipped: ${file.details.problem}.`, () => remove(file))),
      ...refused.map((each) => problem(`Skipped: ${each.reason}`, () => { refused = refused.filter((other) => other !== each); update(client.view); })));
    const removed = mine.filter((file) => gone.has(file.id) && "seconds" in file.details);
    away.hidden = !removed.length;
    away.replaceChildren(h("summary", {}, `${removed.length} removed`), h("ul", {}, removed.map((file) => h("li", {}, h("span", {}, file.name),
      h("button", { type: "button", class: "quiet", "aria-label": `Put back ${file.name}`, onclick: () => attempt(() => client.act({ type: "put_back", files: [file.id] })) }, "Put back")))));
    return { read, seconds };
  }

  return { element, update };
}

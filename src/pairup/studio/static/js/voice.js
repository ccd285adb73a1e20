// The page of a voice: recordings of two speakers, learn, convert, listen.
import { announce, count, h, icon, toast } from "./dom.js";
import { jobStatus } from "./job.js";
import { clock } from "./voice-player.js";
import { recordings } from "./voice-recordings.js";
import { results, tellPitch } from "./voice-results.js";

const WANTED = 10; // seconds of each speaker, below which the page suggests more
const SYNTHESES = [
  ["world", "New pitch", "The pitch becomes the target's."],
  ["residual", "Own pitch", "Pitch and breath stay the source's; the sound is clearer."],
];

function loadStyle() {
  document.head.append(h("link", { rel: "stylesheet", href: "/static/voice.css" }));
}

export function createPage(main, client) {
  loadStyle();
  const attempt = (run) => run().catch((error) => toast(error.message, { bad: true }));
  const begun = new Set(), known = new Set();
  let asked = null; // the conversion that this page asked for, to be shown when it is there

  const start = (job) => attempt(async () => { asked = (await client.start(job)).id; });
  const convert = (files) => start({ task: "convert", files });

  const source = recordings(client, { role: "source", tone: "source", title: "Source", text: "The voice that speaks.", empty: "Drop recordings here, or choose or record them. Any words will do; ten seconds or more are best.", convert });
  const target = recordings(client, { role: "target", tone: "target", title: "Target", text: "The voice that you want to hear.", empty: "Drop recordings of the other speaker here. They need not say the same sentences." });
  const input = recordings(client, { role: "input", tone: "source", title: "To convert", text: "What the source says and the target's voice shall say.", empty: "Optional: recordings of the source can be converted too.", convert });
  const listen = results(client);

  // Learn
  const learn = h("button", { type: "button", class: "primary", onclick: () => start({ task: "learn", onward: true }) }, icon("wave"), "Learn");
  const learnHint = h("p", { class: "muted small", id: "learn-hint" });
  learn.setAttribute("aria-describedby", "learn-hint");
  const learned = h("div", { class: "learned" });
  const learnPanel = h("section", { class: "panel learn-panel", "aria-label": "Learn" }, h("div", { class: "row heading" }, h("h2", {}, "Learn"), learn), learnHint, learned);

  // Convert
  const what = h("select", { "aria-label": "Recording to convert" });
  const choices = h("div", { class: "choices", role: "radiogroup", "aria-label": "Pitch" }, SYNTHESES.map(([value, label, text]) =>
    h("label", { class: "choice" },
      h("input", { type: "radio", name: "synthesis", value, onchange: () => attempt(() => client.act({ type: "choose", synthesis: value })) }),
      h("span", {}, h("strong", {}, label), h("span", { class: "muted small" }, text)))));
  const go = h("button", { type: "button", class: "primary", onclick: () => convert(what.value.split(",").slice(0, 50)) }, "Convert");
  const form = h("div", { class: "convert-form" }, h("label", { class: "field" }, h("span", {}, "Convert"), what), choices, go);
  input.element.append(form);

  const status = jobStatus(client);
  main.replaceChildren(h("div", { class: "voice-page" },
    h("div", { class: "side" }, source.element, target.element, learnPanel, input.element),
    h("div", { class: "stage" }, h("div", { class: "status-place" }, status), listen.element)));

  function showLearn(view, sides) {
    const missing = sides.findIndex(({ read }) => !read.length);
    const little = sides.findIndex(({ seconds }) => seconds < WANTED);
    const names = ["source", "target"];
    learn.disabled = missing >= 0 || client.busy;
    learnHint.textContent = missing >= 0 ? `Add recordings of the ${names[missing]} first.`
      : little >= 0 ? `${clock(sides[little].seconds)} of the ${names[little]}: it works, but more is better (${WANTED} s or more).` : "A few seconds of work; the first conversion follows by itself.";
    const voice = view.document.voice;
    if (!voice) { learned.replaceChildren(); return; }
    const same = (ids, side) => ids.length === side.read.length && ids.every((id, i) => id === side.read[i].id);
    const stale = !same(voice.sources, sides[0]) || !same(voice.targets, sides[1]);
    learned.replaceChildren(...[
      stale ? h("p", { class: "notice small" }, "The recordings have changed since. Learn again to use them.") : null,
      h("p", {}, h("span", { class: "good" }, icon("check")), "Pitch ", h("strong", {}, tellPitch(voice.pitch))),
      h("p", { class: "muted small" }, `Learned from ${clock(voice.seconds[0])} and ${clock(voice.seconds[1])}: ${count(voice.frames, "frame")} at ${voice.rate / 1000} kHz.`),
      ...voice.notes.map((note) => h("p", { class: "note small" }, note)),
      h("a", { class: "button", href: client.address(`voices/${voice.id}/download`), download: "" }, icon("download"), "Download the voice"),
    ].filter(Boolean));
    if (!stale) learnHint.textContent = "";
  }

  function showConvert(view, [fromSource, inputs]) {
    const chosen = what.value;
    const option = (file) => h("option", { value: file.id }, `${file.name} (${clock(file.details.seconds)})`);
    const options = [];
    if (inputs.read.length > 1) options.push(h("option", { value: inputs.read.map((file) => file.id).join(",") }, `all ${inputs.read.length} recordings to convert`));
    if (inputs.read.length) options.push(h("optgroup", { label: "To convert" }, inputs.read.map(option)));
    if (fromSource.read.length) options.push(h("optgroup", { label: "Source" }, fromSource.read.map(option)));
    const news = options.map((each) => each.textContent).join("|");
    if (what.dataset.shown !== news) {
      what.replaceChildren(...(options.length ? options : [h("option", { value: "" }, "no recording yet")]));
      what.dataset.shown = news;
      const added = inputs.read.filter((file) => !known.has(file.id));
      if (added.length) what.selectedIndex = 0; // what was just added is what one wants to convert
      else if ([...what.options].some((each) => each.value === chosen)) what.value = chosen;
      added.forEach((file) => known.add(file.id));
    }
    for (const radio of choices.querySelectorAll("input")) radio.checked = radio.value === view.document.synthesis;
    form.hidden = !options.length;
    go.disabled = !view.document.voice || !options.length || client.busy;
    go.title = view.document.voice ? "" : "Learn the voice first";
  }

  /** The job that is to start by itself, after the demo was asked for or files were named on the command line. */
  async function begin(step) {
    if (!step || begun.has(step) || client.busy) return;
    begun.add(step);
    try {
      await client.act({ type: "begin", step });
    } catch {
      return; // another open page has begun with it
    } finally {
      begun.delete(step);
    }
    await start({ task: step, onward: true });
  }

  let first = true;
  function update(view) {
    const sides = [source.update(view), target.update(view)];
    const inputs = input.update(view);
    showLearn(view, sides);
    showConvert(view, [sides[0], inputs]);
    const fresh = listen.update(view);
    if (!first && fresh.length) {
      announce(`Converted: ${fresh.map((result) => `${result.name}, pitch ${tellPitch(result.pitch)}`).join("; ")}`);
      if (asked) listen.card(fresh[0].id).scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
      asked = null;
    }
    const unread = view.files.some((file) => !("seconds" in file.details) && !("problem" in file.details));
    if (first && unread && !view.document.begin && !client.busy) start({ task: "look" });
    first = false;
    begin(view.document.begin);
  }

  client.on("project", update);
  client.on("job", (job) => {
    learn.disabled = learn.disabled || client.busy;
    if (client.view && ["done", "failed", "cancelled"].includes(job.status)) update(client.view);
  });
  update(client.view);
}

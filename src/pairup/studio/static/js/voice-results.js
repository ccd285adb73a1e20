// What was converted, newest first: original, converted and target side by side.
import { h, icon, iconButton, toast } from "./dom.js";
import { envelopes } from "./voice-envelopes.js";
import { Player, clock } from "./voice-player.js";
import { arrange } from "./voice-recordings.js";

const OPEN = 3; // results whose envelopes are shown at once

const hertz = (value) => (value === null ? "no pitch" : `${Math.round(value)} Hz`);

/** Pitch in words: "98 Hz → 142 Hz". */
export function tellPitch([from, to]) {
  return from === null && to === null ? "no pitch was found" : `${hertz(from)} → ${hertz(to)}`;
}

/** Returns {element, update(view)}. */
export function results(client) {
  const cards = new Map();
  const list = h("ol", { class: "results", reversed: true, "aria-label": "Converted recordings, newest first" });
  const empty = h("div", { class: "panel empty" },
    h("h3", {}, "Nothing to hear yet"),
    h("ol", {},
      h("li", {}, "Add recordings of the voice that speaks, the source. Ten seconds are enough to begin."),
      h("li", {}, "Add recordings of the voice that you want to hear, the target. Other sentences are fine."),
      h("li", {}, "Learn. The first conversion comes by itself; then convert what you like.")));
  const element = h("section", { class: "listen", "aria-label": "Listen" }, h("h2", {}, "Listen"), empty, list);

  function remove(result) {
    return async () => {
      try {
        cards.get(result.id)?.players.forEach((player) => player.stop());
        await client.act({ type: "remove_result", result: result.id });
        toast("The result was removed.", { action: { label: "Undo", run: () => client.undo().catch((error) => toast(error.message, { bad: true })) } });
        (list.querySelector("button") ?? document.getElementById("main")).focus();
      } catch (error) {
        toast(error.message, { bad: true });
      }
    };
  }

  function makePlayer(label, tone, id, seconds, title) {
    return new Player({ label, tone, seconds, sound: client.address(`sounds/${id}`), outline: client.address(`outlines/${id}`), title });
  }

  function column(title, words, player) {
    return h("div", { class: "column" }, h("div", { class: "what" }, h("strong", {}, title), h("span", { class: "muted small" }, words)), player.element);
  }

  /** Play one after another. */
  async function playAll(players) {
    for (const player of players) {
      player.seek(0);
      const over = new Promise((resolve) => {
        player.ended = () => resolve(true);
        player.prepare().addEventListener("pause", () => { if (!player.audio.ended) resolve(false); }, { once: true });
      });
      await player.play();
      if (!(await over)) return;
    }
  }

  function makeCard(result, files, isOpen) {
    const original = makePlayer(`the original of ${result.name}`, "source", result.input, result.seconds);
    const converted = makePlayer(`the converted ${result.name}`, "converted", result.id, result.seconds);
    const example = files.find((file) => file.id === result.example);
    const target = example && makePlayer(`the target, ${example.name}`, "target", example.id, example.details.seconds);
    const players = [original, converted, target].filter(Boolean);
    const [from, to] = result.pitch;
    const figure = h("details", { class: "figure" }, h("summary", {}, "Envelopes"));
    const show = () => { if (figure.open && figure.children.length === 1) figure.append(envelopes(client.address(`results/${result.id}/envelopes`), result, [original, converted])); };
    figure.addEventListener("toggle", show);
    figure.open = isOpen;
    const card = h("li", { class: "panel result", dataset: { id: result.id } },
      h("div", { class: "row heading" },
        h("h3", {}, result.name),
        h("span", { class: "tag" }, result.synthesis === "world" ? "new pitch" : "own pitch"),
        h("span", { class: "spring" }),
        h("button", { type: "button", onclick: () => playAll(players), "aria-label": `Play original, converted and target of ${result.name}` }, icon("play"), "Play in turn"),
        h("a", { class: "button", href: client.address(`results/${result.id}/download`), download: "", "aria-label": `Download the converted ${result.name}` }, icon("download"), "Download"),
        iconButton("trash", `Remove the result ${result.name}`, remove(result))),
      h("p", { class: "pitch" }, "Pitch ", h("strong", {}, tellPitch(result.pitch)), result.synthesis === "residual" ? h("span", { class: "muted" }, " (kept)") : null),
      h("div", { class: "columns" },
        column("Original", hertz(from), original),
        column("Converted", hertz(to), converted),
        target ? column("Target", example.name, target) : null),
      result.notes.map((note) => h("p", { class: "note small" }, note)),
      figure);
    show();
    return { card, players };
  }

  function update(view) {
    const found = view.document.results;
    empty.hidden = found.length > 0;
    list.hidden = !found.length;
    const fresh = found.filter((result) => !cards.has(result.id));
    fresh.forEach((result) => cards.set(result.id, makeCard(result, view.files, found.indexOf(result) < OPEN)));
    arrange(list, found.map((result) => cards.get(result.id).card));
    return fresh;
  }

  return { element, update, card: (id) => cards.get(id)?.card };
}

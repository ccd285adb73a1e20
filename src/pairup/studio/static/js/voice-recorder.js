// The microphone: from a click to a WAV file.
import { announce, h, icon, iconButton, toast } from "./dom.js";
import { encodeWav } from "./voice-wav.js";

const LONGEST = 180; // seconds, after which a recording ends by itself
const PLAIN = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 };

/** Whether this page may ask for a microphone: browsers allow it on this computer and with https. */
export const canRecord = () => Boolean(navigator.mediaDevices?.getUserMedia && window.AudioWorkletNode);

/** Open the microphone; `hear(block)` gets the samples. Resolves to {rate, close}. */
async function openMicrophone(hear) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: PLAIN });
  const context = new AudioContext();
  const close = () => {
    stream.getTracks().forEach((track) => track.stop());
    return context.close();
  };
  try {
    await context.audioWorklet.addModule("/static/js/voice-capture.js");
    await context.resume();
    const node = new AudioWorkletNode(context, "capture", { numberOfOutputs: 1 });
    node.port.onmessage = (event) => hear(event.data);
    context.createMediaStreamSource(stream).connect(node);
    node.connect(context.destination); // it is silent, but only what leads somewhere is processed
    return { rate: context.sampleRate, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function explain(error) {
  if (error.name === "NotAllowedError") return "The browser was not allowed to use the microphone. Allow it in the address bar, or choose a file.";
  if (error.name === "NotFoundError") return "There is no microphone. Connect one, or choose a file.";
  return `The microphone cannot be used (${error.message}). Choose a file instead.`;
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

/** A button that records, and what is seen while it does. `take(file)` gets the recording. */
export function recorder(whose, take) {
  if (!canRecord()) {
    return h("p", { class: "muted small no-microphone" }, "Recording by microphone works only on this computer itself (http://localhost) or over https. Choose files instead.");
  }
  const time = h("span", { class: "time", role: "timer" }, "0:00");
  const level = h("meter", { min: "0", max: "1", "aria-label": "Loudness" });
  const live = h("div", { class: "live-recording", hidden: true });
  const start = iconButton("microphone", `Record the ${whose}`, begin, { words: true, class: "" });
  start.lastChild.textContent = "Record";
  const keep = h("button", { type: "button", class: "primary", onclick: () => end(true) }, icon("stop"), "Stop and keep");
  const discard = h("button", { type: "button", onclick: () => end(false) }, "Discard");
  live.append(h("span", { class: "dot", "aria-hidden": "true" }), time, level, keep, discard);
  let blocks = [], length = 0, microphone = null;

  async function begin() {
    start.disabled = true;
    blocks = [];
    length = 0;
    try {
      microphone = await openMicrophone(hear);
    } catch (error) {
      toast(explain(error), { bad: true });
      return;
    } finally {
      start.disabled = false;
    }
    start.hidden = true;
    live.hidden = false;
    keep.focus();
    announce("Recording.");
  }

  function hear(block) {
    blocks.push(block);
    length += block.length;
    if (!microphone) return;
    const seconds = length / microphone.rate;
    if (blocks.length % 8 === 0) {
      time.textContent = clock(seconds);
      level.value = Math.sqrt(block.reduce((loudest, sample) => Math.max(loudest, Math.abs(sample)), 0));
    }
    if (seconds > LONGEST) end(true);
  }

  async function end(kept) {
    if (!microphone) return;
    const { rate, close } = microphone;
    microphone = null;
    await close();
    live.hidden = true;
    start.hidden = false;
    start.focus();
    if (!kept || !length) {
      announce("Discarded.");
      return;
    }
    const now = new Date();
    const name = `recording ${[now.getHours(), now.getMinutes(), now.getSeconds()].map((part) => String(part).padStart(2, "0")).join(".")}.wav`;
    take(new File([encodeWav(blocks, rate)], name, { type: "audio/wav" }));
    blocks = [];
  }

  addEventListener("pagehide", () => end(false));
  return h("div", { class: "recorder" }, start, live);
}

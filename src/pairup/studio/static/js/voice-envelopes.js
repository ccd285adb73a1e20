// Spectral envelopes: original, converted and target, on average or at the play head.
import { h, toast } from "./dom.js";
import { request } from "./api.js";

const MARGIN = { left: 38, right: 12, top: 12, bottom: 34 };
const LINES = [["source", "Original"], ["target", "Target, on average"], ["converted", "Converted"]];

function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** The dB above and below the mean within which nearly all frames lie: the same scale for averages and single frames. */
function chooseRange(frames, scale) {
  const counts = new Uint32Array(129);
  for (const byte of frames) counts[Math.abs(byte - 128)] += 1;
  let level = 128;
  for (let above = 0; level > 0 && above < frames.length / 100; level--) above += counts[level];
  return Math.max(15, Math.min(40, 5 * Math.ceil((level * scale) / 5 + 0.2)));
}

const unpack = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** A figure; `players` are those of original and converted, whose position it can follow. */
export function envelopes(address, result, players) {
  const [before, after] = result.distance;
  const words = `On average the original is ${before.toFixed(1)} dB away from the target's envelope, the converted voice ${after.toFixed(1)} dB.`;
  const picture = svg("svg", { role: "img", "aria-label": `Spectral envelopes. ${words}` });
  const legend = h("div", { class: "legend small", "aria-hidden": "true" }, LINES.map(([key, label]) => h("span", { class: key }, h("i"), label)));
  const follows = matchMedia("(prefers-reduced-motion: reduce)").matches ? false : null; // null: only while something plays
  let mode = follows, data = null, lines = null, time = 0;
  const buttons = [["On average", false], ["At the play head", true]].map(([label, value]) =>
    h("button", { type: "button", onclick: () => { mode = value; draw(); } }, label));
  const element = h("figure", { class: "envelopes" },
    h("div", { class: "row heading" }, h("figcaption", {}, "Spectral envelopes"), h("div", { class: "segments", role: "group", "aria-label": "Which envelopes" }, buttons)),
    picture, legend, h("p", { class: "muted small" }, words));

  /** The frame at the play head, or none for the average; in silence the last one with speech stays. */
  function frame() {
    const active = mode ?? players.some((player) => player.isPlaying);
    if (!active || !data) return null;
    let number = Math.min(data.speech.length - 1, Math.round(time / data.hop));
    while (number > 0 && data.speech[number] === "0") number -= 1;
    return number;
  }

  function values(key, number) {
    if (number === null || key === "target") return data[key];
    const frames = data[`${key}Frames`];
    return Array.from({ length: data.points }, (_, i) => (frames[number * data.points + i] - 128) * data.scale);
  }

  function path(key, number, width, height) {
    const points = values(key, number).map((value, i) => {
      const x = MARGIN.left + (i / (data.points - 1)) * (width - MARGIN.left - MARGIN.right);
      const y = MARGIN.top + ((data.range - Math.max(-data.range, Math.min(data.range, value))) / (2 * data.range)) * (height - MARGIN.top - MARGIN.bottom);
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    });
    return `M${points.join("L")}`;
  }

  function frameAxes(width, height) {
    const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    const parts = [];
    const step = data.range > 22 ? 15 : 10;
    for (let level = -step * Math.floor(data.range / step); level <= data.range; level += step) {
      const y = MARGIN.top + ((data.range - level) / (2 * data.range)) * inner.height;
      parts.push(svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }));
      parts.push(svg("text", { x: MARGIN.left - 6, y: y + 4, "text-anchor": "end" }, level > 0 ? `+${level}` : `${level}`.replace("-", "−")));
    }
    const top = data.top / 1000, every = width < 460 && top > 4 ? 2 : 1;
    for (let kilohertz = 0; kilohertz <= top; kilohertz += every) {
      const x = MARGIN.left + (kilohertz / top) * inner.width;
      parts.push(svg("text", { x, y: height - 18, "text-anchor": "middle" }, String(kilohertz)));
    }
    parts.push(svg("text", { x: MARGIN.left + inner.width / 2, y: height - 3, "text-anchor": "middle" }, "frequency in kHz"));
    parts.push(svg("text", { x: 0, y: 10, "text-anchor": "start" }, "dB"));
    return parts;
  }

  function draw() {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String((mode ?? frame() !== null) === Boolean(i))));
    const width = element.clientWidth, height = 220;
    if (!data || !width) return;
    if (!lines || picture.getAttribute("width") !== String(width)) {
      for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) picture.setAttribute(key, value);
      lines = Object.fromEntries(LINES.map(([key]) => [key, svg("path", { class: key })]));
      picture.replaceChildren(...frameAxes(width, height), ...Object.values(lines));
    }
    const number = frame();
    for (const [key] of LINES) lines[key].setAttribute("d", path(key, number, width, height));
  }

  async function load() {
    try {
      const found = await request("GET", address);
      data = { ...found, sourceFrames: unpack(found.source_frames), convertedFrames: unpack(found.converted_frames) };
      data.range = chooseRange(data.convertedFrames, data.scale);
      draw();
    } catch (error) {
      toast(error.message, { bad: true });
    }
  }

  for (const player of players) player.onTime((now) => { time = now; draw(); });
  for (const player of players) player.element.addEventListener("pause", draw, true);
  new ResizeObserver(draw).observe(element);
  load();
  return element;
}

// Players: a waveform, a button and the time. Only one plays at a time.
import { h, icon, toast } from "./dom.js";

let playing = null;

export function clock(seconds) {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")} min`;
}

const outlines = new Map();

/** The outline of a sound, asked for once. */
function outline(address) {
  if (!outlines.has(address)) {
    outlines.set(address, fetch(address).then((response) => (response.ok ? response.json() : [])).catch(() => []));
  }
  return outlines.get(address);
}

const watched = new WeakMap();
const eye = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { eye.unobserve(entry.target); watched.get(entry.target)?.load(); }
}, { rootMargin: "200px" });

export class Player {
  /** `sound` and `outline` are addresses, `seconds` the length, `tone` one of source, converted, target. */
  constructor({ label, sound, outline: shape, seconds, tone, small = false }) {
    Object.assign(this, { label, sound, shape, seconds, small, peaks: [], time: 0, listeners: [], audio: null });
    this.button = h("button", { type: "button", class: "icon play", onclick: () => this.toggle() });
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.wave = h("div", {
      class: "wave", role: "slider", tabindex: "0", "aria-label": `Position in ${label}`, "aria-valuemin": "0", "aria-valuemax": String(seconds),
      onkeydown: (event) => this.press(event), onpointerdown: (event) => this.drag(event),
    }, this.canvas);
    this.clock = h("span", { class: "clock muted small" });
    this.element = h("div", { class: `player ${tone}${small ? " small-player" : ""}` }, this.button, this.wave, this.clock);
    this.show(false);
    this.tell();
    watched.set(this.wave, this);
    eye.observe(this.wave);
    new ResizeObserver(() => this.draw()).observe(this.wave);
    document.addEventListener("theme", () => requestAnimationFrame(() => this.draw()));
  }

  async load() {
    this.peaks = await outline(this.shape);
    this.draw();
  }

  onTime(listener) { this.listeners.push(listener); }

  get isPlaying() { return Boolean(this.audio && !this.audio.paused && !this.audio.ended); }

  prepare() {
    if (this.audio) return this.audio;
    this.audio = h("audio", { preload: "auto", src: this.sound });
    this.audio.addEventListener("play", () => this.started());
    for (const event of ["pause", "ended"]) this.audio.addEventListener(event, () => this.show(false));
    this.audio.addEventListener("ended", () => { this.time = 0; this.tell(); this.draw(); this.ended?.(); });
    this.audio.addEventListener("error", () => toast(`${this.label} cannot be played in this browser.`, { bad: true }));
    if (this.time) this.audio.currentTime = this.time;
    this.element.append(this.audio);
    return this.audio;
  }

  toggle() { return this.isPlaying ? this.stop() : this.play(); }

  stop() { this.audio?.pause(); }

  async play() {
    const audio = this.prepare();
    if (audio.ended) audio.currentTime = 0;
    try {
      await audio.play();
    } catch (error) {
      if (error.name === "NotAllowedError") toast("The browser does not play sound yet. Press play again.", { bad: true });
    }
  }

  started() {
    if (playing && playing !== this) playing.stop();
    playing = this;
    this.show(true);
    const follow = () => {
      if (!this.isPlaying) return;
      this.move(this.audio.currentTime);
      requestAnimationFrame(follow);
    };
    follow();
  }

  show(active) {
    this.button.replaceChildren(icon(active ? "pause" : "play"));
    this.button.setAttribute("aria-label", `${active ? "Pause" : "Play"} ${this.label}`);
    this.button.title = `${active ? "Pause" : "Play"} ${this.label}`;
    if (!active && this.audio && !this.audio.ended) this.move(this.audio.currentTime);
  }

  move(time) {
    this.time = time;
    this.tell();
    this.draw();
  }

  tell() {
    const moved = this.time > 0 && this.time < this.seconds;
    const now = this.seconds < 60 ? this.time.toFixed(1) : clock(this.time).replace(" min", "");
    this.clock.textContent = !moved ? clock(this.seconds) : this.small ? clock(this.time) : `${now} / ${clock(this.seconds)}`;
    this.wave.setAttribute("aria-valuenow", this.time.toFixed(2));
    this.wave.setAttribute("aria-valuetext", `${this.time.toFixed(1)} of ${this.seconds.toFixed(1)} seconds`);
    for (const listener of this.listeners) listener(this.time);
  }

  seek(time) {
    const wanted = Math.max(0, Math.min(this.seconds - 0.01, time));
    if (this.audio) this.audio.currentTime = wanted;
    this.move(wanted);
  }

  press(event) {
    const step = Math.max(0.05, this.seconds / 20);
    const places = { ArrowRight: this.time + step, ArrowUp: this.time + step, ArrowLeft: this.time - step, ArrowDown: this.time - step, PageUp: this.time + 4 * step, PageDown: this.time - 4 * step, Home: 0, End: this.seconds };
    if (event.key === " " || event.key === "Enter") this.toggle();
    else if (event.key in places) this.seek(places[event.key]);
    else return;
    event.preventDefault();
  }

  drag(event) {
    const go = (moved) => {
      const box = this.wave.getBoundingClientRect();
      this.seek(((moved.clientX - box.left) / box.width) * this.seconds);
    };
    const end = () => {
      this.wave.removeEventListener("pointermove", go);
      this.wave.removeEventListener("pointerup", end);
      this.wave.removeEventListener("pointercancel", end);
    };
    if (event.button !== 0) return;
    this.wave.setPointerCapture(event.pointerId);
    this.wave.addEventListener("pointermove", go);
    this.wave.addEventListener("pointerup", end);
    this.wave.addEventListener("pointercancel", end);
    go(event);
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.wave;
    if (!width || !this.wave.isConnected) return;
    const scale = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * scale) || this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    const brush = this.canvas.getContext("2d");
    brush.setTransform(scale, 0, 0, scale, 0, 0);
    brush.clearRect(0, 0, width, height);
    brush.fillStyle = getComputedStyle(this.wave).color;
    const bars = Math.max(8, Math.floor(width / 4)), played = this.time / this.seconds;
    for (let bar = 0; bar < bars; bar++) {
      const from = Math.floor((bar * this.peaks.length) / bars), to = Math.max(from + 1, Math.floor(((bar + 1) * this.peaks.length) / bars));
      const peak = Math.max(0, ...this.peaks.slice(from, to)) / 100;
      const tall = Math.max(2, peak * (height - 4));
      brush.globalAlpha = this.time > 0 && bar / bars <= played ? 1 : this.time > 0 ? 0.38 : 0.75;
      brush.fillRect((bar * width) / bars, (height - tall) / 2, Math.max(1, (width / bars) * 0.6), tall);
    }
    if (this.time > 0) {
      brush.globalAlpha = 1;
      brush.fillStyle = getComputedStyle(this.element).color;
      brush.fillRect(Math.min(width - 2, played * width), 0, 2, height);
    }
  }
}

// The answer in plain words: the verdict, a few numbers, and how sure the pairs are.
import { announce, count, h, icon } from "./dom.js";
import { mix } from "./match-colours.js";

const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const FAIR = 0.8; // expected share of right pairs below which the page does not call an answer good
const FEWEST = 4; // rows below which nothing can be said of a share

/** good, fair, warn (nothing is known) or bad. */
function toneOf(answer) {
  return answer.tone === "good" && answer.reliability !== null && answer.reliability < FAIR ? "fair" : answer.tone;
}

function headline(answer) {
  const share = answer.reliability === null ? null : `${Math.round(100 * answer.reliability)}%`;
  if (toneOf(answer) === "fair") return `The ${answer.graphs ? "graphs" : "tables"} belong together, but only about ${share} of the pairs are expected to be right.`;
  if (answer.tone === "good") return share ? `Reliable: about ${share} of the pairs are expected to be right.` : "Reliable.";
  if (answer.tone === "bad") return "Do not rely on these pairs.";
  return "This method cannot say whether the pairs are right.";
}

function detail(answer) {
  if (answer.tone === "good") return answer.uncertain ? `Check the ${count(answer.uncertain, "pair")} below 80% first; confirming a few helps the others.` : "All pairs are above 80%.";
  if (answer.tone === "warn") return `${sentence(answer.verdict)} The method auto tells how sure each pair is.`;
  const [, reason] = answer.verdict.split("not reliable: ");
  return reason ? sentence(reason) : sentence(answer.verdict);
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

/** Bars from unlikely to sure, coloured as in the picture. */
function histogram(answer) {
  const bins = answer.histogram, most = Math.max(...bins, 1), width = 320, height = 96, step = width / bins.length;
  const words = [[0, .5], [.5, .8], [.8, 1.01]].map(([low, high]) => bins.reduce((sum, n, k) => (k / bins.length >= low - 1e-9 && k / bins.length < high - 1e-9 ? sum + n : sum), 0));
  const label = `How sure the pairs are: ${words[2]} at 80% or more, ${words[1]} between 50% and 80%, ${words[0]} below 50%.`;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height + 22}`, role: "img", "aria-label": label, class: "histogram" });
  for (const [k, n] of bins.entries()) {
    const tall = n ? Math.max(3, (height - 4) * n / most) : 0;
    const bar = svg("rect", { x: k * step + 1, y: height - tall, width: step - 2, height: tall, rx: 2 });
    bar.style.fill = mix((k + .5) / bins.length);
    bar.append(svg("title", {}, `${count(n, "pair")} at ${Math.round(100 * k / bins.length)}–${Math.round(100 * (k + 1) / bins.length)}%`));
    picture.append(bar);
  }
  picture.append(svg("line", { x1: 0, x2: width, y1: height + .5, y2: height + .5, class: "axis" }));
  for (const [x, anchor, text] of [[0, "start", "0%"], [width / 2, "middle", "50%"], [width, "end", "100%"]]) picture.append(svg("text", { x, y: height + 16, "text-anchor": anchor }, text));
  return h("figure", { class: "panel" }, h("figcaption", {}, h("h2", {}, "How sure the pairs are"), h("p", { class: "muted small" }, `${words[2]} at 80% or more, ${words[1]} at 50–80%, ${words[0]} below.`)), picture);
}

function number(value, label, onclick = null) {
  const inner = [h("span", { class: "value" }, value), h("span", { class: "label" }, label)];
  return onclick ? h("button", { type: "button", class: "number", onclick }, inner) : h("div", { class: "number" }, inner);
}

export function createAnswer(client, { filter }) {
  const element = h("div", { class: "answer", hidden: true });
  let shown = null, ready = false;
  return {
    element,
    update(view) {
      const { answer } = view.document;
      element.hidden = !answer;
      if (!answer || answer.id === shown) { shown = answer?.id ?? null; ready = true; return; }
      if (ready) announce(headline(answer));
      shown = answer.id;
      ready = true; // what the page opened with is no news
      const tone = toneOf(answer);
      const kind = { good: "check", fair: "zoom", warn: "zoom", bad: "close" }[tone];
      const verdict = h("div", { class: `notice verdict ${tone}` }, icon(kind), h("div", {}, h("strong", {}, headline(answer)), h("div", {}, detail(answer))));
      const numbers = h("div", { class: "numbers" },
        number(answer.pairs.toLocaleString("en"), answer.rows[0] === answer.rows[1] ? "pairs" : `pairs of ${answer.rows[0].toLocaleString("en")} and ${answer.rows[1].toLocaleString("en")} rows`),
        answer.reliability === null || Math.min(...answer.rows) < FEWEST ? null : number(`${Math.round(100 * answer.reliability)}%`, "expected right"),
        answer.uncertain === null ? null : number(answer.uncertain.toLocaleString("en"), "below 80%", () => filter("uncertain")),
        answer.changed === null ? null : number(answer.changed.toLocaleString("en"), "changed since the last answer", () => filter("changed")));
      const report = h("details", { class: "report", open: tone !== "good" }, h("summary", {}, "Why: the report"), answer.report.split("\n").map((line) => h("p", {}, line)));
      element.replaceChildren(verdict, h("div", { class: "side-by-side" }, h("div", { class: "panel" }, h("h2", {}, "The answer"), numbers, answer.report ? report : null), answer.histogram.length ? histogram(answer) : null));
    },
  };
}

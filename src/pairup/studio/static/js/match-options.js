// How to match, and the button that does it.
import { h, toast } from "./dom.js";

const METHODS = [["auto", "auto: nothing to tune"], ["lsom", "least-squares object matching"], ["ks-hsic", "kernelized sorting, HSIC"], ["ks-nocco", "kernelized sorting, NOCCO"], ["ks-mi", "kernelized sorting, mutual information"]];
const METRICS = [["auto", "auto: tries several"], ["euclidean", "Euclidean distance"], ["cosine", "cosine distance"], ["precomputed", "the tables hold distances"]];
const OVERLAPS = [["1", "every row has one"], ["auto", "some have none: estimate"], ["0.9", "90% have one"], ["0.8", "80% have one"], ["0.7", "70% have one"], ["0.5", "50% have one"]];
const COMMON = [["auto", "are compared directly"], ["none", "are columns like others"]];
const FORMS = [["auto", "auto: by the file"], ["tables", "tables, one thing per row"], ["graphs", "edge lists, one edge per row"]];
const attempt = (run) => run().catch((error) => toast(error.message, { bad: true }));

function field(label, options, onchange) {
  const select = h("select", { onchange: () => onchange(select.value) }, options.map(([value, text]) => h("option", { value }, text)));
  return { select, element: h("label", { class: "field" }, h("span", {}, label), select) };
}

/** What is confirmed and rejected, in words. */
function tell(anchors, forbidden) {
  const told = [];
  if (anchors.length) told.push(`${anchors.length.toLocaleString("en")} confirmed`);
  if (forbidden.length) told.push(`${forbidden.length.toLocaleString("en")} rejected`);
  return told.join(" and ");
}

export function createOptions(client, status) {
  const set = (change) => attempt(() => client.act({ type: "options", ...change }));
  const fields = {
    method: field("Method", METHODS, (value) => set({ method: value })),
    metric: field("Rows are compared by", METRICS, (value) => set({ metric: value })),
    overlap: field("Partners (of the smaller table)", OVERLAPS, (value) => set({ overlap: value === "auto" ? value : Number(value) })),
    on: field("Columns that both tables have", COMMON, (value) => set({ on: value })),
    form: field("The files hold", FORMS, (value) => set({ form: value })),
  };
  const directed = h("input", { type: "checkbox", onchange: () => set({ directed: directed.checked }) });
  const direction = h("label", { class: "row" }, directed, "edges have a direction");
  const run = h("button", { type: "button", class: "primary large", onclick: () => attempt(() => client.start({ task: "run" })) });
  const forget = h("button", { type: "button", class: "quiet", onclick: () => attempt(() => client.act({ type: "forget" })) }, "Forget them");
  const stale = h("span", { class: "muted small" });
  const options = h("details", { class: "options" }, h("summary", {}, "Options"), h("div", { class: "fields" }, Object.values(fields).map((each) => each.element), direction));
  const failed = h("p", { class: "notice bad", hidden: true, role: "alert" });
  const element = h("section", { class: "go", "aria-label": "Match" }, h("div", { class: "row" }, run, status, stale, forget), failed, options);
  let failure = null;
  const draw = () => {
    const { document: doc, job } = client.view;
    const { settings, answer } = doc;
    const ready = Boolean(settings.x.file && settings.y.file);
    element.hidden = !ready;
    const known = tell(doc.anchors, doc.forbidden);
    const same = answer && ["settings", "anchors", "forbidden"].every((name) => JSON.stringify(answer[name]) === JSON.stringify(doc[name]));
    run.textContent = !answer ? "Match" : known ? `Match again with ${known}` : "Match again";
    run.disabled = client.busy;
    run.classList.toggle("primary", !same);
    forget.hidden = !known || client.busy;
    stale.hidden = client.busy || !answer;
    stale.textContent = same ? "The answer below is up to date." : "The answer below is from before your last changes.";
    for (const [name, each] of Object.entries(fields)) {
      const value = String(settings[name]);
      if (![...each.select.options].some((option) => option.value === value)) each.select.append(h("option", { value }, `${Math.round(100 * Number(value))}% have one`));
      each.select.value = value;
    }
    directed.checked = settings.directed;
    const edges = client.view.files.some((file) => [settings.x.file, settings.y.file].includes(file.id) && /\.edge(s|list)$/i.test(file.name));
    direction.hidden = !(settings.form === "graphs" || (settings.form === "auto" && edges));
    const key = JSON.stringify([settings, doc.anchors, doc.forbidden]);
    if (job?.status === "failed" && failure?.id !== job.id) failure = { id: job.id, key };
    failed.hidden = job?.status !== "failed" || failure.key !== key; // what has changed since may well work
    failed.textContent = job?.error ?? "";
  };
  client.on("job", draw);
  return { element, update: draw };
}

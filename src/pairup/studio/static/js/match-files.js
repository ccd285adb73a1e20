// The two files of a match, and a look at what was read of them.
import { request } from "./api.js";
import { acceptFiles, announce, count, h, icon, toast } from "./dom.js";

const ACCEPT = ".csv,.tsv,.txt,.npy,.npz,.parquet,.xlsx,.xlsm,.edges,.edgelist,.graphml";
const UNNAMED = "New match";
const NO_HEADER = /\.(npy|npz|parquet)$/i; // what says by itself what its columns are called
const TITLES = { x: "First table", y: "Second table" };
const attempt = (run) => run().catch((error) => toast(error.message, { bad: true }));

/** Upload what was dropped or chosen; two files at once are the two sides. */
async function take(client, files, side) {
  const sides = files.length > 1 ? ["x", "y"] : [side];
  if (files.length > 2) toast("Two files are matched; the others were left out.");
  for (const [index, role] of sides.entries()) {
    const { added, refused } = await client.upload([files[index]], role);
    for (const each of refused) toast(`${each.name}: ${each.reason}`, { bad: true });
    if (added.length) {
      await client.act({ type: "choose", side: role, file: added[0].id });
      announce(`${added[0].name} was added.`);
    }
  }
  await nameAfterFiles(client);
}

const stem = (name) => name.replace(/\.[^.]*$/, "");

/** A project that nobody has named yet is named after its files, as one of the command line is. */
async function nameAfterFiles(client) {
  const { name, files, document: doc } = client.view;
  const both = ["x", "y"].map((side) => files.find((file) => file.id === doc.settings[side].file)?.name);
  if (name === UNNAMED && both.every(Boolean)) await client.rename(both.map(stem).join(" and ").slice(0, 200));
}

function choice(label, options, value, onchange) {
  const select = h("select", { onchange: () => onchange(select.value) }, options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
  select.value = value;
  return h("label", { class: "field" }, h("span", {}, label), select);
}

const KINDS = ["number", "category", "text", "date", "boolean"];

/** Read a file again in another way; what is not named stays. */
function readAgain(client, side, source, change) {
  const { header, id_column, kinds, drop } = source;
  return attempt(() => client.act({ type: "read", side, header, id_column, kinds, drop, ...change }));
}

/** What a column holds, to be changed where it was taken for something else. */
function kindOf(client, side, source, column) {
  if (column.use === "names" || !column.kind) return column.kind ? h("span", { class: "tag" }, "names") : null;
  const dropped = source.drop.includes(column.name), chosen = source.kinds[column.name];
  const options = [["auto", dropped || chosen ? "as found" : column.kind], ...KINDS.filter((kind) => chosen || kind !== column.kind).map((kind) => [kind, kind]), ["drop", "leave out"]];
  const select = h("select", { class: "kind", "aria-label": `What ${column.name} holds`, onchange: () => {
    const kinds = Object.fromEntries(Object.entries(source.kinds).filter(([name]) => name !== column.name));
    const drop = source.drop.filter((name) => name !== column.name);
    if (select.value === "drop") drop.push(column.name);
    else if (select.value !== "auto") kinds[column.name] = select.value;
    readAgain(client, side, source, { kinds, drop });
  } }, options.map(([value, text]) => h("option", { value }, text)));
  select.value = dropped ? "drop" : chosen ?? "auto";
  return select;
}

/** The first rows as a small spreadsheet; each column says what it is and what is done with it. */
function sheet(client, side, source, look) {
  const records = new Map(look.columns.map((column) => [column.name, column]));
  const columns = look.head_columns.map((name) => records.get(name) ?? { name, kind: "", use: "encoded", text: "" });
  const classOf = (column) => (column.use === "dropped" ? "dropped" : column.use === "names" ? "names" : column.use === "common" ? "common" : "");
  const head = h("tr", {}, columns.map((column) => h("th", { scope: "col", class: classOf(column) },
    h("span", { class: "column" }, column.name, kindOf(client, side, source, column)),
    h("span", { class: "told" }, column.missing ? `${count(column.missing, "cell")} missing; ${column.text}` : column.text))));
  const body = look.head.map((row) => h("tr", {}, row.map((cell, k) => h("td", { class: classOf(columns[k] ?? {}) }, cell))));
  const more = look.rows > look.head.length ? h("p", { class: "muted small" }, `and ${count(look.rows - look.head.length, look.kind === "graph" ? "more node" : "more row", look.kind === "graph" ? "more nodes" : "more rows")}`) : null;
  return h("div", {}, h("div", { class: "sheet", tabindex: "0", role: "region", "aria-label": `First rows of ${look.name}` }, h("table", {}, h("thead", {}, head), h("tbody", {}, body))), more);
}

function controls(client, side, source, look) {
  const read = (change) => readAgain(client, side, source, change);
  const header = choice("First row", [["auto", `found: ${look.header ? "column names" : "data"}`], ["yes", "column names"], ["no", "data"]],
    source.header === null ? "auto" : source.header ? "yes" : "no", (value) => read({ header: value === "auto" ? null : value === "yes" }));
  if (look.kind === "graph") return h("div", { class: "controls" }, header);
  const names = look.columns.map((column, k) => [`=${column.name}`, column.name || `column ${k + 1}`]);
  const ids = choice("Rows are named by", [["auto", `found: ${look.id_column ?? "nothing"}`], ["none", "nothing: count them"], ...names],
    source.id_column === null ? "auto" : source.id_column === "none" ? "none" : `=${source.id_column}`,
    (value) => read({ id_column: value === "auto" ? null : value.replace(/^=/, "") }));
  return h("div", { class: "controls" }, ids, NO_HEADER.test(look.name) ? null : header);
}

function createSide(client, side) {
  const body = h("div", { class: "body" });
  const name = h("span", { class: "filename" });
  const button = h("button", { type: "button", class: "quiet" });
  const element = h("section", { class: `panel side ${side}`, "aria-label": TITLES[side] },
    h("div", { class: "head" }, h("span", { class: `badge ${side}`, "aria-hidden": "true" }, side.toUpperCase()), h("div", { class: "titles" }, h("h2", {}, TITLES[side]), name), button), body);
  const choose = acceptFiles(element, { accept: ACCEPT, take: (files) => files.length && attempt(() => take(client, files, side)) });
  button.addEventListener("click", choose);
  const empty = h("div", { class: "drop" }, icon("upload"), h("p", {}, "Drop a table here, one thing per row"),
    h("button", { type: "button", class: "primary", onclick: choose }, "Choose a file"),
    h("p", { class: "muted small" }, "csv, tsv, txt, xlsx, parquet, npy, or a graph: edge list, GraphML"));
  return {
    element,
    show(doc, files, look) {
      const source = doc.settings[side];
      const file = files.find((each) => each.id === source.file);
      button.hidden = !file;
      button.textContent = "Replace";
      button.setAttribute("aria-label", `Replace the ${TITLES[side].toLowerCase()}`);
      name.textContent = file ? file.name : "";
      if (!file) return empty.isConnected || body.replaceChildren(empty); // not drawn anew under the pointer
      if (!look) return body.replaceChildren(...unread(client, Boolean(doc.look)));
      if (look.error) return body.replaceChildren(h("p", { class: "notice bad" }, look.error), look.columns ? controls(client, side, source, look) : recover(client, side, source));
      const size = look.kind === "graph" ? count(look.rows, "node") : `${count(look.rows, "row")}, ${count(look.n_columns, "column")}`;
      const dropped = look.columns.filter((column) => column.use === "dropped");
      body.replaceChildren(h("p", { class: "size" }, h("strong", {}, size), look.notes.length ? ` · ${look.notes.join(" · ")}` : ""),
        dropped.length ? h("p", { class: "small muted" }, `Left out: ${dropped.map((column) => `${column.name} (${column.text.replace(/^dropped[:,] ?/, "")})`).join(", ")}`) : "",
        controls(client, side, source, look), sheet(client, side, source, look));
      return undefined;
    },
  };
}

/** A file that is being read, or whose reading was cancelled. */
function unread(client, known) {
  if (client.busy || known) return [h("p", { class: "muted" }, "reading…")];
  return [h("p", { class: "muted" }, "Not read yet."), h("button", { type: "button", onclick: () => attempt(() => client.start({ task: "look" })) }, "Read it")];
}

/** A file that cannot be read may be read with other choices, without knowing its columns. */
function recover(client, side, source) {
  const field = h("input", { type: "text", value: source.id_column ?? "", maxlength: "500", placeholder: "name or number from 0" });
  const read = () => readAgain(client, side, source, { id_column: field.value.trim() || null, kinds: {}, drop: [] });
  return h("div", { class: "controls" }, h("label", { class: "field" }, h("span", {}, "Column that names the rows"), field), h("button", { type: "button", onclick: read }, "Read again"));
}

export function createFiles(client) {
  const sides = { x: createSide(client, "x"), y: createSide(client, "y") };
  const pair = h("div", { class: "pair-notes" });
  const summary = h("summary");
  const element = h("details", { class: "files", open: true }, summary, h("div", { class: "sides" }, sides.x.element, sides.y.element), pair);
  let looked = null, shown = null, answered = false;
  const draw = (view) => {
    const { document: doc, files } = view;
    for (const side of ["x", "y"]) sides[side].show(doc, files, looked?.id === doc.look ? looked?.told?.[side] : null);
    const told = looked?.id === doc.look ? looked?.told : null;
    const none = !doc.settings.x.file && !doc.settings.y.file;
    pair.replaceChildren(none ? h("p", { class: "note" }, "Both tables describe the same things, each in its own way: other columns, another order, other names. No column need be the same in both. You see what was read before anything is matched.") : "", told?.error ? h("p", { class: "notice bad" }, told.error) : "", ...(told?.notes ?? []).map((note) => h("p", { class: "note" }, note)));
    const names = ["x", "y"].map((side) => files.find((file) => file.id === doc.settings[side].file)?.name);
    summary.replaceChildren(h("span", { class: "summary" }, names.every(Boolean) ? `Files: ${names.join(" and ")}` : "Files"), h("span", { class: "muted small" }, names.every(Boolean) ? "what was read" : "two tables that describe the same things"));
  };
  let busy = false;
  client.on("job", () => {
    if (client.busy !== busy && !client.view.document.look) draw(client.view);
    busy = client.busy;
  });
  return {
    element,
    update(view) {
      const { document: doc } = view;
      const key = JSON.stringify([doc.look, doc.settings, view.files.map((file) => file.id), Boolean(doc.answer)]);
      if (key === shown) return;
      shown = key;
      if (Boolean(doc.answer) !== answered) element.open = !(answered = Boolean(doc.answer));
      draw(view);
      if (doc.look && looked?.id !== doc.look) {
        const id = doc.look;
        attempt(async () => {
          const told = await request("GET", client.address(`looks/${id}`));
          looked = { id, told };
          draw(client.view);
        });
      }
    },
  };
}

// What to take away: files to download, and the same as Python and as a command.
import { request } from "./api.js";
import { announce, h, icon, toast } from "./dom.js";

const LABELS = { "pairs.csv": "Pairs as csv", "pairs.json": "Pairs as json", "pairs.parquet": "Pairs as parquet", "pairs.xlsx": "Pairs as xlsx", "pairs-with-rows.csv": "Pairs with both rows", "matching.npz": "Whole result (.npz)" };

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not allowed here: select it, so that a key can copy it
    toast("The browser does not allow copying; select the text instead.", { bad: true });
    return;
  }
  toast("Copied.");
  announce("Copied.");
}

function block(title, text, name) {
  return h("div", { class: "code", dataset: { code: name } }, h("div", { class: "row" }, h("h3", {}, title), h("button", { type: "button", "aria-label": `Copy: ${title}`, onclick: () => copy(text) }, icon("copy"), "Copy")),
    h("pre", { tabindex: "0", "aria-label": title }, text));
}

export function createTakeaway(client) {
  const files = h("div", { class: "row" });
  const code = h("div", { class: "codes" });
  const element = h("section", { class: "panel takeaway", hidden: true, "aria-label": "Take it with you" }, h("h2", {}, "Take it with you"), files, code);
  let shown = null;
  const link = (id, name, label, kind = "") => h("a", { class: `button ${kind}`, href: client.address(`results/${id}/files/${name}`), download: name }, icon("download"), label);
  return {
    element,
    update(view) {
      const { answer } = view.document;
      element.hidden = !answer;
      if (!answer || answer.id === shown) return;
      shown = answer.id;
      files.replaceChildren(...answer.downloads.map((name, k) => link(answer.id, name, LABELS[name] ?? name, k ? "" : "primary")));
      code.replaceChildren();
      request("GET", client.address(`results/${answer.id}/code`)).then((told) => {
        if (shown !== answer.id) return;
        code.replaceChildren(block("The same as Python", told.python, "python"),
          told.command ? block("The same as a command", told.command, "command") : h("p", { class: "muted small" }, told.reason),
          told.command && told.needs.length ? h("div", { class: "row small" }, "The command reads:", told.needs.map((name) => link(answer.id, name, name))) : "");
      }).catch((error) => toast(error.message, { bad: true }));
    },
  };
}

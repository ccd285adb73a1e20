// The bar at the top: the way home, the name, undo and redo, the theme.
import { h, iconButton, toast } from "./dom.js";

const bar = document.getElementById("bar");

function brand() {
  return h("a", { class: "brand", href: "/", "aria-label": "pairup studio, all projects" }, h("img", { src: "/static/icon.svg", alt: "" }), h("span", {}, "pairup studio"));
}

function themeButton() {
  const root = document.documentElement;
  const button = h("span");
  const draw = () => {
    const dark = root.dataset.theme === "dark", focused = button.contains(document.activeElement);
    button.replaceChildren(iconButton(dark ? "sun" : "moon", dark ? "Light colours" : "Dark colours", () => {
      root.dataset.theme = dark ? "light" : "dark";
      localStorage.setItem("pairup-theme", root.dataset.theme);
      document.dispatchEvent(new CustomEvent("theme"));
    }));
    if (focused) button.querySelector("button").focus();
  };
  draw();
  document.addEventListener("theme", draw); // the system changes it as well
  return button;
}

export function showHomeBar() {
  bar.replaceChildren(brand(), h("span", { class: "spring" }), themeButton());
}

/** The bar of a project; returns a function that brings it up to date. */
export function showProjectBar(client) {
  const attempt = (run) => () => run().catch((error) => toast(error.message, { bad: true }));
  const undo = iconButton("undo", "Undo", attempt(() => client.undo()));
  const redo = iconButton("redo", "Redo", attempt(() => client.redo()));
  const name = h("input", { type: "text", "aria-label": "Name of the project", maxlength: "200", onchange: attempt(async () => {
    if (name.value.trim()) await client.rename(name.value.trim());
    else name.value = client.view.name;
  }), onkeydown: (event) => { if (event.key === "Enter") name.blur(); } });
  bar.replaceChildren(brand(), h("div", { class: "name" }, name), undo, redo, themeButton());
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.target.closest?.("input[type=text], textarea, input[type=search]")) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    (key === "y" || event.shiftKey ? redo : undo).click();
  });
  return (view) => {
    if (document.activeElement !== name) name.value = view.name;
    document.title = `${view.name} – pairup studio`;
    for (const [button, word, action] of [[undo, "Undo", view.can_undo], [redo, "Redo", view.can_redo]]) {
      button.disabled = !action;
      button.title = action ? `${word}: ${action}` : word;
      button.setAttribute("aria-label", button.title);
    }
  };
}

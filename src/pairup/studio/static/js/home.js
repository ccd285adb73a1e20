// The home page: new projects, and those that are there, the one changed last first.
import { request } from "./api.js";
import { showHomeBar } from "./bar.js";
import { ask, h, icon, iconButton, toast } from "./dom.js";

const NEW = [
  { kind: "album", icon: "grid", title: "Album", text: "Photos in any shape, similar ones side by side. Watch them sort themselves, then move what you like.", demo: "Try the demo pictures" },
  { kind: "match", icon: "pair", title: "Match", text: "Two tables that describe the same things. Find which row belongs to which, and check the doubtful ones.", demo: "Try the demo tables" },
  { kind: "voice", icon: "wave", title: "Voice", text: "Recordings of two speakers, any sentences. Learn the second voice, convert the first, and listen.", demo: "Try the demo voices" },
];

const attempt = (run) => () => run().catch((error) => toast(error.message, { bad: true }));

async function create(kind, demo) {
  const project = await request("POST", "/api/projects", { kind, demo });
  location.href = `/${kind}/${project.id}`;
}

function ago(seconds) {
  const minutes = Math.round((Date.now() / 1000 - seconds) / 60);
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  if (minutes < 1) return "just now";
  if (minutes < 60) return format.format(-minutes, "minute");
  if (minutes < 60 * 24) return format.format(-Math.round(minutes / 60), "hour");
  return format.format(-Math.round(minutes / 60 / 24), "day");
}

function card(project, refresh) {
  const address = `/${project.kind}/${project.id}`;
  const cover = project.cover
    ? h("img", { class: "cover", src: `/api/projects/${project.id}/cover?${project.changed}`, alt: "", loading: "lazy" })
    : h("div", { class: "cover" }, icon(NEW.find((made) => made.kind === project.kind).icon));
  const remove = attempt(async () => {
    await request("DELETE", `/api/projects/${project.id}`);
    await refresh();
    toast(`“${project.name}” was deleted.`, { action: { label: "Undo", run: attempt(async () => { await request("POST", `/api/projects/${project.id}/restore`); await refresh(); }) } });
  });
  const rename = attempt(async () => {
    const field = h("input", { type: "text", value: project.name, maxlength: "200", "aria-label": "New name" });
    field.value = project.name;
    if ((await ask("Rename the project", field, [{ label: "Cancel", value: "" }, { label: "Rename", value: "yes", kind: "primary" }])) && field.value.trim()) {
      await request("PATCH", `/api/projects/${project.id}`, { name: field.value.trim() });
      await refresh();
    }
  });
  const duplicate = attempt(async () => { await request("POST", `/api/projects/${project.id}/duplicate`); await refresh(); });
  return h("li", { class: "card", dataset: { id: project.id } },
    h("a", { class: "open", href: address }, cover, h("div", { class: "words" }, h("div", { class: "title" }, project.name), h("div", { class: "muted small" }, `${project.note || project.kind} · ${ago(project.changed)}`))),
    h("div", { class: "tools" },
      iconButton("pencil", `Rename ${project.name}`, rename),
      iconButton("copy", `Duplicate ${project.name}`, duplicate),
      iconButton("trash", `Delete ${project.name}`, remove)));
}

export async function showHome(main) {
  showHomeBar();
  document.title = "pairup studio";
  const list = h("ul", { class: "cards" });
  const heading = h("h2", {}, "Your projects");
  const damaged = h("div");
  const hero = h("div", { class: "hero" }, NEW.map((made) => h("section", { class: "panel", "aria-label": made.title },
    h("h2", {}, icon(made.icon), made.title), h("p", { class: "muted" }, made.text),
    h("div", { class: "row" },
      h("button", { type: "button", class: "primary", onclick: attempt(() => create(made.kind, false)) }, `New ${made.kind}`),
      h("button", { type: "button", "aria-label": made.demo, title: made.demo, onclick: attempt(() => create(made.kind, true)) }, "Try the demo")))));
  const refresh = async () => {
    const found = await request("GET", "/api/projects");
    heading.hidden = !found.projects.length;
    hero.classList.toggle("known", found.projects.length > 0);
    list.replaceChildren(...found.projects.map((project) => card(project, refresh)));
    damaged.replaceChildren(...found.damaged.map((text) => h("p", { class: "notice bad" }, text)));
  };
  main.replaceChildren(h("div", { class: "wrap" },
    h("h1", {}, "What belongs together?"),
    h("p", { class: "muted" }, "Everything stays on this computer."),
    hero,
    damaged, heading, list));
  await refresh();
  addEventListener("pageshow", (event) => { if (event.persisted) refresh(); });
}

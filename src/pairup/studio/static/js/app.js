// Where the page starts: the address says which page is shown.
import { Client } from "./api.js";
import { showHomeBar, showProjectBar } from "./bar.js";
import { h, toast } from "./dom.js";
import { showHome } from "./home.js";

const main = document.getElementById("main");
const [, kind, id] = location.pathname.split("/");

// Each page module exports createPage(main, client); client.on("project" | "job" | "step", …) brings all news.
const PAGES = { album: () => import("./album.js"), match: () => import("./match.js"), voice: () => import("./voice.js") };

async function showProject() {
  const client = new Client(kind, id);
  const loading = PAGES[kind](); // while the project is asked for
  try {
    await client.read();
  } catch (error) {
    showHomeBar();
    main.replaceChildren(h("div", { class: "wrap" }, h("h1", {}, "This project cannot be opened"), h("p", {}, error.message), h("a", { class: "button", href: "/" }, "All projects")));
    return;
  }
  const update = showProjectBar(client);
  client.on("project", update);
  update(client.view);
  const page = await loading;
  page.createPage(main, client);
  let lost = false;
  client.on("lost", (state) => {
    if (state !== null && !lost) toast("The studio does not answer. This page goes on by itself when it is back.", { bad: true });
    if (state === null && lost) toast("The studio is back.");
    lost = state !== null;
    document.body.dataset.connected = lost ? "no" : "yes";
  });
  client.follow();
  addEventListener("pagehide", () => client.close());
  addEventListener("pageshow", (event) => { if (event.persisted) client.follow(); }); // back by the browser's button
}

// Files that are dropped beside the places for them must not make the browser leave the page.
for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });

if (kind && id && kind in PAGES) showProject();
else showHome(main).catch((error) => toast(error.message, { bad: true }));

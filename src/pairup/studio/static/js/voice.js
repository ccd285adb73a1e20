import { h } from "./dom.js";
import { jobStatus } from "./job.js";

export function createPage(main, client) {
  main.replaceChildren(h("div", { class: "wrap" }, jobStatus(client), h("p", {}, "voice")));
}

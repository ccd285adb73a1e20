// The page of a match: two files, a look at them, the answer, the picture, the pairs, and what to take away.
import { h, toast } from "./dom.js";
import { jobStatus } from "./job.js";
import { createAnswer } from "./match-answer.js";
import { createFiles } from "./match-files.js";
import { createOptions } from "./match-options.js";
import { createPairs } from "./match-pairs.js";
import { createPicture } from "./match-picture.js";
import { createTakeaway } from "./match-takeaway.js";

function loadStyle(href) {
  return new Promise((resolve) => {
    const link = h("link", { rel: "stylesheet", href, onload: resolve, onerror: resolve });
    document.head.append(link);
  });
}

const attempt = (run) => run().catch((error) => toast(error.message, { bad: true }));

/** Start what starts by itself: the look at new files, and the first matching of the demo. */
function startByItself(client) {
  let asked = null;
  return () => {
    const { document: doc } = client.view;
    const files = [doc.settings.x.file, doc.settings.y.file];
    if (client.busy || !files.some(Boolean)) return;
    const wanted = !doc.look ? { task: "look" } : doc.begins && files.every(Boolean) ? { task: "run", first: true } : null;
    const key = JSON.stringify([wanted, doc.settings]);
    if (!wanted || key === asked) return;
    asked = key;
    attempt(() => client.start(wanted));
  };
}

export async function createPage(main, client) {
  await loadStyle("/static/match.css");
  const picture = createPicture(client, { open: (row) => pairs.showOnly(row) });
  const pairs = createPairs(client, { point: (row) => picture.point(row) });
  const answer = createAnswer(client, { filter: (show) => pairs.filter(show) });
  const parts = [createFiles(client), createOptions(client, jobStatus(client)), answer, picture, pairs, createTakeaway(client)];
  main.replaceChildren(h("div", { class: "wrap match" }, h("h1", { class: "visually-hidden" }, "Match"), parts.map((part) => part.element)));
  const begin = startByItself(client);
  const update = (view) => {
    for (const part of parts) part.update(view);
    begin();
  };
  client.on("project", update);
  client.on("job", begin);
  update(client.view);
}

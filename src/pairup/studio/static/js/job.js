// The progress of a job: what is being done, how far it is, and a button that cancels it.
import { announce, h, toast } from "./dom.js";

/** Make the element; it shows itself only while a job waits or works. */
export function jobStatus(client) {
  const text = h("span", { class: "text" });
  const meter = h("progress", { max: "1", "aria-label": "Progress" });
  const cancel = h("button", { type: "button", onclick: () => client.cancel().catch((error) => toast(error.message, { bad: true })) }, "Cancel");
  const element = h("div", { class: "job", hidden: true }, meter, text, cancel);
  let told = null, heard = null;

  /** A quarter of the work at a time, so that a screen reader is not talked over. */
  const tellProgress = (job) => {
    const quarter = job.status === "running" && job.progress ? Math.floor(4 * job.progress) : 0, key = `${job.id} ${quarter}`;
    if (quarter > 0 && quarter < 4 && heard !== null && key !== heard) announce(`${25 * quarter}% done: ${job.text}`);
    heard = key;
  };

  client.on("job", (job) => {
    const busy = ["queued", "running"].includes(job.status);
    element.hidden = !busy;
    text.textContent = job.status === "queued" ? "waiting for another job" : job.text;
    if (job.progress === null || job.progress === undefined) meter.removeAttribute("value");
    else meter.value = job.progress;
    tellProgress(job);
    const news = `${job.id} ${job.status}`;
    if (news === told) return;
    const first = told === null;
    told = news;
    if (job.status === "running") announce("Work has begun.");
    if (first) return; // how a job ended before this page was opened is no news
    if (job.status === "done") announce("Done.");
    if (job.status === "cancelled") announce("Cancelled.");
    if (job.status === "failed") toast(job.error ?? "That failed.", { bad: true });
  });
  return element;
}

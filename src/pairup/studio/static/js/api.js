// Requests to the studio. Every refusal is an Error with a sentence that can be shown.

export async function request(method, path, body) {
  const options = { method, headers: {} };
  if (body instanceof Blob) options.body = body;
  else if (body !== undefined) {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The studio does not answer. Is it still running?");
  }
  if (response.status === 204) return null;
  const answer = (response.headers.get("content-type") ?? "").includes("json") ? await response.json() : null;
  if (!response.ok) throw new Error(sentence(answer?.detail ?? `The studio answered ${response.status}.`));
  return answer;
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

const AT_ONCE = 3; // uploads; a browser has six connections, of which the news take one
const RANK = { queued: 0, running: 1, done: 2, failed: 2, cancelled: 2 };

/** One open project: its latest view, what can be done to it, and who is told. */
export class Client {
  constructor(kind, id) {
    this.kind = kind;
    this.id = id;
    this.view = null;
    this.revision = -1;
    this.ended = new Set(); // jobs
    this.handlers = { project: [], job: [], step: [], lost: [] };
  }

  on(event, handler) {
    this.handlers[event].push(handler);
  }

  tell(event, data) {
    for (const handler of this.handlers[event]) handler(data);
  }

  /** Follow the project. The stream begins with the whole project, also after a break. */
  follow() {
    this.source = new EventSource(`/api/projects/${this.id}/events`);
    this.source.addEventListener("project", (event) => this.take(JSON.parse(event.data)));
    this.source.addEventListener("job", (event) => this.takeJob(JSON.parse(event.data)));
    this.source.addEventListener("step", (event) => this.tell("step", JSON.parse(event.data)));
    this.source.addEventListener("error", () => this.tell("lost", this.source.readyState === EventSource.CLOSED));
    this.source.addEventListener("open", () => this.tell("lost", null));
  }

  close() {
    this.source?.close();
  }

  take(view) {
    if (view.revision < this.revision && view.created === this.view?.created) return this.view; // an older answer
    this.revision = view.revision;
    view.job = this.newest(view.job);
    this.view = view;
    this.tell("project", view);
    if (view.job) this.takeJob(view.job);
    return view;
  }

  takeJob(news) {
    const job = this.newest(news);
    if (this.view) this.view.job = job;
    this.tell("job", job);
  }

  /** The answer to a request may come after the news of what followed it: then what is known already is newer. */
  newest(job) {
    const known = this.view?.job;
    if (known && (!job || (job.id === known.id ? RANK[job.status] < RANK[known.status] : this.ended.has(job.id)))) return known;
    if (job && RANK[job.status] === RANK.done) this.ended.add(job.id);
    return job;
  }

  /** Whether a job works or waits. */
  get busy() {
    return ["queued", "running"].includes(this.view?.job?.status);
  }

  async read() { return this.take(await request("GET", `/api/projects/${this.id}`)); }
  async act(action) { return this.take(await request("POST", `/api/${this.kind}/${this.id}/actions`, action)); }
  async start(job) { const view = await request("POST", `/api/${this.kind}/${this.id}/jobs`, job); this.takeJob(view); return view; }
  async cancel() { if (this.busy) this.takeJob(await request("DELETE", `/api/projects/${this.id}/jobs/${this.view.job.id}`)); }
  async undo() { return this.take(await request("POST", `/api/projects/${this.id}/undo`)); }
  async redo() { return this.take(await request("POST", `/api/projects/${this.id}/redo`)); }
  async rename(name) { return this.take(await request("PATCH", `/api/projects/${this.id}`, { name })); }

  /** Upload files, a few at a time; `progress(done, total)` is called after each. Refused ones are returned. */
  async upload(files, role, progress = () => {}) {
    const added = Array(files.length), refused = [], waiting = [...files.entries()];
    let done = 0;
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [index, file] = next;
        try {
          added[index] = await request("POST", `/api/projects/${this.id}/files?role=${role}&name=${encodeURIComponent(file.name)}`, file);
        } catch (error) {
          refused.push({ name: file.name, reason: error.message });
        }
        progress(++done, files.length);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { added: added.filter(Boolean), refused };
  }

  /** Address of something that belongs to this project's kind, such as "export/album.png". */
  address(path) { return `/api/${this.kind}/${this.id}/${path}`; }
  fileAddress(file) { return `/api/projects/${this.id}/files/${file}`; }
}

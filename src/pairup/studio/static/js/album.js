// The page of an album.
import { Atlas } from "./album-atlas.js";
import { enlarge } from "./album-enlarge.js";
import { frameChooser } from "./album-frame.js";
import { followKeys, followPointer } from "./album-hands.js";
import { exportPanel, othersPanel, showKeys, stylePanel, weightPanel } from "./album-panels.js";
import { Scene } from "./album-scene.js";
import { request } from "./api.js";
import { acceptFiles, announce, count, h, icon, iconButton, toast } from "./dom.js";
import { jobStatus } from "./job.js";

const PICTURES = "image/*,.heic,.heif,.hif";
const SOURCES = ["photo", "folder", "demo"];
const OTHER = /^(video|audio|text|application)\//; // types of files that folders of photos hold as well
const UNNAMED = "New album";
const FEW = 3; // photos below which no order is better than another
const MEASURE = 700; // milliseconds after the last move until the quality is measured

// The page is not built before its style is there: nothing jumps.
await new Promise((resolve) => document.head.append(h("link", { rel: "stylesheet", href: "/static/album.css", onload: resolve, onerror: resolve })));

export function createPage(main, client) {
  new AlbumPage(main, client).begin();
}

class AlbumPage {
  constructor(main, client) {
    this.client = client;
    this.step = null; // the last order of the job that arranges
    this.next = null; // the job that follows the present one
    this.seed = 0;
    this.files = new Map();
    this.build(main);
    this.atlas = new Atlas(client, { changed: () => this.scene?.wake(), missing: (level, fit) => this.drawSheets(level, fit) });
    this.scene = new Scene(this.canvas, this.atlas);
    this.scene.onDraw = () => this.placeToolbar();
    this.stage.album = this; // for whoever looks at it or measures it with the browser's tools
    const on = {
      select: (cell) => this.select(cell),
      swap: (a, b) => this.swap(a, b),
      enlarge: (cell) => this.enlarge(cell),
      act: (name, cell) => this.change(name, cell),
      lift: () => { this.halt(); return true; },
      tell: (cell, before) => announce(`${before ? `${before} ` : ""}${this.nameCell(cell)}`),
      say: announce,
    };
    followPointer(this.stage, this.scene, on);
    followKeys(this.stage, this.scene, on);
    const cancel = client.cancel.bind(client);
    client.cancel = async () => { const step = this.step; await cancel(); await this.keep(step); }; // what is seen stays
    for (const name of ["undo", "redo"]) { // a job would show the album as it was not long ago
      const move = client[name].bind(client);
      client[name] = async () => { if (this.arranging) { this.step = null; await cancel(); } return move(); };
    }
    client.on("project", (view) => this.update(view));
    client.on("job", (job) => this.follow(job));
    client.on("step", (step) => this.takeStep(step));
  }

  // -- what the page is made of ----------------------------------------------------------------------------------

  build(main) {
    const { client } = this;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.toolbar = h("div", { class: "tile-tools", role: "toolbar", "aria-label": "This photo", hidden: true });
    this.stage = h("div", { class: "stage", tabindex: "0", role: "application", "aria-label": "Album", "aria-describedby": "stage-help" }, this.canvas, this.toolbar);
    this.help = h("p", { id: "stage-help", class: "visually-hidden" }, "Arrow keys move over the photos. Space picks a photo up and drops it on another, which swaps them. Enter enlarges, P pins, R rotates, Delete removes, plus and minus zoom.");
    this.empty = h("div", { class: "empty", hidden: true });
    const zoom = h("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
      iconButton("keys", "Keys", showKeys, { class: "" }),
      iconButton("plus", "Zoom in", () => this.scene.zoom(1.4), { class: "" }),
      iconButton("minus", "Zoom out", () => this.scene.zoom(1 / 1.4), { class: "" }),
      iconButton("whole", "Show all", () => this.scene.fit(), { class: "" }));
    this.zoomTools = zoom;
    this.quality = h("p", { class: "quality" });
    this.counted = h("h2", { class: "counted" });
    this.arrangeButton = h("button", { type: "button", class: "primary", onclick: () => this.arrange(false) }, "Arrange");
    this.restButton = h("button", { type: "button", onclick: () => this.arrange(true), title: "Pinned photos and those you moved stay" }, "Re-arrange the rest");
    this.notice = h("p", { class: "notice", hidden: true });
    this.readButton = h("button", { type: "button", class: "primary", hidden: true, onclick: () => this.read() }, "Read the photos"); // after a cancel
    this.frame = frameChooser(client, (frame) => this.chooseFrame(frame));
    this.weights = weightPanel((weights) => this.attempt(async () => { await this.client.act({ type: "weights", weights }); await this.arrange(false); }), async (file) => {
      const { added, refused } = await client.upload([file], "vectors");
      if (refused.length) throw new Error(refused[0].reason);
      return added[0].id;
    });
    this.look = stylePanel((style) => this.scene.setStyle(style), (style) => this.writeStyle(style));
    this.others = othersPanel({
      restore: (photos) => this.attempt(() => client.act({ type: "restore", photos })),
      place: ([photo]) => this.attempt(() => this.placePhoto(photo)),
    });
    this.exports = exportPanel(client, async (job) => { this.wantsDownload = job.format; await client.start(job); });
    const part = (title, body, open) => h("details", { class: "part", open }, h("summary", {}, title), body);
    this.othersPart = part("Photos not shown", this.others.element, false);
    const add = acceptFiles(main, { accept: PICTURES, take: (files) => this.add(files) });
    const folder = h("span", { class: "visually-hidden" });
    const addFolder = acceptFiles(folder, { accept: PICTURES, folder: true, take: (files) => this.add(files) });
    this.emptyTitle = h("h2", {}, "Drop photos here");
    this.empty.append(h("div", { class: "drop" }, icon("upload"), this.emptyTitle, h("p", { class: "muted" }, "JPEG, PNG, HEIC, WebP, TIFF or GIF. They are copied into this project; the originals stay as they are."),
      h("div", { class: "row" }, h("button", { type: "button", class: "primary", onclick: add }, "Choose photos"), h("button", { type: "button", onclick: addFolder }, "Choose a folder"))));
    this.panel = h("aside", { class: "side", "aria-label": "Album" },
      h("div", { class: "head" }, this.counted, h("div", { class: "row" }, iconButton("plus", "Add photos", add, { words: true, class: "" }), iconButton("folder", "Add a folder of photos", addFolder, { class: "" })),
        this.quality, this.notice, this.readButton, h("div", { class: "row" }, this.arrangeButton, this.restButton)),
      part("Frame", this.frame.element, innerWidth > 900),
      part("What makes photos alike", this.weights.element, false),
      part("Look", this.look.element, innerWidth > 900),
      part("Download", this.exports.element, false),
      this.othersPart);
    this.status = h("div", { class: "status" }, jobStatus(client));
    const files = [...main.children]; // inputs for files stay
    main.replaceChildren(h("div", { class: "album" }, h("div", { class: "view" }, this.stage, this.empty, this.status, zoom), this.panel), this.help, folder, ...files);
    main.classList.add("album-main");
  }

  attempt(run) {
    return Promise.resolve().then(run).catch((error) => toast(error.message, { bad: true }));
  }

  // -- news ------------------------------------------------------------------------------------------------------

  begin() {
    this.update(this.client.view);
    if (this.client.view.job) this.follow(this.client.view.job);
    this.attempt(() => this.atlas.refresh());
    if (this.client.busy) return;
    if (this.unread.length) this.read();
    else if (this.document.photos.length && !this.document.order.length) this.arrange(false);
  }

  get document() { return this.client.view.document; }
  get unread() { return this.client.view.files.filter((file) => SOURCES.includes(file.role) && !Object.keys(file.details).length); }
  get reading() { return this.client.busy && this.client.view.job.task === "album.read"; }
  get arranging() { return this.client.busy && this.client.view.job.task === "album.arrange"; }

  update(view) {
    const album = view.document, { scene } = this;
    this.files = new Map(view.files.filter((file) => file.details.number !== undefined).map((file) => [file.details.number, file]));
    for (const [number, file] of this.files) scene.ratios.set(number, file.details.ratio);
    scene.pins = new Set(album.pins);
    scene.rotations = album.rotations;
    if (!this.writing) { scene.setStyle(album.style); this.look.update(album.style); }
    this.show(album);
    this.empty.hidden = album.photos.length > 0 || this.unread.length > 0 || this.client.busy;
    this.zoomTools.hidden = !album.photos.length;
    const searched = view.files.filter((file) => file.role === "folder" && file.details.read);
    this.emptyTitle.textContent = searched.length ? `There are no photos in “${searched.at(-1).name}”. Drop some here` : "Drop photos here";
    this.showWords(view);
    this.frame.update(album.frame);
    this.weights.update(album.weights, [...this.files.values()].some((file) => file.details.dated), view.files.find((file) => file.id === album.weights.file)?.name);
    this.exports.update(view.files.filter((file) => file.role === "export"), album.order.length > 0);
    const named = (photos) => photos.map((number) => ({ number, name: this.nameOf(number) }));
    const skipped = view.files.filter((file) => file.details.skipped).map((file) => ({ name: file.name, reason: file.details.skipped }));
    this.othersPart.hidden = !this.others.update({ removed: named(album.removed), leftOut: album.order.length ? named(album.left_out) : [], skipped });
    if (scene.selected >= 0 && scene.order[scene.selected] !== this.selectedPhoto) {
      const cell = scene.order.indexOf(this.selectedPhoto);
      this.select(cell, false);
    } else this.fillToolbar();
    scene.wake();
  }

  /** Show the places of the document, unless a job shows its own. */
  show(album) {
    if (this.arranging && this.step) return;
    if (album.order.length) this.scene.setLayout(album.cells, album.order);
    else if (album.photos.length) this.scene.setLayout(...lineUp(album.photos));
  }

  showWords(view) {
    const album = view.document;
    this.counted.textContent = album.photos.length ? count(album.photos.length, "photo") : this.reading ? "Reading photos…" : "No photos yet";
    const found = this.measureQuality(album);
    this.quality.textContent = tellQuality(album, found);
    const quality = found ?? album.quality;
    this.quality.title = quality ? `DPQ16 ${quality.dpq.toFixed(3)}, in a random order ${quality.random.toFixed(3)}; ${Math.round(quality.kept * 100)} % of the 8 most similar photos are near` : "";
    this.quality.hidden = album.photos.length < FEW;
    this.arrangeButton.disabled = !album.photos.length;
    this.restButton.disabled = !(album.moved.length || album.pins.length);
    this.readButton.hidden = !this.unread.length || this.client.busy || this.adding;
    const follows = !album.order.length && view.job?.task === "album.read" && view.job.status === "done"; // it arranges by itself
    if (!this.adding) this.notice.hidden = album.arranged || !album.photos.length || this.client.busy || follows; // else it counts uploads
    if (!this.adding) this.notice.textContent = album.left_out.length && album.order.length ? "Some photos have no place yet: arrange." : "Not arranged yet.";
    this.stage.setAttribute("aria-label", album.photos.length ? `Album of ${count(album.photos.length, "photo")}` : "Album without photos");
  }

  /** How good the album is, where that was measured before photos were moved or the work stopped; null until it is known. */
  measureQuality(album) {
    if (!album.order.length || album.photos.length < FEW || (album.quality && !album.moved.length)) return null;
    const key = JSON.stringify([album.order, album.rotations, album.weights]);
    if (this.measured?.key === key) return this.measured.quality;
    clearTimeout(this.measuring);
    if (!this.client.busy) this.measuring = setTimeout(async () => { // a moment after the last move
      try {
        this.measured = { key, quality: await request("GET", this.client.address("quality")) };
      } catch {
        return; // the words before stay true
      }
      this.showWords(this.client.view);
    }, MEASURE);
    return null;
  }

  follow(job) {
    const busy = ["queued", "running"].includes(job.status);
    this.status.classList.toggle("busy", busy);
    this.empty.hidden = this.empty.hidden || busy;
    const key = `${job.id} ${job.status}`;
    if (key === this.told) return;
    this.told = key;
    this.showWords(this.client.view);
    if (busy) { this.notice.hidden = true; return; }
    const ended = job.task, done = job.status === "done";
    this.attempt(async () => {
      if (ended === "album.arrange") this.step = null;
      if (["album.read", "album.arrange", "album.tiles"].includes(ended)) await this.atlas.refresh();
      this.sheetsAsked = null;
      await this.client.read();
      if (ended === "album.arrange" && done) this.tellLetGo();
      if (ended === "album.arrange" && done && this.document.quality) announce(`Arranged. ${this.quality.textContent}`);
      const mine = this.started === job.id || (!this.document.order.length && document.visibilityState === "visible");
      if (ended === "album.read" && mine) this.tellSkipped();
      if (ended === "album.read" && done && mine && !this.client.busy && this.document.photos.length && !this.document.arranged) await this.arrange(false);
      if (ended === "album.export" && done) this.download();
      if (!this.client.busy && this.pendingSheets) { const [level, fit] = this.pendingSheets; this.pendingSheets = null; this.drawSheets(level, fit); }
    });
  }

  /** Pins that the new frame has no cells for. */
  tellLetGo() {
    const lost = (this.pinned ?? []).filter((photo) => this.document.photos.includes(photo) && !this.document.pins.includes(photo)).length;
    this.pinned = null;
    if (lost) toast(`${count(lost, "pinned photo")} ${lost === 1 ? "has" : "have"} no cell in this frame and may move now.`, { action: { label: "Undo", run: () => this.attempt(() => this.client.undo()) } });
  }

  tellSkipped() {
    const skipped = this.client.view.files.filter((file) => file.details.skipped).length;
    if (skipped) toast(`${count(skipped, "file")} could not be read; see “Photos not shown”.`);
  }

  takeStep(step) {
    if (step.order && this.client.view.job?.status !== "cancelled") {
      this.step = step;
      this.scene.setLayout(step.cells, step.order);
    }
    if (step.count) this.showRead(step.count);
    if (step.tiles) this.refreshSoon();
  }

  /** Photos as they are read, in the order of their names. */
  showRead(number) {
    this.empty.hidden = true;
    const photos = [...this.document.photos], first = this.files.size;
    for (let photo = first; photo < number; photo++) photos.push(photo);
    if (!this.document.order.length) this.scene.setLayout(...lineUp(photos));
    this.attempt(() => this.atlas.refresh());
  }

  refreshSoon() {
    if (this.refreshing) return;
    this.refreshing = setTimeout(() => { this.refreshing = null; this.attempt(() => this.atlas.refresh()); }, 400);
  }

  drawSheets(level, fit) {
    if (level === 40 || !this.document.order.length || !this.document.arranged) return; // the job that arranges draws the usual ones
    if (this.client.busy) { this.pendingSheets = [level, fit]; return; }
    const key = `${level} ${fit}`;
    if (this.sheetsAsked === key) return;
    this.sheetsAsked = key;
    this.attempt(() => this.client.start({ task: "tiles", level, fit }));
  }

  // -- what people do --------------------------------------------------------------------------------------------

  async add(files) {
    if (!files.length) return;
    const all = files.length;
    files = files.filter((file) => !OTHER.test(file.type) && !file.name.startsWith("."));
    if (files.length < all) toast(`${count(all - files.length, "file")} that ${all - files.length === 1 ? "is no picture was" : "are no pictures were"} left out.`);
    if (!files.length) return;
    const text = (done) => { this.notice.hidden = false; this.notice.textContent = `Adding photos: ${done} of ${files.length}`; };
    text(0);
    this.adding = true;
    const { added, refused } = await this.client.upload(files, "photo", text);
    this.adding = false;
    this.notice.hidden = true;
    if (refused.length) toast(refused.length === 1 ? `${refused[0].name}: ${refused[0].reason}` : `${refused.length} files were refused. ${refused[0].reason}`, { bad: true });
    if (added.length) await this.nameAfterFolder(files);
    if (added.length) await this.read();
  }

  /** An album that nobody has named yet is named after its folder, as one of the command line is. */
  nameAfterFolder(files) {
    const folders = new Set(files.map((file) => file.folder ?? file.webkitRelativePath?.split("/").slice(0, -1)[0] ?? ""));
    const [folder] = folders;
    if (this.client.view.name !== UNNAMED || folders.size !== 1 || !folder) return null;
    return this.attempt(() => this.client.rename(folder.slice(0, 200)));
  }

  read() {
    return this.attempt(async () => {
      if (this.arranging) await this.client.cancel();
      this.started = (await this.client.start({ task: "read" })).id;
    });
  }

  arrange(keepMoved) {
    return this.attempt(async () => {
      if (this.arranging) await this.client.cancel();
      this.step = null;
      await this.client.start({ task: "arrange", keep_moved: keepMoved, seed: this.seed++ });
    });
  }

  chooseFrame(frame) {
    return this.attempt(async () => {
      if (this.arranging) await this.client.cancel();
      this.pinned = this.document.pins;
      await this.client.act({ type: "frame", frame });
      await this.arrange(false);
    });
  }

  /** Write the look; until that is done, answers to earlier changes do not show. */
  async writeStyle(style) {
    this.writing = (this.writing ?? 0) + 1;
    await this.attempt(() => this.client.act({ type: "style", style }));
    this.writing -= 1;
    this.update(this.client.view);
  }

  /** Stop the job that arranges, for a hand is on the album. */
  halt() {
    if (this.arranging) this.halted = this.attempt(() => this.client.cancel());
  }

  async keep(step) {
    this.step = null;
    if (step) await this.client.act({ type: "keep", cells: step.cells, order: step.order });
  }

  edit(action, words) {
    return this.attempt(async () => {
      this.halt();
      await this.halted;
      this.halted = null;
      await this.client.act(action);
      if (words) announce(words);
    });
  }

  swap(first, second) {
    const { scene } = this, a = scene.order[first], b = scene.order[second];
    const order = [...scene.order];
    [order[first], order[second]] = [b, a];
    scene.setLayout(scene.cells, order); // at once; the studio's answer follows
    scene.cursor = second;
    const words = b >= 0 ? `${this.nameOf(a)} and ${this.nameOf(b)} swapped.` : `${this.nameOf(a)} moved.`;
    return this.edit({ type: "swap", first, second }, words).then(() => this.show(this.document));
  }

  change(name, cell) {
    const photo = this.scene.order[cell];
    if (photo < 0) return null;
    const label = this.nameOf(photo), photos = [photo];
    if (name === "pin") {
      const pinned = !this.scene.pins.has(photo);
      return this.edit({ type: "pin", photos, pinned }, `${label} ${pinned ? "pinned" : "let go"}.`);
    }
    if (name === "remove") {
      this.select(-1);
      return this.edit({ type: "remove", photos }, `${label} removed. Undo brings it back.`);
    }
    return this.edit({ type: "rotate", photos, quarters: name === "rotate" ? 1 : 3 }, `${label} rotated.`);
  }

  async placePhoto(photo) {
    const { scene } = this, blank = scene.order.indexOf(-1);
    const cell = blank >= 0 ? blank : scene.selected;
    if (cell < 0) { toast("Select a photo in the album first; this one takes its place."); return; }
    await this.client.act({ type: "move", photo, cell });
  }

  enlarge(cell) {
    const photos = this.scene.order.filter((photo) => photo >= 0);
    enlarge(this.client, photos, this.scene.order[cell], {
      describe: (photo) => ({ name: this.nameOf(photo), quarters: this.document.rotations[photo] ?? 0, tile: this.atlas.find(photo, 128, "crop") }),
      rotate: (photo) => this.client.act({ type: "rotate", photos: [photo], quarters: 1 }),
      closed: (photo) => { this.scene.cursor = this.scene.order.indexOf(photo); this.stage.focus({ preventScroll: true }); this.scene.wake(); },
    });
  }

  download() {
    const file = this.client.view.files.filter((known) => known.role === "export" && known.name.endsWith(`.${this.wantsDownload}`)).at(-1);
    this.wantsDownload = null;
    if (!file) return;
    const link = h("a", { href: this.client.fileAddress(file.id), download: file.name });
    document.body.append(link);
    link.click();
    link.remove();
    announce(`${file.name} is ready.`);
  }

  // -- the photo that is selected --------------------------------------------------------------------------------

  nameOf(photo) { return this.files.get(photo)?.name ?? `photo ${photo + 1}`; }

  nameCell(cell) {
    const photo = this.scene.order[cell], [row, column] = this.scene.cells[cell], { top, left } = this.scene.bounds;
    return `${photo < 0 ? "empty" : this.nameOf(photo)}${this.scene.pins.has(photo) ? ", pinned" : ""}, row ${row - top + 1}, column ${column - left + 1}`;
  }

  select(cell, tell = true) {
    this.scene.selected = cell;
    this.selectedPhoto = cell >= 0 ? this.scene.order[cell] : -1;
    this.fillToolbar();
    if (cell >= 0 && tell) announce(`${this.nameCell(cell)} selected`);
    this.scene.wake();
  }

  fillToolbar() {
    const { selectedPhoto: photo, toolbar, scene } = this, cell = scene.selected;
    if (cell < 0 || photo === undefined || photo < 0) { toolbar.hidden = true; this.filled = ""; return; }
    const pinned = scene.pins.has(photo), key = `${photo} ${pinned}`;
    if (this.filled !== key) {
      this.filled = key;
      const at = () => scene.order.indexOf(photo);
      const pin = iconButton("pin", pinned ? "Let go" : "Pin", () => this.change("pin", at()));
      pin.setAttribute("aria-pressed", String(pinned));
      const focused = toolbar.contains(document.activeElement) ? [...toolbar.children].indexOf(document.activeElement) : -1;
      toolbar.replaceChildren(pin, iconButton("rotate", "Rotate", () => this.change("rotate", at())), iconButton("zoom", "Enlarge", () => this.enlarge(at())), iconButton("trash", "Remove", () => this.change("remove", at())), h("span", { class: "small name" }, this.nameOf(photo)));
      if (focused >= 0) toolbar.children[focused]?.focus();
    }
    toolbar.hidden = false;
    this.placeToolbar();
  }

  placeToolbar() {
    const { toolbar, scene } = this;
    if (toolbar.hidden || scene.selected < 0 || scene.selected >= scene.cells.length) return;
    const [left, top, side] = scene.boxOf(scene.selected);
    const wide = toolbar.offsetWidth, high = toolbar.offsetHeight;
    const x = Math.min(Math.max(left + side / 2 - wide / 2, 6), scene.width - wide - 6);
    const above = top - high - 8, y = above >= 6 ? above : Math.min(top + side + 8, scene.height - high - 6);
    toolbar.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }
}

const times = (likeness) => `${likeness.toFixed(2).replace(/0$/, "")}×`;

/** The quality in words; `found` is that of the present places, where it is not the one that the album was given. */
function tellQuality(album, found) {
  const { quality } = album, moved = album.moved.length > 0, now = found ?? quality;
  if (!album.order.length) return "";
  if (!now) return "Stopped before it was finished.";
  if (now.likeness >= 1000) return "Neighbours are all alike.";
  const than = "more alike than in a random order";
  if (!quality) return `Stopped early: neighbours are ${times(now.likeness)} ${than}.`;
  if (!moved) return `Neighbours are ${times(now.likeness)} ${than}.`;
  if (!found) return `Neighbours were ${times(quality.likeness)} ${than}, before you moved some.`;
  return `Neighbours are ${times(found.likeness)} ${than}; before you moved some, ${times(quality.likeness)}.`;
}

/** Cells and order of photos in rows, as they come: 3 wide for 2 high. */
function lineUp(photos) {
  const columns = Math.max(Math.round(Math.sqrt(photos.length * 1.5)), 1);
  return [photos.map((_, i) => [Math.floor(i / columns), i % columns]), photos];
}

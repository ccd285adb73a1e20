// The album on a canvas: where each tile is, where it glides to, and how it is drawn.
// Nothing is drawn while nothing moves.

const STIFFNESS = 8.5; // of the springs that move tiles, per second
const CAMERA_STIFFNESS = 11;
const MANY = 600; // tiles above which corners are covered instead of cut
const MARGIN = 18;
const FOOT = 60; // pixels below the album for progress and zoom

export class Scene {
  constructor(canvas, atlas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.atlas = atlas;
    this.tiles = new Map(); // photo → {photo, x, y, vx, vy, tx, ty}
    this.cells = [];
    this.order = [];
    this.style = { gap: 0.04, radius: 0, background: "#ffffff", fit: "crop" };
    this.pins = new Set();
    this.rotations = {};
    this.ratios = new Map();
    this.selected = -1; // a cell
    this.cursor = -1;
    this.showCursor = false;
    this.target = -1;
    this.lifted = null; // {cell, x, y}: a tile in the hand, in pixels
    this.camera = { scale: 40, x: 0, y: 0, vs: 0, vx: 0, vy: 0 };
    this.goal = { scale: 40, x: 0, y: 0 };
    this.fitted = true;
    this.frames = []; // milliseconds between frames while something moved
    this.onDraw = () => {};
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.pending = 0;
    this.before = 0;
    this.colours = {};
    this.readColours();
    document.addEventListener("theme", () => { this.readColours(); this.wake(); });
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    this.resize();
  }

  readColours() {
    const read = getComputedStyle(document.documentElement);
    for (const name of ["ground", "line", "accent", "accent-text", "text", "muted", "sunken"]) this.colours[name] = read.getPropertyValue(`--${name}`).trim();
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    this.ratio = Math.min(devicePixelRatio || 1, 3);
    this.width = Math.max(box.width, 50);
    this.height = Math.max(box.height, 50);
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    if (this.fitted) this.fit(true);
    this.wake();
  }

  // -- what lies where -------------------------------------------------------------------------------------------

  /** Take new places; tiles glide there. */
  setLayout(cells, order) {
    const same = cells === this.cells || (cells.length === this.cells.length && cells.every((cell, i) => cell[0] === this.cells[i][0] && cell[1] === this.cells[i][1]));
    this.cells = cells;
    this.order = order;
    if (!same || !this.index) this.measure();
    this.aim();
    if (!same && this.fitted) this.fit(this.tiles.size === 0);
    this.wake();
  }

  measure() {
    let top = Infinity, left = Infinity, bottom = -Infinity, right = -Infinity;
    this.index = new Map();
    this.cells.forEach(([row, column], cell) => {
      top = Math.min(top, row); left = Math.min(left, column);
      bottom = Math.max(bottom, row); right = Math.max(right, column);
      this.index.set(row * 100000 + column, cell);
    });
    this.bounds = this.cells.length ? { top, left, rows: bottom - top + 1, columns: right - left + 1 } : { top: 0, left: 0, rows: 1, columns: 1 };
  }

  aim() {
    const there = new Set();
    this.order.forEach((photo, cell) => {
      if (photo < 0) return;
      there.add(photo);
      const [x, y] = this.place(cell);
      const tile = this.tiles.get(photo);
      if (!tile) this.tiles.set(photo, { photo, cell, x, y, tx: x, ty: y, vx: 0, vy: 0 });
      else {
        tile.cell = cell; tile.tx = x; tile.ty = y;
        if (this.calm.matches) { tile.x = x; tile.y = y; tile.vx = tile.vy = 0; }
      }
    });
    for (const photo of this.tiles.keys()) if (!there.has(photo)) this.tiles.delete(photo);
  }

  setStyle(style) {
    const gap = this.style.gap;
    this.style = style;
    if (gap !== style.gap && this.cells.length) {
      this.aim();
      for (const tile of this.tiles.values()) { tile.x = tile.tx; tile.y = tile.ty; tile.vx = tile.vy = 0; }
      if (this.fitted) this.fit(true);
    }
    this.wake();
  }

  /** Upper left corner of a cell, in cells. */
  place(cell) {
    const pitch = 1 + this.style.gap, [row, column] = this.cells[cell];
    return [this.style.gap + (column - this.bounds.left) * pitch, this.style.gap + (row - this.bounds.top) * pitch];
  }

  get extent() {
    const pitch = 1 + this.style.gap;
    return [this.bounds.columns * pitch + this.style.gap, this.bounds.rows * pitch + this.style.gap];
  }

  /** The cell at a point of the canvas, −1 for none. */
  cellAt(px, py) {
    if (!this.cells.length) return -1;
    const pitch = 1 + this.style.gap, half = this.style.gap / 2;
    const column = Math.floor((px / this.camera.scale + this.camera.x - half) / pitch) + this.bounds.left;
    const row = Math.floor((py / this.camera.scale + this.camera.y - half) / pitch) + this.bounds.top;
    return this.index.get(row * 100000 + column) ?? -1;
  }

  /** Where a cell is on the canvas, in CSS pixels: [left, top, side]. */
  boxOf(cell) {
    const [x, y] = this.place(cell);
    return [(x - this.camera.x) * this.camera.scale, (y - this.camera.y) * this.camera.scale, this.camera.scale];
  }

  // -- the camera ------------------------------------------------------------------------------------------------

  limits() {
    const [wide, high] = this.extent;
    const whole = Math.min((this.width - 2 * MARGIN) / wide, (this.height - MARGIN - FOOT) / high);
    return [Math.max(Math.min(whole, 320), 0.5), Math.max(480, whole)];
  }

  fit(jump = false) {
    if (!this.cells.length) return;
    const [wide, high] = this.extent, { gap } = this.style, [most] = this.limits();
    // Cells are whole pixels apart, and the first begins on one: all gaps look the same.
    const apart = Math.floor(most * (1 + gap) * this.ratio);
    const scale = apart > 5 ? apart / (1 + gap) / this.ratio : most, pixel = scale * this.ratio;
    const begin = (start) => gap - Math.round((gap - start) * pixel) / pixel;
    this.fitted = true;
    this.goal = { scale, x: begin(wide / 2 - this.width / 2 / scale), y: begin(high / 2 - (this.height - FOOT + MARGIN) / 2 / scale) };
    if (jump || this.calm.matches) this.settle();
    this.wake();
  }

  settle() {
    Object.assign(this.camera, this.goal, { vs: 0, vx: 0, vy: 0 });
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [least, most] = this.limits();
    const scale = Math.min(Math.max(this.camera.scale * factor, least), most);
    if (scale <= least * 1.001) { this.fit(); return; }
    const x = this.camera.x + px / this.camera.scale - px / scale, y = this.camera.y + py / this.camera.scale - py / scale;
    this.fitted = false;
    this.goal = { scale, x, y };
    this.bound();
    this.settle();
    this.wake();
  }

  pan(dx, dy) {
    if (this.fitted) return;
    this.goal = { scale: this.camera.scale, x: this.camera.x - dx / this.camera.scale, y: this.camera.y - dy / this.camera.scale };
    this.bound();
    this.settle();
    this.wake();
  }

  bound() {
    const [wide, high] = this.extent, goal = this.goal;
    const w = this.width / goal.scale, h = this.height / goal.scale, margin = MARGIN / goal.scale, foot = FOOT / goal.scale;
    goal.x = wide + 2 * margin <= w ? wide / 2 - w / 2 : Math.min(Math.max(goal.x, -margin), wide + margin - w);
    goal.y = high + margin + foot <= h ? high / 2 - (h - foot + margin) / 2 : Math.min(Math.max(goal.y, -margin), high + foot - h);
  }

  /** Bring a cell into sight. */
  reveal(cell) {
    if (this.fitted) return;
    const [left, top, side] = this.boxOf(cell), edge = 12;
    const dx = left < edge ? edge - left : Math.min(this.width - edge - left - side, 0);
    const dy = top < edge ? edge - top : Math.min(this.height - edge - top - side, 0);
    if (dx || dy) this.pan(dx, dy);
  }

  // -- frames ----------------------------------------------------------------------------------------------------

  wake() {
    if (!this.pending) this.pending = requestAnimationFrame((now) => this.frame(now));
  }

  frame(now) {
    this.pending = 0;
    const passed = this.before ? now - this.before : 16;
    const moving = this.advance(Math.min(passed, 50) / 1000);
    if (this.before) { this.frames.push(passed); if (this.frames.length > 2000) this.frames.splice(0, 1000); }
    this.before = moving ? now : 0;
    this.draw();
    if (moving) this.wake();
  }

  advance(dt) {
    let moving = this.advanceCamera(dt);
    const decay = Math.exp(-STIFFNESS * dt);
    for (const tile of this.tiles.values()) {
      const dx = tile.x - tile.tx, dy = tile.y - tile.ty;
      if (Math.abs(dx) + Math.abs(dy) < 0.002 && Math.abs(tile.vx) + Math.abs(tile.vy) < 0.02) {
        tile.x = tile.tx; tile.y = tile.ty; tile.vx = tile.vy = 0;
        continue;
      }
      moving = true;
      const cx = tile.vx + STIFFNESS * dx, cy = tile.vy + STIFFNESS * dy; // a critically damped spring, solved exactly
      tile.x = tile.tx + (dx + cx * dt) * decay; tile.vx = (tile.vx - STIFFNESS * cx * dt) * decay;
      tile.y = tile.ty + (dy + cy * dt) * decay; tile.vy = (tile.vy - STIFFNESS * cy * dt) * decay;
    }
    return moving;
  }

  advanceCamera(dt) {
    const camera = this.camera, goal = this.goal, decay = 1 - Math.exp(-CAMERA_STIFFNESS * dt);
    if (Math.abs(camera.scale - goal.scale) < 0.01 && Math.abs(camera.x - goal.x) + Math.abs(camera.y - goal.y) < 0.01) { this.settle(); return false; }
    camera.scale += (goal.scale - camera.scale) * decay;
    camera.x += (goal.x - camera.x) * decay;
    camera.y += (goal.y - camera.y) * decay;
    return true;
  }

  draw() {
    const c = this.context, { scale } = this.camera;
    this.atlas.tick();
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.fillStyle = this.colours.ground;
    c.fillRect(0, 0, this.width, this.height);
    if (!this.cells.length) { this.onDraw(); return; }
    this.drawPaper(c);
    c.imageSmoothingEnabled = true;
    c.imageSmoothingQuality = this.before ? "low" : "medium"; // sharp when all is at rest
    const clip = this.style.radius > 0 && this.tiles.size <= MANY;
    const corners = this.style.radius > 0 && !clip ? new Path2D() : null;
    const raised = this.lifted ? this.order[this.lifted.cell] : -1;
    const gliding = [];
    for (const tile of this.tiles.values()) {
      if (tile.photo === raised) continue;
      if (tile.x !== tile.tx || tile.y !== tile.ty) { gliding.push(tile); continue; }
      this.drawTile(c, tile.photo, (tile.x - this.camera.x) * scale, (tile.y - this.camera.y) * scale, scale, clip, corners);
    }
    for (const tile of gliding) this.drawTile(c, tile.photo, (tile.x - this.camera.x) * scale, (tile.y - this.camera.y) * scale, scale, clip, corners);
    if (corners) { c.fillStyle = this.paper; c.fill(corners, "evenodd"); }
    if (this.lifted || this.showCursor) this.drawBlanks(c);
    this.drawPins(c);
    if (raised >= 0) this.drawLifted(c, raised, scale);
    this.drawMarks(c);
    this.onDraw();
  }

  get paper() {
    return this.style.background === "transparent" ? this.colours.ground : this.style.background;
  }

  drawPaper(c) {
    const [wide, high] = this.extent, { scale, x, y } = this.camera;
    if (this.style.background === "transparent") return;
    c.fillStyle = this.style.background;
    c.fillRect(-x * scale, -y * scale, wide * scale, high * scale);
  }

  drawTile(c, photo, left, top, side, clip, corners) {
    if (left > this.width || top > this.height || left + side < 0 || top + side < 0) return;
    const tile = this.atlas.find(photo, side * this.ratio, this.style.fit);
    const turns = this.rotations[photo] ?? 0;
    const [w, h] = this.sizeOf(photo, turns, side);
    const x = left + (side - w) / 2, y = top + (side - h) / 2, radius = this.style.radius * Math.min(w, h);
    if (!tile) { c.fillStyle = this.colours.sunken; c.fillRect(x, y, w, h); return; }
    if (clip || turns) c.save();
    if (clip) { c.beginPath(); c.roundRect(x, y, w, h, radius); c.clip(); }
    if (corners) { corners.rect(x, y, w, h); corners.roundRect(x, y, w, h, radius); }
    if (turns) { c.translate(x + w / 2, y + h / 2); c.rotate(turns * Math.PI / 2); }
    // The part of the square tile that is shown: all of it, or the photo inside it.
    const ratio = this.style.fit === "whole" ? this.ratios.get(photo) ?? 1 : 1;
    const sw = tile.side * Math.min(1, ratio), sh = tile.side * Math.min(1, 1 / ratio);
    const dw = turns % 2 ? h : w, dh = turns % 2 ? w : h;
    c.drawImage(tile.image, tile.x + (tile.side - sw) / 2, tile.y + (tile.side - sh) / 2, sw, sh, turns ? -dw / 2 : x, turns ? -dh / 2 : y, dw, dh);
    if (clip || turns) c.restore();
  }

  sizeOf(photo, turns, side) {
    if (this.style.fit !== "whole") return [side, side];
    const ratio = this.ratios.get(photo) ?? 1, w = side * Math.min(1, ratio), h = side * Math.min(1, 1 / ratio);
    return turns % 2 ? [h, w] : [w, h];
  }

  drawBlanks(c) {
    c.strokeStyle = this.colours.muted;
    c.lineWidth = 1;
    c.setLineDash([4, 4]);
    this.order.forEach((photo, cell) => {
      if (photo >= 0) return;
      const [left, top, side] = this.boxOf(cell);
      c.strokeRect(left + 1.5, top + 1.5, side - 3, side - 3);
    });
    c.setLineDash([]);
  }

  drawPins(c) {
    if (!this.pins.size) return;
    const size = Math.min(Math.max(this.camera.scale * 0.16, 4), 9);
    for (const photo of this.pins) {
      const tile = this.tiles.get(photo);
      if (!tile || (this.lifted && tile.cell === this.lifted.cell)) continue;
      const x = (tile.x + 1 - this.camera.x) * this.camera.scale - size * 1.3, y = (tile.y - this.camera.y) * this.camera.scale + size * 1.3;
      c.fillStyle = this.colours.accent;
      c.beginPath(); c.arc(x, y, size, 0, 7); c.fill();
      c.strokeStyle = this.colours["accent-text"];
      c.lineWidth = Math.max(size * 0.22, 1);
      c.beginPath();
      c.moveTo(x, y + size * 0.15); c.lineTo(x, y + size * 0.7);
      c.moveTo(x - size * 0.45, y + size * 0.15); c.lineTo(x + size * 0.45, y + size * 0.15);
      c.moveTo(x - size * 0.28, y + size * 0.1); c.lineTo(x - size * 0.22, y - size * 0.6);
      c.lineTo(x + size * 0.22, y - size * 0.6); c.lineTo(x + size * 0.28, y + size * 0.1);
      c.stroke();
    }
  }

  drawMarks(c) {
    const frame = (cell, width, colour, dash) => {
      if (cell < 0 || cell >= this.cells.length) return;
      const [left, top, side] = this.boxOf(cell);
      c.setLineDash(dash ?? []);
      c.lineWidth = width + 2; c.strokeStyle = this.colours.ground;
      c.beginPath(); c.roundRect(left - 1, top - 1, side + 2, side + 2, 4); c.stroke();
      c.lineWidth = width; c.strokeStyle = colour;
      c.beginPath(); c.roundRect(left - 1, top - 1, side + 2, side + 2, 4); c.stroke();
      c.setLineDash([]);
    };
    frame(this.selected, 3, this.colours.accent);
    if (this.showCursor) frame(this.cursor, 3, this.colours.text, [6, 4]);
    if (this.target >= 0) {
      const [left, top, side] = this.boxOf(this.target);
      c.globalAlpha = 0.22; c.fillStyle = this.colours.accent; c.fillRect(left, top, side, side); c.globalAlpha = 1;
      frame(this.target, 4, this.colours.accent);
    }
  }

  drawLifted(c, photo, scale) {
    const side = Math.max(scale * 1.12, 34), { x, y } = this.lifted;
    c.save();
    c.shadowColor = "rgb(0 0 0 / .45)"; c.shadowBlur = 22 * this.ratio; c.shadowOffsetY = 8 * this.ratio;
    c.fillStyle = this.colours.sunken;
    const [w, h] = this.sizeOf(photo, this.rotations[photo] ?? 0, side);
    c.fillRect(x - w / 2, y - h / 2, w, h);
    c.restore();
    this.drawTile(c, photo, x - side / 2, y - side / 2, side, false, null);
  }
}

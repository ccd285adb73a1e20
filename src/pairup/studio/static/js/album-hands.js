// Hands on the album: pointer and keyboard. `on` brings: select(cell), swap(a, b), enlarge(cell), act(name, cell), lift(), tell(text).

const NEAR = 6; // pixels that a pointer may move before it drags
const LONG = 320; // milliseconds until a finger lifts a tile

/** Let a pointer select, drag, pan and zoom. */
export function followPointer(surface, scene, on) {
  const fingers = new Map();
  let press = null; // {x, y, cell, mode: null | "pan" | "drag", timer}
  let pinch = null;

  const point = (event) => {
    const box = surface.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  const lift = (x, y) => {
    if (!press || press.cell < 0 || scene.order[press.cell] < 0 || !on.lift(press.cell)) { if (press) press.mode = "pan"; return; }
    press.mode = "drag";
    scene.lifted = { cell: press.cell, x, y };
    surface.classList.add("dragging");
    on.select(-1);
    scene.wake();
  };

  const drop = (commit) => {
    const from = scene.lifted?.cell ?? -1, to = scene.target;
    const lifted = scene.lifted;
    scene.lifted = null;
    scene.target = -1;
    surface.classList.remove("dragging");
    if (lifted) {
      const tile = scene.tiles.get(scene.order[from]);
      if (tile) { // it glides from the hand to its place
        tile.x = lifted.x / scene.camera.scale + scene.camera.x - 0.5;
        tile.y = lifted.y / scene.camera.scale + scene.camera.y - 0.5;
        if (scene.calm.matches) { tile.x = tile.tx; tile.y = tile.ty; }
      }
    }
    if (commit && from >= 0 && to >= 0 && from !== to) on.swap(from, to);
    scene.wake();
  };

  surface.addEventListener("pointerdown", (event) => {
    if (event.button > 0 || event.target.closest("button")) return;
    surface.setPointerCapture(event.pointerId);
    const [x, y] = point(event);
    fingers.set(event.pointerId, [x, y]);
    if (fingers.size === 2) {
      clearTimeout(press?.timer);
      if (scene.lifted) drop(false);
      press = null;
      const [[ax, ay], [bx, by]] = fingers.values();
      pinch = { span: Math.hypot(ax - bx, ay - by), x: (ax + bx) / 2, y: (ay + by) / 2 };
      return;
    }
    press = { x, y, sx: x, sy: y, cell: scene.cellAt(x, y), mode: null, touch: event.pointerType === "touch" };
    if (press.touch) press.timer = setTimeout(() => { if (press && press.mode === null) lift(x, y); }, LONG);
  });

  surface.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    const [x, y] = point(event);
    fingers.set(event.pointerId, [x, y]);
    if (pinch && fingers.size === 2) {
      const [[ax, ay], [bx, by]] = fingers.values();
      const span = Math.hypot(ax - bx, ay - by), mx = (ax + bx) / 2, my = (ay + by) / 2;
      scene.zoom(span / Math.max(pinch.span, 1), mx, my);
      scene.pan(mx - pinch.x, my - pinch.y);
      pinch = { span, x: mx, y: my };
      return;
    }
    if (!press) return;
    if (press.mode === null && Math.hypot(x - press.sx, y - press.sy) > NEAR) {
      clearTimeout(press.timer);
      if (press.cell >= 0 && scene.order[press.cell] >= 0 && (!press.touch || scene.fitted)) lift(x, y);
      else press.mode = "pan";
    }
    if (press.mode === "pan") scene.pan(x - press.x, y - press.y);
    if (press.mode === "drag" && scene.lifted) {
      scene.lifted.x = x; scene.lifted.y = y;
      const cell = scene.cellAt(x, y);
      scene.target = cell === scene.lifted.cell ? -1 : cell;
      scene.wake();
    }
    press.x = x; press.y = y;
  });

  const end = (event, commit) => {
    if (!fingers.delete(event.pointerId)) return;
    if (pinch) { if (fingers.size < 2) pinch = null; return; }
    if (!press) return;
    clearTimeout(press.timer);
    if (press.mode === "drag") drop(commit);
    else if (press.mode === null && commit) {
      const cell = press.cell >= 0 && scene.order[press.cell] >= 0 ? press.cell : -1;
      scene.cursor = cell >= 0 ? cell : scene.cursor;
      on.select(cell === scene.selected ? -1 : cell);
    }
    press = null;
  };
  surface.addEventListener("pointerup", (event) => end(event, true));
  surface.addEventListener("pointercancel", (event) => end(event, false));
  surface.addEventListener("dblclick", (event) => {
    const cell = scene.cellAt(...point(event));
    if (cell >= 0 && scene.order[cell] >= 0) on.enlarge(cell);
  });
  surface.addEventListener("wheel", (event) => {
    event.preventDefault();
    const step = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    scene.zoom(Math.exp(-Math.max(Math.min(step, 240), -240) / 400), ...point(event));
  }, { passive: false });
  addEventListener("keydown", (event) => { if (event.key === "Escape" && press?.mode === "drag") { drop(false); press = null; } });
}

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** The nearest cell in a direction, the cell itself where there is none. */
export function neighbour(cells, from, [down, right]) {
  const [row, column] = cells[from];
  let best = from, least = Infinity;
  cells.forEach(([r, c], cell) => {
    const along = (r - row) * down + (c - column) * right;
    if (along <= 0) return;
    const across = Math.abs((r - row) * right) + Math.abs((c - column) * down);
    const cost = along + 3 * across;
    if (cost < least) { least = cost; best = cell; }
  });
  return best;
}

/** Let the keyboard do all that a pointer does. */
export function followKeys(surface, scene, on) {
  let held = -1; // the cell of the photo that was picked up

  const release = () => { held = -1; scene.target = -1; scene.wake(); };

  surface.addEventListener("focus", () => {
    if (surface.matches(":focus-visible")) {
      scene.showCursor = true;
      if (scene.cursor < 0 || scene.cursor >= scene.cells.length) scene.cursor = 0;
      if (scene.cells.length) on.tell(scene.cursor);
      scene.wake();
    }
  });
  surface.addEventListener("blur", () => { surface.classList.remove("by-hand"); scene.showCursor = false; release(); });
  surface.addEventListener("pointerdown", () => { surface.classList.add("by-hand"); scene.showCursor = false; release(); });

  surface.addEventListener("keydown", (event) => {
    if (event.target !== surface || event.ctrlKey || event.metaKey || event.altKey || !scene.cells.length) return;
    const key = event.key;
    if (scene.cursor < 0 || scene.cursor >= scene.cells.length) scene.cursor = 0;
    const cell = scene.cursor, photo = scene.order[cell];
    let used = true;
    if (key in STEPS) {
      scene.cursor = neighbour(scene.cells, cell, STEPS[key]);
      if (held >= 0) scene.target = scene.cursor === held ? -1 : scene.cursor;
      scene.reveal(scene.cursor);
      on.tell(scene.cursor, held >= 0 ? "swap with" : "");
    } else if (key === "Home" || key === "End") {
      const row = scene.cells[cell][0];
      const inRow = scene.cells.map((place, i) => [place, i]).filter(([place]) => place[0] === row).map(([, i]) => i);
      scene.cursor = key === "Home" ? inRow[0] : inRow.at(-1);
      on.tell(scene.cursor);
    } else if (key === " ") {
      if (held < 0 && photo >= 0) { if (on.lift(cell)) { held = cell; on.say("Picked up. Move with the arrow keys, Space drops it there, Escape puts it back."); } }
      else if (held >= 0) { const from = held; release(); if (from !== cell) on.swap(from, cell); }
    } else if (key === "Escape") {
      if (held >= 0) { scene.cursor = held; on.say("Put back."); }
      release();
      on.select(-1);
    } else if (key === "Enter" && photo >= 0) on.enlarge(cell);
    else if ((key === "p" || key === "P") && photo >= 0) on.act("pin", cell);
    else if ((key === "r" || key === "R") && photo >= 0) on.act(event.shiftKey ? "rotate back" : "rotate", cell);
    else if ((key === "Delete" || key === "Backspace") && photo >= 0) on.act("remove", cell);
    else if (key === "+" || key === "=") scene.zoom(1.3);
    else if (key === "-") scene.zoom(1 / 1.3);
    else if (key === "0") scene.fit();
    else used = false;
    if (!used) return;
    surface.classList.remove("by-hand");
    event.preventDefault();
    scene.showCursor = true;
    scene.wake();
  });
}

"use strict";
// A plain script, and data that are scripts: a page that is opened from a disk may load nothing else.
// Screen pixels = origin + scale × pixels of the finest tiles.

const pairup = {}; // what the data scripts fill in

addEventListener("load", () => {
  const TILE = 512, KEPT = 220, LOADS = 8; // pixels of a tile; pictures kept decoded; loads at a time
  const CLICKABLE = 22; // pixels of a cell from which on a click means one photo, and not a place to go to
  const LISTED = 60, MARKED = 4000; // photos found that are listed, and marked on the wall
  const NEAR = 1.35; // pixels of the screen per pixel of the finest tiles from which on the photos themselves are shown
  const find = id => document.getElementById(id);
  const root = document.documentElement, view = find("view"), canvas = find("canvas"), large = find("large");
  const query = find("query"), results = find("results"), paint = canvas.getContext("2d", { alpha: false });
  const calm = matchMedia("(prefers-reduced-motion: reduce)"), dark = matchMedia("(prefers-color-scheme: dark)");
  const { wall } = pairup;
  if (!wall) { find("news").textContent = "The data of this wall are missing."; return; }
  if (root.dataset.paper) root.style.setProperty("--paper", root.dataset.paper);

  // Where each photo is: top and left, and which photo begins in each square of the pitch.
  const bytes = Uint8Array.from(atob(wall.corners), letter => letter.charCodeAt(0));
  const corners = new Uint32Array(bytes.buffer), pitch = wall.pitch;
  const columns = Math.ceil(wall.width / pitch), rows = Math.ceil(wall.height / pitch);
  const starts = new Int32Array(rows * columns).fill(-1);
  const topOf = number => corners[2 * number], leftOf = number => corners[2 * number + 1];
  for (let number = 0; number < wall.count; number++)
    starts[Math.floor(topOf(number) / pitch) * columns + Math.floor(leftOf(number) / pitch)] = number;
  const startAt = (row, column) => row < 0 || column < 0 || row >= rows || column >= columns ? -1 : starts[row * columns + column];
  function photoAt(x, y) {
    const row = Math.floor(y / pitch), column = Math.floor(x / pitch);
    for (const [r, c] of [[row, column], [row, column - 1], [row - 1, column], [row - 1, column - 1]]) {
      const number = startAt(r, c);
      if (number >= 0 && x >= leftOf(number) && x < leftOf(number) + pitch && y >= topOf(number) && y < topOf(number) + pitch) return number;
    }
    return -1;
  }
  const pad = (number, digits) => String(number).padStart(digits, "0");
  const photoPath = number => `photos/${pad(Math.floor(number / wall.block), 3)}/${pad(number, 6)}.jpg`;
  const nameOf = number => pairup.names ? pairup.names[number] : `Photo ${number + 1}`;

  // Pictures: loaded when they come into view, the nearest to the middle first; those not used for long are dropped.
  const pictures = new Map();
  let loading = 0, wanted = [], clock = 0;
  function picture(path, distance) {
    let entry = pictures.get(path);
    if (!entry) pictures.set(path, entry = { path, image: null, ready: false, used: 0 });
    entry.used = clock;
    if (!entry.image) wanted.push([distance, entry]);
    return entry.ready ? entry.image : null;
  }
  function load() {
    wanted.sort((one, other) => one[0] - other[0]);
    for (const [, entry] of wanted) {
      if (loading >= LOADS) break;
      const image = entry.image = new Image();
      loading++;
      const done = ready => { loading--; entry.ready = ready; request(); };
      image.decoding = "async";
      image.onerror = () => done(false);
      image.src = entry.path;
      image.decode().then(() => done(true), () => { image.onerror = null; done(image.naturalWidth > 0); });
      image.onerror = null;
    }
    if (pictures.size > KEPT) {
      const old = [...pictures.values()].filter(entry => entry.used < clock && (entry.ready || !entry.image)).sort((one, other) => one.used - other.used);
      for (const entry of old.slice(0, pictures.size - KEPT)) pictures.delete(entry.path);
    }
  }

  // Drawing.
  let scale = 1, left = 0, top = 0, fitted = 1, width = 0, height = 0, dots = 1;
  let chosen = -1, marked = [], waiting = false, mask = null, colours = {};
  function request() { if (!waiting) { waiting = true; requestAnimationFrame(draw); } }
  function readColours() {
    const style = getComputedStyle(root);
    colours = { paper: style.getPropertyValue("--paper").trim(), focus: style.getPropertyValue("--focus").trim() };
    mask = null;
    if (root.dataset.scheme === "auto" && wall.count < rows * columns && rows <= 4096 && columns <= 4096) {
      mask = new OffscreenCanvas(columns, rows);
      const brush = mask.getContext("2d");
      brush.fillStyle = colours.paper;
      for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++)
        if (startAt(row, column) < 0) brush.fillRect(column, row, 1, 1);
    }
    request();
  }
  function draw() {
    waiting = false;
    clock++;
    wanted = [];
    paint.setTransform(dots, 0, 0, dots, 0, 0);
    paint.fillStyle = colours.paper;
    paint.fillRect(0, 0, width, height);
    paint.imageSmoothingEnabled = true;
    paint.imageSmoothingQuality = "medium";
    drawTiles();
    if (scale * dots > NEAR) drawPhotos();
    drawGaps();
    drawMarks();
    load();
    view.dataset.scale = scale.toFixed(5);
    view.dataset.loading = loading + wanted.filter(([, entry]) => !entry.image).length;
  }
  const snap = value => Math.round(value * dots) / dots; // whole pixels of the screen: no seams between tiles
  function drawTiles() {
    const deepest = wall.levels - 1;
    const level = Math.min(Math.max(Math.ceil(deepest + Math.log2(scale * dots) - .35), 0), deepest);
    const span = TILE * 2 ** (deepest - level);
    const first = [Math.max(Math.floor(-left / scale / span), 0), Math.max(Math.floor(-top / scale / span), 0)];
    const last = [Math.min(Math.floor(((width - left) / scale) / span), Math.ceil(wall.width / span) - 1), Math.min(Math.floor(((height - top) / scale) / span), Math.ceil(wall.height / span) - 1)];
    paint.save();
    paint.beginPath();
    paint.rect(snap(left), snap(top), snap(left + wall.width * scale) - snap(left), snap(top + wall.height * scale) - snap(top));
    paint.clip();
    for (let y = first[1]; y <= last[1]; y++) for (let x = first[0]; x <= last[0]; x++) {
      const x0 = snap(left + x * span * scale), y0 = snap(top + y * span * scale);
      const x1 = snap(left + (x + 1) * span * scale), y1 = snap(top + (y + 1) * span * scale);
      const far = Math.hypot((x0 + x1) / 2 - width / 2, (y0 + y1) / 2 - height / 2);
      for (let up = 0; up <= level; up++) { // where a tile is not there yet, a part of a coarser one is
        const image = picture(`tiles/${level - up}/${x >> up}/${y >> up}.jpg`, far + up * 400 - (level === up ? 1e6 : 0));
        if (!image) continue;
        const part = TILE / 2 ** up;
        paint.drawImage(image, (x - (x >> up << up)) * part, (y - (y >> up << up)) * part, part, part, x0, y0, x1 - x0, y1 - y0);
        break;
      }
    }
    paint.restore();
  }
  function visible(visit) {
    const c0 = Math.max(Math.floor(-left / scale / pitch) - 1, 0), c1 = Math.min(Math.floor((width - left) / scale / pitch), columns - 1);
    const r0 = Math.max(Math.floor(-top / scale / pitch) - 1, 0), r1 = Math.min(Math.floor((height - top) / scale / pitch), rows - 1);
    for (let row = r0; row <= r1; row++) for (let column = c0; column <= c1; column++) {
      const number = startAt(row, column);
      if (number >= 0) visit(number);
    }
  }
  const boxOf = number => [snap(left + leftOf(number) * scale), snap(top + topOf(number) * scale), snap(left + (leftOf(number) + pitch) * scale), snap(top + (topOf(number) + pitch) * scale)];
  function drawPhotos() {
    visible(number => {
      const [x0, y0, x1, y1] = boxOf(number), far = Math.hypot((x0 + x1) / 2 - width / 2, (y0 + y1) / 2 - height / 2);
      const image = picture(photoPath(number), 1e5 + far); // after the tiles
      if (!image) return;
      const w = image.naturalWidth, h = image.naturalHeight;
      if (wall.fit === "crop") {
        const side = Math.min(w, h);
        paint.drawImage(image, (w - side) / 2, (h - side) / 2, side, side, x0, y0, x1 - x0, y1 - y0);
      } else {
        const times = (x1 - x0) / Math.max(w, h);
        paint.fillRect(x0, y0, x1 - x0, y1 - y0);
        paint.drawImage(image, (x0 + x1 - w * times) / 2, (y0 + y1 - h * times) / 2, w * times, h * times);
      }
    });
  }
  function drawGaps() {
    if (root.dataset.scheme !== "auto" && !wall.lattice) return;
    if (mask) {
      paint.imageSmoothingEnabled = false;
      paint.drawImage(mask, snap(left), snap(top), snap(left + columns * pitch * scale) - snap(left), snap(top + rows * pitch * scale) - snap(top));
      paint.imageSmoothingEnabled = true;
    }
    const step = pitch * scale, gap = wall.gap * step;
    if (!wall.lattice || step < 10 || gap * dots < .4) return;
    paint.fillStyle = colours.paper;
    const y0 = Math.max(top, 0), y1 = Math.min(top + wall.height * scale, height), x0 = Math.max(left, 0), x1 = Math.min(left + wall.width * scale, width);
    for (let column = Math.max(Math.floor(-left / step), 0); column <= columns && left + column * step - gap < width; column++)
      paint.fillRect(left + column * step - gap / 2, y0, gap, y1 - y0);
    for (let row = Math.max(Math.floor(-top / step), 0); row <= rows && top + row * step - gap < height; row++)
      paint.fillRect(x0, top + row * step - gap / 2, x1 - x0, gap);
  }
  function drawMarks() {
    paint.strokeStyle = colours.focus;
    paint.lineWidth = 2;
    for (const number of marked) {
      const [x0, y0, x1, y1] = boxOf(number), grow = Math.max((9 - (x1 - x0)) / 2, 0); // seen from afar too
      if (x1 > 0 && y1 > 0 && x0 < width && y0 < height) paint.strokeRect(x0 - grow, y0 - grow, x1 - x0 + 2 * grow, y1 - y0 + 2 * grow);
    }
    if (chosen < 0) return;
    const [x0, y0, x1, y1] = boxOf(chosen), grow = Math.max((12 - (x1 - x0)) / 2, 0) + 1;
    paint.lineWidth = 4;
    paint.strokeRect(x0 - grow, y0 - grow, x1 - x0 + 2 * grow, y1 - y0 + 2 * grow);
  }

  // Zoom and pan.
  function clampView() {
    const w = wall.width * scale, h = wall.height * scale, edge = 80; // some of the wall stays in view
    left = Math.min(Math.max(left, edge - w), width - edge);
    top = Math.min(Math.max(top, edge - h), height - edge);
  }
  const deepestScale = () => Math.max(fitted * 4, Math.min(width, height) / pitch * .9);
  function whole() { // beside or below the panel of the search, wherever there is more room
    const narrow = width <= 600, edge = narrow ? 10 : 20, panel = document.querySelector("header").offsetWidth + 28, bars = [118, 76];
    const places = [[edge, edge, ...bars], ...narrow ? [] : [[panel, edge, edge, 76]]].map(([before, after, above, below]) => {
      const scaled = Math.min((width - before - after) / wall.width, (height - above - below) / wall.height);
      return { scale: scaled, left: before + (width - before - after - wall.width * scaled) / 2, top: above + (height - above - below - wall.height * scaled) / 2 };
    });
    return places.reduce((best, place) => place.scale > best.scale ? place : best);
  }
  function set(next) { ({ scale, left, top } = next); request(); }
  function zoom(factor, x = width / 2, y = height / 2) {
    stop();
    const next = Math.min(Math.max(scale * factor, fitted * .6), deepestScale());
    left = x - (x - left) * next / scale;
    top = y - (y - top) * next / scale;
    scale = next;
    clampView();
    request();
  }
  function pan(dx, dy) { stop(); left += dx; top += dy; clampView(); request(); }
  let flight = 0;
  function stop() { cancelAnimationFrame(flight); flight = 0; }
  function fly(next, time = 520) {
    stop();
    if (calm.matches) { set(next); return; }
    // The middle of the view travels in pixels of the wall, the scale by factors.
    const from = { scale, x: (width / 2 - left) / scale, y: (height / 2 - top) / scale };
    const to = { scale: next.scale, x: (width / 2 - next.left) / next.scale, y: (height / 2 - next.top) / next.scale };
    const begin = performance.now(), factor = to.scale / from.scale;
    const step = now => {
      const t = Math.min((now - begin) / time, 1), ease = t < .5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
      scale = from.scale * factor ** ease;
      // So that the point both views have in common stays where it is.
      const share = Math.abs(factor - 1) < 1e-3 ? ease : (1 - factor ** -ease) / (1 - 1 / factor);
      left = width / 2 - (from.x + (to.x - from.x) * share) * scale;
      top = height / 2 - (from.y + (to.y - from.y) * share) * scale;
      if (t < 1) flight = requestAnimationFrame(step); else { set(next); flight = 0; }
      request();
    };
    flight = requestAnimationFrame(step);
  }
  function viewOf(number, size) {
    const next = size / pitch;
    return { scale: next, left: width / 2 - (leftOf(number) + pitch / 2) * next, top: height / 2 - (topOf(number) + pitch / 2) * next };
  }
  const closeUp = () => Math.min(Math.max(Math.min(width, height) / 4.5, 90), deepestScale() * pitch);
  function goTo(number) { choose(number); fly(viewOf(number, Math.max(closeUp(), Math.min(pitch * scale, closeUp() * 2)))); }
  function resize() {
    const before = fitted, wasWhole = Math.abs(scale - fitted) < fitted * .01, x = (width / 2 - left) / scale, y = (height / 2 - top) / scale;
    dots = Math.min(devicePixelRatio || 1, 3);
    width = view.clientWidth;
    height = view.clientHeight;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    const fit = whole();
    fitted = fit.scale;
    if (wasWhole || before === 1 && !x) set(fit); else { left = width / 2 - x * scale; top = height / 2 - y * scale; }
    request();
  }

  // Mouse, fingers, wheel.
  view.addEventListener("wheel", event => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? height : 1;
    zoom(Math.exp(-Math.max(Math.min(event.deltaY * unit, 240), -240) * (event.ctrlKey ? .01 : .0022)), event.clientX, event.clientY);
  }, { passive: false });
  const fingers = new Map();
  let dragged = false, tapped = 0;
  view.addEventListener("pointerdown", event => {
    if (event.button > 0) return;
    fingers.set(event.pointerId, event);
    if (fingers.size === 1) dragged = false;
    view.setPointerCapture(event.pointerId);
  });
  view.addEventListener("pointermove", event => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
    if (fingers.size === 1) {
      if (!dragged && Math.hypot(dx, dy) < (event.pointerType === "mouse" ? 4 : 9)) return; // a click trembles
      pan(dx, dy);
    } else {
      const other = [...fingers.values()].find(finger => finger.pointerId !== event.pointerId);
      const span = finger => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY);
      zoom(span(event) / Math.max(span(before), 1), (event.clientX + other.clientX) / 2, (event.clientY + other.clientY) / 2);
      pan(dx / 2, dy / 2);
    }
    dragged = true;
    view.classList.add("dragging");
    fingers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel"]) view.addEventListener(end, event => {
    const held = fingers.delete(event.pointerId);
    if (!fingers.size) view.classList.remove("dragging");
    if (held && end === "pointerup" && !dragged && !fingers.size) click(event);
  });
  function click(event) {
    const number = photoAt((event.clientX - left) / scale, (event.clientY - top) / scale);
    if (number < 0) { choose(-1); return; }
    if (pitch * scale >= CLICKABLE) open(number);
    else { remember(); fly(viewOf(number, closeUp() / 1.6)); }
  }

  // The keyboard: arrows choose the nearest photo in their direction.
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  function neighbour(number, dx, dy) {
    const x = leftOf(number), y = topOf(number), row = Math.round(y / pitch), column = Math.round(x / pitch);
    let best = number, least = Infinity;
    for (let reach = 1; reach < Math.max(rows, columns) && best === number; reach += 6)
      for (let along = reach - 1; along <= reach + 6; along++) for (let aside = -along - 1; aside <= along + 1; aside++) {
        const other = startAt(row + (dy ? dy * along : aside), column + (dx ? dx * along : aside));
        if (other < 0 || other === number) continue;
        const ahead = (leftOf(other) - x) * dx + (topOf(other) - y) * dy;
        const off = Math.abs((leftOf(other) - x) * dy) + Math.abs((topOf(other) - y) * dx);
        if (ahead > .01 && ahead + 3 * off < least) { least = ahead + 3 * off; best = other; }
      }
    return best;
  }
  function choose(number, tell = true) {
    chosen = number;
    if (number >= 0 && tell) find("news").textContent = nameOf(number);
    request();
  }
  function reveal(number) {
    if (pitch * scale < CLICKABLE) { set(viewOf(number, closeUp() / 1.6)); return; }
    const [x0, y0, x1, y1] = boxOf(number), edge = 24;
    const shift = (low, high, end) => low < edge ? edge - low : high > end - edge ? end - edge - high : 0;
    pan(shift(x0, x1, width), shift(y0, y1, height));
  }
  addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (large.open) {
      if (event.key === "ArrowLeft") step(-1);
      if (event.key === "ArrowRight") step(1);
      return;
    }
    if (event.key === "Escape" && (query.value || document.activeElement === query)) { query.value = ""; search(); view.focus(); return; }
    if (event.target === query) { if (event.key === "ArrowDown") results.querySelector("button")?.focus(); return; }
    if (results.contains(event.target)) {
      const item = event.target.closest("li"), to = { ArrowDown: item?.nextElementSibling, ArrowUp: item?.previousElementSibling }[event.key];
      if (event.key in arrows) event.preventDefault();
      if (to) to.querySelector("button").focus(); else if (event.key === "ArrowUp") query.focus();
      return;
    }
    if (event.key in arrows) {
      const middle = photoAt((width / 2 - left) / scale, (height / 2 - top) / scale);
      choose(chosen >= 0 ? neighbour(chosen, ...arrows[event.key]) : Math.max(middle, 0));
      reveal(chosen);
    } else if (event.key === "Home" || event.key === "End") { choose(event.key === "Home" ? 0 : wall.count - 1); reveal(chosen); }
    else if ((event.key === "Enter" || event.key === " ") && document.activeElement === view && chosen >= 0) open(chosen);
    else if (event.key === "+" || event.key === "=") zoom(1.4);
    else if (event.key === "-") zoom(1 / 1.4);
    else if (event.key === "0") fly(whole());
    else if (event.key === "/") query.focus();
    else return;
    event.preventDefault();
  });

  // One photo, enlarged; the browser's way back leads to where one was.
  let shown = -1;
  const state = () => ({ view: { scale, left, top }, photo: shown });
  function remember() { put(state(), true); }
  function put(next, push) {
    const name = next.photo >= 0 && pairup.names ? "#" + encodeURIComponent(pairup.names[next.photo].toWellFormed?.() ?? "") : "#";
    try { push ? history.pushState(next, "", name) : history.replaceState(next, "", name); }
    catch { push ? history.pushState(next, "") : history.replaceState(next, ""); } // some browsers refuse on a disk
  }
  function open(number) {
    put(state(), false);
    show(number);
    put(state(), true);
  }
  function show(number) {
    shown = number;
    choose(number, false);
    const image = find("picture");
    image.src = photoPath(number);
    image.alt = find("name").textContent = nameOf(number);
    image.onload = () => { // small pictures are shown at up to four times their size
      const times = Math.max(1, Math.min(4, 900 / Math.max(image.naturalWidth, image.naturalHeight)));
      image.style.width = image.naturalWidth * times + "px";
    };
    find("original").hidden = true;
    if (wall.originals) need("originals", "data/originals.js", () => {
      if (shown !== number || !pairup.originals[number]) return;
      find("original").href = pairup.originals[number];
      find("original").hidden = false;
    });
    const block = Math.floor(number / wall.block);
    find("like").hidden = true;
    need(`similar${block}`, `data/similar/${pad(block, 3)}.js`, () => { if (shown === number) showSimilar(pairup[`similar${block}`][number % wall.block]); });
    if (!large.open) large.showModal();
  }
  function showSimilar(numbers) {
    find("like").hidden = !numbers.length;
    find("similar").replaceChildren(...numbers.map(number => {
      const item = document.createElement("li");
      item.append(photoButton(number, () => { show(number); put(state(), true); }, false));
      return item;
    }));
  }
  function photoButton(number, act, named) {
    const button = document.createElement("button"), image = document.createElement("img");
    button.type = "button";
    button.title = nameOf(number);
    image.loading = "lazy";
    image.alt = named ? "" : nameOf(number);
    image.src = photoPath(number);
    button.append(image);
    if (named) button.append(nameOf(number));
    button.addEventListener("click", act);
    return button;
  }
  function need(name, path, then) {
    if (pairup[name]) { then(); return; }
    const script = document.createElement("script");
    script.src = path;
    script.onload = () => { if (pairup[name]) then(); };
    document.head.append(script);
  }
  function step(by) { show((shown + by + wall.count) % wall.count); put(state(), false); }
  function hide() {
    if (large.open) large.close();
  }
  large.addEventListener("close", () => {
    if (shown < 0) return;
    shown = -1;
    put(state(), true);
    view.focus();
    reveal(chosen);
  });
  large.addEventListener("click", event => { if (event.target === large || event.target.tagName === "FIGURE") hide(); });
  find("close").addEventListener("click", hide);
  find("previous").addEventListener("click", () => step(-1));
  find("next").addEventListener("click", () => step(1));
  find("show").addEventListener("click", () => { const number = shown; hide(); goTo(number); });
  addEventListener("popstate", event => {
    const next = event.state;
    if (!next) return;
    if (next.photo >= 0) show(next.photo);
    else if (large.open) { shown = -1; large.close(); view.focus(); }
    if (next.view) fly(next.view, 360);
  });

  // Search by name.
  function search() {
    const words = query.value.trim().toLowerCase().split(/\s+/).filter(Boolean), told = find("told");
    find("found").hidden = !words.length;
    if (!words.length) { marked = []; results.replaceChildren(); request(); return; }
    if (!pairup.names) { told.textContent = "The names are still being loaded…"; return; }
    lowered ??= pairup.names.map(name => name.toLowerCase());
    const hits = [];
    lowered.forEach((name, number) => { if (words.every(word => name.includes(word))) hits.push(number); });
    marked = hits.length > MARKED ? [] : hits;
    told.textContent = hits.length === 0 ? "No photo has this name." : hits.length > LISTED ? `${hits.length.toLocaleString("en")} photos, the first ${LISTED} listed` : `${hits.length} ${hits.length === 1 ? "photo" : "photos"}`;
    results.replaceChildren(...hits.slice(0, LISTED).map(number => {
      const item = document.createElement("li");
      item.append(photoButton(number, () => jump(number), true));
      return item;
    }));
    request();
  }
  let lowered = null, pause = 0, asked = ""; // the photo that the address names
  try { asked = decodeURIComponent(location.hash.slice(1)); } catch { /* no address of ours */ }
  function jump(number) {
    put(state(), false);
    goTo(number);
    setTimeout(() => put(state(), true), calm.matches ? 0 : 560);
    if (width <= 600) { find("found").hidden = true; query.blur(); }
    view.focus();
  }
  query.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(search, wall.count > 2e5 ? 200 : 60); });
  query.addEventListener("focus", () => { if (query.value) find("found").hidden = false; });
  find("search").addEventListener("submit", event => { event.preventDefault(); search(); if (results.firstChild) results.querySelector("button").click(); });
  document.querySelector("script[src='data/names.js']").addEventListener("load", named);
  function named() {
    if (query.value) search();
    const number = asked && pairup.names ? pairup.names.indexOf(asked) : -1;
    asked = "";
    if (number >= 0 && shown < 0) { set(viewOf(number, closeUp())); open(number); }
  }

  find("in").addEventListener("click", () => zoom(1.6));
  find("out").addEventListener("click", () => zoom(1 / 1.6));
  find("whole").addEventListener("click", () => fly(whole()));
  addEventListener("resize", resize);
  dark.addEventListener("change", readColours);
  resize();
  set(whole());
  readColours();
  put(state(), false);
  if (pairup.names) named();
});

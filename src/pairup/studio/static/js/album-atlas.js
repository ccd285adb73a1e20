// The photos as tiles on sheets, in three sizes: the page never decodes an original to draw the album.
import { request } from "./api.js";

const SHEET = 2048;
const LEVELS = [40, 128, 256];
const KEPT = 14; // sheets that stay decoded, beside the smallest ones

export class Atlas {
  /** `changed()` is called when more can be drawn, `missing(level, fit)` where sheets are not drawn yet. */
  constructor(client, { changed, missing }) {
    this.client = client;
    this.changed = changed;
    this.missing = missing;
    this.sheets = new Map(); // "128-crop-0" → {level, fit, index, count, image, loading}
    this.clock = 0;
    this.listed = false; // before that nothing can be missing
  }

  /** Ask which sheets there are; the smallest are loaded at once. */
  async refresh() {
    const found = await request("GET", this.client.address("sheets"));
    this.listed = true;
    for (const sheet of found) {
      const key = `${sheet.level}-${sheet.fit}-${sheet.index}`;
      const known = this.sheets.get(key);
      if (known?.count === sheet.count) continue;
      this.sheets.set(key, { ...sheet, image: known?.image ?? null, holds: known?.holds ?? 0, used: 0, loading: false, stale: true });
    }
    await Promise.all([...this.sheets.values()].filter((sheet) => sheet.level === LEVELS[0] && sheet.stale).map((sheet) => this.load(sheet)));
    this.changed();
  }

  async load(sheet) {
    if (sheet.loading) return;
    sheet.loading = true;
    try {
      const response = await fetch(this.client.address(`sheets/${sheet.level}/${sheet.fit}/${sheet.index}/${sheet.count}`));
      if (!response.ok) return; // drawn anew meanwhile: the next refresh finds it
      sheet.image = await createImageBitmap(await response.blob());
      sheet.holds = sheet.count;
      sheet.stale = false;
      this.evict();
      this.changed();
    } catch {
      // the studio is gone for a moment: the tiles of another size are drawn
    } finally {
      sheet.loading = false;
    }
  }

  evict() {
    const large = [...this.sheets.values()].filter((sheet) => sheet.image && sheet.level > LEVELS[0]);
    large.sort((a, b) => b.used - a.used);
    for (const sheet of large.slice(KEPT)) {
      if (sheet.used === this.clock) continue;
      sheet.image.close();
      sheet.image = null;
      sheet.stale = true;
    }
  }

  /** A new picture begins: sheets that it uses are kept. */
  tick() {
    this.clock += 1;
  }

  /** The best tile of a photo for a size in pixels: {image, x, y, side, fit}, or null. */
  find(number, pixels, fit) {
    const wanted = LEVELS.find((level) => pixels <= level * 1.3) ?? LEVELS.at(-1);
    const sharp = this.look(number, fit === "whole" ? Math.max(wanted, 128) : wanted, fit, true);
    if (sharp) return sharp;
    for (const other of ["whole", "crop"]) {
      if (other === "whole" && fit !== "whole") continue;
      for (const level of [...LEVELS].reverse()) {
        const tile = this.look(number, level, other, false);
        if (tile) return tile;
      }
    }
    return null;
  }

  look(number, level, fit, ask) {
    const columns = Math.floor(SHEET / level), full = columns * columns;
    const sheet = this.sheets.get(`${level}-${fit}-${Math.floor(number / full)}`);
    const place = number % full;
    if (ask && this.listed && (!sheet || sheet.count <= place)) this.missing(level, fit);
    if (!sheet) return null;
    if (ask && sheet.stale && !sheet.loading) this.load(sheet);
    if (!sheet.image || sheet.holds <= place) return null;
    sheet.used = this.clock;
    return { image: sheet.image, x: (place % columns) * level, y: Math.floor(place / columns) * level, side: level, fit };
  }
}

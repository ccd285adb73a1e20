// One photo, large: decoded by the studio when it is asked for.
import { h, iconButton } from "./dom.js";

const GROWTH = 2; // times that a photo is enlarged at most
const SMALLEST = 480; // pixels that even a tiny picture gets

/** Open a photo; `photos` are those of the album in the order of their cells, `describe(photo)` says {name, quarters, tile}: the tile is shown until the photo is there. */
export function enlarge(client, photos, first, { describe, rotate, closed }) {
  let at = Math.max(photos.indexOf(first), 0);
  const side = Math.min(Math.round(Math.max(innerWidth, innerHeight) * (devicePixelRatio || 1)), 2400);
  const picture = h("img", { alt: "" });
  const quick = h("canvas", { class: "quick", "aria-hidden": "true", width: 256, height: 256 });
  const caption = h("p", { class: "caption", "aria-live": "polite" });
  const showTile = (tile, quarters) => {
    const pen = quick.getContext("2d");
    quick.hidden = !tile;
    if (!tile) return;
    pen.setTransform(1, 0, 0, 1, 128, 128);
    pen.rotate(quarters * Math.PI / 2);
    pen.drawImage(tile.image, tile.x, tile.y, tile.side, tile.side, -128, -128, 256, 256);
  };
  const show = () => {
    const { name, quarters, tile } = describe(photos[at]);
    showTile(tile, quarters);
    picture.classList.add("loading");
    picture.src = client.address(`photos/${photos[at]}?side=${side}&quarters=${quarters}`);
    picture.alt = name;
    caption.textContent = `${name} (${at + 1} of ${photos.length})`;
  };
  picture.addEventListener("load", () => { // small photos are shown larger, but not so large that they blur
    picture.style.width = `${Math.max(picture.naturalWidth * GROWTH, SMALLEST)}px`;
    picture.classList.remove("loading");
    quick.hidden = true;
  });
  picture.addEventListener("error", () => { caption.textContent = `${describe(photos[at]).name} cannot be shown; its file may have been moved.`; });
  const step = (by) => { at = (at + by + photos.length) % photos.length; show(); };
  const dialog = h("dialog", { class: "enlarge", "aria-label": "Photo, large" },
    h("div", { class: "large" }, quick, picture),
    h("div", { class: "row large-tools" },
      iconButton("left", "Previous photo", () => step(-1)), caption,
      iconButton("rotate", "Rotate", async () => { await rotate(photos[at]); show(); }),
      iconButton("right", "Next photo", () => step(1)),
      iconButton("close", "Close", () => dialog.close())));
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") step(-1);
    if (event.key === "ArrowRight") step(1);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog || event.target.classList.contains("large")) dialog.close(); });
  dialog.addEventListener("close", () => { dialog.remove(); closed(photos[at]); });
  document.body.append(dialog);
  dialog.showModal();
  show();
}

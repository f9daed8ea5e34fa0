// What can be done with a picture: save it, copy it, see it larger, read its numbers. A menu behind "⋯".

import { penOf } from "./canvas.js";
import { download } from "./download.js";
import { element } from "./element.js";
import { makeNumbers } from "./numbers_table.js";
import { place } from "./popover.js";
import { asCsv } from "./save_table.js";

const SCALE = 2; // pixels of a PNG for one of the page
const DONE_MS = 1_500;

// The SVG in pixels. It carries all it needs, so the browser may read back what it has drawn.
export async function asPng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = element("canvas", { width: image.width * SCALE, height: image.height * SCALE });
  penOf(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/**
 * Makes the menu.
 *
 * @param source with `svg()`, which resolves to a file's text, and `rows()`, a table whose first row
 *   names its columns; both may be missing
 * @param name gives the files' name
 * @param enlarge shows the picture over the whole window, or no longer
 */
export function pictureMenu({ svg, rows }, name, enlarge) {
  const status = element("p", { class: "outcome", "aria-live": "polite" });
  const box = element("div", { popover: "auto", class: "menu" });
  const open = element("button", { type: "button", class: "more", text: "⋯", title: "Save, copy, enlarge, numbers" });
  const numbers = rows && makeNumbers(rows, open);
  let said = "";
  open.popoverTargetElement = box;
  box.ontoggle = ({ newState }) => { if (newState === "open") place(box, open); else status.textContent = ""; };
  const say = (words) => {
    status.textContent = words;
    setTimeout(() => box.hidePopover(), DONE_MS);
  };
  const item = (text, act) => element("button", {
    type: "button",
    text,
    onclick: async () => {
      try {
        await act();
      } catch ({ message }) {
        say(`That did not work: ${message}`);
      }
    },
  });
  const file = (blob, ending) => {
    download(blob, `${name()}.${ending}`);
    box.hidePopover();
  };
  const copy = async () => {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": svg().then(asPng) })]);
    say("Copied");
  };
  box.append(...[
    element("button", { type: "button", text: "Larger", onclick: () => { box.hidePopover(); enlarge(); } }),
    rows && element("button", { type: "button", text: "Show the numbers", onclick: () => { box.hidePopover(); numbers.open(said); } }),
    svg && item("Save as PNG", async () => file(await asPng(await svg()), "png")),
    svg && item("Save as SVG", async () => file(new Blob([await svg()], { type: "image/svg+xml" }), "svg")),
    rows && item("Save the numbers as CSV", () => file(new Blob([asCsv(rows())], { type: "text/csv;charset=utf-8" }), "csv")),
    // Browsers copy pictures on addresses they trust only: this machine's own, and https.
    svg && Boolean(navigator.clipboard?.write) && item("Copy the picture", copy),
    status,
  ].filter(Boolean));
  return {
    open,
    boxes: numbers ? [box, numbers.box] : [box],
    label(words) {
      said = words;
      open.setAttribute("aria-label", `Save or enlarge: ${words}`);
    },
  };
}

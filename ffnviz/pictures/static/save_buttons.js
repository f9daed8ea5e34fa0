// The buttons that save or copy what a picture shows when they are pressed.

import { download } from "./download.js";
import { element } from "./element.js";
import { asCsv } from "./save_table.js";

const SCALE = 2; // pixels of a PNG for one of the page
const DONE_MS = 1_500;

// The SVG in pixels. It carries all it needs, so the browser may read back what it has drawn.
export async function asPng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = element("canvas", { width: image.width * SCALE, height: image.height * SCALE });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/**
 * Makes the buttons.
 *
 * @param source with `svg()`, which resolves to a file's text, and `rows()`, a table whose first row
 *   names its columns; both may be missing
 * @param name gives the files' name
 */
export function saveButtons({ svg, rows }, name) {
  const told = element("span", { class: "told", "aria-live": "polite" });
  const button = (text, what, act) => {
    const made = element("button", { type: "button", class: "save", text, title: what, "aria-label": what });
    const say = (short, long) => {
      made.textContent = short;
      told.textContent = long;
      setTimeout(() => { made.textContent = text; told.textContent = ""; }, DONE_MS);
    };
    made.onclick = () => act(say).catch((error) => say("✗", `That did not work: ${error.message}`));
    return made;
  };
  const file = (blob, ending) => download(blob, `${name()}.${ending}`);
  const copy = async (say) => {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": svg().then(asPng) })]);
    say("✓", "Copied");
  };
  return element("span", { class: "saving" }, ...[
    svg && button("PNG", "Save this picture as PNG", async () => file(await asPng(await svg()), "png")),
    svg && button("SVG", "Save this picture as SVG", async () => file(new Blob([await svg()], { type: "image/svg+xml" }), "svg")),
    rows && button("CSV", "Save its numbers as CSV", async () => file(new Blob([asCsv(rows())], { type: "text/csv;charset=utf-8" }), "csv")),
    // Browsers copy pictures on addresses they trust only: this machine's own, and https.
    svg && navigator.clipboard?.write && button("Copy", "Copy this picture", copy),
    told,
  ].filter(Boolean));
}

// What can be done with a picture: save it, copy it, see it larger, read its numbers. A menu behind "⋯".

import { contextOf } from "./canvas.js";
import { element } from "./element.js";
import { place } from "./popover.js";
import { asCsv, download } from "./saving.js";

const SCALE = 2; // pixels of a PNG for one of the page
const DONE_MS = 1_500;

// The SVG in pixels. It carries all it needs, so the browser may read back what it has drawn.
export async function asPng(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = element("canvas", { width: image.width * SCALE, height: image.height * SCALE });
  contextOf(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
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

// One picture over the whole window, until Escape: for the last row of a hall.

// Shows the picture of that host over everything else, with a cross that ends it.
export function enlarge(host, root) {
  const close = element("button", { type: "button", class: "close smaller", text: "×", "aria-label": "Close" });
  const focused = root.activeElement;
  function end() {
    host.hidePopover();
    host.removeAttribute("popover"); // with it, but closed, a host is not shown at all
    host.removeAttribute("data-enlarged");
    close.remove();
    removeEventListener("keydown", left, true);
    focused?.focus();
    dispatchEvent(new Event("resize")); // what draws for a size draws anew
  }
  function left(event) {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    end();
  }
  close.onclick = end;
  root.append(close);
  host.setAttribute("popover", "manual");
  host.toggleAttribute("data-enlarged", true);
  host.showPopover();
  addEventListener("keydown", left, true);
  close.focus();
  dispatchEvent(new Event("resize"));
}

// A picture's numbers as a table to read, the same as in its CSV file.

const MOST = 500; // rows; a file has all of them

const empty = (value) => value === undefined || value === null || value === "" || Number.isNaN(value);
const written = (value) => (empty(value) ? "" : typeof value === "number" ? String(value).replace("-", "−") : String(value));

/**
 * Makes the table, which is filled when it is opened.
 *
 * @param rows gives a table whose first row names its columns
 * @param back what has the focus once it is closed
 */
function makeNumbers(rows, back) {
  const table = element("table"), frame = element("div", { class: "frame", tabindex: "0", role: "region", "aria-label": "Numbers" }, table);
  const more = element("p"), title = element("b", { text: "Numbers" });
  const close = element("button", { type: "button", class: "close", text: "×", "aria-label": "Close" });
  const box = element("div", { popover: "auto", class: "numbers", role: "dialog" }, close, title, more, frame);
  close.onclick = () => box.hidePopover();
  box.ontoggle = ({ newState }) => { if (newState === "open") frame.focus(); else { table.replaceChildren(); back.focus(); } };
  return {
    box,
    open(said) {
      const [names, ...all] = rows(), shown = all.slice(0, MOST);
      const kept = [...names.keys()].filter((column) => all.some((row) => !empty(row[column])));
      const line = (tag, row, attributes) => element("tr", {}, ...kept.map((column) => element(tag, { ...attributes, text: written(row[column]) })));
      table.replaceChildren(element("caption", { text: said }), element("thead", {}, line("th", names, { scope: "col" })),
        element("tbody", {}, ...shown.map((row) => line("td", row, {}))));
      box.setAttribute("aria-label", `Numbers: ${said}`);
      more.textContent = all.length > MOST ? `The first ${MOST} of ${all.length.toLocaleString("en")} rows; “Save the numbers as CSV” has all.` : "";
      more.hidden = !more.textContent;
      box.showPopover();
    },
  };
}

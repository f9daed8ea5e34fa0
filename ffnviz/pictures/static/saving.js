// Files that a person opens and saves, and what can be done with a picture.

import { contextOf } from "./canvas.js";
import { element } from "./element.js";
import { place } from "./popover.js";

// Takes a text file from a person. The browser reads it, and its text goes where all else goes that
// a person does: to the session, at whichever of the server's processes it is.

// An input whose chosen file's name and text are handed on.
export function fileInput(attributes, take) {
  let most = 0;
  const input = element("input", {
    type: "file", ...attributes, onchange: () => read(input, most, take),
  });
  return {
    input,
    update(longest, accept) {
      most = longest;
      input.accept = accept;
    },
  };
}

async function read(input, longest, take) {
  const [file] = input.files;
  if (!file) return;
  // A letter has at most four bytes; one letter too many is enough to see that it is too long.
  const bytes = await file.slice(0, 4 * (longest + 1)).arrayBuffer();
  const text = new TextDecoder(encodingOf(new Uint8Array(bytes))).decode(bytes);
  take({ name: file.name, text: text.slice(0, longest + 1) });
  input.value = ""; // so that the same file, changed, can be taken again
}

// UTF-8, or what a mark at the start says; the decoder leaves the mark out.
function encodingOf(bytes) {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

/**
 * What `opening_cell` sends.
 *
 * @typedef {{ label: string, accept: string, longest: number }} OpeningData
 */

export function mountOpening(tell) {
  const file = fileInput({ id: "input" }, (chosen) => tell("file", chosen));
  const label = element("label", { for: "input" });
  return {
    element: element("div", {}, label, file.input),
    /** @param {OpeningData} data */
    update(data) {
      label.textContent = data.label;
      file.update(data.longest, data.accept);
    },
  };
}

// A button that saves a file, and a picture's numbers as a table for one. The browser makes the
// file: a link to the server would be answered by whichever of its processes is free, and that one
// may never have heard of the file.

/**
 * What `file_data` packed.
 *
 * @typedef {{ name: string, type: string, base64: string }} SavedFile
 */

/** @param {SavedFile} file */
export function saveFile({ name, type, base64 }) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  download(new Blob([bytes], { type }), name);
}

/**
 * What `saving_cell` sends.
 *
 * @typedef {{ label: string, file: SavedFile | null }} SavingData
 */

export function mountSaving() {
  let file = /** @type {SavedFile | null} */ (null);
  const button = element("button", {
    type: "button",
    onclick: () => {
      if (file) saveFile(file);
    },
  });
  return {
    element: button,
    /** @param {SavingData} data */
    update(data) {
      ({ file } = data);
      button.textContent = data.label;
      button.disabled = file === null;
    },
  };
}

// Has the browser save a file of its own making.

const KEEP_MS = 60_000; // a browser that asks first where to put it reads it later

export function download(blob, name) {
  const href = URL.createObjectURL(blob);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEEP_MS);
}

/**
 * Only addresses that a browser trusts may write to its clipboard themselves; on others a selection
 * is copied, as by a person.
 *
 * @param {string} text
 * @param {string} refused what to say if neither works
 */
export async function copyText(text, refused) {
  if (navigator.clipboard) return await navigator.clipboard.writeText(text);
  const area = element("textarea", { style: { position: "fixed", opacity: "0" } });
  document.body.append(area);
  area.value = text;
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error(refused);
}

// A picture's numbers as a table that any spreadsheet reads.

// What XML 1.0 has no place for: control characters, lone surrogates, U+FFFE and U+FFFF.
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/**
 * The same value, with the character for "unknown" where text has one that no file may have.
 *
 * @param {any} value
 * @returns {any}
 */
export function allowed(value) {
  if (typeof value === "string") return value.replace(FORBIDDEN, "\uFFFD");
  if (Array.isArray(value)) return value.map(allowed);
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, allowed(inner)]));
}

/**
 * A number in single precision, without the digits that only double precision would make of it.
 *
 * @param {unknown} value
 */
export const single = (value) => (typeof value === "number" ? Number(value.toPrecision(7)) : value);

/**
 * A spreadsheet runs a cell that begins like a formula: such text stands in quotation marks, as
 * tokens do on the page.
 *
 * @param {unknown} value
 */
export function cell(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return Number.isNaN(value) ? "" : String(value);
  const text = allowed(String(value)).replace(/^[=+\-@\t\r].*$/s, "“$&”");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {unknown[][]} table */
const asCsv = (table) => `\ufeff${table.map((row) => row.map(cell).join(",")).join("\r\n")}`;

// What can be done with a picture: save it, copy it, see it larger, read its numbers. A menu behind
// "⋯".

const SCALE = 2; // pixels of a PNG for one of the page
export const DONE_MS = 1_500; // that a button says what came of it

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
 * @param source with `svg()`, which resolves to a file's text, and `rows()`, a table whose first
 *   row names its columns; both may be missing
 * @param name gives the files' name
 * @param enlarge shows the picture over the whole window, or no longer
 */
export function pictureMenu({ svg, rows }, name, enlarge) {
  const status = element("p", { class: "outcome", "aria-live": "polite" });
  const box = element("div", { popover: "auto", class: "menu" });
  const open = element("button", {
    type: "button", class: "more", text: "⋯", title: "Save, copy, enlarge, numbers",
  });
  const numbers = rows && makeNumbers(rows, open);
  let said = "";
  open.popoverTargetElement = box;
  box.ontoggle = ({ newState }) => {
    if (newState === "open") place(box, open);
    else status.textContent = "";
  };
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
    element("button", {
      type: "button", text: "Larger",
      onclick: () => {
        box.hidePopover();
        enlarge();
      },
    }),
    rows && element("button", {
      type: "button", text: "Show the numbers",
      onclick: () => {
        box.hidePopover();
        numbers.open(said);
      },
    }),
    svg && item("Save as PNG", async () => file(await asPng(await svg()), "png")),
    svg &&
    item(
      "Save as SVG", async () => file(new Blob([await svg()], { type: "image/svg+xml" }), "svg"),
    ),
    rows &&
    item(
      "Save the numbers as CSV",
      () => file(new Blob([asCsv(rows())], { type: "text/csv;charset=utf-8" }), "csv"),
    ),
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
  const close = element("button", {
    type: "button", class: "close smaller", text: "×", "aria-label": "Close",
  });
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

const empty = (value) =>
  value === undefined || value === null || value === "" || Number.isNaN(value);
const written = (value) => (empty(value)
  ? ""
  : typeof value === "number"
  ? String(value).replace("-", "−")
  : String(value));

/**
 * Makes the table, which is filled when it is opened.
 *
 * @param rows gives a table whose first row names its columns
 * @param back what has the focus once it is closed
 */
function makeNumbers(rows, back) {
  const table = element("table");
  const frame = element("div", {
    class: "frame", tabindex: "0", role: "region", "aria-label": "Numbers",
  }, table);
  const more = element("p"), title = element("b", { text: "Numbers" });
  const close = element("button", {
    type: "button", class: "close", text: "×", "aria-label": "Close",
  });
  const box = element(
    "div", { popover: "auto", class: "numbers", role: "dialog" }, close, title, more, frame,
  );
  close.onclick = () => box.hidePopover();
  box.ontoggle = ({ newState }) => {
    if (newState === "open") frame.focus();
    else {
      table.replaceChildren();
      back.focus();
    }
  };
  return {
    box,
    open(said) {
      const [names, ...all] = rows(), shown = all.slice(0, MOST);
      const kept = [...names.keys()].filter((column) => all.some((row) => !empty(row[column])));
      const line = (tag, row, attributes) =>
        element(
          "tr", {},
          ...kept.map((column) => element(tag, { ...attributes, text: written(row[column]) })),
        );
      table.replaceChildren(
        element("caption", { text: said }),
        element("thead", {}, line("th", names, { scope: "col" })),
        element("tbody", {}, ...shown.map((row) => line("td", row, {}))),
      );
      box.setAttribute("aria-label", `Numbers: ${said}`);
      const first = `The first ${MOST} of ${all.length.toLocaleString("en")} rows`;
      more.textContent = `${first}; “Save the numbers as CSV” has all.`;
      more.hidden = all.length <= MOST;
      box.showPopover();
    },
  };
}

// Takes a text file from a person. The browser reads it, and its text goes where all else goes that
// a person does: to the session, at whichever of the server's processes it is.

import { element } from "./element.js";

// An input whose chosen file's name and text are handed on.
export function fileInput(attributes, take) {
  let most = 0;
  const input = element("input", { type: "file", ...attributes, onchange: () => read(input, most, take) });
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
 * @typedef {{ label: string, accept: string, longest: number }} Data
 */

export function mount(tell) {
  const file = fileInput({ id: "input" }, (chosen) => tell("file", chosen));
  const label = element("label", { for: "input" });
  return {
    element: element("div", {}, label, file.input),
    /** @param {Data} data */
    update(data) {
      label.textContent = data.label;
      file.update(data.longest, data.accept);
    },
  };
}

// Takes a text file from a person. The browser reads it, and its text goes where all else goes that
// a person does: to the session, at whichever of the server's processes it is.

import { element } from "./element.js";

export const styles = ["opening.css"];

export function mount(tell) {
  let longest = 0;
  async function read() {
    const [file] = input.files;
    if (!file) return;
    // A letter has at most four bytes; one letter too many is enough to see that it is too long.
    const text = await file.slice(0, 4 * (longest + 1)).text();
    tell("file", { name: file.name, text: text.slice(0, longest + 1) });
    input.value = ""; // so that the same file, changed, can be taken again
  }
  const input = element("input", { type: "file", id: "input", onchange: read });
  const label = element("label", { for: "input" });
  return {
    element: element("div", {}, label, input),
    update(data) {
      ({ longest } = data);
      label.textContent = data.label;
      input.accept = data.accept;
    },
  };
}

// Takes a text file from a person. The browser reads it, and its text goes where all else goes that
// a person does: to the session, at whichever of the server's processes it is.

import { element } from "./element.js";

export const styles = ["opening.css"];

// A chosen file's name and text are handed on.
export async function read(input, longest, take) {
  const [file] = input.files;
  if (!file) return;
  // A letter has at most four bytes; one letter too many is enough to see that it is too long.
  const text = await file.slice(0, 4 * (longest + 1)).text();
  take({ name: file.name, text: text.slice(0, longest + 1) });
  input.value = ""; // so that the same file, changed, can be taken again
}

export function mount(tell) {
  let longest = 0;
  const take = (file) => tell("file", file);
  const input = element("input", { type: "file", id: "input", onchange: () => read(input, longest, take) });
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

// A button that saves a file. The browser makes it: a link to the server would be answered by
// whichever of its processes is free, and that one may never have heard of the file.

import { element } from "./element.js";

export const styles = ["saving.css"];

const KEEP_MS = 60_000; // a browser that asks first where to put it reads it later

export function mount() {
  let file = null;
  function save() {
    const bytes = Uint8Array.from(atob(file.base64), (letter) => letter.charCodeAt(0));
    const href = URL.createObjectURL(new Blob([bytes], { type: file.type }));
    element("a", { href, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(href), KEEP_MS);
  }
  const button = element("button", { type: "button", onclick: save });
  return {
    element: button,
    update(data) {
      ({ file } = data);
      button.textContent = data.label;
      button.disabled = file === null;
    },
  };
}

import { element } from "./values.js";

// Our own notes, fetched when first opened; a note is a file of this folder, never typed text.
async function fill(box, note) {
  const answer = await fetch(new URL(`./notes/${note}.html`, import.meta.url));
  const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
  box.replaceChildren(...parsed.body.childNodes);
}

function makeHead(note) {
  const sentence = element("p", { class: "sentence" });
  const box = element("div", { popover: "auto", id: `note-${note}`, class: "note", role: "note" });
  const button = element("button", {
    type: "button", class: "what", popovertarget: `note-${note}`, text: "What am I looking at?",
  });
  // A popover lies in the middle of the window unless told where: put it under its button.
  const place = () => {
    const under = button.getBoundingClientRect();
    const left = Math.min(under.right, innerWidth - 8) - box.offsetWidth;
    const top = Math.min(under.bottom + 4, innerHeight - 8 - box.offsetHeight);
    Object.assign(box.style, { left: `${Math.max(8, left)}px`, top: `${Math.max(8, top)}px` });
  };
  box.addEventListener("toggle", async (event) => {
    if (event.newState !== "open") return;
    if (!box.hasChildNodes()) await fill(box, note);
    place();
  });
  const controls = element("div", { class: "controls" });
  const head = element("header", {}, sentence, controls, button, box);
  return { head, sentence, controls };
}

// Draws the head as the first child of a picture's root and returns where its controls go.
export function drawHead(root, data, theme) {
  const made = (root.madeHead ||= makeHead(data.note));
  if (!made.head.isConnected) root.prepend(made.head);
  made.sentence.style.setProperty("--accent", theme[data.accent]);
  made.sentence.replaceChildren(
    ...data.spans.map(([text, kind]) => element("span", { class: kind, text })),
  );
  return made.controls;
}

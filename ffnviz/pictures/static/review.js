// The lecturer's own window: what students sent, to be let through to the wall or kept from it.

import { each, element } from "./element.js";

const [said, list] = ["said", "sentences"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
const channel = new BroadcastChannel(location.hash.slice(1));

function makeLine() {
  const button = element("button", { type: "button" });
  return element("li", {}, element("bdi"), button);
}

channel.onmessage = ({ data }) => {
  if (!data.sentences) return;
  const waiting = data.sentences.filter(({ hidden }) => hidden).length;
  said.textContent = data.sentences.length
    ? `${waiting} of ${data.sentences.length} are not on the wall. Only you see this window: keep it off the projector.`
    : "No sentence has come yet.";
  each(list, data.sentences, makeLine, ({ children: [text, button], classList }, { number, text: typed, hidden }) => {
    text.textContent = typed;
    classList.toggle("hidden", hidden);
    button.textContent = hidden ? "Show on the wall" : "Take off the wall";
    button.setAttribute("aria-label", `${button.textContent}: ${typed}`);
    button.onclick = () => channel.postMessage({ wall: { number, hidden: !hidden } });
  });
};
channel.postMessage({ ready: true });

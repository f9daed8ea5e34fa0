import { each, element } from "./element.js";
import { percent } from "./numbers.js";
import { colourOf } from "./theme.js";

export const styles = ["chips.css"];

function makeChip(choose) {
  return element("button", { type: "button", onclick: choose },
    element("bdi"),
    element("small"),
    element("span", { class: "track", "aria-hidden": "true" }, element("i")));
}

export function mount(tell) {
  const row = element("div", { class: "row", role: "group", "aria-label": "Tokens of the sentence" });
  const hide = element("button", { type: "button", class: "hide", text: "Hide this word", onclick: () => tell("hide", true) });
  return {
    element: element("section", {}, row),
    controls: hide,
    update({ texts, shares, chosen, what, hides, head }, theme) {
      hide.hidden = !hides;
      hide.title = `Put [MASK] in the place of “${hides}”: the network then has to guess it`;
      const accent = colourOf(head.accent, theme);
      each(row, texts, (token) => makeChip(() => tell("token", token)), (chip, text, token) => {
        const [name, share, track] = chip.children;
        const isChosen = token === chosen;
        chip.setAttribute("aria-pressed", String(isChosen));
        chip.title = `${text}: ${percent(shares[token])} ${what}`;
        chip.style.borderColor = isChosen ? accent : "";
        name.textContent = text;
        share.textContent = percent(shares[token]);
        const width = `${Math.min(100, shares[token] * 100)}%`;
        Object.assign(track.firstChild.style, { width, background: accent });
      });
    },
  };
}

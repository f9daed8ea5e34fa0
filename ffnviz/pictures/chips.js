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

// Where to scroll the row so that a chip is in its middle.
const intoView = (row, { offsetLeft, offsetTop, offsetWidth, offsetHeight }) => ({
  left: offsetLeft - row.offsetLeft - (row.clientWidth - offsetWidth) / 2,
  top: offsetTop - row.offsetTop - (row.clientHeight - offsetHeight) / 2,
});

export function mount(tell) {
  const row = element("div", { class: "row", role: "group", "aria-label": "Tokens of the sentence" });
  const hide = element("button", { type: "button", class: "hide", text: "Hide this word", onclick: () => tell("hide", true) });
  let shown = null, at = null;
  return {
    element: element("section", {}, element("div", { class: "line" }, row, hide)),
    saves: {
      rows: () => [["token number", "token", "share"], ...shown.texts.map((text, token) => [token + 1, text, shown.shares[token]])],
    },
    update(data, theme) {
      shown = data;
      const { texts, shares, chosen, what, hides } = data, accent = colourOf(data.accent, theme);
      hide.hidden = !hides;
      hide.title = `Put [MASK] in the place of “${hides}”: the network then has to guess it`;
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
      // In a long text the chosen chip may be out of sight; who scrolled away since is left alone.
      if (chosen !== at) row.scrollTo(intoView(row, row.children[chosen]));
      at = chosen;
    },
  };
}

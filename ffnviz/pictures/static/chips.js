import { each, element } from "./element.js";
import { stretch } from "./motion.js";
import { percent } from "./numbers.js";
import { makeSliding } from "./sliding.js";
import { colourOf } from "./theme.js";

export const styles = ["chips.css"];

// A token, and at its corner, while the mouse is there, a button that hides its word.
function makeChip(choose, hide) {
  const onkeydown = ({ key }) => { if (key === "Delete") hide(); };
  return element("div", { class: "chip" },
    element("button", { type: "button", onclick: choose, onkeydown },
      element("bdi"),
      element("small"),
      element("span", { class: "track", "aria-hidden": "true" }, element("i"))),
    element("button", { type: "button", class: "cut", text: "___", "aria-label": "hide", tabindex: "-1", onclick: hide }));
}

// Where to scroll the row so that a chip is in its middle.
const intoView = (row, { offsetLeft, offsetTop, offsetWidth, offsetHeight }) => ({
  left: offsetLeft - row.offsetLeft - (row.clientWidth - offsetWidth) / 2,
  top: offsetTop - row.offsetTop - (row.clientHeight - offsetHeight) / 2,
});

export function mount(tell) {
  const row = element("div", { class: "row", role: "group", "aria-label": "Tokens of the sentence" });
  const hide = element("button", { type: "button", class: "hide", text: "Hide", "aria-label": "Hide this word", onclick: () => cut(at) });
  const edit = element("button", { type: "button", class: "edit", text: "✎", title: "Edit the sentence ( / )", "aria-label": "Edit the sentence" });
  edit.onclick = () => edit.dispatchEvent(new CustomEvent("edit-sentence", { bubbles: true, composed: true }));
  let shown = null, at = null;
  const cut = (token) => { if (shown.hides[token]) tell("hide", token); };
  function choose(token) {
    tell("token", token);
    if (token !== shown.chosen) row.dispatchEvent(new Event("token-chosen", { bubbles: true, composed: true })); // what it does is then played
  }
  const root = element("section", {}, element("div", { class: "line" }, row, hide, edit));
  const sliding = makeSliding(row);
  return {
    element: root,
    saves: {
      rows: () => [["token number", "token", "share"], ...shown.texts.map((text, token) => [token + 1, text, shown.shares[token]])],
    },
    update(data, theme) {
      shown = data;
      const { texts, shares, chosen, what, hides, asks } = data, counts = shares.length > 0, accent = colourOf(data.accent, theme);
      const why = (token) => `Put [MASK] in the place of “${hides[token]}”: the network then has to guess it`;
      root.classList.toggle("calm", !asks);
      root.classList.toggle("counts", counts);
      hide.style.visibility = hides[chosen] ? "" : "hidden"; // it keeps its place: the words do not move
      edit.hidden = Boolean(data.stays); // in a notebook the sentence is the trace's
      hide.title = why(chosen);
      each(row, texts, (token) => makeChip(() => choose(token), () => cut(token)), (chip, text, token) => {
        const [face, over] = chip.children;
        const [name, share, track] = face.children;
        const isChosen = token === chosen;
        face.setAttribute("aria-pressed", String(isChosen));
        face.title = `${text}${counts ? `: ${percent(shares[token])} ${what}` : ""}${hides[token] ? "\nDelete hides the word" : ""}`;
        face.style.borderColor = isChosen ? accent : "";
        over.hidden = !hides[token];
        over.title = why(token);
        name.textContent = text;
        share.textContent = counts ? percent(shares[token]) : "";
        stretch(track.firstChild, 0, Math.min(1, shares[token] ?? 0));
        track.firstChild.style.background = accent;
      });
      // In a long text the chosen chip may be out of sight; a person who has scrolled away since is left alone.
      const there = row.children[chosen]; // none while a token is chosen that is not shown
      if (chosen !== at && there) row.scrollTo(intoView(row, there));
      at = chosen;
      sliding.look();
    },
    destroy: sliding.stop,
  };
}

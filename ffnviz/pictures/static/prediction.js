import { each, element } from "./element.js";
import { reorder } from "./motion.js";
import { percent } from "./numbers.js";
import { colourOf } from "./theme.js";

export const styles = ["prediction.css"];

const makeRow = () => element("li", {},
  element("bdi"), element("span", { class: "track" }, element("i"), element("b")));

export function mount() {
  let shown = null;
  const panels = element("div", { class: "panels" });
  const makePanel = () => element("section", {}, element("h3"), element("ol"));
  return {
    element: element("div", { class: "prediction" }, panels),
    saves: {
      rows: () => [["panel", "rank", "word", shown.panels[0].of], ...shown.panels.flatMap(({ title, words, probabilities }) =>
        words.map((word, rank) => [title, rank + 1, word, probabilities[rank]]))],
    },
    update(data, theme) {
      shown = data;
      const highest = Math.max(...data.panels.flatMap(({ probabilities }) => probabilities));
      each(panels, data.panels, makePanel, ({ children: [heading, list] }, panel) => {
        heading.textContent = panel.title;
        list.setAttribute("aria-label", `Likeliest words, ${panel.title}`);
        const background = colourOf(panel.colour, theme);
        const arrive = reorder(list, panel.words);
        each(list, panel.words, makeRow, (item, word, place) => {
          item.dataset.name = word;
          const probability = panel.probabilities[place];
          const [name, { firstChild: bar, lastChild: text }] = item.children;
          item.title = `${word}: ${probability.toFixed(4)}`;
          name.textContent = word;
          text.textContent = panel.of === "probability" ? percent(probability) : probability.toFixed(2);
          Object.assign(bar.style, { width: `${(100 * probability) / highest}%`, background });
        });
        arrive();
      });
    },
  };
}

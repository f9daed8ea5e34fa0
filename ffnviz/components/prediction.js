import { drawHead } from "./head.js";
import { element, onThemeChange, percent, themeOf } from "./values.js";

function row(word, probability, highest, colour) {
  const bar = element("i", {
    style: { width: `${(100 * probability) / highest}%`, background: colour },
  });
  return element("li", { title: `${word}: ${probability.toFixed(4)}` },
    element("bdi", { text: word }),
    element("span", { class: "track" }, bar, element("b", { text: percent(probability) })));
}

export default function ({ data, parentElement }) {
  let root = parentElement.querySelector("div.prediction");
  if (!root) {
    root = element("div", { class: "prediction" }, element("div", { class: "panels" }));
    parentElement.append(root);
  }
  const paint = () => {
    const theme = themeOf(root, data.palettes);
    const highest = Math.max(...data.panels.flatMap((panel) => panel.probabilities));
    drawHead(root, data.head, theme);
    root.querySelector(".panels").replaceChildren(...data.panels.map(({ title, words, probabilities, colour }) =>
      element("section", {},
        element("h3", { text: title }),
        element("ol", { "aria-label": `Likeliest words, ${title}` },
          ...words.map((word, i) => row(word, probabilities[i], highest, theme[colour]))))));
    root.dataset.painted = data.stamp;
  };
  paint();
  return onThemeChange(root, paint);
}

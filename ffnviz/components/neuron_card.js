import { drawHead } from "./head.js";
import { element, number, onThemeChange, themeOf } from "./values.js";


function bar(value, largest, theme) {
  const width = largest > 0 ? (Math.abs(value) / largest) * 100 : 0;
  const colour = value < 0 ? theme.negative_mid : theme.positive_mid;
  return element("span", { class: "track", "aria-hidden": "true" },
    element("i", { style: { width: `${width}%`, background: colour } }));
}

export default function ({ data, parentElement, setTriggerValue }) {
  let card = parentElement.querySelector("article");
  if (!card) {
    card = element("article", {}, element("div", { class: "card" }));
    parentElement.append(card);
  }
  const meet = (token) => setTriggerValue("meet", { token });
  const paint = () => {
    const theme = themeOf(card, data.palettes);
    const largest = Math.max(...data.values.map(Math.abs));
    drawHead(card, data.head, theme);
    card.querySelector(".card").replaceChildren(
      element("h3", {},
        element("span", { text: data.title, style: { color: theme[data.head.accent] } }),
        element("button", { type: "button", text: "Meet this neuron →", onclick: () => meet(null) })),
      element("p", {}, "pushes towards ", ...data.words.map((text) => element("bdi", { text }))),
      element("ol", { "aria-label": "Its value on every token", tabindex: "0" },
        ...data.values.map((value, token) =>
          element("li", { class: token === data.token ? "chosen" : "" },
            element("button", {
              type: "button", title: `Show how ${number(value)} comes about`, onclick: () => meet(token),
            },
            element("bdi", { text: data.texts[token] }),
            bar(value, largest, theme),
            element("b", { text: number(value) }))))),
    );
    card.dataset.painted = data.stamp;
  };
  paint();
  return onThemeChange(card, paint);
}

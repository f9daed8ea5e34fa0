import { drawHead } from "./head.js";
import { element, onThemeChange, themeOf } from "./values.js";

function row({ claim, kind, sign, verdict, expected, measured, check }) {
  const icon = element("i", { class: "sign", "aria-hidden": "true", text: sign });
  return element("li", { "data-kind": kind },
    element("b", { text: claim }),
    element("span", { class: "expected", text: `Expected: ${expected}.` }),
    element("strong", {}, icon, element("span", { text: verdict })),
    element("span", { class: "seen", title: `Expected: ${expected}. Test: ${check}.` },
      ` ${measured} `, element("small", { text: `(${check})` })));
}

export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector("div.verdicts");
  if (!root) {
    const groups = element("div", { class: "groups" });
    root = element("div", { class: "verdicts" }, element("div", { class: "all", tabindex: "0", role: "region", "aria-label": "Claims and verdicts" }, groups));
    parentElement.append(root);
  }
  const box = root.querySelector(".groups");
  const paint = () => {
    const theme = themeOf(root, data.palettes);
    drawHead(root, data.head, theme);
    root.style.setProperty("--holds", theme.positive_mid);
    root.style.setProperty("--fails", theme.negative_mid);
    box.style.columnCount = String(data.columns);
    root.classList.toggle("dense", data.dense);
    root.classList.toggle("page", data.columns > 1);
    box.replaceChildren(...data.groups.map(([title, claims], index) =>
      element("section", {},
        ...(title ? [element("h3", {}, element("button", {
          type: "button", text: `${title} →`, onclick: () => setTriggerValue("group", index),
        }))] : []),
        element("ul", {}, ...claims.map(row)))));
    root.dataset.painted = data.stamp;
  };
  paint();
  return onThemeChange(root, paint);
}

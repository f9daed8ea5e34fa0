import { drawHead } from "./head.js";
import { element, onThemeChange, percent, themeOf } from "./values.js";

function chip(data, index, accent, choose) {
  const share = data.shares[index];
  const text = data.texts[index];
  const chosen = index === data.chosen;
  const bar = element("i", { style: { width: `${Math.min(100, share * 100)}%`, background: accent } });
  return element(
    "button",
    {
      type: "button",
      "aria-pressed": String(chosen),
      title: `${text}: ${percent(share)} ${data.what}`,
      style: { borderColor: chosen ? accent : "" },
      onclick: () => choose(index),
    },
    element("bdi", { text }),
    element("small", { text: percent(share) }),
    element("span", { class: "track", "aria-hidden": "true" }, bar),
  );
}

export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector("section");
  if (!root) {
    const row = element("div", { class: "row", role: "group", "aria-label": "Tokens of the sentence" });
    root = element("section", {}, row);
    parentElement.append(root);
  }
  const row = root.querySelector(".row");
  const paint = () => {
    const theme = themeOf(root, data.palettes);
    const focused = [...row.children].indexOf(root.getRootNode().activeElement);
    drawHead(root, data.head, theme);
    row.replaceChildren(
      ...data.texts.map((_, index) =>
        chip(data, index, theme[data.head.accent], (i) => setTriggerValue("token", i))),
    );
    if (focused >= 0) row.children[Math.min(focused, row.children.length - 1)].focus();
    root.dataset.painted = data.stamp;
  };
  paint();
  return onThemeChange(root, paint);
}

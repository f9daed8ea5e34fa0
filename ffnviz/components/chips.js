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
  let row = parentElement.querySelector("div.row");
  if (!row) {
    row = element("div", { class: "row", role: "group", "aria-label": "Tokens of the sentence", tabindex: "-1" });
    parentElement.append(row);
  }
  const paint = () => {
    const hadFocus = [...row.children].indexOf(row.getRootNode().activeElement);
    const accent = themeOf(row, data.palettes)[data.accent];
    row.replaceChildren(
      ...data.texts.map((_, index) => chip(data, index, accent, (i) => setTriggerValue("token", i))),
    );
    if (hadFocus >= 0) row.children[Math.min(hadFocus, row.children.length - 1)].focus();
    row.dataset.painted = data.stamp;
  };
  paint();
  return onThemeChange(row, paint);
}

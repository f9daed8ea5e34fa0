import { element, onThemeChange, themeOf } from "./values.js";

export default function ({ data, parentElement }) {
  let line = parentElement.querySelector("p");
  if (!line) {
    line = element("p");
    parentElement.append(line);
  }
  const paint = () => {
    line.style.setProperty("--accent", themeOf(line, data.palettes)[data.accent]);
    line.replaceChildren(...data.spans.map(([text, kind]) => element("span", { class: kind, text })));
  };
  paint();
  return onThemeChange(line, paint);
}

import { drawHead } from "./head.js";
import { element, onThemeChange, themeOf } from "./values.js";

export default function ({ data, parentElement }) {
  let root = parentElement.querySelector("div.passages");
  if (!root) {
    root = element("div", { class: "passages" }, element("ol", { tabindex: "0" }));
    parentElement.append(root);
  }
  const list = root.querySelector("ol");
  const paint = () => {
    const theme = themeOf(root, data.palettes);
    drawHead(root, data.head, theme);
    list.setAttribute("aria-label", `${data.rows.length} sentences`);
    list.style.setProperty("--accent", theme[data.head.accent]);
    list.replaceChildren(...data.rows.map(([value, before, at, after]) =>
      element("li", {},
        element("b", { text: value }),
        element("bdi", {}, before, element("mark", { text: at }), after))));
    root.dataset.painted = data.stamp;
  };
  paint();
  return onThemeChange(root, paint);
}

import { each, element } from "./element.js";

export const styles = ["verdicts.css"];

const MANY = 8; // claims that leave no room for what one expects: it is said where one points

const makeClaim = () => element("li", {},
  element("b", {}, element("em"), element("span")),
  element("span", { class: "expected" }),
  element("strong", {}, element("i", { class: "sign", "aria-hidden": "true" }), element("span")),
  element("span", { class: "seen" }, element("span"), element("small")));

function drawClaim(item, { claim, kind, sign, verdict, expected, measured, check, label }) {
  const [name, hoped, { children: [icon, words] }, seen] = item.children;
  item.dataset.kind = kind;
  name.firstChild.textContent = label ? `${label}: ` : "";
  name.lastChild.textContent = claim;
  hoped.textContent = `Expected: ${expected}.`;
  icon.textContent = sign;
  words.textContent = verdict;
  seen.title = `Expected: ${expected}. Test: ${check}.`;
  seen.firstChild.textContent = ` ${measured} `;
  seen.lastChild.textContent = `(${check})`;
}

export function mount(tell) {
  const box = element("div", { class: "groups" });
  const all = element("div", { class: "all", tabindex: "0", role: "region", "aria-label": "Claims and verdicts" }, box);
  const root = element("div", { class: "verdicts" }, all);
  const makeGroup = (group) => element("section", {},
    element("h3", {}, element("button", { type: "button", onclick: () => tell("group", group) })),
    element("ul"));
  let shown = [];
  return {
    element: root,
    saves: {
      rows: () => [["experiment", "said", "claim", "expected", "verdict", "measured", "test"], ...shown.flatMap(([title, claims]) =>
        claims.map(({ said, claim, expected, verdict, measured, check }) => [title, said, claim, expected, verdict, measured, check]))],
    },
    update({ groups, columns, dense }) {
      shown = groups;
      box.style.columnCount = String(columns);
      root.classList.toggle("dense", dense);
      root.classList.toggle("page", columns > 1);
      root.classList.toggle("many", groups.flatMap(([, claims]) => claims).length > MANY);
      each(box, groups, makeGroup, ({ children: [heading, list] }, [title, claims]) => {
        heading.hidden = !title;
        heading.firstChild.textContent = `${title} →`;
        each(list, claims, makeClaim, drawClaim);
      });
    },
  };
}

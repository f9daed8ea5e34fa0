import { each, element, oneStop } from "./element.js";
import { fitList } from "./filling.js";

/** @import { Head } from "./head.js" */

const MANY = 8; // claims that leave no room for what one expects: it is said where one points

const makeClaim = () => element("li", {},
  element("b", {}, element("em"), element("span")),
  element("span", { class: "expected" }),
  element("strong", {}, element("i", { class: "sign", "aria-hidden": "true" }), element("span"), element("span", { class: "limits" })),
  element("span", { class: "seen" }, element("span"), element("small")));

// Beside its verdict what was seen goes on with it; on a line of its own it begins anew.
const goesOn = (text, limits) => `${limits ? ";" : ":"} ${text} `;
const begins = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)} `;

function drawClaim(item, { claim, kind, sign, verdict, limits, expected, measured, check, label, inline }) {
  const [name, hoped, { children: [icon, words, more] }, seen] = item.children;
  item.dataset.kind = kind;
  name.firstChild.textContent = label ? `${label}: ` : "";
  name.lastChild.textContent = claim;
  hoped.textContent = `If so, one sees: ${expected}.`;
  icon.textContent = sign;
  words.textContent = verdict.slice(0, verdict.length - limits.length);
  more.textContent = limits;
  seen.title = `If so, one sees: ${expected}. Test: ${check}.`;
  seen.firstChild.textContent = inline ? goesOn(measured, limits) : begins(measured);
  seen.lastChild.textContent = `(${check})`;
}

// The signs of a group's claims, and how often each kind is there for those who cannot see them.
function drawSigns(signs, claims) {
  signs.replaceChildren(...claims.map(({ kind, sign }) => element("i", { "data-kind": kind, text: sign })));
  const kinds = [...new Set(claims.map(({ kind }) => kind))];
  const count = (kind) => claims.filter((claim) => claim.kind === kind).length;
  signs.setAttribute("aria-label", kinds.map((kind) => `${count(kind)} ${kind}`).join(", "));
}

/**
 * @typedef {{
 *   claim: string, kind: string, sign: string, verdict: string, expected: string,
 *   measured: string, check: string, said: string, limits: string, label: string
 * }} Claim
 */

/**
 * What `verdicts_cell` sends.
 *
 * @typedef {{ groups: [string, Claim[]][], dense: boolean, head: Head }} Data
 */

export function mount(tell) {
  const box = element("div", { class: "groups" });
  const all = element("div", { class: "all", tabindex: "0", role: "region", "aria-label": "Claims and verdicts" }, box);
  const root = element("div", { class: "verdicts" }, all);
  const makeGroup = (group) => element("section", {},
    element("h3", {}, element("button", { type: "button", onclick: () => open(group) },
      element("span"), element("span", { class: "signs", role: "img" }))),
    element("div", {}, element("ul"), element("button", { type: "button", class: "leads", onclick: () => tell("group", group) })));
  const stop = oneStop(box, "h3 button");
  const fit = fitList(all, () => (root.classList.contains("titled") ? [0.6, 1.6] : [0.24, 1]));
  let shown = /** @type {Data["groups"]} */ ([]), opened = 0;
  // Of groups with titles one is open.
  function open(group) {
    opened = Math.max(0, Math.min(group, shown.length - 1));
    [...box.children].forEach((section, place) => {
      section.classList.toggle("open", place === opened);
      section.querySelector("h3 button")?.setAttribute("aria-expanded", String(place === opened));
    });
    fit();
  }
  return {
    element: root,
    saves: {
      rows: () => [["experiment", "said", "claim", "expected", "verdict", "measured", "test"], ...shown.flatMap(([title, claims]) =>
        claims.map(({ said, claim, expected, verdict, measured, check }) => [title, said, claim, expected, verdict, measured, check]))],
    },
    /** @param {Data} data */
    update({ groups, dense }) {
      shown = groups;
      const titled = groups.some(([title]) => title);
      root.classList.toggle("dense", dense);
      root.classList.toggle("titled", titled);
      root.classList.toggle("many", !titled && groups.some(([, claims]) => claims.length > MANY));
      box.style.gridTemplateRows = titled ? `repeat(${groups.length}, auto)` : "";
      each(box, groups, makeGroup, ({ children: [heading, body] }, [title, claims]) => {
        heading.hidden = body.lastChild.hidden = !title;
        heading.firstChild.firstChild.textContent = title;
        drawSigns(heading.firstChild.lastChild, claims);
        each(body.firstChild, claims, makeClaim, (item, claim) => drawClaim(item, { ...claim, inline: dense || claims.length >= 5 }));
        body.firstChild.dataset.claims = claims.length;
        body.firstChild.classList.toggle("five", claims.length >= 5);
        body.lastChild.textContent = `${title} →`;
      });
      open(opened);
      stop(opened);
    },
    destroy: () => fit(true),
  };
}

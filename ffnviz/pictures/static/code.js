// Program text, to be read and copied.

import { element } from "./element.js";
import { fitList } from "./filling.js";

const DONE_MS = 1_500;

/**
 * What `code_cell` sends.
 *
 * @typedef {{ code: string, tokens: [string, string][] }} Data
 */

export function mount() {
  const code = element("code"), pre = element("pre", { tabindex: "0" }, code);
  const fit = fitList(pre, () => [1, 1]);
  let text = "";
  const copy = element("button", { type: "button", text: "Copy", "aria-label": "Copy the code" });
  copy.onclick = async () => {
    await navigator.clipboard?.writeText(text);
    copy.textContent = "✓";
    setTimeout(() => { copy.textContent = "Copy"; }, DONE_MS);
  };
  return {
    element: element("div", { class: "code" }, pre, copy),
    /** @param {Data} data */
    update(data) {
      text = data.code;
      code.replaceChildren(...data.tokens.map(([part, kind]) => (kind ? element("span", { class: kind, text: part }) : part)));
      fit();
    },
    destroy: () => fit(true),
  };
}

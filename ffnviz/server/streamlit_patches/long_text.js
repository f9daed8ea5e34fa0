// Changes: after a reload, the sentence box has the whole of a long text again.
// Why: a link has room for the first part only. The rest is put back as if typed, past React, which
// offers no other way in.
// Gains: the rest of the sentence.
// For: Streamlit 1.64 to 1.67.

const KEPT = "ffnviz-long-text";
const inLink = () => new URLSearchParams(location.search).get("text") ?? "";
/** @type {() => HTMLInputElement | null} */
const box = () => document.querySelector(".st-key-text input");
const isRest = (text) => text && text.length > inLink().length && text.startsWith(inLink());

addEventListener("pagehide", () => {
  const text = box()?.value ?? "";
  if (isRest(text)) sessionStorage.setItem(KEPT, text);
  else sessionStorage.removeItem(KEPT);
});

const kept = sessionStorage.getItem(KEPT);
const [loaded] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
if (isRest(kept) && loaded?.type === "reload") {
  const watch = new MutationObserver(() => {
    const input = box();
    if (input?.value !== inLink()) return;
    watch.disconnect();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, kept); // past React, which then hears of it as of any typing
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  watch.observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["value"] });
}

// Runs before Streamlit's own code, on every page that `ffnviz app` serves.

// Pages stand side by side in one folder, and so does the server. Unless told, Streamlit's code first looks
// for it below the page, in vain.
window.__streamlit = { ...window.__streamlit, BACKEND_BASE_URL: new URL("./", location.href).href };

// Streamlit adds a step of history for each URL a page writes, so for the very first one too: a
// visitor who came by the bare address would need two Backs to leave. The first takes its place.
const push = history.pushState;
history.pushState = function (state, unused, url) {
  const next = new URL(url ?? location.href, location.href);
  const first = location.search === "" && next.search !== "" && next.pathname === location.pathname;
  return (first ? history.replaceState : push).call(history, state, unused, url);
};

// A link has room for the first part of a long text only. Loading the page again puts the whole of it
// back into the box, as if typed.
const KEPT = "ffnviz-long-text";
const inLink = () => new URLSearchParams(location.search).get("text") ?? "";
const box = () => document.querySelector(".st-key-text input");
const isRest = (text) => text && text.length > inLink().length && text.startsWith(inLink());

addEventListener("pagehide", () => {
  const text = box()?.value;
  if (isRest(text)) sessionStorage.setItem(KEPT, text);
  else sessionStorage.removeItem(KEPT);
});

const kept = sessionStorage.getItem(KEPT);
if (isRest(kept) && performance.getEntriesByType("navigation")[0]?.type === "reload") {
  const watch = new MutationObserver(() => {
    const input = box();
    if (input?.value !== inLink()) return;
    watch.disconnect();
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
    set.call(input, kept); // past React, which then hears of it as of any typing
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  watch.observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["value"] });
}

// On paper a page stands as on the screen, only smaller: pictures are not drawn anew for it.
const [PAPER, SHEET] = [1047, 718]; // pixels of CSS across A4, lying, within its margins, and down
const TELEPHONE = 700; // a page this narrow goes over several sheets
addEventListener("beforeprint", () => {
  document.documentElement.style.setProperty("--screen-width", `${innerWidth}px`);
  const height = innerWidth > TELEPHONE ? document.querySelector('[data-testid="stMain"]')?.scrollHeight ?? 0 : 0;
  const share = Math.min(1, PAPER / innerWidth, SHEET / height);
  document.documentElement.style.setProperty("--paper-share", String(share));
});

// On a phone the pages stand in a drawer, which a choice closes: Streamlit leaves it open.
addEventListener("click", ({ target }) => {
  if (!matchMedia("(max-width: 768px)").matches || !target.closest?.('[data-testid="stSidebarNavLink"]')) return;
  setTimeout(() => document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click());
});

// About one load in 1,500 stays white: Streamlit's code reads "deltaPath" of a message that has none,
// and shows nothing from then on. Loading again helps; never twice in a row, should it not.
const WHITE = /deltaPath/;
const AGAIN_AFTER_MS = 20_000;

function loadAgain(message) {
  if (!WHITE.test(message)) return;
  const last = Number(sessionStorage.getItem("ffnviz-loaded-again") ?? 0);
  if (Date.now() - last < AGAIN_AFTER_MS) return;
  sessionStorage.setItem("ffnviz-loaded-again", String(Date.now()));
  location.reload();
}
addEventListener("error", (event) => loadAgain(String(event.message)));
addEventListener("unhandledrejection", (event) => loadAgain(String(event.reason)));

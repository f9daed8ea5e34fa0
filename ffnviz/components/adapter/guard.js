// Runs before Streamlit's own code, on every page that `ffnviz app` serves.

// Streamlit adds a step of history for each URL a page writes, so for the very first one too: a
// visitor who came by the bare address would need two Backs to leave. The first takes its place.
const push = history.pushState;
history.pushState = function (state, unused, url) {
  const next = new URL(url ?? location.href, location.href);
  const first = location.search === "" && next.search !== "" && next.pathname === location.pathname;
  return (first ? history.replaceState : push).call(history, state, unused, url);
};

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

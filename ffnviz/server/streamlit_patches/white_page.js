// Changes: a page that stays white is loaded again; never twice in a row, should it not help.
// Why: about one load in 1,500 stays white: Streamlit's code reads "deltaPath" of a message that has none,
// and shows nothing from then on. Its tracker has no report with these words (November 2026);
// streamlit/streamlit#9259 tells of pages that stay blank now and then.
// Gains: one visit in 1,500.
// For: Streamlit 1.64 to 1.67.

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

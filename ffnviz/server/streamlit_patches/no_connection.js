// Changes: a page without a network says so in a line; it was a dialog that asked for a terminal.
// Why: "Is Streamlit still running? Just restart it in your terminal" is said to a student in a lecture hall,
// whose page comes back by itself. No setting changes these words (streamlit/streamlit#9767).
// Gains: the words, and the page below the dialog; a run is not touched.
// For: Streamlit 1.64 to 1.67.

const EVERY_MS = 500;
const SAID = "No connection. The page comes back by itself.";
let connected = false, line = null;

function look() {
  const { documentElement: html } = document;
  const away = document.querySelector("[data-testid=stConnectionStatus]") !== null;
  if (!away && document.querySelector("[data-testid=stMain]")) connected = true;
  const lost = away && connected; // what has not come yet was not lost
  if (html.hasAttribute("data-lost") === lost) return lost && dismiss();
  html.toggleAttribute("data-lost", lost);
  if (lost && !line) {
    line = document.createElement("div");
    line.id = "ffnviz-lost";
    line.setAttribute("role", "status");
    document.body.append(line);
  }
  if (line) line.textContent = lost ? SAID : "";
}

// It lies over the page, whose keys it would take; once it was closed it does not come again.
function dismiss() {
  for (const dialog of document.querySelectorAll("[role=dialog]")) {
    /** @type {HTMLButtonElement | null} */
    const close = dialog.querySelector("button[aria-label=Close]");
    if (dialog.textContent.includes("Connection error")) close?.click();
  }
}
setInterval(look, EVERY_MS);

// Changes: on paper a page stands as on the screen, only smaller: pictures are not drawn anew for it.
// Why: how much smaller only the height of Streamlit's main part says.
// Gains: a page of the screen on one sheet.
// For: Streamlit 1.64 to 1.67.

const [PAPER, SHEET] = [1047, 718]; // pixels of CSS across A4, lying, within its margins, and down
const TELEPHONE = 700; // a page this narrow goes over several sheets
addEventListener("beforeprint", () => {
  document.documentElement.style.setProperty("--screen-width", `${innerWidth}px`);
  const height = innerWidth > TELEPHONE ? document.querySelector('[data-testid="stMain"]')?.scrollHeight ?? 0 : 0;
  const share = Math.min(1, PAPER / innerWidth, SHEET / height);
  document.documentElement.style.setProperty("--paper-share", String(share));
});

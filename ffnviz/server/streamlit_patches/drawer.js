// Changes: on a phone the pages stand in a drawer, which a choice closes.
// Why: Streamlit leaves it open, over the page that was chosen.
// Gains: one touch a page.
// For: Streamlit 1.64 to 1.67.

/** @type {() => HTMLElement | null} */
const button = () => document.querySelector('[data-testid="stSidebarCollapseButton"] button');
addEventListener("click", ({ target }) => {
  if (!matchMedia("(max-width: 768px)").matches || !(target instanceof Element && target.closest('[data-testid="stSidebarNavLink"]'))) return;
  setTimeout(() => button()?.click());
});

// Changes: the very first URL that a page writes takes the place of the bare address.
// Why: Streamlit adds a step of history for each URL a page writes, also for the first: a visitor who
// came by the bare address would need two Backs to leave. Streamlit leaves out only what changes nothing
// (streamlit/streamlit#16831), and means to keep the other steps.
// Gains: one Back.
// For: Streamlit 1.64 to 1.67.

const push = history.pushState;
history.pushState = function (state, unused, url) {
  const next = new URL(url ?? location.href, location.href);
  const first = location.search === "" && next.search !== "" && next.pathname === location.pathname;
  return (first ? history.replaceState : push).call(history, state, unused, url);
};

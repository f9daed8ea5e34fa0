// Changes: Streamlit's code is told where its server is.
// Why: pages stand side by side in one folder, and so does the server. Unless told, it first looks
// below the page, in vain (streamlit/streamlit#11537 says so; #11378 brought the variable).
// Gains: one request in vain less for each visit of a page by its name.
// For: Streamlit 1.64 to 1.67.

window.__streamlit = { ...window.__streamlit, BACKEND_BASE_URL: new URL("./", location.href).href };

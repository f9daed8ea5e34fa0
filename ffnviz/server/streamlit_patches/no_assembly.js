// Changes: Streamlit's code finds no WebAssembly.
// Why: its library for 64-bit integers tries to compile some, which our policy forbids, and goes on without;
// but Firefox writes an error into the console of each page.
// Gains: a console without an error, under a policy as strict as before.
// For: Streamlit 1.64 to 1.67.

delete /** @type {{ WebAssembly?: object }} */ (globalThis).WebAssembly;

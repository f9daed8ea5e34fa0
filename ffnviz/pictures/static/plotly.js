// plotly.js itself, fetched once a page, and only where a chart is shown.

let address = null;
let from = null;
let loading = null;

// Where plotly.min.js lies, if not beside this file.
export function plotlyAt(href) {
  address = href;
}

// What makes it instead, where no file can be loaded.
export function plotlyFrom(maker) {
  from = maker;
}

export function plotly() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  loading ??= from?.() ?? new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address ?? new URL("plotly.min.js", import.meta.url).href;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      loading = null; // the next figure tries again
      script.remove();
      reject(new Error("plotly.min.js could not be loaded."));
    };
    document.head.append(script);
  });
  return loading;
}

// plotly.js itself, fetched once a page, and only where a chart is shown.

let address = new URL("plotly.min.js", import.meta.url).href;
let loading = null;

// Where plotly.min.js lies, if not beside this file.
export function plotlyAt(href) {
  address = href;
}

export function plotly() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
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

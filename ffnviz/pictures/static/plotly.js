// plotly.js itself, fetched once a page, and only where a chart is shown.

/** @type {string[] | null} */
let addresses = null;
/** @type {(() => Promise<any>) | null} */
let from = null;
/** @type {Promise<any> | null} */
let loading = null;

// Where plotly.min.js may lie, if not beside this file; the first that answers is taken.
export function plotlyAt(...hrefs) {
  addresses = hrefs;
}

// What makes it instead, where no file can be loaded.
export function plotlyFrom(maker) {
  from = maker;
}

export function plotly() {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  loading ??= from?.() ?? load(addresses ?? [new URL("plotly.min.js", import.meta.url).href]);
  return loading;
}

/** @param {string[]} hrefs */
function load(hrefs) {
  const [address, ...others] = hrefs;
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      script.remove();
      if (others.length) return resolve(load(others));
      loading = null; // the next figure tries again
      reject(new Error("plotly.min.js could not be loaded."));
    };
    document.head.append(script);
  });
}

// Hangs a picture into Streamlit, and passes on what a person did with it.
//
// Streamlit calls this function with every change of the data or the theme, and what it returns
// when the component has left the page, but also when a newer call has overtaken this one.

import { plotlyAt } from "../ffnviz.pictures/loading.js";
import { mount } from "../ffnviz.pictures/shell.js";
import { setDark } from "../ffnviz.pictures/theme.js";

const at = (path) => new URL(path, import.meta.url).href;
const told = globalThis.ffnvizPlotly; // by the page's first script
plotlyAt(...(told ? [told] : [at("../ffnviz.plotly/plotly.min.js"), at("../../../plotly.min.js")]));

const hung = new WeakMap(); // by the shadow root that Streamlit gives a component

// Streamlit's theme is known from its colours only. Reading them makes the browser settle all
// styles, so it is done when a picture is hung, and when Streamlit calls without new data.
export function readTheme(host) {
  const colour = getComputedStyle(host).getPropertyValue("--st-background-color").trim();
  const hex = /^#([0-9a-f]{6})/i.exec(colour)?.[1].match(/../g)?.map((two) => parseInt(two, 16));
  const [r, g, b] = hex ?? colour.match(/[\d.]+/g)?.map(Number) ?? [];
  if (b !== undefined) setDark(0.299 * r + 0.587 * g + 0.114 * b < 128);
}

// The name of the picture that the data is for; packed data begins with it.
function nameOf(data) {
  if (Array.isArray(data)) return data[0].picture;
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length))).picture;
}

export function picture({ data, parentElement, setTriggerValue }) {
  const { host } = parentElement;
  let mounted = hung.get(parentElement);
  if (!mounted) {
    const name = nameOf(data);
    host.style.setProperty("--font", "var(--st-font)");
    mounted = { name };
    mounted.picture = mount(parentElement, name, (event, value) => mounted.tell(event, value));
    hung.set(parentElement, mounted);
  }
  mounted.tell = setTriggerValue;
  if (mounted.data === undefined || mounted.data === data) readTheme(host);
  if (mounted.data !== data) {
    mounted.data = data;
    mounted.picture.update(Array.isArray(data) ? data[0] : data);
  }
  return () => {
    if (host.isConnected) return; // overtaken: the newer call goes on with the picture
    hung.delete(parentElement);
    mounted.picture.destroy();
  };
}

// The page's own sheet as a notebook's widget: what is done goes to the kernel, which sends what
// follows.

import { element } from "./element.js";
import { plotlyFrom, read, readFrom, unpack } from "./loading.js";
import { mount } from "./sheet.js";
import { setDark } from "./theme.js";

const asked = new Map(); // a file's name → what takes its text

// What the pictures read beyond what came with them lies beside the kernel.
function ask(model, name) {
  return new Promise((resolve) => {
    asked.set(name, [...(asked.get(name) ?? []), resolve]);
    model.send({ file: name });
  });
}

function heard({ file }, [bytes]) {
  const text = new TextDecoder().decode(bytes);
  for (const take of asked.get(file) ?? []) take(text);
  asked.delete(file);
}

async function makePlotly() {
  const address = URL.createObjectURL(
    new Blob([await read("plotly.min.js")], { type: "text/javascript" }),
  );
  const script = element("script", { src: address });
  const loaded = new Promise((resolve, reject) =>
    Object.assign(script, { onload: resolve, onerror: reject })
  );
  document.head.append(script);
  await loaded;
  URL.revokeObjectURL(address);
  return window.Plotly;
}

// A notebook is dark where its text is light; no two name their themes alike. A cell may be drawn
// before it is on the page.
function readTheme(host) {
  const [r, g, b] =
    getComputedStyle(host.isConnected ? host : document.body).color.match(/[\d.]+/g)?.map(Number) ??
      [];
  setDark(0.299 * r + 0.587 * g + 0.114 * b > 128);
}

export const view = {
  initialize({ model }) {
    readFrom((name) => ask(model, name));
    plotlyFrom(makePlotly);
    model.on("msg:custom", heard);
    return () => model.off("msg:custom", heard);
  },
  render({ model, el }) {
    const host = element("div", { class: "ffnviz-view" });
    el.append(host);
    const sheet = mount(host, (event) => model.send({ event }));
    const themed = () => readTheme(host);
    const watch = new MutationObserver(themed);
    for (const each of [document.documentElement, document.body]) {
      watch.observe(each, { attributes: true });
    }
    const bytes = (value) =>
      new Uint8Array(value.buffer ?? value, value.byteOffset ?? 0, value.byteLength);
    const update = () => sheet.update(unpack(bytes(model.get("_sheet"))));
    model.on("change:_sheet", update);
    themed();
    requestAnimationFrame(themed);
    update();
    return () => {
      watch.disconnect();
      model.off("change:_sheet", update);
      sheet.destroy();
      host.remove();
    };
  },
};

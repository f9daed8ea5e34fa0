// Hangs a part's sheet into Streamlit. Its cells stand in the page itself, each with a shadow root of its own.

import { readTheme } from "../ffnviz.picture/adapter.js";
import { unpack } from "../ffnviz.pictures/payload.js";
import { mount } from "../ffnviz.pictures/sheet.js";

const hung = new WeakMap(); // by the element that Streamlit gives the component

export default function ({ data, parentElement, setTriggerValue }) {
  let there = hung.get(parentElement);
  if (!there) {
    there = {};
    parentElement.style.setProperty("--font", "var(--st-font)");
    there.sheet = mount(parentElement, (value) => there.tell("event", value));
    hung.set(parentElement, there);
  }
  there.tell = setTriggerValue;
  if (there.data === undefined || there.data === data) readTheme(parentElement);
  if (there.data !== data) {
    there.data = data;
    there.sheet.update(unpack(data));
  }
  return () => {
    if (parentElement.isConnected) return; // overtaken: the newer call goes on with the sheet
    hung.delete(parentElement);
    there.sheet.destroy();
  };
}

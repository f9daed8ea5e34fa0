"""The least a Streamlit page can be that shows a typed text: one text box and one canvas."""

import zlib

import numpy as np
import streamlit as st

SHAPE = (24, 2_048)
PAINT = """
export default function ({ data, parentElement }) {
  const bytes = new Uint8Array(data.buffer, data.byteOffset + 4, data.byteLength - 4);
  let canvas = parentElement.querySelector("canvas");
  if (!canvas) {
    canvas = document.createElement("canvas");
    canvas.width = 2048; canvas.height = 24;
    canvas.style.width = "100%"; canvas.style.height = "300px";
    parentElement.append(canvas);
  }
  const image = new ImageData(2048, 24);
  for (let i = 0; i < bytes.length; i++) image.data.set([bytes[i], 0, 0, 255], i * 4);
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.dataset.painted = new DataView(data.buffer, data.byteOffset).getUint32(0);
}
"""

canvas = st.components.v2.component("floor_canvas", js=PAINT)
text = st.text_input("Text", key="text")
seed = zlib.crc32(text.encode())
values = np.random.default_rng(seed).integers(0, 256, SHAPE, dtype=np.uint8)
canvas(data=seed.to_bytes(4, "big") + values.tobytes(), key="canvas")

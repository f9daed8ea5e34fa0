// A small picture of what the page shows: its lit picture, or else its largest.

import { contextOf } from "./canvas.js";

const SIZE = { width: 192, height: 108 };
const LONGEST = 12_000; // characters of its address: a lecture of many scenes is kept by the browser
const QUALITIES = [0.75, 0.5, 0.3];
const PATIENCE_MS = 3_000;
/** @type {Map<HTMLElement, () => Promise<string>>} */
const hosts = new Map(); // of the pictures that can be saved → what gives a file's text

/**
 * @param {HTMLElement} host
 * @param {() => Promise<string>} svg
 */
export const savedBy = (host, svg) => hosts.set(host, svg);
/** @param {HTMLElement} host */
export const savedNoMore = (host) => hosts.delete(host);

function chosen() {
  /** @param {HTMLElement} host */
  const area = (host) => { const { width, height } = host.getBoundingClientRect(); return width * height; };
  const shown = [...hosts.keys()].filter((host) => host.isConnected).sort((a, b) => area(b) - area(a));
  return shown.find((host) => host.hasAttribute("data-lit")) ?? shown[0];
}

/** @param {() => Promise<string>} svg */
async function drawn(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await svg())}`;
  await image.decode();
  const share = Math.min(SIZE.width / image.width, SIZE.height / image.height);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(image.width * share), Math.round(image.height * share)];
  const pen = contextOf(canvas);
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  const addresses = QUALITIES.map((quality) => canvas.toDataURL("image/jpeg", quality));
  return addresses.find(({ length }) => length <= LONGEST) ?? "";
}

// An address that holds the picture itself; empty if there is none, or if it takes too long.
export async function thumbnail() {
  const host = chosen(), svg = host && hosts.get(host);
  if (!svg) return "";
  const late = new Promise((done) => { setTimeout(() => done(""), PATIENCE_MS); });
  return await Promise.race([drawn(svg), late]).catch(() => "");
}

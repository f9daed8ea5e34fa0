// A picture on the page as an SVG that stands alone: its title, what it shows, and everything in it
// where it is on the screen. Text stays text, so that it can be found, copied and edited. And the
// page's main picture as a thumbnail.

import { contextOf } from "./canvas.js";
import { allowed } from "./saving.js";

const SVG = "http://www.w3.org/2000/svg";
const EDGE = 24;
const TITLE = { size: 20, line: 26 };
const SMALL = { size: 15, line: 21 };
const SKIPPED = ".head, .under, .tip, .told, .cursor, .action, [hidden]";

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign]);
function tag(name, attributes, inside = "") {
  const written = Object.entries(attributes).map(([key, value]) =>
    `${key}="${escaped(String(value))}"`
  );
  return `<${name} ${written.join(" ")}>${inside}</${name}>`;
}
const round = (value) => Math.round(value * 100) / 100;

const ruler = contextOf(document.createElement("canvas"));

// A text in lines that are no wider than so many pixels.
function inLines(text, width, font) {
  ruler.font = font;
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (lines.at(-1) && ruler.measureText(longer).width > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

// Title and what it shows, and how high they stand.
export function heading(title, width, family, theme) {
  const parts = [];
  let top = EDGE / 2;
  const lines = [
    [title, TITLE, theme.text, 500], ...about().map((text) => [text, SMALL, theme.muted, 400]),
  ];
  for (const [text, { size, line }, colour, weight] of lines) {
    for (const words of inLines(text, width - 2 * EDGE, `${weight} ${size}px ${family}`)) {
      top += line;
      parts.push(
        tag("text", {
          x: EDGE, y: top - 6, fill: colour, "font-family": family, "font-size": size,
          "font-weight": weight,
        }, escaped(words)),
      );
    }
  }
  return { height: top + 10, svg: parts.join("") };
}

// A whole file: the fonts, the background, what is in it.
export async function asFile(inside, width, height, family, theme) {
  const fonts = await fontRules(family, inside.includes("italic"));
  const spaces = `xmlns="${SVG}" xmlns:xlink="http://www.w3.org/1999/xlink"`;
  const size = `width="${width}" height="${height}"`;
  const style = fonts ? `<defs><style>${fonts}</style></defs>` : "";
  const ground = `<rect ${size} fill="${theme.background}"/>`;
  const drawn = `${style}${ground}${inside}`;
  return allowed(`<svg ${spaces} ${size} viewBox="0 0 ${width} ${height}">${drawn}</svg>`);
}

const seen = (colour) => colour !== "transparent" && !/^rgba\(.*, 0\)$|\/ 0\)$/.test(colour);

// A gradient from left to right, its colours evenly spaced, as our colour scales have.
function gradient(image, id) {
  const colours = image.match(/rgba?\([^)]*\)/g) ?? [];
  const stops = colours.map((colour, i) =>
    tag("stop", { offset: i / Math.max(1, colours.length - 1), "stop-color": colour })
  );
  return tag("linearGradient", { id }, stops.join(""));
}

// Background and borders of an element.
function box(node, { left, top, width, height }) {
  const style = getComputedStyle(node), parts = [];
  const scale = style.backgroundImage.startsWith("linear-gradient(to right");
  const id = `scale-${left}-${top}`;
  if (scale) parts.push(gradient(style.backgroundImage, id));
  if (scale || seen(style.backgroundColor)) {
    const fill = scale ? `url(#${id})` : style.backgroundColor;
    parts.push(
      tag("rect", {
        x: left, y: top, width, height, rx: parseFloat(style.borderTopLeftRadius) || 0, fill,
      }),
    );
  }
  const sides = ["Top", "Right", "Bottom", "Left"].map((side) => [
    parseFloat(style[`border${side}Width`]), style[`border${side}Color`],
    style[`border${side}Style`],
  ]);
  const there = sides.map(([size, colour, kind]) => size > 0 && kind !== "none" && seen(colour));
  if (there.every(Boolean)) {
    const [size, stroke] = sides[0];
    parts.push(
      tag("rect", {
        x: left + size / 2, y: top + size / 2, width: Math.max(0, width - size),
        height: Math.max(0, height - size), fill: "none", stroke, "stroke-width": size,
      }),
    );
  } else if (there[3]) {
    const [size, stroke, kind] = sides[3];
    parts.push(
      tag("line", {
        x1: left, x2: left, y1: top, y2: top + height, stroke, "stroke-width": size,
        ...(kind === "solid" ? {} : { "stroke-dasharray": "3 3" }),
      }),
    );
  }
  return parts.join("");
}

// Each line of a text node as one piece, as wide as it is on the screen whatever font draws it.
function texts(node, at) {
  const parent = node.parentElement, style = getComputedStyle(parent), lines = [];
  const range = document.createRange();
  for (const { index, 0: word } of node.data.matchAll(/\S+\s*/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.trimEnd().length);
    const [rect] = range.getClientRects();
    if (!rect || rect.width < 0.5) continue;
    const last = lines.at(-1);
    if (last && Math.abs(last.rect.top - rect.top) < 2) {
      Object.assign(last, { text: last.text + word, right: rect.right });
    } else lines.push({ text: word, rect, right: rect.right });
  }
  ruler.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: ascent } = ruler.measureText("x");
  return lines.map(({ text, rect, right }) =>
    tag("text", {
      x: round(rect.left - at.left), y: round(rect.top - at.top + ascent), fill: style.color,
      "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight,
      ...(style.fontStyle === "normal" ? {} : { "font-style": style.fontStyle }),
      ...(style.opacity === "1" ? {} : { opacity: style.opacity }),
      textLength: round(right - rect.left), lengthAdjust: "spacingAndGlyphs",
    }, escaped(text.trimEnd()))
  ).join("");
}

function drawing(node, place) {
  const copy = node.cloneNode(true);
  [...node.querySelectorAll("*")].forEach((part, i) => {
    copy.querySelectorAll("*")[i].setAttribute("opacity", getComputedStyle(part).opacity);
  });
  for (const [name, value] of Object.entries(place)) {
    copy.setAttribute({ left: "x", top: "y" }[name] ?? name, value);
  }
  return new XMLSerializer().serializeToString(copy);
}

const crosses = (a, b) =>
  a.right > b.left + 1 && a.left < b.right - 1 && a.bottom > b.top + 1 && a.top < b.bottom - 1;

function* drawn(node, at, clip) {
  if (node.nodeType === Node.TEXT_NODE) {
    yield texts(node, at);
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(SKIPPED) || !node.checkVisibility()) {
    return;
  }
  const bounds = node.getBoundingClientRect();
  const place = {
    left: round(bounds.left - at.left), top: round(bounds.top - at.top), width: round(bounds.width),
    height: round(bounds.height),
  };
  if (bounds.width && bounds.height && !crosses(bounds, clip)) return; // scrolled out of a list
  if (node instanceof SVGElement) { yield drawing(node, place); return; }
  if (node instanceof HTMLCanvasElement) {
    yield tag("image", {
      x: place.left, y: place.top, width: place.width, height: place.height,
      preserveAspectRatio: "none", style: "image-rendering:pixelated", href: node.toDataURL(),
    });
  }
  yield box(node, place);
  const inner = getComputedStyle(node).overflowY === "visible" ? clip : bounds;
  for (const child of node.childNodes) yield* drawn(child, at, inner);
}

// The element of a picture, as it stands on the page.
export async function elementAsSvg(element, title, theme) {
  const all = element.getBoundingClientRect(), { fontFamily } = getComputedStyle(element);
  const head = element.querySelector(".head")?.getBoundingClientRect();
  const start = head ? head.bottom : all.top;
  const width = Math.ceil(all.width) + 2 * EDGE;
  const { height, svg } = heading(title, width, fontFamily, theme);
  const parts = [...drawn(element, { left: all.left - EDGE, top: start - height }, all)];
  return await asFile(
    svg + parts.join(""), width, Math.ceil(height + all.bottom - start + EDGE), fontFamily, theme,
  );
}

// The page's own font for a saved picture: text is then drawn in the font that it was measured in,
// on machines that do not have it too.

const embedded = new Map(); // data: URLs by address

async function dataUrl(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`a font could not be read (${answer.status})`);
  const blob = await answer.blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

const unquoted = (name) => name.trim().replace(/^["']|["']$/g, "");

// The rules of a family in the page's style sheets; of sheets of other hosts nothing can be read.
function* facesOf(family) {
  for (const sheet of document.styleSheets) {
    /** @type {Iterable<CSSRule>} */
    let rules = [];
    try { rules = sheet.cssRules; } catch { continue; }
    for (const rule of rules) {
      if (
        rule instanceof CSSFontFaceRule &&
        unquoted(rule.style.getPropertyValue("font-family")) === family
      ) {
        yield { rule, base: sheet.href ?? document.baseURI };
      }
    }
  }
}

// A style sheet with the fonts of a list such as '"Source Sans", sans-serif'. A font of the system
// needs none.
async function fontRules(list, italic) {
  const family = unquoted(list.split(",")[0]);
  const made = [...facesOf(family)].map(async ({ rule: { style }, base }) => {
    const of = (name) => style.getPropertyValue(name);
    if (of("font-style") === "italic" && !italic) return "";
    const address = /url\("?([^")]+)"?\)/.exec(of("src"))?.[1];
    if (!address) return "";
    const whole = new URL(address, base).href;
    if (!embedded.has(whole)) embedded.set(whole, dataUrl(whole).catch(() => null));
    const url = await embedded.get(whole);
    const [weight, slant] = [of("font-weight"), of("font-style")];
    const source = `src:url("${url}") format("woff2")`;
    return url &&
      `@font-face{font-family:"${family}";font-weight:${weight};font-style:${slant};${source}}`;
  });
  return (await Promise.all(made)).filter(Boolean).join("");
}

// The sentence and the network that the page shows, to be written below a saved picture's title.
// They are set by the page's bar, or by an offline file.

let tell = () => [];

// Sets the function that returns these lines.
export function aboutFrom(lines) {
  tell = lines;
}

const about = () => tell();

// A small picture of what the page shows: its lit picture, or else its largest.

const SIZE = { width: 192, height: 108 };
// Characters of its address: a lecture of many scenes is kept by the browser.
const LONGEST = 12_000;
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
  const area = (host) => {
    const { width, height } = host.getBoundingClientRect();
    return width * height;
  };
  const shown = [...hosts.keys()].filter((host) => host.isConnected).sort((a, b) =>
    area(b) - area(a)
  );
  return shown.find((host) => host.hasAttribute("data-lit")) ?? shown[0];
}

/** @param {() => Promise<string>} svg */
async function scaled(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await svg())}`;
  await image.decode();
  const share = Math.min(SIZE.width / image.width, SIZE.height / image.height);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [
    Math.round(image.width * share), Math.round(image.height * share),
  ];
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
  return await Promise.race([scaled(svg), late]).catch(() => "");
}

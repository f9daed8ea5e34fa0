// Which picture of the page is lit: the others stand back. A talk shows it alone; while a question
// is open it is veiled, and where none is lit all are. A talk has no buttons beside its pictures.

import { bringPictures } from "./bringing.js";
import { typeSize } from "./type_size.js";

const [LEAST, EDGE, AROUND] = [200, 6, 64];
const TOOLS = 1.45; // of the type's size: the strip at the foot of a talk, as in story.css
const CROWDED = 1.5; // times, as in page.css, that a scene's words are larger than the type of many pictures
const PHONE = matchMedia("(max-width: 700px), (pointer: coarse)"); // it has them beside the title
/** @type {Map<HTMLElement, string>} */
const hosts = new Map(); // of the pictures that have a head → the name of its note
let wanted = { note: "", veiled: false, alone: false };

/** @param {HTMLElement} host */
function mark(host) {
  const { note, veiled, alone } = wanted;
  const lit = note !== "" && hosts.get(host) === note;
  const there = note !== "" && [...hosts.values()].includes(note); // else nothing would be lit
  host.toggleAttribute("data-lit", lit);
  host.toggleAttribute("data-dim", there && !lit);
  host.toggleAttribute("data-veiled", veiled && (lit || !there));
  host.toggleAttribute("data-alone", lit && alone);
  host.toggleAttribute("data-talk", alone);
}

function markAll() {
  for (const host of hosts.keys()) mark(host);
  bringPictures([...hosts.keys()].filter((host) => host.matches("[data-lit]:not([data-veiled], [data-alone])")));
  requestAnimationFrame(makeRoom);
}

/**
 * A picture says what it shows, and when it is gone.
 *
 * @param {HTMLElement} host
 * @param {string} note
 */
export function shows(host, note) {
  if (hosts.get(host) === note) return;
  hosts.set(host, note);
  if (note === wanted.note) unlit(false);
  markAll();
}

/** @param {HTMLElement} host */
export function showsNoMore(host) {
  if (hosts.delete(host)) markAll();
}

// A scene whose picture does not come shows all there are, not nothing.
const COMES_MS = 2_500;
/** @type {number | undefined} */
let late;
/** @param {boolean} is */
function unlit(is) {
  const { documentElement } = document;
  if (documentElement.hasAttribute("data-unlit") === is) return;
  documentElement.toggleAttribute("data-unlit", is);
  dispatchEvent(new Event("resize"));
}
function wait() {
  clearTimeout(late);
  unlit(false);
  const { note, alone } = wanted;
  if (alone && note) late = setTimeout(() => unlit(![...hosts.values()].includes(note) && !document.querySelector("[data-cell^=waiting-], [data-kind=waiting]")), COMES_MS);
}

/**
 * @param {string} note
 * @param {{ veiled?: boolean, alone?: boolean }} how
 */
export function light(note, { veiled = false, alone = false } = {}) {
  if (wanted.note === note && wanted.veiled === veiled && wanted.alone === alone) return;
  wanted = { note, veiled, alone };
  wait();
  markAll();
}

// The pictures on the page, in their order.
export const notes = () => [...new Set([...hosts].filter(([host]) => host.isConnected).map(([, note]) => note))];

// What the buttons of a talk take at its foot, in pixels: they lie on no picture.
export function stripOfTalk() {
  const { documentElement } = document, crowded = documentElement.matches("[data-crowded]:is(:not([data-alone]), [data-unlit])");
  return PHONE.matches ? 0 : TOOLS * typeSize() * (crowded ? CROWDED : 1);
}

/**
 * A picture that stands alone has the rest of the window, an enlarged one what its head leaves: as many pixels of CSS, else null.
 *
 * @param {HTMLElement | undefined} host
 */
export function roomOf(host) {
  const parts = host?.hasAttribute("data-enlarged") ? [.../** @type {NodeListOf<HTMLElement>} */ (/** @type {ShadowRoot} */ (host.shadowRoot).querySelectorAll(".head, .under"))] : null;
  if (parts) return Math.max(LEAST, innerHeight - parts.reduce((sum, part) => sum + part.offsetHeight, AROUND));
  return host?.hasAttribute("data-alone") ? Math.max(LEAST, Math.floor(innerHeight - host.getBoundingClientRect().top - EDGE - stripOfTalk())) : null;
}

// Says so to its style sheet too, once what stands above it has its size.
export function makeRoom() {
  for (const host of hosts.keys()) {
    const room = roomOf(host);
    if (room === null) host.style.removeProperty("--room");
    else host.style.setProperty("--room", `${room}px`);
  }
}

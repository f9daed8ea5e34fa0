// Which picture of the page is lit: the others stand back. A talk shows it alone; while a question
// is open it is veiled, and where none is lit all are. A talk has no buttons beside its pictures.
// A scene brings its lit picture into the window.

import { typeSize } from "./theme.js";

const [LEAST, EDGE, AROUND] = [200, 6, 64];
const TOOLS = 1.45; // of the type's size: the strip at the foot of a talk, as in story.css
// Times, as in page.css, that a scene's words are larger than the type of many pictures.
const CROWDED = 1.5;
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
  bringPictures(
    [...hosts.keys()].filter((host) => host.matches("[data-lit]:not([data-veiled], [data-alone])")),
  );
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
  if (alone && note) {
    late = setTimeout(() =>
      unlit(
        ![...hosts.values()].includes(note) &&
          !document.querySelector("[data-cell^=waiting-], [data-kind=waiting]"),
      ), COMES_MS);
  }
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
export const notes = () =>
  [...new Set([...hosts].filter(([host]) => host.isConnected).map(([, note]) => note))];

// What the buttons of a talk take at its foot, in pixels: they lie on no picture.
export function stripOfTalk() {
  const { documentElement } = document;
  const crowded = documentElement.matches("[data-crowded]:is(:not([data-alone]), [data-unlit])");
  return PHONE.matches ? 0 : TOOLS * typeSize() * (crowded ? CROWDED : 1);
}

/**
 * A picture that stands alone has the rest of the window, an enlarged one what its head leaves: as
 * many pixels of CSS, else null.
 *
 * @param {HTMLElement | undefined} host
 */
export function roomOf(host) {
  const parts = host?.hasAttribute("data-enlarged")
    ? [
      .../** @type {NodeListOf<HTMLElement>} */ (/** @type {ShadowRoot} */ (host.shadowRoot)
        .querySelectorAll(".head, .under")),
    ]
    : null;
  if (parts) {
    return Math.max(
      LEAST, innerHeight - parts.reduce((sum, part) => sum + part.offsetHeight, AROUND),
    );
  }
  return host?.hasAttribute("data-alone")
    ? Math.max(
      LEAST, Math.floor(innerHeight - host.getBoundingClientRect().top - EDGE - stripOfTalk()),
    )
    : null;
}

// Says so to its style sheet too, once what stands above it has its size.
export function makeRoom() {
  for (const host of hosts.keys()) {
    const room = roomOf(host);
    if (room === null) host.style.removeProperty("--room");
    else host.style.setProperty("--room", `${room}px`);
  }
}

// A scene brings its lit picture into the window, while the page comes and until somebody scrolls.

const SETTLES_MS = 5_000; // pictures come and get their sizes one after the other
const FRAME = 10; // the frame around what is lit
const STAYS = ["wheel", "touchmove", "pointerdown"];

let until = 0, words = null, pictures = [];
const scrollerOf = (host) => host.closest("[data-testid=stMain]");
const resized = new ResizeObserver(bring);
const stay = () => { until = 0; };

// The room between a scene's words, which stay at the top while the page is scrolled, and the foot:
// its ends, in the window. On a telephone the words are scrolled, too.
function endsOfRoom(scroller) {
  const story = words.closest("[data-cell=story]") ?? words;
  const { height } = words.getBoundingClientRect();
  const header = parseFloat(getComputedStyle(scroller.firstElementChild).paddingTop);
  const sticks = getComputedStyle(story).position === "sticky";
  const foot = scroller.querySelector(".sheet > .below"), style = foot && getComputedStyle(foot);
  const covered = style?.position === "sticky" ? foot.offsetHeight + parseFloat(style.bottom) : 0;
  return { sticks, header, top: sticks ? header + height : header, bottom: innerHeight - covered };
}

/**
 * How high a lit picture can be to be seen whole, as pixels of CSS: with the controls above it, and
 * without; none where no scene is.
 *
 * @param {Element} rows
 * @returns {number[]}
 */
export function roomsOfScene(rows) {
  const scroller = words?.isConnected && rows.closest("[data-testid=stMain]");
  if (!scroller) return [];
  const { top, bottom } = endsOfRoom(scroller), all = bottom - top - 2 * FRAME;
  const from = rows.getBoundingClientRect().top;
  const controls = rows.parentElement?.querySelector(":scope > .side")?.getBoundingClientRect();
  return controls?.height && controls.bottom <= from ? [all - (from - controls.top), all] : [all];
}

function bring() {
  const scroller = words?.isConnected && scrollerOf(words);
  if (!scroller || performance.now() > until || pictures.length === 0) return;
  const boxes = pictures.map((host) => host.getBoundingClientRect());
  const top = Math.min(...boxes.map((box) => box.top)) - FRAME;
  const bottom = Math.max(...boxes.map((box) => box.bottom)) + FRAME;
  const room = endsOfRoom(scroller);
  scroller.scrollTop += Math.min(
    bottom - room.bottom,
    room.sticks ? top - room.top : words.getBoundingClientRect().top - room.header,
  );
}

/**
 * A scene begins, or its answer is shown: from now on its pictures are brought.
 *
 * @param host of the scene's words
 */
export function beginBringing(host) {
  const scroller = scrollerOf(host);
  if (!scroller) return; // a file shows one scene after the other
  [words, until] = [host, performance.now() + SETTLES_MS];
  scroller.scrollTop = 0;
  for (const kind of STAYS) addEventListener(kind, stay, { capture: true, passive: true });
  bringPictures(pictures);
}

/** @param hosts of the pictures that are lit, anew with every one that comes or goes */
function bringPictures(hosts) {
  resized.disconnect();
  pictures = hosts;
  if (words && performance.now() < until) {
    for (const host of [words, ...hosts]) resized.observe(host);
  }
}

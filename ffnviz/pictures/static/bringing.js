// A scene brings its lit picture into the window, while the page comes and until somebody scrolls.

const SETTLES_MS = 5_000; // pictures come and get their sizes one after the other
const EDGE = 10; // the frame around what is lit
const STAYS = ["wheel", "touchmove", "pointerdown"];

let until = 0, words = null, pictures = [];
const scrollerOf = (host) => host.closest("[data-testid=stMain]");
const resized = new ResizeObserver(bring);
const stay = () => { until = 0; };

// The room between a scene's words, which stay at the top while the page is scrolled, and the foot: its ends, in the
// window. On a telephone the words are scrolled, too.
function endsOfRoom(scroller) {
  const story = words.closest("[data-cell=story]") ?? words, { height } = words.getBoundingClientRect();
  const header = parseFloat(getComputedStyle(scroller.firstElementChild).paddingTop);
  const sticks = getComputedStyle(story).position === "sticky";
  const foot = scroller.querySelector(".sheet > .below"), style = foot && getComputedStyle(foot);
  const covered = style?.position === "sticky" ? foot.offsetHeight + parseFloat(style.bottom) : 0;
  return { sticks, header, top: sticks ? header + height : header, bottom: innerHeight - covered };
}

/**
 * How high a lit picture can be to be seen whole, as pixels of CSS: with the controls above it, and without; none where
 * no scene is.
 *
 * @param {Element} rows
 * @returns {number[]}
 */
export function roomsOfScene(rows) {
  const scroller = words?.isConnected && rows.closest("[data-testid=stMain]");
  if (!scroller) return [];
  const { top, bottom } = endsOfRoom(scroller), all = bottom - top - 2 * EDGE;
  const from = rows.getBoundingClientRect().top, controls = rows.parentElement?.querySelector(":scope > .side")?.getBoundingClientRect();
  return controls?.height && controls.bottom <= from ? [all - (from - controls.top), all] : [all];
}

function bring() {
  const scroller = words?.isConnected && scrollerOf(words);
  if (!scroller || performance.now() > until || pictures.length === 0) return;
  const boxes = pictures.map((host) => host.getBoundingClientRect());
  const top = Math.min(...boxes.map((box) => box.top)) - EDGE, bottom = Math.max(...boxes.map((box) => box.bottom)) + EDGE;
  const room = endsOfRoom(scroller);
  scroller.scrollTop += Math.min(bottom - room.bottom, room.sticks ? top - room.top : words.getBoundingClientRect().top - room.header);
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
export function bringPictures(hosts) {
  resized.disconnect();
  pictures = hosts;
  if (words && performance.now() < until) for (const host of [words, ...hosts]) resized.observe(host);
}

// A scene brings its lit picture into the window, while the page comes and until somebody scrolls.

const SETTLES_MS = 5_000; // pictures come and get their sizes one after the other
const EDGE = 12; // the frame around what is lit
const STAYS = ["wheel", "touchmove", "pointerdown"];

let until = 0, words = null, pictures = [];
const scrollerOf = (host) => host.closest("[data-testid=stMain]");
const resized = new ResizeObserver(bring);
const stay = () => { until = 0; };

function bring() {
  const scroller = words?.isConnected && scrollerOf(words);
  if (!scroller || performance.now() > until || pictures.length === 0) return;
  const boxes = pictures.map((host) => host.getBoundingClientRect());
  const top = Math.min(...boxes.map((box) => box.top)) - EDGE, bottom = Math.max(...boxes.map((box) => box.bottom)) + EDGE;
  const above = words.getBoundingClientRect(), header = parseFloat(getComputedStyle(scroller.firstElementChild).paddingTop);
  // The words stay at the top while the page is scrolled; on a telephone they are scrolled, too.
  const sticks = getComputedStyle(words.closest("[data-cell=story]") ?? words).position === "sticky";
  scroller.scrollTop += Math.min(bottom - innerHeight, sticks ? top - header - above.height : above.top - header);
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

// A sheet fills the window: its rows share the height that is left, and some pictures take what their row gets.
//
// Such a picture has a height of its own; here it is given so many pixels more or fewer, and says
// how many of them it took: not all where it would get too low to be read, or needlessly high.

const GROWING = new Set(["chart", "activation_map", "ffn_picture", "block_picture"]);
const MOST = 1.2; // of a picture's own height, that it may grow by
const EDGE = 20; // pixels between the last row and the foot
const PHONE = 700; // of the window's width: it scrolls anyway

const number = (text) => Number.parseFloat(text) || 0;
const grown = (host) => number(host.dataset.grown);
const growing = (column) => [...column.children].filter((host) => GROWING.has(host.dataset.kind));

// How many pixels the picture with that element is given.
export const given = (element) => number(element.getRootNode().host?.style.getPropertyValue("--grow"));

// How many of them it took.
export function took(element, pixels) {
  const { host } = element.getRootNode();
  if (!host || host.dataset.grown === String(Math.round(pixels))) return;
  host.dataset.grown = Math.round(pixels);
  dispatchEvent(new Event("took"));
}

// A cell's height without what its picture took, whatever room the cell has.
function ownCell(host) {
  const hung = host.shadowRoot?.querySelector(".hung");
  if (!hung) return host.offsetHeight;
  const { paddingTop, paddingBottom, borderTopWidth, borderBottomWidth } = getComputedStyle(host);
  const around = [paddingTop, paddingBottom, borderTopWidth, borderBottomWidth].reduce((sum, each) => sum + number(each), 0);
  return hung.offsetHeight + around - grown(host);
}

function ownColumn(column) {
  const gap = number(getComputedStyle(column).rowGap) * Math.max(0, column.children.length - 1);
  return [...column.children].reduce((sum, host) => sum + ownCell(host), gap);
}

// What is left of the window below the rows' top and above the foot.
function heightLeft(rows, below) {
  const scroller = rows.closest("[data-testid=stMain]");
  if (!scroller) return null;
  const top = rows.getBoundingClientRect().top + scroller.scrollTop - scroller.getBoundingClientRect().top;
  return scroller.clientHeight - top - below.offsetHeight - EDGE;
}

// Shares what is left (or missing) among lines, in proportion to their heights; none gets lower than
// its columns that cannot.
function shareOut(lines, left) {
  let flexible = lines.filter(({ grows }) => grows);
  for (const line of lines) line.target = line.own;
  while (flexible.length) {
    const all = flexible.reduce((sum, { own }) => sum + own, 0);
    const stuck = flexible.filter(({ own, least }) => own + left * own / all < least);
    if (!stuck.length) {
      for (const line of flexible) line.target = line.own + left * line.own / all;
      return;
    }
    for (const line of stuck) {
      left += line.own - line.least;
      line.target = line.least;
    }
    flexible = flexible.filter((line) => !stuck.includes(line));
  }
}

// What each picture is given, with its host.
function grants(rows, below) {
  const lines = [...rows.children].map((line) => {
    const columns = [...line.children].map((column) => ({ own: ownColumn(column), pictures: growing(column) }));
    const highest = (some) => Math.max(0, ...some.map(({ own }) => own));
    return { columns, own: highest(columns), least: highest(columns.filter(({ pictures }) => !pictures.length)),
      grows: columns.some(({ pictures }) => pictures.length) };
  });
  const gaps = number(getComputedStyle(rows).rowGap) * Math.max(0, lines.length - 1);
  shareOut(lines, heightLeft(rows, below) - gaps - lines.reduce((sum, { own }) => sum + own, 0));
  return lines.flatMap(({ columns, target }) => columns.flatMap(({ own, pictures }) => pictures.map((host) => {
    const most = MOST * ownCell(host);
    return [host, Math.round(Math.min(most, (target - own) / pictures.length))];
  })));
}

// Nothing for any of them.
const own = (rows) => [...rows.querySelectorAll(".column")].flatMap(growing).map((host) => [host, 0]);

// What stands at the left has the same height; where that is too little, its list of parts is shorter.
function fitSide(side, left) {
  const height = `${Math.max(0, left)}px`;
  if (side.style.getPropertyValue("--left") !== height) side.style.setProperty("--left", height);
  for (const host of side.children) host.removeAttribute("data-dense");
  const dense = side.scrollHeight > side.clientHeight + 1;
  for (const host of side.children) host.toggleAttribute("data-dense", dense);
}

/**
 * Keeps the pictures of some rows as high as the window allows.
 *
 * @param rows whose children are lines of columns of cells
 * @param side what stands at their left
 * @param below what stands below them
 */
export function fillWindow(rows, side, below) {
  let asked = 0;
  function fill() {
    asked = 0;
    if (!rows.isConnected || innerWidth <= PHONE || heightLeft(rows, below) === null) return;
    const scene = "scene" in document.documentElement.dataset; // it brings its picture into the window
    if (!scene) fitSide(side, heightLeft(rows, below));
    let changed = false;
    for (const [host, pixels] of scene ? own(rows) : grants(rows, below)) {
      if (Math.abs(number(host.style.getPropertyValue("--grow")) - pixels) < 2) continue;
      host.style.setProperty("--grow", pixels);
      changed = true;
    }
    if (changed) dispatchEvent(new Event("room"));
  }
  const ask = () => { asked ||= requestAnimationFrame(fill); };
  const seen = new ResizeObserver(ask);
  for (const event of ["resize", "took"]) addEventListener(event, ask);
  return {
    // The rows hold these cells now.
    update(hosts) {
      seen.disconnect();
      for (const host of [...hosts, below, rows.parentElement]) seen.observe(host);
      ask();
    },
    stop() {
      seen.disconnect();
      for (const event of ["resize", "took"]) removeEventListener(event, ask);
      cancelAnimationFrame(asked);
    },
  };
}

// A sheet fills the window: its rows share the height that is left, and pictures and lists take
// what their row gets.
//
// Each has a height of its own; here it is given so many pixels more or fewer, and says how many of
// them it took, and the fewest and most that it could: none gets too low to be read, or needlessly
// high. A list scrolls only where no picture can be lower.

import { makeSliding, rootOf } from "./element.js";
import { roomsOfScene, stripOfTalk } from "./spotlight.js";

const PICTURES = new Set([
  "waiting", "chart", "bars", "activation_map", "ffn_picture", "block_picture",
]);
const LISTS = new Set(["passages", "table", "verdicts", "code", "neuron_card"]);
const MOST = 1.2; // of a picture's own height, that it may grow by
const LEAST = 0.4; // of one that has not yet said what it can: that it may shrink by
const EDGE = 21; // pixels between the last row and the foot
const PHONE = 700; // of the window's width: it scrolls anyway
const LOW = 500; // of the window's height: each picture has it to itself
// Of its height, by which a picture may be lower for that: a higher one is scrolled as it is.
const SHRINKS = 0.2;
// Pixels; of its height, that a list as low may give up.
const [LOWEST_LIST, LOWER_LIST] = [120, 0.15];
// Pixels of the window's height; of a page, which such a window lists.
const [FEW_ROWS, FEW_PARTS] = [800, 5];

// A scene brings its lit picture into the window, no higher than that has room for; a talk of all
// of them fills it.
function isScene() {
  const { dataset } = document.documentElement;
  return ("scene" in dataset || "alone" in dataset) && !isTalk();
}
function isTalk() {
  const { dataset } = document.documentElement;
  return "presenting" in dataset && (!("alone" in dataset) || "unlit" in dataset);
}

const number = (text) => Number.parseFloat(text) || 0;
const grown = (host) => number(host.dataset.grown);

/** @param {Element} element */
const hostOf = (element) => rootOf(element).host;

// How many pixels the picture with that element is given.
const granted = new WeakMap(); // by its host
/** @param {Element} element */
export const given = (element) => granted.get(hostOf(element)) ?? 0;

/**
 * Has `act` called when the window has another size, or that picture or list is given another
 * height; call what it returns to end that.
 *
 * @param {Element} element
 * @param {() => void} act
 * @returns {() => void}
 */
export function onRoom(element, act) {
  const heard = ({ detail }) => { if (!detail || detail.has(hostOf(element))) act(); };
  addEventListener("resize", heard);
  addEventListener("room", heard);
  return () => {
    removeEventListener("resize", heard);
    removeEventListener("room", heard);
  };
}

/**
 * How many of them it took, the fewest and most that it can, and the fewest that it should have if
 * there is room.
 *
 * @param {Element} element
 * @param {number} pixels
 * @param {number} [least]
 * @param {number} [most]
 * @param {number} [wished]
 */
export function took(element, pixels, least, most, wished) {
  const host = hostOf(element), said = { grown: pixels, least, most, wished };
  if (!host) return;
  let changed = false;
  for (const [name, value] of Object.entries(said)) {
    if (value === undefined || host.dataset[name] === String(Math.round(value))) continue;
    host.dataset[name] = String(Math.round(value));
    changed = true;
  }
  if (changed) dispatchEvent(new Event("took"));
}

// Else a list's height would have the browser settle the styles of all its lines.
try {
  CSS.registerProperty({ name: "--fits", syntax: "*", inherits: false });
} catch { /* another copy of this script has */ }

// What lists and lines of words whose content is another do before the next frame: all are measured
// in one layout of the page.
/** @type {Set<() => void>} */
const waiting = new Set();

/**
 * Has `fit` called once before the rows share what is left, with the next frame at the latest.
 *
 * @param {() => void} fit
 */
export function beforeFilling(fit) {
  if (!waiting.size) requestAnimationFrame(fitWaiting);
  waiting.add(fit);
}

function fitWaiting() {
  const fits = [...waiting];
  waiting.clear();
  for (const fit of fits) fit();
}

/**
 * Gives a list the height that it has room for: it scrolls, or its lines stand further apart.
 *
 * @param {HTMLElement} list whose height follows --fits, if that is set
 * @param {() => [number, number]} bounds gives how high it wants to be at most, as a share of the
 *   window, and how many times its content's height it may have
 * @returns {(gone?: boolean) => void} call it when the list's content is another, or it is gone:
 *   the latter with true
 */
export function fitList(list, bounds) {
  const fit = () => {
    const host = hostOf(list);
    if (!host?.isConnected || !list.checkVisibility()) return;
    list.style.removeProperty("--fits");
    sliding.look();
    const filled = innerWidth > PHONE && host.closest(".sheet > .rows") && !isScene();
    if (!filled || host.matches("[data-alone], [data-enlarged]")) return;
    const [cap, apart] = bounds();
    const all = list.scrollHeight;
    const own = Math.min(all, Math.round(cap * innerHeight));
    const [least, most] = [
      Math.min(-LOWER_LIST * own, LOWEST_LIST - own), Math.round(apart * all) - own,
    ];
    const pixels = Math.max(least, Math.min(most, given(list)));
    list.style.setProperty("--fits", `${own + pixels}px`);
    took(list, pixels, least, most);
  };
  const sliding = makeSliding(list);
  const leaveRoom = onRoom(list, fit);
  const seen = new ResizeObserver(fit); // it is there now, or has another width
  seen.observe(list);
  return (gone = false) => {
    if (!gone) {
      beforeFilling(fit);
      return;
    }
    waiting.delete(fit);
    sliding.stop();
    seen.disconnect();
    leaveRoom();
  };
}

// What lies over the others takes no room of theirs.
const takesRoom = (host) => getComputedStyle(host).position !== "absolute";

// A cell's height without what its picture took, whatever room the cell has.
function ownCell(host) {
  const hung = host.shadowRoot?.querySelector(".hung");
  if (!hung) return host.offsetHeight;
  const { paddingTop, paddingBottom, borderTopWidth, borderBottomWidth } = getComputedStyle(host);
  const around = [paddingTop, paddingBottom, borderTopWidth, borderBottomWidth].reduce(
    (sum, each) => sum + number(each), 0,
  );
  return hung.offsetHeight + around - grown(host);
}

const sum = (some, of) => some.reduce((all, each) => all + of(each), 0);

// The pictures and lists of a column, or of some of it, its height, and what it can have with its
// lists as they are, with lower lists, and with pictures that are lower than they should be.
function measured(column, hosts = [...column.children]) {
  const cells = hosts.filter(takesRoom).map((host) => ({
    host, own: ownCell(host), kind: host.dataset.kind,
  }));
  const bounded = ({ host, own, kind }) => ({
    host,
    own,
    least: number(host.dataset.wished ?? host.dataset.least ?? -LEAST * own),
    fewest: number(host.dataset.least ?? -LEAST * own),
    most: number(host.dataset.most ?? (LISTS.has(kind) ? 0 : MOST * own)),
  });
  const [pictures, lists] = [PICTURES, LISTS].map((kinds) =>
    cells.filter(({ kind }) => kinds.has(kind)).map(bounded)
  );
  const own = sum(cells, (cell) => cell.own) +
    number(getComputedStyle(column).rowGap) * Math.max(0, cells.length - 1);
  const low = own + sum(pictures, ({ least }) => least);
  const lower = low + sum(lists, ({ least }) => least);
  return {
    pictures, lists, own, low, lower,
    lowest: lower + sum(pictures, ({ least, fewest }) => fewest - least),
    high: own + sum([...pictures, ...lists], ({ most }) => most),
  };
}

// What is left of the window below the rows' top and above the foot.
function heightLeft(rows, below) {
  const scroller = rows.closest("[data-testid=stMain]");
  if (!scroller) return null;
  const top = rows.getBoundingClientRect().top + scroller.scrollTop -
    scroller.getBoundingClientRect().top;
  return scroller.clientHeight - top - below.offsetHeight - EDGE - (isTalk() ? stripOfTalk() : 0);
}

// Shares what is left (or missing) among some, in proportion to their own heights; none gets less
// than its least or more than its most.
function shareOut(some, left) {
  const shares = new Map(some.map((each) => [each, 0]));
  let free = some;
  while (free.length) {
    const all = sum(free, ({ own }) => own) || 1;
    const wanted = (each) => left * each.own / all;
    const bound = (each) => Math.max(each.least, Math.min(each.most, wanted(each)));
    // What bounds take from the others, or leave them.
    const over = sum(free, (each) => bound(each) - wanted(each));
    const stuck = free.filter((each) =>
      (over > 0 ? wanted(each) < each.least : wanted(each) > each.most));
    if (!stuck.length || Math.abs(over) < 1) {
      for (const each of free) shares.set(each, bound(each));
      break;
    }
    for (const each of stuck) {
      shares.set(each, bound(each));
      left -= bound(each);
    }
    free = free.filter((each) => !stuck.includes(each));
  }
  return shares;
}

// Shares what is left among some, and what they leave among the next.
function shareInTurn(rounds, left) {
  const shares = new Map();
  for (const round of rounds) {
    for (const [each, share] of shareOut(round, Math.abs(left) < 1 ? 0 : left)) {
      const whose = each.whose ?? each;
      shares.set(whose, (shares.get(whose) ?? 0) + share);
      left -= share;
    }
  }
  return shares;
}

// Some again, which have been made as low as one of their bounds and now may be as low as another.
const lower = (some, from, to) =>
  some.map((each) => ({ whose: each, own: each.own, least: each[to] - each[from], most: 0 }));

// First the pictures, then the lists; what is missing then is taken from pictures that are high
// enough.
const shareOutIn = ({ pictures, lists, own }, height) =>
  [...shareInTurn([pictures, lists, lower(pictures, "least", "fewest")], height - own)];

// What each picture of some cells is given where it has a height of its own.
const grantsAlone = (hosts, height) =>
  hosts.flatMap((host) => shareOutIn(measured(host.parentElement, [host]), height))
    .map(([{ host, own }, pixels]) => [host, pixels < -SHRINKS * own ? 0 : Math.round(pixels)]);

// In a low window each picture is as high as what is left below the sentence.
function grantsOfLow(rows) {
  const scroller = rows.closest("[data-testid=stMain]");
  const stuck = scroller?.querySelector('[data-cell="chips"]');
  if (!scroller) return [];
  const height = scroller.clientHeight - number(stuck && getComputedStyle(stuck).top) -
    (stuck?.offsetHeight ?? 0) - EDGE;
  return grantsAlone([...rows.querySelectorAll(".cell")], height);
}

// In a scene the lit pictures are as high as what is left between its words and the foot, at most:
// below the controls if they can be so low.
function grantsOfScene(rows) {
  const shrunk = new Map(), lit = [...rows.querySelectorAll(".cell[data-lit]")];
  for (const room of roomsOfScene(rows)) {
    for (const [host, pixels] of grantsAlone(lit, room)) {
      shrunk.set(host, shrunk.get(host) || Math.min(0, pixels));
    }
  }
  return ofHeight(rows).map((host) => [host, shrunk.get(host) ?? 0]);
}

// What each picture and list is given, with its host. The lines are as high as they were `before`,
// if they can be, so that nothing jumps when other numbers come in; else they share what is left.
function grants(rows, below, before) {
  const lines = [...rows.children].map((line) => {
    const columns = [...line.children].map((column) => measured(column));
    const highest = (name) => Math.max(0, ...columns.map((column) => column[name]));
    const own = highest("own");
    return {
      columns, own, least: highest("low") - own, lower: highest("lower") - own,
      lowest: highest("lowest") - own, most: highest("high") - own,
    };
  });
  const gaps = number(getComputedStyle(rows).rowGap) * Math.max(0, lines.length - 1);
  const all = heightLeft(rows, below) ?? 0;
  const rounds = [lines, lower(lines, "least", "lower"), lower(lines, "lower", "lowest")];
  const shares = shareInTurn(rounds, all - gaps - sum(lines, ({ own }) => own));
  const can = ({ own, lowest, most }, at) =>
    own + lowest <= before[at] + 1 && before[at] <= own + most + 1;
  const heights = before && lines.every(can)
    ? before
    : lines.map((line) => line.own + shares.get(line));
  return {
    heights, over: sum(heights, (height) => height) + gaps - all,
    shares: lines.flatMap(({ columns }, at) =>
      columns.flatMap((column) =>
        shareOutIn(column, heights[at]).map(([{ host }, pixels]) => [host, Math.round(pixels)])
      )
    ),
  };
}

const ofHeight = (rows) =>
  [...rows.querySelectorAll(".cell")].filter(({ dataset: { kind } }) =>
    PICTURES.has(kind) || LISTS.has(kind)
  );

// Gives a talk the page's type, or its own again.
export function crowd(crowded) {
  const { documentElement } = document;
  if (documentElement.hasAttribute("data-crowded") === crowded) return;
  documentElement.toggleAttribute("data-crowded", crowded);
  dispatchEvent(new Event("resize"));
}

// What stands at the left has the same height; where that is too little, its list of parts is
// shorter, and where that is not enough, a menu. In a window of few rows the list has one form on
// all parts of a page, and controls have one in all views: neither moves when one has more
// controls.
function fitSide(side, left) {
  const height = `${Math.max(0, left)}px`;
  if (side.style.getPropertyValue("--left") !== height) side.style.setProperty("--left", height);
  const tighter = ["data-dense", "data-folded"];
  const hasViews = (host) => host.shadowRoot?.querySelector(".views") != null;
  const fixed = innerHeight < FEW_ROWS
    ? [...side.children].filter((host) => host.dataset.kind === "part_list" || hasViews(host))
    : [];
  const isFixed = (host, name) =>
    name === "data-dense" || hasViews(host) ||
    host.shadowRoot.querySelectorAll("[role=radio]").length > FEW_PARTS;
  for (const host of side.children) {
    tighter.forEach((name) =>
      host.toggleAttribute(name, fixed.includes(host) && isFixed(host, name))
    );
  }
  for (const name of tighter) {
    const over = side.scrollHeight > side.clientHeight + 1;
    if (over) {
      for (const host of side.children) if (!fixed.includes(host)) host.setAttribute(name, "");
    }
  }
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
  // The lines' heights as they were last, and as they stay; what stands in them.
  let last = null, kept = null, standing = "";
  // What stands at the side, and how that was when it was fitted last.
  let contents = "", fitted = null;
  const sideNow = (left) =>
    [contents, left, innerWidth, ...[...side.children].map(({ offsetHeight }) => offsetHeight)]
      .join();
  function fill() {
    fitWaiting(); // they may ask again
    asked = 0;
    if (!rows.isConnected || innerWidth <= PHONE) return;
    const left = heightLeft(rows, below);
    if (left === null) return;
    const scene = isScene();
    if (!scene && innerHeight > LOW && fitted !== sideNow(left)) {
      fitSide(side, left);
      fitted = sideNow(left);
      sliding.look();
    }
    const at = `${left} ${innerWidth}`;
    if (kept?.at !== at) kept = null;
    let shares;
    if (scene) shares = grantsOfScene(rows);
    else if (innerHeight <= LOW) shares = grantsOfLow(rows);
    else {
      last = { at, ...grants(rows, below, kept?.heights) };
      ({ shares } = last);
      // What a talk's large type leaves no room for has the page's, as long as the scene is shown.
      if (isTalk() && last.over > 1 && ofHeight(rows).every(({ dataset }) => "grown" in dataset)) {
        crowd(true);
      }
    }
    const changed = new Set();
    for (const [host, pixels] of shares) {
      if (Math.abs((granted.get(host) ?? 0) - pixels) < 2) continue;
      granted.set(host, pixels);
      changed.add(host);
    }
    if (changed.size) dispatchEvent(new CustomEvent("room", { detail: changed }));
  }
  const ask = () => { asked ||= requestAnimationFrame(fill); };
  const seen = new ResizeObserver(ask), watched = new Set(), sliding = makeSliding(side);
  for (const event of ["resize", "took"]) addEventListener(event, ask);
  return {
    // The rows hold these cells now, and the side something else if `atSide` is another.
    update(hosts, atSide) {
      contents = atSide;
      const all = hosts.map(({ dataset: { cell, kind } }) => `${cell} ${kind}`);
      const names = all.filter((name) => !name.startsWith("waiting-")).join();
      if (names !== standing) kept = last = null;
      else if (!asked && ofHeight(rows).every(({ dataset }) => "grown" in dataset)) kept ??= last;
      standing = names;
      const now = new Set([...hosts, below, rows.parentElement]);
      for (const host of watched) if (!now.has(host)) seen.unobserve(host);
      for (const host of now) if (!watched.has(host)) seen.observe(host);
      watched.clear();
      for (const host of now) watched.add(host);
      sliding.look();
    },
    // At once, not with the next frame, for which less is left then.
    fill() {
      cancelAnimationFrame(asked);
      fill();
    },
    stop() {
      sliding.stop();
      seen.disconnect();
      for (const event of ["resize", "took"]) removeEventListener(event, ask);
      cancelAnimationFrame(asked);
    },
  };
}

// Where everything of a block lies: along the flow, and across it, where each token has its lane.
// The flow runs from left to right, or from top to bottom where it is narrow.

// What a station is made of, and how much of the flow each part takes.
const PARTS = {
  attention: [["arcs", 1.8], ["map", 1]],
  cross: [["arcs", 1.8], ["map", 1]],
  ffn: [["widen", 0.4], ["hidden", 1.5], ["narrow", 0.4], ["map", 1]],
};
const ALONE = [["map", 1]];
const BEFORE = { stream: 0.15, sum: 0.85 }; // a sum leaves room for its ⊕
const OTHERS = 0.4;
const END = 0.45;
const WIDE = { words: 0.085, arch: 26, caption: 46, note: 26, note_tight: 42, caption_along: 0 };
const NARROW = { words: 26, arch: 30, caption: 0, note: 0, caption_along: 27, unit: 46 };

export const NARROW_BELOW = 700;
const TYPE = 18; // pixels of the type that these heights are for
const [LEAST_TYPE, OF_HALL] = [18, 20.5]; // what a page has; a talk's, whose smallest is 0.89 of it, is made no smaller than this
const HALL = 1600; // pixels of the window's width
const NAME = 4; // a station's name fits where type is this part of a map's width
const ROOM_FOR_NAMES = 70; // pixels of a map, below which long names are broken

/**
 * Lays out a block.
 *
 * @param stations with their kinds
 * @param n how many tokens have a lane
 * @param width of the picture, in pixels
 * @param lanes how many pixels all lanes take, where the flow runs from left to right
 * @param page size of the page's type, in pixels; a talk's is too large for many stations
 */
export function layOut(stations, n, width, lanes, page) {
  const narrow = width < NARROW_BELOW;
  const own = narrow ? NARROW : WIDE;
  const words = narrow ? own.words : Math.min(110, Math.max(64, own.words * width));
  const parts = stations.map(({ kind }) => PARTS[kind] ?? ALONE);
  const before = stations.map(({ kind }) => BEFORE[kind] ?? OTHERS);
  const units = END + [...before, ...parts.flat().map(([, size]) => size)].reduce((a, b) => a + b, 0);
  const unit = narrow ? own.unit : (width - words) / units;
  const type = narrow ? page : Math.min(page, Math.max(innerWidth > HALL ? OF_HALL : LEAST_TYPE, unit / NAME));
  const larger = narrow ? 1 : Math.max(1, type / TYPE), caption = own.caption * larger;
  const first = own.arch + caption; // across, where the lanes begin
  const across = narrow ? width - own.arch : lanes;
  let at = words;
  const laid = stations.map((_, i) => {
    const enter = at;
    at += before[i] * unit;
    const named = at;
    at += own.caption_along;
    const start = at;
    const made = parts[i].map(([kind, size]) => ({ kind, start: at, end: (at += size * unit) }));
    return { enter, caption: named, start, end: at, parts: made };
  });
  const length = at + END * unit, tight = !narrow && unit < (ROOM_FOR_NAMES * Math.max(TYPE, type)) / TYPE;
  const lane = across / n;
  const note = (tight ? own.note_tight : own.note) * larger;
  const place = (along, end, from, to) => (narrow
    ? { left: from, top: along, width: to - from, height: end - along }
    : { left: along, top: from, width: end - along, height: to - from });
  return {
    narrow, tight, type, caption, note, words, first, lane, length, unit, stations: laid, across,
    arch: own.arch,
    width: narrow ? width : length,
    height: narrow ? length : first + across + note,
    // The middle of a token's lane; of one of `of` evenly spaced ones, if that is given.
    middle: (token, of = n) => first + (token + 0.5) * (across / of),
    point: (along, at_) => (narrow ? `${at_} ${along}` : `${along} ${at_}`),
    lanes: (start, end) => place(start, end, first, first + across),
    // Caption, picture and note of a station.
    whole: ({ caption, end }) => (narrow
      ? place(caption, end, own.arch, own.arch + across)
      : place(caption, end, own.arch, first + across + note)),
    row: (token) => ({ from: (token * 100) / n, size: 100 / n }),
  };
}

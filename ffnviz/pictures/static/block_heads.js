// What an attention does on this sentence: arcs over the words for one head, and a map for each.

import { svgElement, weightsOf } from "./block_lanes.js";
import { channels, putImage } from "./canvas.js";
import { each, element } from "./element.js";
import { percent } from "./numbers.js";
import { oneStop } from "./one_stop.js";
import { colourOf } from "./theme.js";

const ARCS = { share: 0.14, lowest: 110, highest: 200, least: 0.004, thickest: 16 };
const MARGIN = 34; // left and right, for half a word

// A row a token, a column what it looks at; the root shows what is small.
function paintMap(canvas, { weight, n, sources }, head, accent, background) {
  const image = new ImageData(sources, n), [from, to] = [channels(background), channels(accent)];
  for (let token = 0; token < n; token++) {
    for (let source = 0; source < sources; source++) {
      const share = Math.sqrt(weight(head, token, source)), at = 4 * (token * sources + source);
      for (let k = 0; k < 3; k++) image.data[at + k] = from[k] + (to[k] - from[k]) * share;
      image.data[at + 3] = 255;
    }
  }
  putImage(canvas, image);
}

/**
 * Makes the panel.
 *
 * @param choose called with a head, 0 for the mean of all
 * @param look called with a token
 */
export function makeHeads(choose, look) {
  const svg = svgElement("svg", { "aria-hidden": "true" });
  const words = element("div", { class: "words" }), asked = element("div", { class: "words asked" });
  const summary = element("p", { class: "most" });
  const maps = element("div", { class: "heads", role: "group", "aria-label": "Heads of the attention" });
  const arcs = element("div", { class: "arcs" }, asked, svg, words);
  const box = element("div", { class: "attention" }, element("div", {}, summary, arcs), maps);
  const stop = oneStop(maps);
  let seen = null;

  const makeHead = (head) => element("button", { type: "button", onclick: () => choose(head) }, element("canvas"), element("span"));

  // As many words as there is room for; the chosen one and those it looks at most come first.
  function write(row, texts, first, width, click) {
    const place = (k) => MARGIN + ((k + 0.5) / texts.length) * (width - 2 * MARGIN);
    each(row, texts, () => element("bdi"), (word, text, k) => {
      word.textContent = text;
      word.hidden = false;
      word.style.left = `${place(k)}px`;
      word.classList.toggle("chosen", k === first[0] && Boolean(click));
      word.onclick = click ? () => click(k) : null;
    });
    const taken = [];
    for (const k of [...first, ...texts.keys()]) {
      const word = row.children[k], half = word.offsetWidth / 2 + 3;
      const [left, right] = [place(k) - half, place(k) + half];
      if (word.hidden || taken.some(([own, a, b]) => own !== k && left < b && right > a)) word.hidden = !taken.some(([own]) => own === k);
      else taken.push([k, left, right]);
    }
    return place;
  }

  function draw(shown, station, colours) {
    const found = weightsOf(shown, station), cross = station.kind === "cross";
    const accent = colourOf(shown.accent, colours), width = arcs.clientWidth;
    const height = Math.round(Math.max(ARCS.lowest, Math.min(ARCS.highest, ARCS.share * innerHeight)));
    if (!width) return;
    const sources = cross ? shown.asked : shown.words;
    const mine = Array.from(sources, (_, source) => found.weight(shown.chosen_head, shown.token, source));
    const strongest = [...mine.keys()].sort((a, b) => mine[b] - mine[a]);
    const at = write(words, shown.words, [shown.token, ...(cross ? [] : strongest)], width, look);
    asked.hidden = !cross;
    const from = cross ? write(asked, sources, strongest, width, null) : at;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    const arc = (token, source, size, own) => {
      const a = from(source), b = at(token), rise = Math.min(height - 14, 18 + 0.42 * Math.abs(a - b));
      const d = cross
        ? `M${a} 0 C${a} ${height / 2} ${b} ${height / 2} ${b} ${height}`
        : source === token
          ? `M${a - 7} ${height} C${a - 16} ${height - 30} ${a + 16} ${height - 30} ${a + 7} ${height}`
          : `M${a} ${height} C${a} ${height - rise * 1.3} ${b} ${height - rise * 1.3} ${b} ${height}`;
      svg.append(svgElement("path", {
        d, fill: "none", stroke: own ? accent : colours.muted, "stroke-opacity": own ? 0.85 : 0.35,
        "stroke-width": Math.max(own ? 1 : 0.4, size * (own ? ARCS.thickest : 6)),
      }));
    };
    const others = [];
    for (let token = 0; token < found.n; token++) {
      if (token === shown.token) continue;
      for (let source = 0; source < found.sources; source++) {
        const size = found.weight(shown.chosen_head, token, source);
        if (size > 0.1) others.push([token, source, size]);
      }
    }
    others.sort((a, b) => b[2] - a[2]).slice(0, 200).reverse().forEach(([token, source, size]) => arc(token, source, size, false));
    strongest.filter((source) => mine[source] > ARCS.least).reverse().forEach((source) => arc(shown.token, source, mine[source], true));
    const whose = shown.chosen_head ? `Head ${shown.chosen_head}` : `The mean of all ${found.heads} heads`;
    const most = strongest.slice(0, 3).flatMap((source, k) => [k ? ", " : "", element("bdi", { text: sources[source] }), ` ${percent(mine[source])}`]);
    summary.replaceChildren(`${whose}: `, element("bdi", { text: shown.words[shown.token] }), " looks at ", ...most);
  }

  return {
    box,
    update(shown, station, colours) {
      seen = [shown, station, colours];
      const found = weightsOf(shown, station), accent = colourOf(shown.accent, colours);
      each(maps, Array.from({ length: found.heads + 1 }, (_, k) => k), makeHead, (button, head) => {
        const [canvas, name] = button.children;
        paintMap(canvas, found, head, accent, colours.background);
        name.textContent = head ? String(head) : "mean";
        button.setAttribute("aria-pressed", String(head === shown.chosen_head));
        button.setAttribute("aria-label", head ? `Head ${head}` : "Mean of all heads");
      });
      stop(shown.chosen_head);
      draw(shown, station, colours);
    },
    resize() { if (seen) draw(...seen); },
  };
}

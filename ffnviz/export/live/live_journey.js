// The first page's data for any sentence, as ffnviz/export/journey.py makes them for a recorded
// one: what is the same for every sentence is taken from that one, and what is not is computed
// here.

import { fixed, grouped, percent, signed } from "./numbers.js";
import { aligned, labelsOf, readInBytes, splitWords, usualToken } from "./tokenizer.js";

const SLOT = /\ue000(\w+)\ue001/g;
const MOST = 3; // words that are said to be read in pieces
const GUESSES = 10; // as analysis/prediction.py has them
const [QUANTILE, TOWERING] = [0.995, 4]; // as pictures/activation_map.py has them

// As parts/journey/ffn.py has the stages.
const SAME_SCALE = [["x"], ["pre", "hidden"], ["out", "stream", "total"]];

const rowOf = (values, at, width) => values.subarray(at * width, (at + 1) * width);
const withNumber = (note, text) => note.replace(/[\d.,]*\d/, text);

/**
 * What is shown; a token that is null is the usual one.
 *
 * @typedef {object} State
 * @property {string} sentence
 * @property {string} network
 * @property {number} block
 * @property {number | null} token
 * @property {{ network: string, block: number, index: number }[]} silenced the neurons that are
 *   switched off
 */

// The nearest half of each value, for what is sent as one by the page.
function halved(values) {
  // Veltkamp's splitting: 11 digits stay.
  const SPLIT = 2 ** 13 + 1, SMALLEST = 2 ** -14, STEP = 2 ** -24;
  return values.map((value) => {
    if (Math.abs(value) < SMALLEST) return Math.round(value / STEP) * STEP;
    const scaled = Math.fround(value * SPLIT);
    return Math.fround(scaled - Math.fround(scaled - value));
  });
}

// Loops, not callbacks: they are run on all hidden values with every key.
function largestOf(values) {
  let largest = 0;
  for (let at = 0; at < values.length; at++) largest = Math.max(largest, Math.abs(values[at]));
  return largest;
}
function countBeyond(values, beyond) {
  let n = 0;
  for (let at = 0; at < values.length; at++) if (Math.abs(values[at]) > beyond) n++;
  return n;
}

// The magnitude that the ends of a colour scale stand for: scale_end in pictures/activation_map.py.
function scaleEnd(values, width) {
  const rows = Array.from(
      { length: values.length / width },
      (_, at) => largestOf(rowOf(values, at, width)),
    );
  const largest = Math.max(...rows);
  // The token of the largest is left out.
  const first = rows.length > 1 ? rows.indexOf(largest) : rows.length;
  const others = [values.subarray(0, first * width), values.subarray((first + 1) * width)];
  const count = (beyond) => others.reduce((sum, part) => sum + countBeyond(part, beyond), 0);
  const n = count(0);
  if (n && count(Math.fround(largest / TOWERING)) >= n - Math.floor((n - 1) * QUANTILE)) {
    return largest;
  }
  const usual = n
    ? quantile(
      Float32Array.from(others.flatMap((part) => Array.from(part.filter(Boolean), Math.abs))),
    )
    : largest;
  return largest > TOWERING * usual ? usual : largest;
}
function quantile(values) {
  const sorted = values.sort(), at = (sorted.length - 1) * QUANTILE, below = Math.floor(at);
  return sorted[below] + (at - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}
const endOf = (all) => Math.max(...all.map(([values, width]) => scaleEnd(values, width)));

// Two of the orders of analysis/journey.py; the third is that of the weights.
function ordersOf(hidden, T) {
  const dFf = hidden.length / T;
  const strongest = new Float32Array(dFf);
  const token = new Uint16Array(dFf).fill(T);
  for (let t = 0; t < T; t++) {
    for (let n = 0; n < dFf; n++) {
      const size = Math.abs(hidden[t * dFf + n]);
      if (size > strongest[n]) [strongest[n], token[n]] = [size, t];
    }
  }
  // As one number each, which sorts without a callback: the token, the strength downwards (the bits
  // of a positive float32 ascend with it), the neuron.
  const bits = new Uint32Array(strongest.buffer);
  const sorted = (first) =>
    Uint16Array.from(
      Float64Array.from(bits, (each, n) => ((first(n) + 1) * 2 ** 32 - each) * dFf + n).sort(),
      (key) => key % dFf,
    );
  return { strength: sorted(() => 0), token: sorted((n) => token[n]) };
}

// The likeliest entries of the vocabulary, and the probability of each.
function likeliest(logits, labels) {
  const highest = logits.reduce((a, b) => Math.max(a, b));
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0);
  const best = [];
  logits.forEach((logit, id) => {
    if (best.length === GUESSES && logit <= logits[best.at(-1)]) return;
    let at = best.length;
    while (at && logits[best[at - 1]] < logit) at--;
    best.splice(at, 0, id);
    if (best.length > GUESSES) best.pop();
  });
  return {
    ids: best, names: best.map((id) => labels[id]),
    values: best.map((id) => Math.fround(Math.exp(logits[id] - highest) / total)),
  };
}

// The sentences above the pictures: page.py wrote them with slots, and here is what stands in each.
// Only the line under the guess is put together here.

// A template's spans with values in its slots.
const filled = (spans, values) =>
  spans.map(([text, kind]) => [text.replace(SLOT, (_, slot) => values[slot]), kind]);

// The token that activates the most neurons, and the one that activates the fewest.
function ofTokens(templates, labels, shares) {
  const most = shares.indexOf(Math.max(...shares)), least = shares.indexOf(Math.min(...shares));
  const said = {
    most_label: labels[most], most: percent(shares[most]), least_label: labels[least],
    least: percent(shares[least]),
  };
  return filled(shares[most] === shares[least] ? templates.tokens_alike : templates.tokens, said);
}

const ofMaps = (templates, shares) =>
  filled(
    templates.maps,
    Object.fromEntries(shares.map((share, at) => [`inactive_${at}`, percent(1 - share)])),
  );

// `guesses`: the likeliest words and their probabilities, with the FFN and without it.
function ofPrediction(templates, kind, label, guesses) {
  const [[best, share], [other, otherShare]] = guesses.map(({ names, values }) =>
    [names[0], percent(values[0])]);
  return filled(templates[kind], {
    label, best, best_share: share, other, other_share: otherShare,
  });
}

const ofLeading = (template, word, added) =>
  filled(template, { word, added: added > 0 ? `+${fixed(added, 2)}` : signed(added) });

// Words that are no token: of_pieces in parts/guess.py.
function ofPieces(words) {
  const spans = words.slice(0, MOST).flatMap(({ word, pieces }, place) => {
    const seen = pieces.filter(Boolean);
    const how = seen.length > 1
      ? [[" as ", "plain"], [seen.join(" + "), "typed"]]
      : [[` in ${pieces.length} pieces`, "plain"]];
    return [[place ? ", " : "It reads ", "plain"], [`“${word}”`, "typed"], ...how];
  });
  if (words.length > MOST) {
    spans.push([`, and ${grouped(words.length - MOST)} more in pieces`, "plain"]);
  }
  return spans.length ? [...spans, [". ", "plain"]] : [];
}

// The quiet line under the guess: under_guess in parts/guess.py.
function underGuess(templates, text, tokens) {
  const characters = readInBytes(tokens), [character] = characters;
  const inBytes = characters.length > 1 ? templates.bytes_of_several : templates.bytes;
  const read = characters.length
    ? filled(inBytes, { character, more: grouped(characters.length - 1) })
    : templates.read;
  const words = splitWords(text, tokens).filter(({ word }) =>
    !characters.some((one) => word.includes(one))
  );
  return [...read, ...ofPieces(words)];
}

/**
 * Makes what computes the first page.
 *
 * @param recorded the header of the recorded sentence's journey, with `live`, as page.py made it
 * @param networks by their ids: { encoder, dFf }
 * @param tokenizer of all of them
 */
export function makeLiveJourney(recorded, networks, tokenizer) {
  const { live } = recorded, ids = recorded.networks.map(({ id }) => id);
  let read = null; // the sentence, its tokens, and each network's trace of it

  function readText(text, silenced) {
    const silent = JSON.stringify(silenced);
    if (read?.text === text && read.silent === silent) return;
    const { tokens, nLeftOut } = tokenizer.encode(text, live.max_tokens);
    const traces = {};
    if (tokens.length) {
      for (const id of ids) {
        const isOf = (block) => (neuron) => neuron.network === id && neuron.block === block;
        const off = (block) => silenced.filter(isOf(block)).map(({ index }) => index);
        traces[id] = networks[id].encoder.trace(tokens.map((token) => token.id), off);
      }
    }
    read = {
      text, silent, tokens, nLeftOut, traces, labels: labelsOf(tokens),
      words: tokenizer.wordsToHide(text, tokens),
    };
  }

  const activeIn = (values, id) => countBeyond(values, Math.fround(live.thresholds[id]));
  function sharesOf(id, block) {
    const { hidden } = read.traces[id].blocks[block].ffn, { dFf } = networks[id];
    return read.tokens.map((_, t) => activeIn(rowOf(hidden, t, dFf), id) / dFf);
  }

  function chips(template, templates, id, block, token) {
    const shares = sharesOf(id, block);
    const joins = read.tokens.map(({ text }, place) => place > 0 && !text);
    const head = { ...template.head, spans: ofTokens(templates, read.labels, shares) };
    return {
      ...template, head, texts: read.labels, shares, chosen: token, joins,
      hides: read.words.map((word) => word?.text ?? ""), unhides: [],
    };
  }

  function maps(template, templates, blocks, tokens) {
    const shown = template.maps.map(({ name }) =>
      [read.traces[name].blocks[blocks[name]].ffn.hidden, networks[name].dFf]);
    const shares = template.maps.map(({ name }) => {
      const all = sharesOf(name, blocks[name]);
      return all.reduce((sum, share) => sum + share, 0) / all.length;
    });
    const largest = endOf(shown), beyond = shown.some(([values]) => largestOf(values) > largest);
    return {
      ...template, largest, beyond,
      maps: template.maps.map((map) => ({ ...map, texts: read.labels, token: tokens[map.name] })),
      head: { ...template.head, spans: ofMaps(templates, shares) },
    };
  }

  // What stands in each stage of the picture; their names are parts/journey/ffn.py's.
  const stagesOf = ({ ffn, middle, output }) => ({
    x: ffn.input, pre: ffn.pre_activation, hidden: ffn.hidden, out: ffn.output, stream: middle,
    total: output,
  });

  function ffn(template, id, block, token, isOff) {
    const values = stagesOf(read.traces[id].blocks[block]), n = read.tokens.length;
    if (isOff) values.total = values.stream;
    const row = (name) => rowOf(values[name], token, values[name].length / n);
    const ends = Object.fromEntries(SAME_SCALE.flatMap((names) => {
      const end = endOf(names.map((name) => [row(name), row(name).length]));
      return names.map((name) => [name, end]);
    }));
    const stages = template.stages.map((stage) => {
      const vector = row(stage.name);
      const largest = ends[stage.name];
      const beyond = largestOf(vector) > largest;
      const note = stage.name === "hidden"
        ? withNumber(stage.note, grouped(activeIn(vector, id)))
        : stage.note;
      return { ...stage, note, largest, beyond };
    });
    return { ...template, stages, token: read.labels[token], at: token, tokens: n };
  }

  // The bars with the FFN and without it, the sentence of which is the other, and the likeliest
  // word.
  function predictions(view, templates, id, block, token) {
    const { encoder } = networks[id], trace = read.traces[id], label = read.labels[token];
    const guesses = encoder.logitsWithAndWithoutFfn(trace, block, token).map((logits) =>
      likeliest(logits, tokenizer.labels)
    );
    const under = underGuess(live.under[id], read.text, read.tokens);
    const bars = (template, kind) => {
      const panels = template.panels.map((panel, at) => ({
        ...panel, names: guesses[at].names, values: guesses[at].values,
      }));
      return {
        ...template, panels,
        head: { ...template.head, spans: ofPrediction(templates, kind, label, guesses), under },
      };
    };
    const kind = read.tokens[token].id === tokenizer.maskId ? "hidden" : "shown";
    return {
      on: bars(view.prediction[0], kind), off: bars(view.prediction_off[0], "off"),
      best: guesses[0].ids[0],
    };
  }

  function leading(templates, id, block, token, word) {
    const added = networks[id].encoder.contributions(read.traces[id], block, token, word);
    const neuron = added.indexOf(added.reduce((a, b) => Math.max(a, b)));
    const [on, off] = [templates.leading, templates.leading_off].map((template) =>
      ({ neuron, spans: ofLeading(template, tokenizer.labels[word], added[neuron]) }));
    return { on, off };
  }

  // One entry of a list that has one for each token.
  const only = (at, value) =>
    Object.assign(Array(read.tokens.length).fill(undefined), { [at]: value });

  function arraysOf(id, block, blocks) {
    const n = read.tokens.length, arrays = {}, shapes = {};
    const add = (name, values, width) => {
      arrays[name] = values;
      shapes[name] = [n, width];
    };
    for (const [name, values] of Object.entries(stagesOf(read.traces[id].blocks[block]))) {
      if (name !== "hidden") add(`${id} ${block} ${name}`, halved(values), values.length / n);
    }
    for (const each of ids) {
      const { hidden } = read.traces[each].blocks[blocks[each]].ffn;
      const name = `${each} ${blocks[each]}`;
      add(`${name} hidden`, hidden.slice(), networks[each].dFf);
      for (const [by, order] of Object.entries(ordersOf(hidden, n))) {
        arrays[`${name} by ${by}`] = order;
      }
    }
    return { arrays, shapes };
  }

  return {
    /**
     * The data for a state, which makeData in play_journey.js draws; null for a text of no token.
     *
     * @param {State} state
     */
    read({ sentence, network, block, token: wanted, silenced }) {
      readText(sentence, silenced);
      const { tokens, nLeftOut, labels } = read, n = tokens.length;
      if (!n) return null;
      const token = Math.min(wanted ?? usualToken(tokens, tokenizer.maskId), n - 1);
      const name = `${network} ${block}`;
      const template = recorded.views[name], templates = live.views[name], { blocks } = template;
      const own = labels.map((_, at) => at), others = aligned(tokens);
      const alike = Object.fromEntries(ids.map((id) => [id, id === network ? own : others]));
      const said = predictions(template, templates, network, block, token);
      const most = leading(templates, network, block, token, said.best);
      const view = {
        chips: chips(template.chips, templates, network, block, token),
        maps: maps(
          template.maps, templates, blocks,
          Object.fromEntries(ids.map((id) => [id, alike[id][token]])),
        ),
        ffn: only(token, ffn(template.ffn[0], network, block, token, false)),
        ffn_off: only(token, ffn(template.ffn_off[0], network, block, token, true)),
        prediction: only(token, said.on),
        prediction_off: only(token, said.off),
        leading: only(token, most.on),
        leading_off: only(token, most.off),
        blocks, tokens: alike,
      };
      const notice = nLeftOut ? filled(live.left_out, { left_out: grouped(nLeftOut) }) : [];
      return {
        view, name, token, texts: labels, ends: tokens.map(({ end }) => end), words: read.words,
        notice, ...arraysOf(network, block, blocks),
      };
    },
  };
}

// The Journey without a server: whatever can be chosen lies in the file, and choosing draws it.

import { each, element } from "./element.js";
import { signed } from "./numbers.js";
import { aboutFrom } from "./save_svg.js";
import { mount } from "./shell.js";

const SLOT = "\ue000"; // as in journey.py

const descending = (values) =>
  Uint32Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b);

function strongest(values) {
  let best = 0;
  values.forEach((value, at) => { if (Math.abs(value) > Math.abs(values[best])) best = at; });
  return best;
}

const isSilenced = (silenced, { network, block, index }) =>
  silenced.some((one) => one.network === network && one.block === block && one.index === index);

/**
 * The data of the pictures for a state: { network, block, token, neuron, order }, and where it can
 * be computed anew `off`, whether the block's FFN is left out, and `silenced`, the neurons that are
 * switched off.
 *
 * @param journey the header that journey.py made
 * @param arrays "network block name" → numbers
 * @param shapes of these
 */
function makeData(journey, arrays, shapes) {
  const { views, cards, words } = journey;
  const nameOf = ({ network, block }) => `${network} ${block}`;
  const row = (name, at) => {
    const width = shapes[name][1];
    return arrays[name].subarray(at * width, (at + 1) * width);
  };
  const orderOf = (name, by) =>
    arrays[`${name} by ${by}`] ??
      Uint32Array.from({ length: shapes[`${name} hidden`][1] }, (_, at) => at);

  // The chosen one; else the one that adds most to the word, or where that is not known the
  // strongest on the token.
  const listed = (kind, state) =>
    views[nameOf(state)][state.off ? `${kind}_off` : kind][state.token];
  const leadingOf = (state) => (state.neuron ? null : listed("leading", state));
  const neuronOf = (state) =>
    state.neuron ??
      {
        network: state.network,
        index: leadingOf(state)?.neuron ?? strongest(row(`${nameOf(state)} hidden`, state.token)),
      };

  function ffn(state) {
    const name = nameOf(state), shown = listed("ffn", state), neuron = neuronOf(state);
    const vectors = Object.fromEntries(
      shown.stages.map((stage) => [stage.name, row(`${name} ${stage.name}`, state.token)]),
    );
    if (state.off) vectors.total = vectors.stream; // which passes the FFN by
    // A file has no other page.
    const stages = shown.stages.map((stage) => ({ ...stage, door: "" }));
    const order = state.order === "index"
      ? orderOf(name, "index")
      : descending(row(`${name} pre`, state.token));
    return {
      ...shown, stages, neuron: neuron.network === state.network ? neuron.index : null,
      off: state.off, arrays: { ...vectors, order },
    };
  }

  function maps(state) {
    const view = views[nameOf(state)], { network, index } = neuronOf(state), vectors = {};
    const shown = view.maps.maps.map((map) => {
      const name = `${map.name} ${view.blocks[map.name]}`;
      vectors[`${map.name}.hidden`] = arrays[`${name} hidden`];
      vectors[`${map.name}.order`] = orderOf(name, state.order);
      return { ...map, column: null, token: view.tokens[map.name][state.token] };
    });
    return {
      ...view.maps, maps: shown, neuron: { map: network, neuron: index }, order: state.order,
      stays: true, arrays: vectors,
    };
  }

  function written(name, index) {
    const at = arrays[`${name} writers`]?.indexOf(index) ?? -1;
    return at < 0 ? [] : Array.from(row(`${name} writes`, at), (word) => words[word]);
  }

  function card(state) {
    const { network, index } = neuronOf(state), view = views[nameOf(state)];
    const name = `${network} ${view.blocks[network]}`, own = cards[name];
    const values = own.texts.map((_, token) => row(`${name} hidden`, token)[index]);
    const most = strongest(values);
    const said = Math.abs(values[most]) > own.threshold ? own.awake : own.asleep;
    const spans = leadingOf(state)?.spans ?? said.map(([text, kind]) => [
      kind.startsWith("number") ? signed(values[most]) : text.replace(SLOT, own.texts[most]),
      kind,
    ]);
    const isOff = isSilenced(state.silenced ?? [], { network, index, block: view.blocks[network] });
    return {
      action: state.silenced && (isOff ? "Switch it on again" : "Switch it off"),
      title: own.title.replace(/:\d+/, `:${index}`), texts: own.texts, values,
      token: view.tokens[network][state.token], words: written(name, index),
      head: { ...own.head, spans }, stays: true,
    };
  }

  // The sentences that activate the neuron most, where they go along.
  function examples(state) {
    const { network, index } = neuronOf(state);
    const name = `${network} ${views[nameOf(state)].blocks[network]}`;
    const { heads, passages } = journey.examples,
      [places, values, [head]] = ["examples", "example values", "example heads"]
        .map((kind) => row(`${name} ${kind}`, index));
    const rows = Array.from(places).flatMap((place, at) =>
      (place ? [[signed(values[at] / 100), ...passages[place - 1]]] : []));
    return { rows, head: heads[head] };
  }

  const chips = (state) => ({
    ...views[nameOf(state)].chips, chosen: state.token, stays: !journey.live,
  });
  const prediction = (state) => listed("prediction", state);
  const pictures = {
    chips, ffn_picture: ffn, bars: prediction, activation_map: maps, neuron_card: card,
  };
  return { pictures: journey.examples ? { ...pictures, passages: examples } : pictures, neuronOf };
}

// A row of buttons, one of which is pressed.
function makeChoice(label, choose) {
  const box = element("div", { class: "choice", role: "group", "aria-label": label });
  return {
    box,
    update(options, chosen) {
      box.hidden = options.length < 2;
      each(box, options, () => element("button", { type: "button" }), (button, [value, text]) => {
        button.textContent = text;
        button.setAttribute("aria-pressed", String(value === chosen));
        button.onclick = () => choose(value);
      });
    },
  };
}

/**
 * Makes the pictures and what is chosen with.
 *
 * @param recorded the header that journey.py made, with `arrays` and `shapes`
 * @param hide called with a token whose word is to be hidden; a file has none
 * @param {((part: object) => void) | null} want called with what is chosen of a state, to show it;
 *   if missing, the data have all that can be chosen
 */
export function makeJourney(recorded, want = null, edits = {}) {
  let data = recorded, make = makeData(data, data.arrays, data.shapes);
  let state = { ...recorded.start };
  function take(next) {
    data = next;
    make = makeData(data, data.arrays, data.shapes);
  }
  const blocksOf = (network) => data.networks.find(({ id }) => id === network).n_blocks;
  // A state with another part; a network with fewer blocks shows its last.
  function changed(before, part) {
    const next = { ...before, ...part };
    return { ...next, block: Math.min(next.block, blocksOf(next.network) - 1) };
  }
  const go = want ?? ((part) => show(changed(state, part)));
  const chooseNetwork = (network) => go({ network });
  const networks = makeChoice("Network", chooseNetwork);
  const blocks = makeChoice("Block", (block) => go({ block }));

  const goTo = ({ map, neuron, token }) =>
    go({ neuron: { network: map, index: neuron }, token: ownToken(map, token) });
  const asks = {
    token: (token) => go({ token }),
    neuron: (chosen) => (typeof chosen === "number"
      ? go({ neuron: { network: state.network, index: chosen } })
      : goTo(chosen)),
    order: (order) => go({ order }),
    cell: goTo,
    off: (off) => go({ off }),
    ...edits,
    meet: ({ token }) => {
      if (token === null) toggle();
      else go({ token: ownToken((state.neuron ?? state).network, token) });
    },
  };
  // The token of the network that drives the page which reads what another's token reads.
  function ownToken(network, token) {
    const places = data.views[`${state.network} ${state.block}`].tokens[network];
    return Math.max(0, places.indexOf(token));
  }

  // Switches the neuron that is shown off, or on again; it stays the one that is shown.
  function toggle() {
    const neuron = make.neuronOf(state);
    const { blocks: shown } = data.views[`${state.network} ${state.block}`];
    const one = { ...neuron, block: shown[neuron.network] }, { silenced } = state;
    const others = silenced.filter((other) => !isSilenced([other], one));
    go({ neuron, silenced: others.length < silenced.length ? others : [...silenced, one] });
  }

  const hosts = Object.fromEntries(
    Object.keys(make.pictures).map((name) => [name, element("div", { class: `picture ${name}` })]),
  );
  const pictures = Object.entries(hosts).map(([name, host]) => ({
    name, host, picture: mount(host, name, (event, value) => asks[event]?.(value)),
  }));

  function show(next) {
    state = next;
    networks.update(data.networks.map(({ id, label }) => [id, label]), state.network);
    blocks.update(
      Array.from({ length: blocksOf(state.network) }, (_, block) => [block, `block ${block + 1}`]),
      state.block,
    );
    const stamp = JSON.stringify(state);
    for (const { name, host, picture } of pictures) {
      const shown = make.pictures[name](state);
      host.hidden = shown === null; // a network without a word head says nothing
      if (shown !== null) picture.update({ ...shown, stamp });
    }
  }

  return {
    choices: [networks.box, blocks.box],
    element: element(
      "div", { class: recorded.examples ? "journey with-examples" : "journey" },
      ...Object.values(hosts),
    ),
    take, // other data, of which a state is then shown
    changed,
    has: ({ network, block, token, sentence, silenced }) =>
      sentence === data.sentence &&
      JSON.stringify(silenced) === JSON.stringify(data.silenced) &&
      Boolean(data.views[`${network} ${block}`]?.ffn[token]),
    show: (wanted = data.start) => show({ ...wanted }),
    about: () =>
      `${data.networks.find(({ id }) => id === state.network).label} · block ${state.block + 1}`,
  };
}

export function play(body, data) {
  const journey = makeJourney(data);
  aboutFrom(() => [data.sentence, `ffnviz · ${journey.about()}`]);
  body.append(
    element(
      "header", { class: "top" }, element("b", { text: "ffnviz" }),
      element("h1", {}, element("bdi", { text: data.sentence })), ...journey.choices,
    ),
    element("main", {}, journey.element),
    element("footer", {}, ...data.says.map((text) => element("p", { text }))),
  );
  journey.show();
}

// A bet before a trial. Alone one's bet stands in the link; in a class bets are counted without names,
// and shown to all once the lecturer begins.

import { complain, countsOf, follows, isRevealed, leads, onClass, send, voteOf, vote, waits, WAITS } from "./classroom_connection.js";
import { element, setText } from "./element.js";
import { sum } from "./numbers.js";
import { drawOptions } from "./vote_question.js";

/**
 * What `Bet` sends.
 *
 * @typedef {{
 *   ask: string, options: string[], bet: number | null, scene: number, begun: boolean,
 *   outcome: number | null
 * }} Data
 */

export function mount(tell) {
  const ask = element("span", { class: "ask" }), status = element("span", { class: "status", role: "status" });
  const options = element("span", { class: "options", role: "group", "aria-label": "Your bet" });
  /** @type {Data} */
  let data;
  let opened = null; // `opened`: the question whose bets were shown to the class
  const stop = onClass(() => { if (data) show(); });

  const own = () => (follows() ? voteOf(data.scene) : data.bet);
  const closed = () => (follows() ? isRevealed(data.scene) : data.begun);

  function place(option) {
    if (!follows()) return tell("bet", option);
    vote(data.scene, option).catch(({ message }) => { status.textContent = message; });
    show();
  }

  function said() {
    const bet = own(), counts = countsOf(data.scene);
    if (data.outcome !== null && closed()) return bet === null ? "" : bet === data.outcome ? "You bet on that." : "You bet otherwise.";
    if (closed()) return "";
    if (follows()) return waits("vote", data.scene) ? WAITS : bet === null ? "Your bet counts, without your name." : "Your bet is in; you may change it until the training begins.";
    if (!leads()) return "";
    const n = sum(counts ?? []);
    return `${n} ${n === 1 ? "bet" : "bets"} of the class.`;
  }

  function show() {
    const counts = closed() ? countsOf(data.scene) : null, bet = own();
    setText(ask, data.ask);
    const make = () => element("button", { type: "button" }, element("span"), element("small"));
    const state = { right: data.outcome, chosen: bet, isOpen: !closed(), choose: place };
    drawOptions(options, data.options, make, state, (button, at) => {
      button.lastChild.textContent = counts ? String(counts[at]) : "";
    });
    const words = said();
    setText(status, words);
    if (leads() && data.begun && opened !== data.scene && !isRevealed(data.scene)) {
      opened = data.scene;
      send("reveal", { scene: data.scene }).catch(({ message }) => complain(message));
    }
  }

  return {
    element: element("div", { class: "bet" }, ask, options, status),
    /** @param {Data} next */
    update(next) {
      data = next;
      show();
    },
    destroy: stop,
  };
}

// What people believe: a question that is voted on, and a bet before a trial.

import {
  countsOf, follows, isRevealed, leads, onClass, reveal, together, vote as sendVote,
  voteOf as voteInClass, WAITS, waits,
} from "./classroom_connection.js";
import { each, element, oneStop, setText } from "./element.js";
import { kept } from "./local_storage.js";
import { stretch } from "./motion.js";
import { sum } from "./numbers.js";

/** @import { Head, Span } from "./head.js" */

// A question: vote, see the experiment, vote again, hear why. Alone one's votes stand in the link;
// in a class they are counted without names, and the lecturer leads from step to step. Its options
// are drawn as those of a scene's question and of a bet.

const KNOWN = "ffnviz-shown-answers"; // in this tab: a lecturer who reloads keeps the gains
const known = shownBefore(); // question → what is right, once that was shown
const percent = (share) => `${Math.round(100 * share)}%`;

// Hake's gain of two shares of right answers; null where all were right before.
export const gain = (before, after) => (before >= 1 ? null : (after - before) / (1 - before));
const written = (value) => (value === null ? "–" : value.toFixed(2).replace("-", "−"));

function shownBefore() {
  try {
    return new Map(JSON.parse(kept("sessionStorage", KNOWN) ?? "[]"));
  } catch {
    return new Map(); // something else stands there
  }
}

function keep(answers) {
  answers.forEach((answer, at) => { if (answer !== null) known.set(at, answer); });
  kept("sessionStorage", KNOWN, JSON.stringify([...known]));
}

/** @typedef {{ did: Span[], rows: [string, string, number | null][] }} Experiment */

/**
 * What `vote_cell` sends.
 *
 * @typedef {{
 *   at: number, ask: Span[], options: string[], answers: (number | null)[], step: string,
 *   experiment: Experiment | null, missing: string, why: string, leads: string, head: Head,
 *   believed: string[], votes: [number | null, number | null][], scene: number
 * }} VoteQuestionData
 */

export function mountVoteQuestion(tell) {
  const nav = element("div", { class: "all", role: "group", "aria-label": "Questions" });
  const oneOf = oneStop(nav, "button:enabled");
  const ask = element("p", { class: "ask" });
  const options = element("div", { class: "options", role: "group", "aria-label": "Your vote" });
  const did = element("p", { class: "did" });
  const rows = element("div", { class: "rows" });
  const seen = element(
    "div", { class: "seen" }, element("h3", { text: "The experiment" }), rows, did,
  );
  const why = element("p", { class: "why" });
  const status = element("p", { class: "status", role: "status" });
  const further = element("button", { type: "button", onclick: () => tell("lead", true) });
  const next = element("button", { type: "button", class: "next" });
  const back = element("button", { type: "button", text: "← Back" });
  const both = element(
    "div", { class: "both" },
    element(
      "div", { class: "own" }, options, status, why,
      element("div", { class: "buttons" }, back, next, further),
    ),
    seen,
  );
  const summary = element("table", {}), total = element("p", { class: "total" });
  const gains = element(
    "details", { class: "gains" }, element("summary", { text: "Before, after, and the gain" }),
    total, summary,
  );
  /** @type {VoteQuestionData} */
  let data;
  const stop = onClass(() => { if (data) show(); });

  const sceneOf = (at, round) => data.scene + 2 * at + round;
  const votesOn = (at, round) => countsOf(sceneOf(at, round));
  const voteOf = (at, round) =>
    (follows() ? voteInClass(sceneOf(at, round)) : data.votes[at][round]);
  const answerOf = (at) => data.answers[at] ?? known.get(at) ?? null;
  const round = () => (data.step === "ask" ? 0 : 1);

  function vote(option) {
    if (!follows()) return tell("vote", { round: round(), option });
    sendVote(sceneOf(data.at, round()), option).catch(({ message }) => {
      status.textContent = message;
    });
    show();
  }

  function go(at, step) {
    if (leads() && step === "why") [0, 1].forEach((which) => reveal(sceneOf(at, which)));
    tell("step", { at, step });
  }

  // What share was right in a round: of a class, or of oneself; null if nobody has voted.
  function share(at, which) {
    const answer = answerOf(at), counts = votesOn(at, which);
    if (answer === null) return null;
    if (together()) return counts && sum(counts) ? counts[answer] / sum(counts) : null;
    const own = data.votes[at][which];
    return own === null ? null : Number(own === answer);
  }

  function showGains() {
    const all = data.believed.map((words, at) =>
      [`${at + 1}. ${words}`, share(at, 0), share(at, 1)]);
    const found = all.filter(([, before, after]) => before !== null && after !== null);
    gains.hidden = data.step !== "why" || found.length === 0;
    if (gains.hidden) return;
    const mean = (which) => sum(found.map((row) => Number(row[which]))) / found.length;
    const [before, after] = [mean(1), mean(2)];
    const questions = `${found.length} ${found.length === 1 ? "question" : "questions"}`;
    const shares = `${percent(before)} right before, ${percent(after)} after`;
    total.textContent = `${questions}: ${shares}; gain ${written(gain(before, after))}.`;
    const line = (tag, texts) => element("tr", {}, ...texts.map((text) => element(tag, { text })));
    summary.replaceChildren(
      element("thead", {}, line("th", ["often believed", "before", "after", "gain"])),
      element(
        "tbody", {},
        ...found.map(([words, first, second]) =>
          line("td", [words, percent(first), percent(second), written(gain(first, second))])
        ),
      ),
    );
  }

  function said() {
    const { step, at } = data, answer = data.answers[at], vote = voteOf(at, round());
    if (follows() && step !== "why") {
      return waits("vote", sceneOf(at, round()))
        ? WAITS
        : vote === null
        ? "Your vote counts, without your name."
        : "Your vote is in; you may change it until the lecturer goes on.";
    }
    if (leads() && step !== "why") {
      const votes = sum(votesOn(at, round()) ?? []);
      return `${votes} ${votes === 1 ? "vote" : "votes"}.`;
    }
    if (step === "ask") return "Vote first; then the experiment runs on this sentence.";
    if (step === "see") return "Look at the numbers, and vote again.";
    if (answer === null) return "";
    if (leads() || vote === null) return `Right: ${data.options[answer]}.`;
    const first = voteOf(at, 0);
    return vote === answer
      ? (first === answer ? "Right, both times." : "Right this time. What changed your mind?")
      : "Not quite.";
  }

  function showButtons() {
    const { at, step, believed } = data, last = at === believed.length - 1;
    next.hidden = follows() || (!leads() && step !== "why") || (step === "why" && last);
    next.textContent = step === "why"
      ? "Next question →"
      : step === "ask"
      ? "See the experiment →"
      : "Show the answer →";
    next.onclick = () =>
      (step === "why" ? go(at + 1, "ask") : go(at, step === "ask" ? "see" : "why"));
    back.hidden = follows() || (step === "ask" && at === 0);
    back.onclick = () =>
      (step === "ask" ? go(at - 1, "why") : go(at, step === "why" ? "see" : "ask"));
    further.hidden = step !== "why" || follows();
    further.textContent = `More: ${data.leads}`;
  }

  function showOptions() {
    const { at, step } = data, open = step !== "why", answer = open ? null : data.answers[at];
    const counted = [0, 1].map((which) => (open ? null : votesOn(at, which)));
    const state = {
      right: answer, chosen: voteOf(at, round()), isOpen: open && !leads(), choose: vote,
    };
    drawOptions(options, data.options, makeOption, state, (button, place) => {
      button.lastChild.textContent = counted.every(Boolean)
        ? counted.map((each) => each?.[place]).join(" → ")
        : "";
    });
  }

  function showExperiment() {
    const { experiment, step } = data;
    seen.hidden = step === "ask";
    both.classList.toggle("seeing", !seen.hidden);
    if (seen.hidden) return;
    did.replaceChildren(...spans(experiment ? experiment.did : [[data.missing, "plain"]]));
    const make = () =>
      element(
        "div", { class: "row" }, element("span"), element("b"),
        element("i", { "aria-hidden": "true" }, element("i")),
      );
    each(rows, experiment?.rows ?? [], make, (row, [name, number, part]) => {
      const [label, value, track] = row.children;
      label.textContent = name;
      value.textContent = number;
      track.classList.toggle("none", part === null);
      stretch(track.firstChild, 0, Math.min(1, part ?? 0));
    });
  }

  const spans = (parts) =>
    parts.map(([text, kind]) =>
      element(kind === "typed" ? "bdi" : "span", { class: kind.split("@")[0], text })
    );

  function show() {
    const make = (at) => element("button", { type: "button", onclick: () => go(at, "ask") });
    each(nav, data.believed, make, (button, _words, at) => {
      const after = together() ? null : share(at, 1);
      const sign = after === null ? "" : after === 1 ? " ✓" : " ✗";
      button.textContent = `${at + 1}${sign}`;
      button.disabled = follows();
      button.setAttribute("aria-current", String(at === data.at));
      button.setAttribute("aria-label", `Question ${at + 1} of ${data.believed.length}`);
    });
    oneOf(data.at);
    ask.replaceChildren(...spans(data.ask));
    showOptions();
    showExperiment();
    why.textContent = data.why;
    why.hidden = !data.why;
    const words = said();
    setText(status, words);
    showButtons();
    showGains();
  }

  return {
    element: element("div", { class: "vote" }, nav, ask, both, gains),
    /** @param {VoteQuestionData} next_ */
    update(next_) {
      const moved = data && (data.at !== next_.at || data.step !== next_.step);
      const held = moved && options.querySelector(":focus");
      data = next_;
      keep(data.answers);
      show();
      // Who votes by keyboard goes on where the next thing to do is.
      if (held) (data.step === "why" ? next : options.querySelector("button"))?.focus();
    },
    destroy: stop,
  };
}

// The options of a question as buttons: which is chosen, and which is right once that may be seen.

// With the votes for it.
const makeOption = () => element("button", { type: "button" }, element("span"), element("small"));

/**
 * Shows them.
 *
 * @param {HTMLElement} box that the buttons are in
 * @param {string[]} options
 * @param {() => HTMLElement} make a button whose first child is for its text
 * @param {{
 *   right: number | null, chosen: number | null | undefined, isOpen: boolean,
 *   choose: (option: number) => void
 * }} state `right` is null as long as nobody is told
 * @param {(button: any, option: number) => void} more what else a button shows
 */
export function drawOptions(box, options, make, { right, chosen, isOpen, choose }, more) {
  each(box, options, make, (button, text, at) => {
    button.firstChild.textContent = at === right ? `✓ ${text}` : text;
    button.disabled = !isOpen;
    button.classList.toggle("right", at === right);
    button.classList.toggle("chosen", at === chosen);
    button.setAttribute("aria-pressed", String(at === chosen));
    button.onclick = () => choose(at);
    more(button, at);
  });
}

// A bet before a trial. Alone one's bet stands in the link; in a class bets are counted without
// names, and shown to all once the lecturer begins.

/**
 * What `Bet` sends.
 *
 * @typedef {{
 *   ask: string, options: string[], bet: number | null, scene: number, begun: boolean,
 *   outcome: number | null
 * }} BetData
 */

export function mountBet(tell) {
  const ask = element("span", { class: "ask" });
  const status = element("span", { class: "status", role: "status" });
  const options = element("span", { class: "options", role: "group", "aria-label": "Your bet" });
  /** @type {BetData} */
  let data;
  let opened = null; // `opened`: the question whose bets were shown to the class
  const stop = onClass(() => { if (data) show(); });

  const own = () => (follows() ? voteInClass(data.scene) : data.bet);
  const closed = () => (follows() ? isRevealed(data.scene) : data.begun);

  function place(option) {
    if (!follows()) return tell("bet", option);
    sendVote(data.scene, option).catch(({ message }) => { status.textContent = message; });
    show();
  }

  function said() {
    const bet = own(), counts = countsOf(data.scene);
    if (data.outcome !== null && closed()) {
      return bet === null ? "" : bet === data.outcome ? "You bet on that." : "You bet otherwise.";
    }
    if (closed()) return "";
    if (follows()) {
      return waits("vote", data.scene)
        ? WAITS
        : bet === null
        ? "Your bet counts, without your name."
        : "Your bet is in; you may change it until the training begins.";
    }
    if (!leads()) return "";
    const n = sum(counts ?? []);
    return `${n} ${n === 1 ? "bet" : "bets"} of the class.`;
  }

  function show() {
    const counts = closed() ? countsOf(data.scene) : null, bet = own();
    setText(ask, data.ask);
    const state = { right: data.outcome, chosen: bet, isOpen: !closed(), choose: place };
    drawOptions(options, data.options, makeOption, state, (button, at) => {
      button.lastChild.textContent = counts ? String(counts[at]) : "";
    });
    const words = said();
    setText(status, words);
    if (leads() && data.begun && opened !== data.scene && !isRevealed(data.scene)) {
      opened = data.scene;
      reveal(data.scene);
    }
  }

  return {
    element: element("div", { class: "bet" }, ask, options, status),
    /** @param {BetData} next */
    update(next) {
      data = next;
      show();
    },
    destroy: stop,
  };
}

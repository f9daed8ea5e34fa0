// A scene's question, to be answered before the scene is told: by whoever looks, or by a class. Its
// counts wait for the answer, unless the lecturer wants them seen: whoever sees them votes with the most.

import { WAITS, complain, classroom, onClass, send, together as isTogether, waits } from "./classroom_connection.js";
import { element } from "./element.js";
import { sum } from "./numbers.js";
import { drawOptions } from "./question.js";

const answered = new Map(); // lecture and scene → the option that was chosen, or null if none was
const voted = new Map(); // the same, of a student whose class has not been shown the answer
let early = false; // whether the lecturer's page shows the counts while a question is open
const refused = new Map(); // the same → why the vote does not count
const voteOf = (data) => `${nameOf(data)} ${classroom.removals}`; // a vote that was removed is none
const nameOf = ({ lecture, at }) => `${classroom.code} ${lecture} ${at}`;

// Whether a class answers this question together.
const together = ({ at }) => isTogether() && classroom.now?.scene === at;
const countsOf = ({ at }) => classroom.now?.counts[at] ?? null;

export function makeQuestion(changed) {
  const ask = element("p", { class: "ask" }), options = element("div", { class: "options", role: "group" });
  const verdict = element("p", { class: "verdict", role: "status" });
  const sooner = element("button", { type: "button", class: "early", onclick: () => { early = !early; changed(); } });
  const root = element("div", { class: "question" }, ask, options, verdict, sooner);
  const stop = onClass(changed);

  function choose(data, option) {
    if (answered.has(nameOf(data))) return;
    if (together(data) && classroom.role === "student") {
      const name = voteOf(data);
      voted.set(name, option);
      refused.delete(name);
      send("vote", { scene: data.at, option }).catch(({ message }) => { refused.set(name, message); changed(); });
    } else {
      if (together(data)) send("reveal", { scene: data.at }).catch(({ message }) => complain(message));
      answered.set(nameOf(data), classroom.role === "lecturer" ? null : option);
    }
    changed();
  }

  // What the lecturer has shown is open to all who follow.
  function isOpen(data) {
    if (!data.question) return false;
    const name = nameOf(data);
    if (!answered.has(name) && together(data) && classroom.now?.revealed.includes(data.at)) answered.set(name, voted.get(voteOf(data)) ?? null);
    return !answered.has(name);
  }

  function said(data, open, chosen) {
    const { answer } = data.question, counts = countsOf(data);
    const n = sum(counts ?? []);
    const all = counts ? `${n} ${n === 1 ? "answer" : "answers"}. ` : "";
    if (open && together(data) && classroom.role === "student") {
      if (waits("vote", data.at)) return WAITS;
      if (refused.has(voteOf(data))) return refused.get(voteOf(data));
      return voted.has(voteOf(data)) ? "Your answer is in. You may change it until the lecturer shows the answer." : "Your answer counts, without your name.";
    }
    if (!open && refused.has(voteOf(data))) return all + refused.get(voteOf(data));
    if (open || chosen === null || answer === null) return all;
    return all + (chosen === answer ? "Right." : "Not quite.");
  }

  return {
    element: root,
    isOpen,
    counts: countsOf,
    // Tell the scene though nobody has answered; a student waits for the lecturer.
    show: (data) => { if (!(together(data) && classroom.role === "student")) choose(data, null); },
    update(data, theme, span) {
      const { question } = data;
      root.hidden = !question;
      root.classList.toggle("open", isOpen(data));
      if (!question) return;
      const open = isOpen(data), chosen = open ? voted.get(voteOf(data)) : answered.get(nameOf(data));
      const counts = open && !early ? null : countsOf(data), most = Math.max(1, ...(counts ?? []));
      ask.replaceChildren(...question.ask.map((part) => span(part, theme)));
      const make = () => element("button", { type: "button" }, element("span"), element("b", { class: "count" }), element("i", { "aria-hidden": "true" }));
      const state = { right: open ? null : question.answer, chosen, isOpen: open, choose: (place) => choose(data, place) };
      drawOptions(options, question.options, make, state, (button, place) => {
        const [, count, bar] = button.children;
        count.textContent = counts ? String(counts[place]) : "";
        bar.hidden = !counts;
        button.classList.toggle("uncounted", !counts);
        bar.style.width = counts ? `${(100 * counts[place]) / most}%` : "0";
      });
      verdict.textContent = said(data, open, chosen ?? null);
      verdict.hidden = verdict.textContent === "";
      sooner.hidden = !(open && together(data) && classroom.role === "lecturer");
      sooner.textContent = early ? "Hide the counts" : "Show the counts now";
    },
    destroy: stop,
  };
}

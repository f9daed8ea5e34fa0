// The line of a class: for the lecturer its code and who is there, for a student the way to explore
// alone and back, and a sentence to send.

import {
  attend, base, classroom, complain, onClass, read, send, WAITS, waits,
} from "./classroom_connection.js";
import { element } from "./element.js";

const KEPT = "ffnviz-class"; // the lecturer's secret, in the lecturer's browser
const SPREAD_MS = 1_500; // over which a class loads its pages again
const spoken = (code) => `${code.slice(0, 3)}-${code.slice(3)}`;
const counted = (n, one, many) => `${n} ${n === 1 ? one : many}`;

function kept(value) {
  try {
    if (value === null) localStorage.removeItem(KEPT);
    else if (value) localStorage.setItem(KEPT, JSON.stringify(value));
    return JSON.parse(localStorage.getItem(KEPT) ?? "null");
  } catch {
    return null;
  }
}

let greeted = ""; // the class whose code was shown as it was opened
let asked = false; // whether this page has said what class it led before
const AGAIN_MS = 8_000; // a page that was told of a move and has not followed is told again
// The last of the lecturer's moves that the server was told to follow, and when.
let told = 0, toldAt = 0;

/**
 * What `classroom_cell` sends.
 *
 * @typedef {{
 *   role: string, code: string, secret: string, link: string, qr: string, who: string,
 *   ticket: string, alone: boolean, followed: number, longest: number, just_opened: boolean,
 *   brain: boolean
 * }} Data
 */

export function mount(tell) {
  const button = (text, what, more = {}) =>
    element("button", { type: "button", text, onclick: what, ...more });
  const about = element("span", { class: "about", role: "status" });
  const code = element("b", { class: "code" });
  const show = button("Show the code", () => board.showPopover());
  const brain = button("Class brain", () => tell("ask", "brain"));
  const review = makeReview(() => tell("ask", "look"));
  const wall = button("", () => review.open(), {
    title: "A window of your own: nothing is on the wall before you let it through.",
  });
  const look = button("", () => {
    read = classroom.now?.sentences ?? 0;
    tell("ask", "look");
    paint();
  });
  const door = button("", () => tell("ask", classroom.now?.closed ? "open" : "close"), {
    title: "Those who are in stay in; with the door closed nobody else can join.",
  });
  const remove = sureButton(
    "Remove everybody", "Remove all, with their answers?", () => tell("ask", "remove"),
  );
  remove.title = "Against strangers: students' pages come back by themselves if the door is open.";
  const end = sureButton("End the class", "End it for all?", () => {
    kept(null);
    tell("ask", "end");
  });
  const alone = button("", () => tell("ask", data.alone ? "back" : "alone"), { class: "main" });
  const leave = button("Leave the class", () => tell("ask", "left"));
  const text = element("input", {
    type: "text", "aria-label": "Your sentence for the class",
    placeholder: "Your sentence for the class", autocomplete: "off",
  });
  const sendIt = element("button", { type: "submit", text: "Send" });
  const outcome = element("span", { class: "outcome", role: "status" });
  const form = element("form", {}, text, sendIt, outcome);
  // A code that was typed goes the way of the link; a wrong one can be typed again.
  const typed = element("input", {
    type: "text", "aria-label": "Code of the class", placeholder: "Code of the class",
    maxlength: "40", required: true, autocomplete: "off", autocapitalize: "characters",
    spellcheck: "false",
  });
  const join = element(
    "form",
    {
      class: "join",
      onsubmit: (event) => {
        event.preventDefault();
        location.href = new URL(`class?code=${encodeURIComponent(typed.value)}`, base()).href;
      },
    },
    typed,
    element("button", { type: "submit", text: "Join" }),
  );
  const picture = element("img", { alt: "" }), link = element("a", { class: "link" });
  const large = element("b", { class: "large" });
  const board = element(
    "div", { popover: "auto", class: "board", role: "dialog", "aria-label": "Code of the class" },
    picture,
    element(
      "div", { class: "how" },
      element("p", { text: "Follow on your phone or laptop. No account, no name." }), large, link,
      button("Close", () => board.hidePopover()),
    ),
  );
  const root = element(
    "section", { class: "classroom", "aria-label": "Class" }, about, code, show, brain, wall, look,
    door, remove, end, alone, join, leave, form, board,
  );
  /** @type {Data} */
  let data;
  let again = 0;
  let read = null; // how many sentences had come when the class brain last looked

  // What cannot be undone needs two presses.
  function sureButton(text, question, act) {
    let sure = false;
    const it = button(text, () => {
      sure = !sure;
      it.textContent = sure ? question : text;
      if (sure) setTimeout(() => { sure = false; it.textContent = text; }, 4_000);
      else act();
    });
    return it;
  }

  form.onsubmit = async (event) => {
    event.preventDefault();
    const { length } = text.value.trim();
    outcome.textContent = length > data.longest
      ? `That is too long: a sentence has at most ${data.longest} characters, yours has ${length}.`
      : "";
    if (outcome.textContent) return;
    try {
      await send("sentence", { text: text.value });
      outcome.textContent = text.value.trim() ? "Sent; sending again replaces it." : "Taken back.";
    } catch ({ message }) {
      outcome.textContent = message; // what was typed is still there
    }
  };

  function paint() {
    if (!data) return;
    const { role } = data;
    const { now, over, problem } = classroom;
    const lecturer = role === "lecturer";
    const student = role === "student";
    const joining = role === "joining";
    root.hidden = !role;
    if (waits("sentence")) outcome.textContent = WAITS;
    if (lecturer && over) kept(null);
    code.textContent = data.code ? spoken(data.code) : "";
    const people = now ? counted(now.people, "follows", "follow") : "";
    const sent = (now?.sentences ?? 0) + (now?.waiting ?? 0);
    const sentences = counted(sent, "sentence", "sentences");
    const shut = now?.closed ? "; the door is closed" : "";
    if (joining) about.textContent = "Type the code that the lecturer shows. No account, no name.";
    else if (over) about.textContent = problem || "The class is over.";
    else if (problem) about.textContent = problem;
    else if (lecturer) {
      about.textContent = now ? `Your class: ${people}, ${sentences}${shut}` : "Your class";
    } else about.textContent = data.alone ? "You explore alone" : "You follow the lecturer";
    const fresh = now?.waiting ? ` (${now.waiting} new)` : "";
    wall.textContent = `Read the sentences${fresh}`;
    for (const part of [show, brain, wall, door, remove, end]) part.hidden = !lecturer || over;
    if (!data.brain) read = null;
    else read ??= now?.sentences ?? null;
    const more = (now?.sentences ?? 0) - (read ?? 0);
    look.hidden = !lecturer || over || !data.brain;
    look.textContent = more > 0 ? `Refresh (${more} new)` : "Refresh";
    // Who is not in sends nothing.
    for (const part of [alone, form]) part.hidden = !student || over || Boolean(problem && !now);
    join.hidden = !joining && !(student && over);
    leave.hidden = !student && !joining && !(lecturer && over);
    leave.textContent = joining ? "Cancel" : over ? "OK" : "Leave the class";
    alone.textContent = data.alone ? "Back to the class" : "Explore alone";
    door.textContent = now?.closed ? "Open the door" : "Close the door";
    show.disabled = !data.link;
    brain.textContent = data.brain ? "Back to the page" : "Class brain";
    classroom.showCode = lecturer && data.link && !over ? () => board.togglePopover() : null;
    if (data.qr && picture.src !== data.qr) picture.src = data.qr;
    picture.alt = `QR code of ${data.link}`;
    large.textContent = code.textContent;
    link.textContent = data.link;
    link.href = data.link || "#";
    // Whose page is the lecturer's needs little of it: phone.css.
    document.documentElement.toggleAttribute("data-follows", student && !over && !data.alone);
    if (student) follow();
    if (student && classroom.stale) {
      classroom.stale = false;
      if (outcome.textContent) {
        outcome.textContent = "The lecturer has removed all sentences. You can send yours again.";
      }
      tell("ask", "ticket");
    }
    if (data.just_opened && data.link && greeted !== data.code) {
      greeted = data.code;
      board.showPopover();
    }
  }

  // The server says which move the page has followed: a request to follow is lost with the process
  // that got it.
  function follow() {
    const { now, lost } = classroom;
    clearTimeout(again);
    if (!data || !now || data.alone || now.moved <= data.followed) return;
    const wait = now.moved === told ? toldAt + AGAIN_MS - performance.now() : 0;
    if (wait <= 0) {
      [told, toldAt] = [now.moved, performance.now()];
      // A server that was started anew knows nothing of this page: it is loaded again, and follows.
      if (lost) setTimeout(() => location.reload(), SPREAD_MS * Math.random());
      else tell("moved", now.moved);
    }
    again = setTimeout(follow, wait > 0 ? wait : AGAIN_MS);
  }
  const stop = onClass(paint);

  return {
    element: root,
    /** @param {Data} next */
    update(next) {
      data = next;
      if (data.role === "lecturer") {
        kept({ code: data.code, secret: data.secret });
        if (!data.link) tell("resume", { code: data.code, secret: data.secret, base: base() });
      } else if (!data.role && !asked) {
        const before = kept();
        if (before?.code && before?.secret) tell("resume", { ...before, base: base() });
      }
      asked = true;
      classroom.alone = data.alone;
      attend(
        data.role === "joining" ? "" : data.role, data.code, data.secret, data.who, data.ticket,
      );
      paint();
    },
    destroy() {
      clearTimeout(again);
      document.documentElement.removeAttribute("data-follows");
      stop();
      review.stop();
    },
  };
}

// The lecturer's window for sentences: this page reads them, as only it has the secret, and the
// window shows them.

const channelName = `ffnviz-review-${Math.random().toString(36).slice(2)}`;

/** @param changed called when what is on the wall is another */
function makeReview(changed) {
  let channel = null, seen = ""; // what the window was told last, by the class's numbers

  async function post() {
    seen = now();
    // The line says what is wrong.
    await read("sentences").then((sentences) => channel?.postMessage({ sentences }), () => {});
  }
  const now = () => `${classroom.code} ${classroom.now?.revision}`;
  const stop = onClass(() => {
    if (channel && classroom.role === "lecturer" && seen !== now()) post();
  });

  function listen() {
    if (channel) return;
    channel = new BroadcastChannel(channelName);
    channel.onmessage = async ({ data }) => {
      if (data.ready) return post();
      if (!data.wall) return;
      await send("wall", data.wall).then(changed, ({ message }) => complain(message));
      post();
    };
  }

  return {
    open() {
      listen();
      const address = new URL("./review.html", import.meta.url);
      address.hash = channelName;
      open(address, channelName, "popup,width=900,height=700");
    },
    stop() {
      stop();
      channel?.close();
      channel = null;
    },
  };
}

// The browser's end of a class: what the server tells all who follow, and what they send.

const AGAIN_MS = [500, 1_000, 2_000, 5_000]; // between two tries to reach a server that is gone
// Between two tries to send something, and for how long one waits.
const RETRY_MS = 1_500, ANSWERS_MS = 10_000;
/** @type {Set<() => void>} */
const listeners = new Set();

/**
 * What the server tells; what the lecturer alone is told is null for all others.
 *
 * @typedef {object} LiveClass
 * @property {number | null} revision grows with every change of any kind
 * @property {number} moved grows when the lecturer goes elsewhere
 * @property {number | null} scene where the lecturer is
 * @property {number[]} revealed the scenes whose answers were shown
 * @property {Record<string, number[]>} counts answers by scene and option
 * @property {number} people how many follow
 * @property {number | null} sentences how many are on the wall
 * @property {number | null} waiting how many were sent in and are not on the wall
 * @property {boolean} closed whether nobody else is let in
 */

/**
 * `lost` says that the server was gone for a while: the page's own session is gone with it.
 * `stale` says that the page's session has to be asked for another ticket.
 * `removals` counts how often everybody was removed, with their answers.
 * `showCode` shows the code of a class that this page leads.
 *
 * @type {{
 *   role: string, code: string, alone: boolean, now: LiveClass | null, problem: string, over:
 *   boolean, lost: boolean, stale: boolean, removals: number, showCode: (() => void) | null
 * }}
 */
export const classroom = {
  role: "", code: "", alone: false, now: null, problem: "", over: false, lost: false, stale: false,
  removals: 0, showCode: null,
};
let secret = "", tries = 0;
/** @type {AbortController | null} */
let connection = null;

// The page's own folder: pages stand side by side in it.
export const base = () => new URL("./", location.href).href;

// Who this is: a random text and a ticket for the class, which the page's session was given; no
// name. This tab alone keeps them, so that who loads the page again is the same.
const KEPT = "ffnviz-ticket";
/** @type {{ code: string, who: string, ticket: string }} */
let given;

function mine() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (kept?.code === classroom.code) return kept;
  if (given.ticket) sessionStorage.setItem(KEPT, JSON.stringify(given));
  return given;
}

/**
 * Calls back with whatever is new, until the returned function is called.
 *
 * @param {() => void} listener
 */
export function onClass(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
const changed = () => listeners.forEach((listener) => listener());
/** @param {number} wait about how long, so that a class does not come all at once */
const later = (wait) => new Promise((done) => { setTimeout(done, wait * (0.5 + Math.random())); });

const headers = (more = {}) => (secret ? { ...more, "X-Ffnviz-Lecturer": secret } : more);
/** @param {string} what */
const address = (what) => new URL(`class/${classroom.code}/${what}`, base());

/** @type {Map<string, object>} */
const newest = new Map(); // of what was sent, the last of each kind
/** @type {Set<string>} */
const unsent = new Set(); // the kinds that wait for the network
export const WAITS = "No connection. It is sent as soon as there is one.";
/**
 * Whether something that was sent waits for the network.
 *
 * @param {string} what
 * @param {number | string} number the scene it is about
 */
export const waits = (what, number = "") => unsent.has(`${what} ${number}`);

// Of each kind, what was sent last: two on their way at once may overtake each other.
/** @type {Map<string, Promise<void>>} */
const underWay = new Map();

/**
 * Sends the class something, again and again while there is no network; the newest of a kind goes
 * in place of those before.
 *
 * @param {string} what
 * @param {{ scene?: number, number?: number, [more: string]: any }} sent
 */
export function send(what, sent) {
  const kind = `${what} ${sent.scene ?? sent.number ?? ""}`;
  newest.set(kind, sent);
  const { code } = classroom;
  const turn = (underWay.get(kind) ?? Promise.resolve()).then(() =>
    deliver(what, kind, sent, code)
  );
  underWay.set(kind, turn.catch(() => {}));
  return turn;
}

/**
 * @param {string} what
 * @param {string} kind
 * @param {object} sent
 * @param {string} code the class that it is for
 */
async function deliver(what, kind, sent, code) {
  if (classroom.code !== code) return;
  const post = () => {
    const given = new AbortController(), late = setTimeout(() => given.abort(), ANSWERS_MS);
    return fetch(address(what), {
      method: "POST", headers: headers({ "Content-Type": "application/json" }),
      signal: given.signal,
      body: JSON.stringify({ who: classroom.role === "student" ? mine().who : "", ...sent }),
    }).finally(() => clearTimeout(late));
  };
  let answer = await post().catch(() => null);
  while (!answer) {
    if (!unsent.has(kind)) {
      unsent.add(kind);
      changed();
    }
    await later(RETRY_MS);
    if (newest.get(kind) !== sent) return;
    if (classroom.code !== code || classroom.over) break;
    answer = await post().catch(() => null);
    if (newest.get(kind) !== sent) return;
  }
  if (unsent.delete(kind)) changed();
  if (answer && !answer.ok) {
    throw new Error(
      (await answer.json().catch(() => ({}))).why ?? `The server answered ${answer.status}.`,
    );
  }
}

/**
 * What the class keeps for its lecturer.
 *
 * @param {string} what
 */
export async function read(what) {
  const answer = await fetch(address(what), { headers: headers(), cache: "no-store" }).catch(() => {
    throw new Error("No connection.");
  });
  if (!answer.ok) {
    throw new Error(
      (await answer.json().catch(() => ({}))).why ?? `The server answered ${answer.status}.`,
    );
  }
  return answer.json();
}

// What a class does together: who leads, who follows, and its votes, which have a number each.
export const together = () =>
  Boolean(classroom.role && classroom.now && !classroom.over && !classroom.alone);
export const follows = () => together() && classroom.role === "student";
export const leads = () => together() && classroom.role === "lecturer";
/** @param {number} number */
export const countsOf = (number) => (together() ? classroom.now?.counts[number] ?? null : null);
/** @param {number} number */
export const isRevealed = (number) =>
  together() && Boolean(classroom.now?.revealed.includes(number));
/** @type {Map<string, number>} */
const votes = new Map(); // class and number → a student's vote
/** @param {number} number */
const nameOf = (number) => `${classroom.code} ${number}`;
/** @param {number} number */
export const voteOf = (number) => votes.get(nameOf(number)) ?? null;

/**
 * @param {number} number
 * @param {number} option
 */
export function vote(number, option) {
  votes.set(nameOf(number), option);
  return send("vote", { scene: number, option });
}

/**
 * Shows what went wrong in the line of the class, until something new is received.
 *
 * @param {string} message
 */
export function complain(message) {
  classroom.problem = message;
  changed();
}

/**
 * Shows all who follow what was answered in a scene.
 *
 * @param {number} scene
 */
export function reveal(scene) {
  send("reveal", { scene }).catch(({ message }) => complain(message));
}

/** @param {string} block */
function heard(block) {
  if (/^event: over/m.test(block)) {
    classroom.over = true;
    changed();
    return;
  }
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (!data) return;
  classroom.now = JSON.parse(data);
  classroom.problem = "";
  changed();
}

/** @param {AbortController} controller */
async function listen(controller) {
  const used = secret ? null : mine();
  const [url, sent] = secret
    ? [address("events"), headers()]
    : [`${address("events")}?who=${used.who}`, { "X-Ffnviz-Ticket": used.ticket }];
  const answer = await fetch(url, { headers: sent, signal: controller.signal, cache: "no-store" });
  if (!answer.ok) {
    const { why, stale } = await answer.json().catch(() => ({}));
    if (stale) sessionStorage.removeItem(KEPT);
    // If it is not the one that was used, the page has another already.
    classroom.stale = Boolean(stale) && used.ticket === given.ticket;
    if (classroom.stale) classroom.removals += 1;
    classroom.problem = stale ? "" : why ?? `The server answered ${answer.status}.`;
    classroom.over = answer.status === 404;
    changed();
    return;
  }
  tries = 0;
  const body = /** @type {ReadableStream} */ (answer.body);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = "", part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = (rest + part.value).split("\n\n");
    rest = blocks.pop() ?? "";
    blocks.forEach(heard);
  }
}

/** @param {AbortController} controller */
async function keepListening(controller) {
  while (!controller.signal.aborted && !classroom.over) {
    await listen(controller).catch(() => {
      classroom.lost ||= classroom.now !== null && !controller.signal.aborted;
    });
    if (controller.signal.aborted || classroom.over) return;
    const wait = AGAIN_MS[Math.min(tries++, AGAIN_MS.length - 1)];
    await later(wait);
  }
}

/**
 * Takes part in a class, or in none; called again with the same arguments it changes nothing.
 *
 * @param {string} role
 * @param {string} code
 * @param {string} key the lecturer's secret
 * @param {string} who
 * @param {string} ticket
 */
export function attend(role, code, key, who, ticket) {
  given = { code, who, ticket };
  if (classroom.role === role && classroom.code === code && secret === key) return;
  connection?.abort();
  connection = null;
  Object.assign(classroom, {
    role, code, now: null, problem: "", over: false, lost: false, stale: false,
  });
  secret = key;
  tries = 0;
  if (!role) return changed();
  connection = new AbortController();
  keepListening(connection);
  changed();
}

// The text of the files beside this one: style sheets, notes, palettes. A page that must do without
// a server hands over another reader.

/** @type {(name: string) => Promise<string>} */
let readText = async (name) => {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name} could not be read (${answer.status}).`);
  return answer.text();
};
/** @type {Map<string, Promise<string>>} */
const texts = new Map();

/** @param {(name: string) => Promise<string>} reader */
export function readFrom(reader) {
  readText = reader;
}

/**
 * Texts that came with the scripts are asked for nowhere.
 *
 * @param {Record<string, string>} known
 */
export function keep(known) {
  for (const [name, text] of Object.entries(known)) texts.set(name, Promise.resolve(text));
}

/**
 * Each file is read once; one that could not be read is tried again when next asked for.
 *
 * @param {string} name
 * @returns {Promise<string>}
 */
export function read(name) {
  if (!texts.has(name)) {
    const text = readText(name);
    texts.set(name, text);
    text.catch(() => texts.delete(name));
  }
  return /** @type {Promise<string>} */ (texts.get(name));
}

// What a person has changed and the server has not yet answered: who moves fast is ahead of what comes back.

/**
 * @template State
 * @param {(state: State) => string} keyOf gives a text that two equal states share
 */
export function makeUnanswered(keyOf) {
  /** @type {string[]} */
  let keys = [];
  return {
    /**
     * Says that a state was sent.
     *
     * @param {State} state
     */
    add(state) { keys.push(keyOf(state)); },
    /**
     * Whether newer states than this one, which has come back, are on their way.
     *
     * @param {State} state
     */
    overtakes(state) {
      const at = keys.lastIndexOf(keyOf(state));
      keys = at < 0 ? [] : keys.slice(at + 1);
      return keys.length > 0;
    },
  };
}

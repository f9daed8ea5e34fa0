// What a person has changed and the server has not yet answered: who moves fast is ahead of what comes back.

/**
 * @param keyOf gives a text that two equal states share
 */
export function makeUnanswered(keyOf) {
  let keys = [];
  return {
    // Says that a state was sent.
    add(state) { keys.push(keyOf(state)); },
    // Whether newer states than this one, which has come back, are on their way.
    overtakes(state) {
      const at = keys.lastIndexOf(keyOf(state));
      keys = at < 0 ? [] : keys.slice(at + 1);
      return keys.length > 0;
    },
  };
}

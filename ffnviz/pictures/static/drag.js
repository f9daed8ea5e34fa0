// What is dragged: lines of a list by a handle, with a mouse or a finger or the arrow keys; and what the server
// has not yet heard of it.

import { element } from "./element.js";

const STEPS = { ArrowUp: -1, ArrowDown: 1 };

/**
 * Makes the handles of a list.
 *
 * @param list whose children are the lines, each with its handle as its last child
 * @param move called with the place of a line and the place that it goes to
 */
export function reordering(list, move) {
  let drag = null, focused = null; // the handle that has moved with its line

  function go(from, to) {
    if (from === to || to < 0 || to >= list.children.length) return;
    focused = to;
    move(from, to);
  }
  // Where the line would stand if it were let go now: before the first whose middle is below.
  function placeAt(y) {
    const others = [...list.children].filter((_, at) => at !== drag.from);
    const before = others.findIndex((line) => { const { top, height } = line.getBoundingClientRect(); return y < top + height / 2; });
    return before < 0 ? others.length : before;
  }
  function show() {
    [...list.children].forEach((line, at) => {
      line.classList.toggle("dragged", at === drag?.from);
      line.classList.toggle("before", Boolean(drag) && at === drag.to && drag.to < drag.from);
      line.classList.toggle("after", Boolean(drag) && at === drag.to && drag.to > drag.from);
    });
  }
  function stop(moves) {
    const done = drag;
    drag = null;
    show();
    if (done && moves) go(done.from, done.to);
  }

  return {
    handle(at) {
      const handle = element("button", {
        type: "button", class: "handle", text: "⠿", title: "Drag it, or move it with ↑ and ↓",
        onpointerdown: (event) => {
          event.preventDefault();
          handle.setPointerCapture(event.pointerId);
          handle.focus();
          drag = { from: at, to: at };
          show();
        },
        onpointermove: ({ clientY }) => {
          if (!drag) return;
          drag.to = placeAt(clientY);
          show();
        },
        onpointerup: () => stop(true),
        onpointercancel: () => stop(false),
        onkeydown: (event) => {
          if (event.key === "Escape") stop(false);
          const by = STEPS[event.key];
          if (!by) return;
          event.preventDefault();
          go(at, at + by);
        },
      });
      return handle;
    },
    cancel() { drag = null; },
    // Once the list stands in its new order.
    settle() {
      show();
      if (focused !== null) list.children[focused]?.lastChild.focus();
      focused = null;
    },
  };
}

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

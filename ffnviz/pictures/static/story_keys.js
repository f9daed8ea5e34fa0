// What keys do in a lecture: a clicker sends PageDown and PageUp, and B blanks the screen.

const TALK = {
  ArrowRight: "forward", PageDown: "forward", " ": "forward", Enter: "forward", ArrowLeft: "back", PageUp: "back",
  Home: "first", End: "last", b: "blank", ".": "blank", g: "list", e: "explore", n: "notes", c: "code", p: "present", Escape: "present",
};
const ALWAYS = { p: "present", g: "list" };
const EXPLORING = { Escape: "explore", e: "explore", n: "notes", p: "present" };

const EDITABLE = "input, textarea, select, [contenteditable=true], [role=combobox], [role=textbox]";
const TAKES_ARROWS = "[role=application], [role=radio], [role=slider], .plot";
const ARROWS = /^(Arrow|Home|End)/;

/**
 * Listens on the whole page until stopped.
 *
 * @param data what the scene is now
 * @param isBlank, isListed whether the screen is black, whether the scenes are listed
 * @param act called with what a key asks for
 */
export function listenToKeys(data, isBlank, isListed, act) {
  // A control that a mouse has pressed keeps the focus, but a key that follows is meant for the talk.
  let byKeyboard = false;
  const pressed = () => { byKeyboard = false; };
  function onKey(event) {
    if (event.key === "Tab") byKeyboard = true;
    const shown = data(), target = event.composedPath()[0];
    if (!shown || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (target.matches?.(EDITABLE)) return;
    const talk = shown.presenting && !shown.exploring;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    let what = (talk ? TALK : shown.exploring ? EXPLORING : ALWAYS)[key];
    if (!what) return;
    if (isBlank()) what = "blank"; // whatever is pressed, light comes back first
    else if (isListed() && key !== "g") return; // the list has the keys
    else if (byKeyboard || !talk) {
      if (target.matches?.("button, a, [role=button]") && (key === " " || key === "Enter")) return;
      if (target.matches?.(TAKES_ARROWS) && (ARROWS.test(key) || key === "Enter")) return;
    }
    event.preventDefault();
    event.stopPropagation();
    act(what);
  }
  addEventListener("keydown", onKey, true);
  addEventListener("pointerdown", pressed, true);
  return {
    stop() {
      removeEventListener("keydown", onKey, true);
      removeEventListener("pointerdown", pressed, true);
    },
  };
}

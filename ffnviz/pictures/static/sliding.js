// What slides says so: it fades where it goes on, at either end.

const SLACK = 2; // pixels that rounding may make
const FADE = "2.2rem";

/**
 * Has an element that scrolls, sideways or down, fade where there is more of it.
 *
 * @param {HTMLElement} node that scrolls
 * @returns {{ look: () => void, stop: () => void }} call `look` when its content is another
 */
export function makeSliding(node) {
  let asked = 0;
  function fade() {
    asked = 0;
    const sideways = node.scrollWidth > node.clientWidth + SLACK;
    const [at, seen, all] = sideways
      ? [Math.abs(node.scrollLeft), node.clientWidth, node.scrollWidth] : [node.scrollTop, node.clientHeight, node.scrollHeight];
    const before = at > SLACK, after = at + seen < all - SLACK;
    const scrolls = (before || after) && getComputedStyle(node)[sideways ? "overflowX" : "overflowY"] !== "visible";
    const stops = [before ? `transparent, #000 ${FADE}` : "#000", after ? `#000 calc(100% - ${FADE}), transparent` : "#000"];
    const mask = scrolls ? `linear-gradient(to ${sideways ? "right" : "bottom"}, ${stops.join(", ")})` : "";
    for (const name of ["-webkit-mask-image", "mask-image"]) node.style.setProperty(name, mask);
  }
  const look = () => { asked ||= requestAnimationFrame(fade); };
  node.addEventListener("scroll", look, { passive: true });
  const seen = new ResizeObserver(look);
  seen.observe(node);
  return {
    look,
    stop() {
      cancelAnimationFrame(asked);
      node.removeEventListener("scroll", look);
      seen.disconnect();
    },
  };
}

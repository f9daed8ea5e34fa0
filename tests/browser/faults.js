// What a page must not have at any size: text over text, text cut off or through, headings squeezed
// to a column of words, sideways scrolling, small type, and with `parts`, on a laptop or a
// projector, plots that are too low to read, and in a hall lines of code that wrap. Returns a
// sentence a fault.
({ smallest, parts = false }) => {
  const NARROWEST = 150, LOWEST = 120, LOWEST_BARS = 55, LAPTOP = 1280, HALL = 1920; // pixels
  const SLACK = 2; // pixels that rounding may make
  const parentOf = (node) =>
    node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;

  function* everything(root) {
    for (const node of root.querySelectorAll("*")) {
      yield node;
      if (node.shadowRoot) yield* everything(node.shadowRoot);
    }
  }

  // What scrolls goes below the header and the foot; on a telephone below the tokens and the
  // controls, too.
  const lies = (node) =>
    node && ["sticky", "fixed", "absolute"].includes(getComputedStyle(node).position);
  const lids = (selectors) => selectors.map((each) => document.querySelector(each)).filter(lies);
  const over = lids(["[data-testid=stHeader]", '.sheet [data-cell="chips"]']);
  const under = lids([".sheet > .below", '.sheet [data-cell="rail"]']);

  // The part of a rectangle that no ancestor cuts off, and header and foot do not cover.
  function visible(rect, node) {
    let { left, top, right, bottom } = rect, isLid = false;
    for (let at = node; at; at = parentOf(at)) {
      isLid ||= over.includes(at) || under.includes(at) ||
        at.matches('[data-cell="bar"], [data-cell="network"], [data-cell="examples"], [popover]');
      const style = getComputedStyle(at);
      if (style.clipPath !== "none" && at.clientWidth <= 1) return null;
      if (style.overflowX !== "visible" || style.overflowY !== "visible") {
        const box = at.getBoundingClientRect();
        [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
        [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      }
      if (style.position === "fixed") break;
    }
    if (!isLid) {
      top = Math.max(top, ...over.map((lid) => lid.getBoundingClientRect().bottom));
      bottom = Math.min(bottom, ...under.map((lid) => lid.getBoundingClientRect().top));
    }
    return right - left > SLACK && bottom - top > SLACK ? { left, top, right, bottom } : null;
  }

  // Whether it slides, and says so.
  function fades(node) {
    for (let at = node; at; at = parentOf(at)) {
      if (getComputedStyle(at).maskImage !== "none") return true;
    }
    return false;
  }

  // Whether a box that scrolls shows a part of a line's height: of the page itself the window may.
  function isCutThrough({ top, bottom }, node) {
    const isPage = (at) => at.matches("[data-testid=stMain], body");
    for (let at = parentOf(node); at && !isPage(at); at = parentOf(at)) {
      if (getComputedStyle(at).overflowY === "visible") continue;
      const box = at.getBoundingClientRect(), inside = (y) => y > box.top + 3 && y < box.bottom - 3;
      if (
        inside(top) !== inside(bottom) &&
        (inside(top)
          ? box.bottom - top < 0.8 * (bottom - top)
          : bottom - box.top < 0.8 * (bottom - top))
      ) return true;
    }
    return false;
  }

  const found = new Set(), texts = [];
  const short = (text) => JSON.stringify(text.trim().slice(0, 40));
  for (const node of everything(document.body)) {
    // Code scrolls.
    if (node.matches("style, script, noscript, [data-testid=stIconMaterial], pre *")) continue;
    const own = [...node.childNodes].filter((child) =>
      child.nodeType === Node.TEXT_NODE && child.data.trim()
    );
    if (!own.length || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) {
      continue;
    }
    const svg = node.ownerSVGElement;
    for (const child of own) {
      const range = document.createRange();
      range.selectNodeContents(child);
      const whole = [...range.getClientRects()].filter(({ width, height }) =>
        width > 1 && height > 1
      );
      const rects = whole.map((rect) => visible(rect, node));
      const inside = rects.filter(Boolean);
      if (!inside.length) continue;
      const size = parseFloat(getComputedStyle(node).fontSize);
      if (size < smallest - 0.01 && !node.matches("tspan[dy], sup, sub, math *")) {
        found.add(`small: ${short(child.data)} is ${size} px`);
      }
      const style = getComputedStyle(node);
      whole.forEach((rect, i) => {
        const part = rects[i];
        if (
          !part || fades(node) ||
          (!svg && (style.textOverflow === "ellipsis" || rect.right > innerWidth))
        ) return;
        const fromLeft = svg && part.left > rect.left + SLACK;
        if (fromLeft || part.right < rect.right - SLACK) found.add(`cut: ${short(child.data)}`);
        if (parts && !svg && innerWidth >= LAPTOP && isCutThrough(rect, node)) {
          found.add(`cut through: ${short(child.data)}`);
        }
      });
      const { b } = svg ? node.getScreenCTM() : { b: 0 };
      if (Math.abs(b) > 0.01) continue; // turned: its box is larger than its letters
      texts.push(...inside.map((rect) => ({ ...rect, node, text: child.data, svg })));
    }
  }
  // A line of type is higher than its letters: only its middle must be its own.
  for (const text of texts) {
    const spare = 0.22 * (text.bottom - text.top);
    text.top += spare;
    text.bottom -= spare;
  }
  texts.sort((a, b) => a.top - b.top);
  texts.forEach((a, i) => {
    for (let j = i + 1; j < texts.length && texts[j].top < a.bottom; j++) {
      const b = texts[j];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (a.node !== b.node && wide > SLACK && high > SLACK) {
        found.add(`over: ${short(a.text)} and ${short(b.text)}`);
      }
    }
  });
  for (const node of everything(document.body)) {
    if (!node.matches("h1, h2, h3, .sentence") || !node.checkVisibility()) continue;
    const { width, height } = node.getBoundingClientRect();
    if (
      node.innerText.trim().length > 20 && width < NARROWEST && height > 1 && node.clientWidth > 1
    ) found.add(`narrow: ${short(node.textContent)} has ${Math.round(width)} px`);
  }
  for (const node of parts && innerWidth >= LAPTOP ? everything(document.body) : []) {
    if (!node.checkVisibility()) continue;
    // Bars that lie need their names.
    const least = node.data?.every(({ orientation }) => orientation === "h") ? LOWEST_BARS : LOWEST;
    for (const { yaxis: { _length: high } } of Object.values(node._fullLayout?._plots ?? {})) {
      if (high < least) found.add(`low: a plot of ${Math.round(high)} px`);
    }
    if (innerWidth >= HALL && node.matches("pre") && node.clientHeight > 0) {
      const lines = node.textContent.replace(/\n$/, "").split("\n").length;
      const { lineHeight, paddingTop, paddingBottom } = getComputedStyle(node);
      const rows = (node.scrollHeight - parseFloat(paddingTop) - parseFloat(paddingBottom)) /
        parseFloat(lineHeight);
      if (rows > lines + 0.6) found.add(`wrapped: ${short(node.textContent)}`);
    }
  }
  // Of a page that is a file.
  const main = document.querySelector('[data-testid="stMain"]') ?? document.documentElement;
  if (main.scrollWidth > main.clientWidth) {
    found.add(`sideways: ${main.scrollWidth} of ${main.clientWidth} px`);
  }
  return [...found];
}

// What a telephone must not have: type too small to read, targets too small for a finger, a row
// that slides without a sign, controls out of sight of the picture, more page than picture. Returns
// a sentence a fault.
({ smallest, target }) => {
  // Pixels that rounding may make; between two points that are looked at.
  const SLACK = 0.5, SIDE = 24;
  const PRESSED =
    "button, select, summary, a[href], input, textarea, [role=radio], [role=button], " +
    "[role=switch]";
  const parentOf = (node) =>
    node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
  function* everything(root) {
    for (const node of root.querySelectorAll("*")) {
      yield node;
      if (node.shadowRoot) yield* everything(node.shadowRoot);
    }
  }
  const within = (node, selector) => {
    for (let at = node; at; at = parentOf(at)) if (at.matches(selector)) return at;
    return null;
  };
  const isSeen = (node) => {
    if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    // The pages' drawer is closed.
    if (within(node, '[data-testid="stSidebar"][data-collapsed="true"]')) return false;
    for (let at = node; at; at = parentOf(at)) {
      if (getComputedStyle(at).clipPath !== "none" && at.clientWidth <= 1) return false;
    }
    const { width, height } = node.getBoundingClientRect();
    return width > 1 && height > 1;
  };
  const short = (node) =>
    JSON.stringify(
      (node.getAttribute?.("aria-label") || node.textContent || node.value ||
        node.className.baseVal || node.className).trim().slice(0, 30),
    );
  const place = (node) => within(node, "[data-cell]")?.dataset.cell ?? "page";
  const found = new Set();

  // A target may be larger than it looks: what lies around it, before or after, takes its clicks.
  function reach(node) {
    const { width, height } = node.getBoundingClientRect();
    const around = getComputedStyle(node, "::after");
    if (around.content === "none" || around.position !== "absolute") return [width, height];
    const [top, right, bottom, left] = ["top", "right", "bottom", "left"].map((side) =>
      Math.max(0, -parseFloat(around[side]) || 0)
    );
    return [width + left + right, height + top + bottom];
  }

  for (const node of everything(document.body)) {
    if (node.matches("style, script, noscript")) continue;
    const own = [...node.childNodes].some((child) =>
      child.nodeType === Node.TEXT_NODE && child.data.trim()
    );
    if (own && isSeen(node)) {
      const scale = node.ownerSVGElement
        ? Math.hypot(node.getScreenCTM().a, node.getScreenCTM().b)
        : 1;
      const size = parseFloat(getComputedStyle(node).fontSize) * scale;
      if (size < smallest - 0.05) {
        found.add(`small: ${short(node)} of ${place(node)} is ${size.toFixed(1)} px`);
      }
    }
    const presses = node.matches(PRESSED);
    if (
      presses && !node.disabled && isSeen(node) && !within(node, "[popover]:not(:popover-open)")
    ) {
      const label = node.matches("input") && within(node, "label");
      const [width, height] = reach(label || node);
      const size = [width, height].map(Math.round).join(" × ");
      if (width < target - SLACK || height < target - SLACK) {
        found.add(`target: ${short(node)} of ${place(node)} is ${size} px`);
      }
    }
    const style = getComputedStyle(node);
    const slides = ["auto", "scroll"].includes(style.overflowX) &&
      node.scrollWidth > node.clientWidth + 1;
    const shown = `shows ${node.clientWidth} of ${node.scrollWidth} px`;
    if (slides && isSeen(node) && style.maskImage === "none") {
      found.add(`slides: ${node.tagName} of ${place(node)} ${shown}`);
    }
  }

  // What lies uppermost at points all over the window.
  function seenShares() {
    const seen = { picture: 0, page: 0, ground: 0 };
    for (let x = SIDE / 2; x < innerWidth; x += SIDE) {
      for (let y = SIDE / 2; y < innerHeight; y += SIDE) {
        const top = document.elementFromPoint(x, y);
        const cell = top && within(top, ".sheet > .rows .cell");
        const bar = top && within(top, ".sheet .cell, .stTextInput, [data-testid=stHeader] *");
        seen[cell ? "picture" : bar ? "page" : "ground"] += 1;
      }
    }
    return seen;
  }
  const main = document.querySelector('[data-testid="stMain"]');
  const say = ({ picture, page, ground }) =>
    `${picture} of picture, ${page} of page, ${ground} of ground`;
  main.scrollTo(0, 0);
  const first = seenShares();
  const cells = [...document.querySelectorAll(".sheet > .rows .cell")];
  // More than a few words.
  const shows = cells.reduce((height, cell) => height + cell.offsetHeight, 0) > innerHeight / 2;
  if (shows && first.page >= first.picture + first.ground) {
    found.add(`share: at first ${say(first)}`);
  }
  for (const rail of document.querySelectorAll('[data-cell="rail"]')) {
    const controls = "input, select, [role=radio]:first-child";
    for (const control of rail.shadowRoot.querySelectorAll(controls)) {
      if (!isSeen(control)) continue;
      control.scrollIntoView({ block: "nearest" });
      const now = seenShares();
      if (shows && now.page >= now.picture + now.ground) {
        found.add(`control: with ${short(control)} ${say(now)}`);
      }
    }
  }
  main.scrollTo(0, 0);
  return [...found];
}

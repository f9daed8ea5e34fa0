// Where the boxes of a page stand: each cell, and in it the head and what is below that; each
// control.
() => {
  const round = ({ x, y, width, height }) => [x, y, width, height].map(Math.round);
  const boxes = {};
  const parts = ".sheet .cell, .sheet > .side, .sheet > .below, .st-key-text";
  for (const cell of document.querySelectorAll(parts)) {
    const name = cell.dataset.cell ??
      cell.className.split(" ").find((each) => /side|below|st-key/.test(each));
    if (!cell.checkVisibility()) continue;
    if (name.startsWith("waiting-")) continue; // it hangs over the old picture
    boxes[name] = round(cell.getBoundingClientRect());
    if (name === "side" || name === "rail") boxes[name].pop(); // nothing is below it
    const controls = cell.shadowRoot?.querySelectorAll(".controls > :not([data-kind=measure])") ??
      [];
    controls.forEach((control, at) => {
      boxes[`${name} ${control.dataset.kind} ${at}`] = round(control.getBoundingClientRect());
    });
    for (const part of cell.shadowRoot?.querySelectorAll(".hung > *") ?? []) {
      const inner = part.matches("[popover]") || !part.checkVisibility()
        ? null
        : part.className || part.tagName;
      if (inner && typeof inner === "string" && cell.closest(".rows, .above")) {
        boxes[`${name} ${inner}`] = round(part.getBoundingClientRect());
      }
    }
  }
  return boxes;
}

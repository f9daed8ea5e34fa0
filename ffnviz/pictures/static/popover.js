// A box that opens over the page, under what opened it.

export function place(box, button) {
  const under = button.getBoundingClientRect();
  const left = Math.min(under.left, innerWidth - 8 - box.offsetWidth);
  const below = under.bottom + 4, above = under.top - 4 - box.offsetHeight;
  const top = below + box.offsetHeight <= innerHeight - 8 || above < 8 ? below : above;
  const lowest = innerHeight - 8 - box.offsetHeight;
  Object.assign(box.style, { left: `${Math.max(8, left)}px`, top: `${Math.max(8, Math.min(top, lowest))}px` });
}

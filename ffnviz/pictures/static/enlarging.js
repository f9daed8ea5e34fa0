// One picture over the whole window, until Escape: for the last row of a hall.

import { element } from "./element.js";

// Shows the picture of that host over everything else, with a cross that ends it.
export function enlarge(host, root) {
  const close = element("button", { type: "button", class: "close smaller", text: "×", "aria-label": "Close" });
  const focused = root.activeElement;
  function end() {
    host.hidePopover();
    host.removeAttribute("popover"); // with it, but closed, a host is not shown at all
    host.removeAttribute("data-enlarged");
    close.remove();
    removeEventListener("keydown", left, true);
    focused?.focus();
    dispatchEvent(new Event("resize")); // what draws for a size draws anew
  }
  function left(event) {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    end();
  }
  close.onclick = end;
  root.append(close);
  host.setAttribute("popover", "manual");
  host.toggleAttribute("data-enlarged", true);
  host.showPopover();
  addEventListener("keydown", left, true);
  close.focus();
  dispatchEvent(new Event("resize"));
}

"""What a page keeps: observers, listeners on what outlives a picture, and the heap."""

from typing import Any

from playwright.sync_api import CDPSession, Page

# Counts what is not given back: observers that observe, listeners on window, document and queries.
COUNT = """(() => {
    const live = (window.live = { observers: 0, listeners: 0 });
    for (const name of ["ResizeObserver", "MutationObserver", "IntersectionObserver"]) {
        const Original = window[name];
        window[name] = class extends Original {
            observe(...given) {
                if (!this.counted) { this.counted = true; live.observers += 1; }
                return super.observe(...given);
            }
            disconnect() {
                if (this.counted) { this.counted = false; live.observers -= 1; }
                return super.disconnect();
            }
        };
    }
    const lasting = (it) => it === window || it === document || it instanceof MediaQueryList
        || it === undefined;
    const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
    EventTarget.prototype.addEventListener = function (...given) {
        if (lasting(this) && !given[2]?.once) live.listeners += 1;
        return add.apply(this, given);
    };
    EventTarget.prototype.removeEventListener = function (...given) {
        if (lasting(this)) live.listeners -= 1;
        return remove.apply(this, given);
    };
})();"""


class Watched:
    """A page whose observers, listeners and memory can be counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.add_init_script(COUNT)
        self.devtools: CDPSession = page.context.new_cdp_session(page)
        self.devtools.send("Performance.enable")

    def count(self) -> dict[str, float]:
        """What is there after a full garbage collection; the heap in bytes."""
        for _ in range(2):
            self.devtools.send("HeapProfiler.collectGarbage")
        metrics: list[dict[str, Any]] = self.devtools.send("Performance.getMetrics")["metrics"]
        found = {metric["name"]: float(metric["value"]) for metric in metrics}
        live: dict[str, float] = self.page.evaluate("({ ...window.live })")
        return {
            **live,
            "nodes": found["Nodes"],
            "all listeners": found["JSEventListeners"],
            "heap": found["JSHeapUsedSize"],
        }

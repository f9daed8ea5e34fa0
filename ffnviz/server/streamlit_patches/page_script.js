// What Streamlit's page begins with: patches of what is done in the browser. Each is a function
// that runs before any code of Streamlit's, unless it is switched off; one that fails stops no
// other. For: Streamlit 1.64 to 1.67.

const PATCHES = {
  // Changes: Streamlit's code is told where its server is.
  // Why: pages stand side by side in one folder, and so does the server. Unless told, it first
  // looks below the page, in vain (streamlit/streamlit#11537 says so; #11378 brought the variable).
  // Gains: one request in vain less for each visit of a page by its name.
  backend_address() {
    const address = new URL("./", location.href).href;
    window.__streamlit = { ...window.__streamlit, BACKEND_BASE_URL: address };
  },

  // Changes: what a page writes into its URL before anybody does something takes the place of what
  // was there.
  // Why: Streamlit adds a step of history for each URL a page writes, also where it completes the
  // one that a visitor came by: they would need two Backs to leave. Streamlit leaves out only what
  // changes nothing (streamlit/streamlit#16831), and means to keep the other steps.
  // Gains: one Back.
  first_step() {
    const push = history.pushState;
    let acted = false;
    const act = () => { acted = true; };
    for (const event of ["pointerdown", "keydown"]) addEventListener(event, act, true);
    history.pushState = function (state, unused, url) {
      const next = new URL(url ?? location.href, location.href);
      const completes = location.search === "" ? next.search !== "" : !acted;
      const first = completes && next.pathname === location.pathname;
      return (first ? history.replaceState : push).call(history, state, unused, url);
    };
  },

  // Changes: the font of Streamlit's icons is fetched when an icon is first shown.
  // Why: Streamlit asks for it at once, 375 kB while the first picture is under way, and few of our
  // pages show an icon.
  // Gains: on a line of 1.5 Mbit/s the first picture is there 0.8 s earlier.
  icons_when_shown() {
    const load = document.fonts.load;
    document.fonts.load = function (font, ...text) {
      const isIcons = font.includes("Material Symbols");
      return isIcons ? Promise.resolve([]) : load.call(this, font, ...text);
    };
  },

  // Changes: after a reload, the sentence box has the whole of a long text again.
  // Why: a link has room for the first part only. The rest is put back as if typed, past React,
  // which offers no other way in.
  // Gains: the rest of the sentence.
  long_text() {
    const KEPT = "ffnviz-long-text";
    const inLink = () => new URLSearchParams(location.search).get("text") ?? "";
    /** @type {() => HTMLInputElement | null} */
    const box = () => document.querySelector(".st-key-text input");
    const isRest = (text) => text && text.length > inLink().length && text.startsWith(inLink());

    addEventListener("pagehide", () => {
      const text = box()?.value ?? "";
      if (isRest(text)) sessionStorage.setItem(KEPT, text);
      else sessionStorage.removeItem(KEPT);
    });

    const kept = sessionStorage.getItem(KEPT);
    const entries = performance.getEntriesByType("navigation");
    const [loaded] = /** @type {PerformanceNavigationTiming[]} */ (entries);
    if (!isRest(kept) || loaded?.type !== "reload") return;
    const watch = new MutationObserver(() => {
      const input = box();
      if (input?.value !== inLink()) return;
      watch.disconnect();
      // Past React, which then hears of it as of any typing.
      const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
      value?.set?.call(input, kept);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    const values = { attributes: true, attributeFilter: ["value"] };
    watch.observe(document, { childList: true, subtree: true, ...values });
  },

  // Changes: on paper a page stands as on the screen, only smaller: pictures are not drawn anew for
  // it.
  // Why: how much smaller only the height of Streamlit's main part says.
  // Gains: a page of the screen on one sheet.
  paper() {
    // Pixels of CSS across A4, lying, within its margins, and down.
    const [PAPER, SHEET] = [1047, 718];
    const TELEPHONE = 700; // a page this narrow goes over several sheets
    addEventListener("beforeprint", () => {
      const { style } = document.documentElement;
      style.setProperty("--screen-width", `${innerWidth}px`);
      const main = innerWidth > TELEPHONE && document.querySelector('[data-testid="stMain"]');
      const share = Math.min(1, PAPER / innerWidth, SHEET / (main ? main.scrollHeight : 0));
      style.setProperty("--paper-share", String(share));
    });
  },

  // Changes: on a phone the pages stand in a drawer, which a choice closes; three lines open it.
  // Why: Streamlit leaves it open, over the page that was chosen, and takes the sign of its button
  // from a font of 375 kB. The lines have to be there before any style of the page's.
  // Gains: one touch a page; on a line of 1.5 Mbit/s the first picture is there half a second
  // earlier.
  drawer() {
    /** @type {() => HTMLElement | null} */
    const button = () => document.querySelector('[data-testid="stSidebarCollapseButton"] button');
    addEventListener("click", ({ target }) => {
      const link = target instanceof Element && target.closest('[data-testid="stSidebarNavLink"]');
      if (link && matchMedia("(max-width: 768px)").matches) setTimeout(() => button()?.click());
    });

    const icon = '[data-testid="stExpandSidebarButton"] [data-testid="stIconMaterial"]';
    const lines = document.createElement("style");
    lines.textContent = `${icon} {
      visibility: hidden; font: 1rem/0.9rem serif; width: 1.2rem; height: 0.9rem;
      justify-content: start; white-space: nowrap; overflow: hidden;
    }
    ${icon}::before {
      content: ""; visibility: visible; flex: none; box-sizing: border-box;
      width: 100%; height: 100%; border-block: 2px solid;
      background: linear-gradient(currentColor 0 0) center / 100% 2px no-repeat;
      color: light-dark(#3d4754, #c3cad4);
    }`;
    document.head.append(lines);
  },

  // Changes: a page that stays white is loaded again; never twice in a row, should it not help.
  // Why: about one load in 1,500 stays white: Streamlit's code reads "deltaPath" of a message that
  // has none, and shows nothing from then on. Its tracker has no report with these words (November
  // 2026); streamlit/streamlit#9259 tells of pages that stay blank now and then.
  // Gains: one visit in 1,500.
  white_page() {
    const WHITE = /deltaPath/;
    const AGAIN_AFTER_MS = 20_000;

    function loadAgain(message) {
      if (!WHITE.test(message)) return;
      const last = Number(sessionStorage.getItem("ffnviz-loaded-again") ?? 0);
      if (Date.now() - last < AGAIN_AFTER_MS) return;
      sessionStorage.setItem("ffnviz-loaded-again", String(Date.now()));
      location.reload();
    }
    addEventListener("error", (event) => loadAgain(String(event.message)));
    addEventListener("unhandledrejection", (event) => loadAgain(String(event.reason)));
  },

  // Changes: Streamlit's code finds no WebAssembly.
  // Why: its library for 64-bit integers tries to compile some, which our policy forbids, and goes
  // on without; but Firefox writes an error into the console of each page.
  // Gains: a console without an error, under a policy as strict as before.
  no_assembly() {
    delete /** @type {{ WebAssembly?: object }} */ (globalThis).WebAssembly;
  },

  // Changes: a page without a network says so in a line; it was a dialog that asked for a terminal.
  // Why: "Is Streamlit still running? Just restart it in your terminal" is said to a student in a
  // lecture hall, whose page comes back by itself. No setting changes these words
  // (streamlit/streamlit#9767).
  // Gains: the words, and the page below the dialog; a run is not touched.
  no_connection() {
    const EVERY_MS = 500;
    const SAID = "No connection. The page comes back by itself.";
    let connected = false, line = null;

    function look() {
      const { documentElement: html } = document;
      const away = document.querySelector("[data-testid=stConnectionStatus]") !== null;
      if (!away && document.querySelector("[data-testid=stMain]")) connected = true;
      const lost = away && connected; // what has not come yet was not lost
      if (html.hasAttribute("data-lost") === lost) return lost && dismiss();
      html.toggleAttribute("data-lost", lost);
      if (lost && !line) {
        line = document.createElement("div");
        line.id = "ffnviz-lost";
        line.setAttribute("role", "status");
        document.body.append(line);
      }
      if (line) line.textContent = lost ? SAID : "";
    }

    // It lies over the page, whose keys it would take; once it was closed it does not come again.
    function dismiss() {
      for (const dialog of document.querySelectorAll("[role=dialog]")) {
        /** @type {HTMLButtonElement | null} */
        const close = dialog.querySelector("button[aria-label=Close]");
        if (dialog.textContent.includes("Connection error")) close?.click();
      }
    }
    setInterval(look, EVERY_MS);
  },

  // Changes: a component whose script has been loaded is told of new data at once.
  // Why: with every change of the data Streamlit appends the component's script to the page anew,
  // and waits until the browser says that it is loaded. The browser has it, but says so a task or
  // two later.
  // Gains: the picture of a sentence, a token or a slider is there 5 to 15 ms earlier.
  loaded_script() {
    const loaded = new Set(); // addresses
    const append = (node) => {
      const isModule = node.localName === "script" && node.type === "module";
      const isComponents = isModule && node.src.includes("/bidi-components/");
      if (isComponents && loaded.has(node.src)) {
        queueMicrotask(() => node.dispatchEvent(new Event("load")));
        return node;
      }
      if (isComponents) node.addEventListener("load", () => loaded.add(node.src));
      return Node.prototype.appendChild.call(document.head, node);
    };
    document.head.appendChild = append;
  },
};

for (const name of "{patches}".split(" ")) {
  try {
    PATCHES[name]();
  } catch (error) {
    console.warn(name, error);
  }
}

import { each, element } from "./element.js";
import { reorder } from "./motion.js";
import { percent } from "./numbers.js";
import { colourOf } from "./theme.js";

export const styles = ["prediction.css"];
const A_MOMENT_MS = 350;

const makeRow = () => element("li", {},
  element("bdi"), element("span", { class: "track" }, element("i"), element("b")));

export function mount() {
  let shown = null, given = null, playing = 0, colours = null;
  const panels = element("div", { class: "panels" });
  // What was recorded is played here, and no server is asked.
  const play = element("button", { type: "button" }), said = element("span", { role: "status" });
  const slider = element("input", { type: "range", min: "0", step: "1", "aria-label": "Through the recorded moments" });
  const replay = element("div", { class: "replay" }, play, slider, said);
  const stop = () => { clearInterval(playing); playing = 0; play.textContent = "Play"; };
  const turn = (place) => {
    const moment = given.moments[place];
    slider.value = String(place);
    slider.setAttribute("aria-valuetext", moment.said);
    said.textContent = moment.said;
    said.ariaLive = playing ? "off" : "polite";
    draw(moment, colours);
  };
  slider.oninput = () => { stop(); turn(Number(slider.value)); };
  play.onclick = () => {
    if (playing) { stop(); return; }
    const last = given.moments.length - 1;
    turn(Number(slider.value) === last ? 0 : Number(slider.value));
    play.textContent = "Pause";
    playing = setInterval(() => {
      const place = Number(slider.value) + 1;
      if (place >= last) stop();
      turn(Math.min(place, last));
    }, A_MOMENT_MS);
  };
  const makePanel = () => element("section", {}, element("h3"), element("ol"));
  return {
    element: element("div", { class: "prediction" }, panels, replay),
    saves: {
      rows: () => [["panel", "rank", "word", shown.panels[0].of], ...shown.panels.flatMap(({ title, words, probabilities }) =>
        words.map((word, rank) => [title, rank + 1, word, probabilities[rank]]))],
    },
    update(data, theme) {
      colours = theme;
      replay.hidden = !data.moments;
      if (data.moments && JSON.stringify(data.moments) !== JSON.stringify(given?.moments)) {
        given = data;
        stop();
        slider.max = String(data.moments.length - 1);
        slider.value = slider.max;
      }
      if (data.moments) turn(Number(slider.value));
      else draw(data, theme);
    },
    destroy: stop,
  };
  function draw(data, theme) {
    shown = data;
    const highest = Math.max(...data.panels.flatMap(({ probabilities }) => probabilities));
    each(panels, data.panels, makePanel, ({ children: [heading, list] }, panel) => {
      heading.textContent = panel.title;
      list.setAttribute("aria-label", `Likeliest words, ${panel.title}`);
      const background = colourOf(panel.colour, theme);
      const arrive = reorder(list, panel.words);
      each(list, panel.words, makeRow, (item, word, place) => {
        item.dataset.name = word;
        const probability = panel.probabilities[place];
        const [name, { firstChild: bar, lastChild: text }] = item.children;
        item.title = `${word}: ${probability.toFixed(4)}`;
        name.textContent = word;
        text.textContent = panel.of === "probability" ? percent(probability) : probability.toFixed(2);
        Object.assign(bar.style, { width: `${(100 * probability) / highest}%`, background });
      });
      arrive();
    });
  }
}

// A recording that is played where it is shown: a button, a slider, and what is said of each moment. No server is asked.

import { element } from "./element.js";

const A_MOMENT_MS = 350;

/**
 * Makes the controls.
 *
 * @param show called with the moment to be drawn; each has `said`
 */
export function makeReplay(show) {
  const play = element("button", { type: "button" }), said = element("span", { role: "status" });
  const slider = element("input", { type: "range", min: "0", step: "1", "aria-label": "Through the recorded moments" });
  const box = element("div", { class: "replay" }, play, slider, said);
  let moments = [], known = "", playing = 0;

  function stop() {
    clearInterval(playing);
    playing = 0;
    play.textContent = "Play";
  }

  function turn(place) {
    const moment = moments[place];
    slider.value = String(place);
    slider.setAttribute("aria-valuetext", moment.said);
    said.textContent = moment.said;
    said.ariaLive = playing ? "off" : "polite";
    show(moment);
  }

  slider.oninput = () => { stop(); turn(Number(slider.value)); };
  play.onclick = () => {
    if (playing) { stop(); return; }
    const last = moments.length - 1;
    turn(Number(slider.value) === last ? 0 : Number(slider.value));
    play.textContent = "Pause";
    playing = setInterval(() => {
      const place = Number(slider.value) + 1;
      if (place >= last) stop();
      turn(Math.min(place, last));
    }, A_MOMENT_MS);
  };

  return {
    box,
    stop,
    update(recorded) {
      box.hidden = !recorded;
      if (!recorded) return;
      const same = JSON.stringify(recorded);
      if (same !== known) {
        [moments, known] = [recorded, same];
        stop();
        slider.max = slider.value = String(moments.length - 1);
      }
      turn(Number(slider.value));
    },
  };
}

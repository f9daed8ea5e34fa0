// Plays a page that was taken home: unpacks what lies in it, and hands it to what draws it.

import { element } from "./element.js";
import { plotlyFrom, readFrom, unpack } from "./loading.js";

const PLAYS = {
  journey: () => import("./play_journey.js"),
  live: () => import("./play_live.js"),
  lecture: () => import("./play_lecture.js"),
};

function unpacked(id) {
  const packed = Uint8Array.from(
    atob(/** @type {HTMLElement} */ (document.getElementById(id)).textContent),
    (letter) => letter.charCodeAt(0),
  );
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
}

// plotly.js lies in the file too; it is known by its sum, so it may run.
async function makePlotly() {
  const code = await unpacked("plotly").text();
  document.head.append(element("script", { text: code }));
  return window.Plotly;
}

async function play() {
  const data = unpack(new Uint8Array(await unpacked("data").arrayBuffer()));
  plotlyFrom(makePlotly);
  readFrom((name) => (Object.hasOwn(data.files, name)
    ? Promise.resolve(data.files[name])
    : Promise.reject(new Error(`${name} is not in this file.`)))
  );
  const { play: start } = await PLAYS[data.plays]();
  await start(document.body, data);
}

play().catch(({ message }) => {
  document.body.append(
    element("p", {
      role: "alert", text: `This page could not be drawn: ${message} A newer browser may help.`,
    }),
  );
});

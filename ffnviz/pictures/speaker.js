// The speaker's window: what the lecture's window tells, and a clock.

const KEYS = {
  ArrowRight: "forward", PageDown: "forward", " ": "forward", ArrowLeft: "back", PageUp: "back",
  Home: "first", End: "last", b: "blank", e: "explore",
};
const by = (id) => document.getElementById(id);
const channel = new BroadcastChannel(location.hash.slice(1));
const act = (what) => channel.postMessage({ act: what });
let began = Date.now();

channel.onmessage = ({ data: { scene } }) => {
  if (!scene) return;
  by("title").textContent = `${scene.path.indexOf(scene.at) + 1 || scene.at + 1} of ${scene.path.length}: ${scene.titles[scene.at]}`;
  by("say").textContent = scene.ask && scene.veiled ? `${scene.ask} (The answer: ${scene.question.options[scene.question.answer] ?? "see the picture"})` : scene.say;
  by("notes").textContent = scene.notes;
  by("coming").textContent = scene.coming ? `Next: ${scene.coming}` : "This is the last scene.";
};
channel.postMessage({ ready: true });

for (const button of document.querySelectorAll("[data-act]")) button.onclick = () => act(button.dataset.act);
by("restart").onclick = () => { began = Date.now(); tick(); };
addEventListener("keydown", (event) => {
  if (event.target.matches("button") && event.key === " ") return;
  const what = KEYS[event.key];
  if (!what || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act(what);
});

const two = (number) => String(number).padStart(2, "0");
function tick() {
  const now = new Date(), seconds = Math.floor((now - began) / 1000);
  by("clock").textContent = `${two(now.getHours())}:${two(now.getMinutes())}   ${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
}
setInterval(tick, 1000);
tick();

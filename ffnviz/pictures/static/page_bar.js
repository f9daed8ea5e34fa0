import { aboutFrom } from "./about.js";
import { element } from "./element.js";

export const styles = ["page_bar.css"];

const DONE_MS = 1_500;

// Only addresses that a browser trusts may write to its clipboard themselves; on others a selection
// is copied, as by a person.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = element("textarea", { style: { position: "fixed", opacity: "0" } });
  document.body.append(area);
  area.value = text;
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (!copied) throw new Error("The link could not be copied: it stands in the address bar.");
}

export function mount(tell) {
  const part = element("span", { class: "part" });
  const name = element("span");
  const sentence = element("bdi", { class: "typed" });
  const told = element("div", { class: "told", role: "status" });
  const label = element("span", { text: "Copy link" });
  const button = element("button", { type: "button" }, label);
  const take = element("button", {
    type: "button", text: "Take home", title: "This page as one file that works without a server", onclick: () => tell("take", true),
  });
  let said = null;

  button.onclick = async () => {
    let outcome = "Link copied";
    await copy(location.href).catch(({ message }) => { outcome = message; });
    label.textContent = outcome;
    told.textContent = outcome;
    setTimeout(() => { label.textContent = "Copy link"; }, DONE_MS);
  };

  return {
    element: element("div", { class: "bar" }, element("h1", {}, name, part), sentence, take, button, told),
    update(data) {
      name.textContent = data.title;
      part.textContent = data.part ? `: ${data.part}` : "";
      sentence.textContent = data.sentence;
      take.hidden = !data.takes;
      // Only what is new is told: a click on a token need not repeat the network.
      const now = [data.part || data.title, ...data.network, data.token];
      const news = said ? now.filter((words, place) => words && words !== said[place]) : [];
      if (news.length) told.textContent = news.join(", ");
      said = now;
      aboutFrom(() => [data.sentence, ["ffnviz", ...data.network].join(" · ")].filter(Boolean));
    },
  };
}

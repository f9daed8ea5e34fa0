export default function ({ data, parentElement, setTriggerValue }) {
  let row = parentElement.querySelector("nav");
  if (!row) {
    row = document.createElement("nav");
    row.setAttribute("aria-label", "Example sentences");
    parentElement.append(row);
  }
  row.replaceChildren(
    ...data.groups.map(({ title, sentences }) => {
      const group = document.createElement("div");
      const name = document.createElement("span");
      name.textContent = title;
      group.append(name);
      for (const sentence of sentences) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = sentence;
        button.onclick = () => setTriggerValue("sentence", sentence);
        group.append(button);
      }
      return group;
    }),
  );
}

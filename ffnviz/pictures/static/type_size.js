// The size of the page's own type, in pixels; asked of the browser only when it may have changed, since it
// then settles all styles.

let size = 0;
const forget = () => { size = 0; };
addEventListener("resize", forget);
const changes = new MutationObserver(forget); // a talk's type is larger, which the page says of itself
changes.observe(document.documentElement, { attributes: true });

export function typeSize() {
  if (changes.takeRecords().length) forget();
  size ||= parseFloat(getComputedStyle(document.documentElement).fontSize);
  return size;
}

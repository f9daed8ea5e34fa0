// The size of the page's own type, in pixels; asked of the browser only when it may have changed, since it
// then settles all styles.

let size = 0, presenting;
addEventListener("resize", () => { size = 0; });

export function typeSize() {
  const now = document.documentElement.dataset.presenting; // a talk's type is larger
  if (now !== presenting) size = 0;
  presenting = now;
  size ||= parseFloat(getComputedStyle(document.documentElement).fontSize);
  return size;
}

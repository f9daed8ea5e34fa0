if (
  !(window.CSS && CSS.supports && CSS.supports("color", "light-dark(red, red)") &&
    CSS.supports("zoom", "1"))
) {
  document.addEventListener("DOMContentLoaded", function () {
    document.body.setAttribute("style", "margin: 2em; font: 1.2em/1.4 sans-serif");
    document.body.textContent = "{sentence}";
  });
}

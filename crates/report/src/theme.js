"use strict";
(function () {
  var root = document.documentElement;
  var button = document.getElementById("theme");
  var system = window.matchMedia("(prefers-color-scheme: dark)");
  function shown() {
    return root.dataset.theme || (system.matches ? "dark" : "light");
  }
  function name() {
    button.textContent = shown() === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", "Show the page in " + button.textContent.toLowerCase());
  }
  button.addEventListener("click", function () {
    root.dataset.theme = shown() === "dark" ? "light" : "dark";
    name();
  });
  system.addEventListener("change", name);
  button.hidden = false;
  name();
  var opened = [];
  window.addEventListener("beforeprint", function () {
    opened = Array.from(document.querySelectorAll("details:not([open])"));
    opened.forEach(function (part) { part.open = true; });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (part) { part.open = false; });
  });
})();

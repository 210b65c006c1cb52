"use strict";
const picture = document.documentElement;
const number = (node, name) => Number(node.getAttribute(name));
const [margin, width, letter] = ["data-margin", "data-width", "data-letter"].map((name) => number(picture, name));
const frames = [...document.getElementsByClassName("frame")].map((node) => ({
  node,
  rectangle: node.querySelector("rect"),
  label: node.querySelector("text"),
  name: node.getAttribute("data-name"),
  first: number(node, "data-first"),
  samples: number(node, "data-samples"),
  depth: number(node, "data-depth"),
}));
const whole = frames.find((frame) => frame.depth === 0);

function place(frame, x, wide) {
  frame.rectangle.setAttribute("x", x);
  frame.rectangle.setAttribute("width", wide);
  frame.label.setAttribute("x", x + 3);
  const letters = Math.floor((wide - 6) / letter);
  const name = [...frame.name];
  const cut = name.length <= letters ? frame.name : name.slice(0, letters - 1).join("") + "…";
  frame.label.textContent = letters < 3 ? "" : cut;
}

// The frame fills the width; its callers do too, and what lies beside it is hidden.
function zoom(to) {
  const unit = width / to.samples;
  for (const frame of frames) {
    const calls = frame.depth < to.depth && frame.first <= to.first &&
      frame.first + frame.samples >= to.first + to.samples;
    const within = frame.first >= to.first && frame.first + frame.samples <= to.first + to.samples;
    frame.node.classList.toggle("caller", calls);
    frame.node.classList.toggle("hidden", !calls && !within);
    if (calls) place(frame, margin, width);
    else if (within) place(frame, margin + (frame.first - to.first) * unit, frame.samples * unit);
  }
}

// Marks the functions whose names match, and tells their share; a function within a marked one
// counts once.
function search() {
  const words = prompt("Functions to mark (regular expression), or nothing:", "");
  if (words === null) return;
  let pattern;
  try {
    pattern = new RegExp(words);
  } catch (error) {
    document.getElementById("found").textContent = String(error.message);
    return;
  }
  const matches = (frame) => words !== "" && pattern.test(frame.name);
  frames.forEach((frame) => frame.node.classList.toggle("match", matches(frame)));
  const found = frames.filter(matches).sort((a, b) => a.first - b.first || a.depth - b.depth);
  let samples = 0;
  let end = 0;
  for (const frame of found.filter((frame) => frame !== whole)) {
    if (frame.first < end) continue;
    samples += frame.samples;
    end = frame.first + frame.samples;
  }
  const share = ((100 * samples) / whole.samples).toFixed(1);
  document.getElementById("found").textContent = words === "" ? "" : `marked: ${share} % of the samples`;
}

const buttons = { reset: () => zoom(whole), search };
for (const [id, press] of Object.entries(buttons)) {
  const button = document.getElementById(id);
  button.addEventListener("click", press);
  button.addEventListener("keydown", (event) => event.key === "Enter" && press());
}
frames.forEach((frame) => frame.node.addEventListener("click", () => zoom(frame)));

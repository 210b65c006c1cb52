"use strict";
(function () {
  var form = document.getElementById("filter");
  if (!form) {
    return;
  }
  var find = document.getElementById("filter-text");
  var count = document.getElementById("filter-count");
  var reset = form.querySelector("button");
  var methods = {};
  Array.from(document.querySelectorAll("#methods li")).forEach(function (item) {
    methods[item.dataset.trial] = {
      name: item.textContent,
      text: item.textContent.toLowerCase(),
      language: item.dataset.language
    };
  });
  var rows = Array.from(document.querySelectorAll("tr[data-trial]"));
  var figures = Array.from(document.querySelectorAll("figure[data-trials]"));
  var parts = Array.from(document.querySelectorAll("details[data-language]"));
  var charts = Array.from(document.querySelectorAll("svg.chart")).map(function (svg) {
    return {
      svg: svg,
      box: svg.getAttribute("viewBox").split(" ").map(Number),
      rows: Array.from(svg.querySelectorAll("g.row[data-trial]")).map(function (row) {
        return { row: row, trial: row.dataset.trial, top: top(row) };
      }),
      foot: svg.querySelector("g.foot")
    };
  }).filter(function (chart) { return chart.rows.length > 0; });
  charts.forEach(function (chart) { chart.end = top(chart.foot); });

  function top(group) {
    return Number(/,([\d.]+)\)/.exec(group.getAttribute("transform"))[1]);
  }
  function move(group, place) {
    group.setAttribute("transform", "translate(0," + place + ")");
  }
  function draw(chart, shown) {
    var next = 0;
    chart.rows.forEach(function (it) {
      var visible = shown(it.trial);
      it.row.style.display = visible ? "" : "none";
      if (visible) {
        move(it.row, chart.rows[next].top);
        next += 1;
      }
    });
    var end = chart.rows.length > next ? chart.rows[next].top : chart.end;
    move(chart.foot, end);
    var box = chart.box;
    chart.svg.setAttribute("viewBox", [box[0], box[1], box[2], box[3] - chart.end + end].join(" "));
    chart.svg.closest("figure").hidden = next === 0;
  }
  function apply() {
    var words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    var languages = Array.from(form.querySelectorAll("input:checked")).map(function (it) { return it.value; });
    var filtered = words.length + languages.length > 0;
    function speaks(language) {
      return languages.length === 0 || languages.indexOf(language) >= 0;
    }
    function shown(trial) {
      var it = methods[trial];
      if (!it) {
        return true;
      }
      return speaks(it.language) ? words.every(function (word) { return it.text.indexOf(word) >= 0; }) : false;
    }
    rows.forEach(function (row) { row.hidden = !shown(row.dataset.trial); });
    figures.forEach(function (figure) { figure.hidden = !figure.dataset.trials.split(" ").some(shown); });
    parts.forEach(function (part) { part.hidden = !speaks(part.dataset.language); });
    charts.forEach(function (chart) { draw(chart, shown); });
    var all = {};
    Object.keys(methods).forEach(function (trial) { all[methods[trial].name] = shown(trial); });
    var names = Object.keys(all);
    var visible = names.filter(function (name) { return all[name]; }).length;
    reset.hidden = !filtered;
    count.textContent = filtered
      ? visible + " of " + names.length + " methods shown, " + (names.length - visible) + " hidden"
      : names.length + " methods";
  }
  form.addEventListener("input", apply);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.addEventListener("reset", function () { setTimeout(function () { apply(); find.focus(); }); });
  form.hidden = false;
  apply();
})();

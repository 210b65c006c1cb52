"use strict";
(function () {
  function key(row, column) {
    var cell = row.cells[column];
    return cell.dataset.order === undefined ? cell.textContent : cell.dataset.order;
  }
  function compare(a, b, numeric) {
    return numeric ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true });
  }
  function sort(head) {
    var table = head.closest("table");
    var column = head.cellIndex;
    var numeric = head.classList.contains("number");
    var up = head.getAttribute("aria-sort") !== "ascending";
    var rows = Array.from(table.tBodies[0].rows);
    rows.sort(function (a, b) {
      var left = key(a, column);
      var right = key(b, column);
      // What is not known stays at the end.
      if (left === "" || right === "") {
        return (left === "" ? 1 : 0) - (right === "" ? 1 : 0);
      }
      return (up ? 1 : -1) * compare(left, right, numeric);
    });
    Array.from(head.parentNode.cells).forEach(function (other) {
      other.setAttribute("aria-sort", "none");
    });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    table.tBodies[0].append.apply(table.tBodies[0], rows);
    // The rules between groups of rows say nothing in another order.
    table.dataset.sorted = "yes";
  }
  document.querySelectorAll("table.sortable thead th button").forEach(function (button) {
    button.addEventListener("click", function () { sort(button.parentNode); });
  });
})();

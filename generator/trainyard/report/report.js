"use strict";
// The page is complete without this script. It makes tables sortable and long ones filterable.
const value = (row, column) => row.cells[column].textContent.trim();
const compare = new Intl.Collator("en", { numeric: true }).compare;

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((one, two) => compare(value(one, column), value(two, column)) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
    });
  });
}

function filterable(table) {
  const box = document.createElement("div");
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  const rows = [...table.tBodies[0].rows];
  const words = rows.map((row) => row.textContent.toLowerCase());
  box.className = "filter";
  label.textContent = "Filter ";
  input.type = "search";
  input.placeholder = "words that a row has";
  input.setAttribute("aria-label", `Filter: ${table.caption.textContent}`);
  const show = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !wanted.every((word) => words[index].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    count.textContent = `${shown} of ${rows.length} rows`;
  };
  input.addEventListener("input", show);
  label.append(input);
  box.append(label, count);
  table.parentElement.before(box);
  show();
}

document.querySelectorAll("table.grid").forEach(sortable);
document.querySelectorAll("table[data-filter]").forEach(filterable);

// What is folded is printed too, and folded again afterwards.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  opened.forEach((each) => each.setAttribute("open", ""));
});
addEventListener("afterprint", () => opened.forEach((each) => each.removeAttribute("open")));

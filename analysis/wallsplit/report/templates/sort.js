"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const numeric = head.classList.contains("n");
      const key = (row) => {
        const cell = row.cells[column];
        return numeric ? Number(cell.dataset.v ?? "-Infinity") : cell.textContent;
      };
      const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1);
      body.append(...[...body.rows].sort((a, b) => order(key(a), key(b))));
    });
  });
}

// Tables of class "sorted": a click on a heading sorts by that column, words in the field above choose rows.
for (const table of document.querySelectorAll("table.sorted")) {
  const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const { dataset, textContent } = row.cells[column];
    return "value" in dataset ? (dataset.value === "" ? NaN : Number(dataset.value)) : textContent.trim();
  };
  const compare = (a, b) => {
    if (typeof a === "string") return a.localeCompare(b, undefined, { numeric: true });
    return Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b) : b - a; // most first
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numbers = rows.length && typeof value(rows[0], column) !== "string";
      const first = numbers ? "descending" : "ascending";
      const back = head.ariaSort === first;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.ariaSort = back ? (numbers ? "ascending" : "descending") : first;
      rows.sort((a, b) => (back ? -1 : 1) * compare(value(a, column), value(b, column)));
      body.append(...rows);
    });
  });
  if (rows.length < 12) continue;
  const field = document.createElement("input"), count = document.createElement("span");
  field.type = "search";
  field.placeholder = "filter by words";
  field.ariaLabel = "rows that hold these words";
  const choose = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = ` ${shown} of ${rows.length} rows`;
  };
  count.className = "note";
  field.addEventListener("input", choose);
  choose();
  const line = document.createElement("p");
  line.append(field, count);
  (table.closest(".scroll") ?? table).before(line);
}

// A link to something folded unfolds it.
const unfold = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
};
addEventListener("hashchange", unfold);
unfold();

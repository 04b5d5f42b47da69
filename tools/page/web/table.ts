// A table whose rows stay where they are while their text changes, sorted by the column that was clicked last.
import { select } from "d3-selection";

export interface Column<T> {
  name: string;
  hint?: string;
  text: (row: T) => string;
  // By what the column sorts; without it, by its text.
  order?: (row: T) => number;
  // A share in [0, 1] that is drawn as a bar behind the text.
  bar?: (row: T) => number;
  mark?: (row: T) => string; // a class of the cell
  isText?: boolean; // left-aligned
}

export class Table<T> {
  private rows: T[] = [];
  private sortedBy = -1;
  private ascending = true;
  private limit: number;

  constructor(
    private readonly table: HTMLTableElement,
    private readonly columns: Column<T>[],
    private readonly key: (row: T) => string,
    private readonly most: number,
    private readonly more: HTMLButtonElement | null = null,
  ) {
    this.limit = most;
    const head = table.tHead?.rows[0] as HTMLTableRowElement;
    columns.forEach((column, i) => {
      const cell = document.createElement("th");
      cell.scope = "col";
      if (!column.isText) cell.className = "number";
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = column.name;
      if (column.hint !== undefined) button.title = column.hint;
      button.onclick = () => this.sortBy(i);
      cell.append(button);
      head.append(cell);
    });
    if (more !== null) {
      more.onclick = () => {
        this.limit = this.limit === most ? Infinity : most;
        this.draw();
      };
    }
  }

  set(rows: T[]): void {
    this.rows = rows;
    this.draw();
  }

  private sortBy(column: number): void {
    // Numbers are looked at from the largest.
    if (this.sortedBy !== column) this.ascending = this.columns[column].order === undefined;
    else this.ascending = !this.ascending;
    this.sortedBy = column;
    this.draw();
  }

  private sorted(): T[] {
    const column = this.columns[this.sortedBy];
    if (column === undefined) return this.rows;
    const sign = this.ascending ? 1 : -1;
    const { order, text } = column;
    return [...this.rows].sort((a, b) => {
      const by = order === undefined ? text(a).localeCompare(text(b), "en", { numeric: true }) : order(a) - order(b);
      return sign * by;
    });
  }

  private draw(): void {
    const headers = Array.from(this.table.tHead?.rows[0].cells ?? []);
    const direction = this.ascending ? "ascending" : "descending";
    headers.forEach((cell, i) => cell.setAttribute("aria-sort", i === this.sortedBy ? direction : "none"));
    const rows = this.sorted().slice(0, this.limit);
    if (this.more !== null) {
      this.more.hidden = this.rows.length <= this.most;
      this.more.textContent = this.limit === this.most ? `all ${this.rows.length}` : `the first ${this.most}`;
    }
    const columns = this.columns;
    select(this.table.tBodies[0])
      .selectAll<HTMLTableRowElement>("tr")
      .data(rows, this.key)
      .join((enter) => {
        const row = enter.append<HTMLTableRowElement>("tr");
        for (const column of columns) {
          const cell = row.append("td").attr("class", column.isText ? "" : "number");
          if (column.bar !== undefined) cell.append("span").attr("class", "meter").append("span");
          cell.append("span").attr("class", "text");
        }
        return row;
      })
      .order()
      .each(function (row) {
        columns.forEach((column, i) => fill(this.cells[i], column, row));
      });
  }
}

// Touches what has changed only: a large table is filled every second.
function fill<T>(cell: HTMLTableCellElement, column: Column<T>, row: T): void {
  const text = column.text(row);
  const place = cell.lastElementChild as HTMLElement;
  if (place.textContent !== text) place.textContent = text;
  if (column.bar !== undefined) {
    const meter = cell.firstElementChild?.firstElementChild as HTMLElement;
    const share = Math.max(0, Math.min(1, column.bar(row)));
    const width = `${Math.round(share * 100)}%`;
    if (meter.style.width !== width) meter.style.width = width;
    meter.className = `load-${Math.min(4, Math.floor(share * 5))}`;
  }
  if (column.mark !== undefined) place.className = `text ${column.mark(row)}`;
}

// A line over time, with a second one beside it where there is one, marks where the policy changed, and what it says
// under the pointer or at the arrow keys. Its table is for those who do not see it.
import { scaleLinear } from "d3-scale";
import { curveStepAfter, line } from "d3-shape";
import { select } from "d3-selection";
import * as format from "./format";

export interface Sample {
  atS: number;
  round: number;
  value: number | null;
  beside: number | null; // such as a prediction
}

export interface Mark {
  atS: number;
  text: string;
}

export interface ChartOptions {
  title: string;
  write: (value: number) => string;
  besideName?: string;
}

const MARGIN = { left: 46, right: 14, top: 10, bottom: 22 };
// Of the table: the newest.
const MOST_ROWS = 30;

export class Chart {
  private readonly svg: SVGSVGElement;
  private readonly tip: HTMLElement;
  private readonly table: HTMLTableSectionElement;
  private samples: Sample[] = [];
  private marks: Mark[] = [];
  private looked = -1;

  constructor(
    private readonly box: HTMLElement,
    private readonly options: ChartOptions,
  ) {
    const svg = select(box.querySelector(".plot") as HTMLElement).append<SVGSVGElement>("svg");
    svg.attr("tabindex", 0).attr("role", "img");
    svg.attr("aria-label", `${options.title} over time; the table tells the same`);
    for (const part of ["grid", "marks", "axis"]) svg.append("g").attr("class", part);
    for (const part of ["beside", "value"]) svg.append("path").attr("class", part);
    svg.append("g").attr("class", "look");
    this.svg = svg.node() as SVGSVGElement;
    this.tip = box.querySelector(".tip") as HTMLElement;
    this.table = box.querySelector("tbody") as HTMLTableSectionElement;
    this.svg.addEventListener("pointermove", (event) => this.lookAt(event.offsetX));
    this.svg.addEventListener("pointerleave", () => this.look(-1));
    this.svg.addEventListener("blur", () => this.look(-1));
    this.svg.addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  set(samples: Sample[], marks: Mark[]): void {
    this.samples = samples.filter((sample) => sample.value !== null);
    this.marks = marks;
    this.draw();
    this.drawTable();
  }

  private scales() {
    const [width, height] = [this.svg.clientWidth, this.svg.clientHeight];
    const values = this.samples.flatMap((sample) => [sample.value ?? 0, sample.beside ?? 0]);
    // A single slow round, such as one with a recovery in it, would press all others to the floor.
    const sorted = [...values].sort((a, b) => a - b);
    const top = Math.min(sorted[sorted.length - 1] ?? 1, 3 * (sorted[Math.floor(sorted.length * 0.95)] ?? 1) || 1);
    const [first, last] = [this.samples[0].atS, this.samples[this.samples.length - 1].atS];
    const x = scaleLinear().domain([first, Math.max(last, first + 1)]).range([MARGIN.left, width - MARGIN.right]);
    const y = scaleLinear().domain([0, top]).range([height - MARGIN.bottom, MARGIN.top]).nice(4);
    return { x, y, width, height };
  }

  private draw(): void {
    const empty = this.samples.length < 2 || this.svg.clientWidth === 0;
    this.box.classList.toggle("empty", empty);
    if (empty) return;
    const { x, y, width, height } = this.scales();
    const svg = select(this.svg).attr("viewBox", `0 0 ${width} ${height}`);
    const floor = Math.min(...y.range());
    const at = (value: number) => Math.max(y(value), floor);
    const way = (of: (sample: Sample) => number | null) =>
      line<Sample>()
        .defined((sample) => of(sample) !== null)
        .x((sample) => x(sample.atS))
        .y((sample) => at(of(sample) ?? 0));
    const value = way((sample) => sample.value);
    svg.select("path.value").attr("d", value(this.samples));
    svg.select("path.beside").attr("d", way((sample) => sample.beside).curve(curveStepAfter)(this.samples));
    const ticks = y.ticks(4);
    svg.select("g.grid").selectAll<SVGPathElement>("path").data(ticks).join("path")
      .attr("d", (tick) => `M${MARGIN.left},${y(tick).toFixed(1)}H${width - MARGIN.right}`);
    const marks = this.marks.filter((mark) => mark.atS >= x.domain()[0]);
    svg.select("g.marks").selectAll<SVGPathElement>("path").data(marks).join("path")
      .attr("d", (mark) => `M${x(mark.atS).toFixed(1)},${MARGIN.top}V${height - MARGIN.bottom}`);
    this.drawAxis(ticks, x, y, height);
    this.drawLook();
  }

  private drawAxis(ticks: number[], x: (v: number) => number, y: (v: number) => number, height: number): void {
    const axis = select(this.svg).select("g.axis");
    axis.selectAll<SVGTextElement>("text.y").data(ticks).join("text")
      .attr("class", "y").attr("x", MARGIN.left - 8).attr("y", (tick) => y(tick).toFixed(1))
      .text((tick) => String(Number(tick.toPrecision(6))));
    const ends = [this.samples[0], this.samples[this.samples.length - 1]];
    axis.selectAll<SVGTextElement>("text.x").data(ends).join("text")
      .attr("class", (_, i) => `x ${i === 0 ? "first" : "last"}`)
      .attr("x", (sample) => x(sample.atS).toFixed(1)).attr("y", height - 5)
      .text((sample) => `round ${sample.round}`);
  }

  private lookAt(px: number): void {
    if (this.samples.length < 2) return;
    const at = this.scales().x.invert(px);
    let nearest = 0;
    this.samples.forEach((sample, i) => {
      if (Math.abs(sample.atS - at) < Math.abs(this.samples[nearest].atS - at)) nearest = i;
    });
    this.look(nearest);
  }

  private onKey(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || this.samples.length < 2) return;
    event.preventDefault();
    const from = this.looked < 0 ? this.samples.length - 1 : this.looked;
    this.look(Math.max(0, Math.min(this.samples.length - 1, from + step)));
  }

  private look(sample: number): void {
    this.looked = sample;
    if (this.samples.length >= 2) this.drawLook();
  }

  private drawLook(): void {
    const sample = this.samples[this.looked];
    const { x, y, width } = this.scales();
    const shown = sample === undefined ? [] : [sample];
    const top = Math.min(...y.range());
    select(this.svg).select("g.look").selectAll<SVGCircleElement>("circle").data(shown).join("circle").attr("r", 4)
      .attr("cx", (datum) => x(datum.atS)).attr("cy", (datum) => Math.max(top, y(datum.value ?? 0)));
    this.tip.hidden = sample === undefined;
    if (sample === undefined) return;
    const { write, besideName } = this.options;
    const at = `round ${format.count(sample.round)}, ${format.clock(sample.atS)}`;
    const beside = sample.beside === null || besideName === undefined ? "" : `, ${besideName} ${write(sample.beside)}`;
    this.tip.textContent = `${at}: ${write(sample.value ?? 0)}${beside}`;
    const left = Math.min(Math.max(x(sample.atS) - this.tip.offsetWidth / 2, 4), width - this.tip.offsetWidth - 4);
    this.tip.style.left = `${left}px`;
  }

  private drawTable(): void {
    const rows = this.samples.slice(-MOST_ROWS).reverse();
    select(this.table).selectAll<HTMLTableRowElement>("tr").data(rows).join("tr").each(function (sample) {
      this.dataset.round = String(sample.round);
    });
    const { write, besideName } = this.options;
    rows.forEach((sample, i) => {
      const cells = [format.count(sample.round), format.clock(sample.atS), write(sample.value ?? 0)];
      if (besideName !== undefined) cells.push(sample.beside === null ? format.NONE : write(sample.beside));
      select(this.table.rows[i]).selectAll<HTMLTableCellElement>("td").data(cells).join("td").text((cell) => cell);
    });
  }
}

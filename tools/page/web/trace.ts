// The last round that was traced: a row per link with what it carried and what waited for it, the critical path
// above them and on its links, its sentence, and tables of the same for those who do not see it.
import { scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import * as format from "./format";
import { Table } from "./table";

// tools/reports/round_chart.h says what the members mean.
export interface PathPart {
  from: string;
  to: string;
  text: string;
  begin_s: number;
  end_s: number;
}

export interface TracedLink {
  from: string;
  to: string;
  bytes: number;
  busy_s: number;
  on_path: boolean;
  carries: number[];
  waits: number[];
}

export interface TracedRound {
  round: number | null;
  sentence?: string;
  seconds?: number;
  path?: PathPart[];
  links?: TracedLink[];
  links_left_out?: number;
  missing: { node: string; reason: string }[];
}

const ROW = 18;
const BAR = 8;
const MARGIN = { left: 150, right: 14, bottom: 22 };

// A bar of the picture, by row.
interface Bar {
  row: number;
  begin: number;
  end: number;
  kind: string;
  text: string;
}

function spans(row: number, kind: string, times: number[], text: string): Bar[] {
  const bars: Bar[] = [];
  for (let i = 0; i + 1 < times.length; i += 2) bars.push({ row, begin: times[i], end: times[i + 1], kind, text });
  return bars;
}

function nameOf(link: { from: string; to: string }): string {
  return `${link.from} to ${link.to}`;
}

function barsOf(path: PathPart[], links: TracedLink[]): Bar[] {
  const bars: Bar[] = [];
  links.forEach((link, i) => {
    bars.push(...spans(i + 1, "waits", link.waits, `chunks wait for ${nameOf(link)}`));
    bars.push(...spans(i + 1, "carries", link.carries, `${nameOf(link)} carries chunks`));
  });
  for (const part of path) {
    const bar = { begin: part.begin_s, end: part.end_s, text: part.text };
    bars.push({ ...bar, row: 0, kind: part.from === part.to ? "path at-node" : "path" });
    const row = links.findIndex((link) => link.from === part.from && link.to === part.to) + 1;
    if (row > 0) bars.push({ ...bar, row, kind: "critical" });
  }
  return bars;
}

export class RoundChart {
  private readonly svg: SVGSVGElement;
  private readonly parts: Table<PathPart>;
  private readonly table: Table<TracedLink>;
  private traced: TracedRound | null = null;

  constructor(private readonly box: HTMLElement) {
    const svg = select(box.querySelector(".plot") as HTMLElement).append<SVGSVGElement>("svg");
    svg.attr("role", "img").attr("aria-label", "What each link did in the traced round; the tables tell the same");
    for (const part of ["grid", "axis", "names", "bars"]) svg.append("g").attr("class", part);
    this.svg = svg.node() as SVGSVGElement;
    const [path, links] = Array.from(box.querySelectorAll("table"));
    this.parts = new Table<PathPart>(path, [
      { name: "critical path", text: (part) => part.text, isText: true },
      { name: "from", order: (part) => part.begin_s, text: (part) => format.seconds(part.begin_s) },
      { name: "took", order: (p) => p.end_s - p.begin_s, text: (p) => format.seconds(p.end_s - p.begin_s) },
    ], (part) => `${part.begin_s} ${part.text}`, Infinity);
    this.table = new Table<TracedLink>(links, [
      { name: "link", text: nameOf, isText: true },
      { name: "carried", order: (link) => link.bytes, text: (link) => format.bytes(link.bytes) },
      { name: "busy", order: (link) => link.busy_s, text: (link) => format.percent(this.share(link)) },
      { name: "on the path", text: (link) => (link.on_path ? "yes" : ""), isText: true },
    ], nameOf, Infinity);
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  // null: there is none yet. `note` comes before the other notes.
  set(traced: TracedRound | null, note = ""): void {
    this.traced = traced;
    this.box.hidden = traced === null;
    if (traced === null) return;
    const sentence = traced.sentence ?? "no round was complete at all nodes in the last trace";
    this.write(".sentence", sentence.charAt(0).toUpperCase() + sentence.slice(1));
    const notes = traced.missing.map((row) => `without ${row.node}: ${row.reason}`);
    if (note !== "") notes.unshift(note);
    if (traced.links_left_out) notes.push(`${traced.links_left_out} links that carried less are not shown`);
    this.write(".note", notes.join("; "));
    this.parts.set(traced.path ?? []);
    this.table.set(traced.links ?? []);
    this.draw();
  }

  private share(link: TracedLink): number {
    return link.busy_s / (this.traced?.seconds || 1);
  }

  private write(place: string, text: string): void {
    (this.box.querySelector(place) as HTMLElement).textContent = text;
  }

  private draw(): void {
    const { path = [], links = [], seconds = 0 } = this.traced ?? {};
    this.box.classList.toggle("empty", seconds === 0);
    const height = (links.length + 1) * ROW + MARGIN.bottom;
    this.svg.style.height = `${height}px`;
    const width = this.svg.clientWidth;
    if (seconds === 0 || width === 0) return;
    const x = scaleLinear().domain([0, seconds]).range([MARGIN.left, width - MARGIN.right]);
    const svg = select(this.svg).attr("viewBox", `0 0 ${width} ${height}`);
    const ticks = x.ticks(6);
    svg.select("g.grid").selectAll<SVGPathElement>("path").data(ticks).join("path")
      .attr("d", (tick) => `M${x(tick).toFixed(1)},0V${height - MARGIN.bottom}`);
    svg.select("g.axis").selectAll<SVGTextElement>("text").data(ticks).join("text")
      .attr("x", (tick) => x(tick).toFixed(1)).attr("y", height - 6).text((tick) => format.seconds(tick));
    const names = ["critical path", ...links.map(nameOf)];
    svg.select("g.names").selectAll<SVGTextElement>("text").data(names).join("text")
      .attr("class", (_, i) => (i === 0 || links[i - 1].on_path ? "strong" : ""))
      .attr("x", MARGIN.left - 8).attr("y", (_, i) => i * ROW + ROW / 2).text((name) => name);
    const bars = svg.select("g.bars").selectAll<SVGRectElement>("rect").data(barsOf(path, links))
      .join((enter) => {
        const bar = enter.append<SVGRectElement>("rect");
        bar.append("title");
        return bar;
      });
    bars.attr("class", (bar) => bar.kind).attr("x", (bar) => x(bar.begin).toFixed(1))
      .attr("width", (bar) => Math.max(1, x(bar.end) - x(bar.begin)).toFixed(1))
      .attr("y", (bar) => bar.row * ROW + (bar.kind === "waits" ? ROW / 2 + 2 : (ROW - BAR) / 2))
      .attr("height", (bar) => (bar.kind === "waits" ? BAR / 2 : BAR));
    bars.each(function (bar) {
      const text = `${bar.text}, ${format.seconds(bar.begin)} to ${format.seconds(bar.end)}`;
      (this.firstElementChild as Element).textContent = text;
    });
  }
}

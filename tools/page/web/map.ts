// The picture of the overlay: nodes where delays or the earth put them, both directions of each link, and over them the
// trees that are chosen. Positions change only when nodes, links or the box do; a new status changes colours and text.
import { select } from "d3-selection";
import * as format from "./format";
import { arc, Arc } from "./geometry";
import { layOut, Point } from "./layout";
import { LINK_COUNTERS, NODE_COUNTERS } from "./page_types";
import { awaited, Link, Member, Status } from "./status";

export interface TreeEdge {
  from: string;
  to: string;
  colour: number; // of its tree
  place: number; // among the trees that are shown
  broadcast: boolean;
}

export interface Inspector {
  // A node or a link was looked at; null: none any more.
  show(title: string, facts: [string, string][], at: Point): void;
  hide(): void;
}

// More than so many labels would cover the links, and more links than that the picture.
const MOST_LABELS = 60;
const MOST_LINKS = 2000;
const WIDEST = 5;
// Nodes stand elsewhere once a quarter of the delays has changed by more than that.
const MOVING_MS = 20;
// With more nodes, links are thin, and only roots and what is looked at have names.
const MANY_NODES = 40;

interface DrawnLink {
  link: Link;
  arc: Arc;
}

// An attribute that is set is worked out anew, even when it stays as it is; a large map has thousands of them.
function put(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

function linkKey(link: { from: string; to: string }): string {
  return `${link.from} ${link.to}`;
}

// Whatever the descriptions of messages count, where it is not 0.
function counted<Name extends string>(
  row: { readonly [name in Name]?: number },
  counters: readonly (readonly [Name, string])[],
): [string, string][] {
  return counters.flatMap(([name, words]): [string, string][] => {
    const value = row[name] ?? 0;
    if (value === 0) return [];
    const isShare = name.endsWith("share");
    return [[words, name.endsWith("bytes") ? format.bytes(value) : isShare ? format.percent(value) : format.count(value)]];
  });
}

export function linkFacts(link: Link): [string, string][] {
  const facts: [string, string][] = [
    ["rate", `${format.rate(link.mbps)} (${link.source}${link.old ? ", old" : ""})`],
    ["delay", `${format.digits(link.delay_ms)} ms`],
    ["loss", `${format.digits(link.loss_percent)} %`],
    ["measured", link.age_s === null ? "not yet" : `${format.seconds(link.age_s)} ago`],
    ...counted(link, LINK_COUNTERS),
  ];
  if (link.blocked) facts.push(["blocked", "large messages do not pass"]);
  return facts;
}

export function memberFacts(member: Member): [string, string][] {
  const facts: [string, string][] = [["state", member.state]];
  if (member.round != null) facts.push(["round", format.count(member.round)]);
  if (member.sync_seconds) facts.push(["last synchronisation", format.seconds(member.sync_seconds)]);
  if (member.workers !== undefined) facts.push(["workers", String(member.workers)]);
  if (member.heard_s !== null) facts.push(["heard", `${format.seconds(member.heard_s)} ago`]);
  if (member.up_mbps !== undefined) facts.push(["sends at most", format.rate(member.up_mbps)]);
  if (member.down_mbps !== undefined) facts.push(["receives at most", format.rate(member.down_mbps)]);
  facts.push(...counted(member, NODE_COUNTERS));
  if (member.address !== "") facts.push(["address", member.address]);
  return facts;
}

export class OverlayMap {
  private readonly svg: SVGSVGElement;
  private status: Status | null = null;
  private points = new Map<string, Point>();
  private laidOut = "";
  private delays = new Map<string, number>(); // by which nodes stand where they do
  private edges: TreeEdge[] = [];
  private focused = "";

  constructor(
    private readonly box: HTMLElement,
    private readonly inspector: Inspector,
  ) {
    const svg = select(box).append<SVGSVGElement>("svg").attr("role", "group");
    svg.attr("aria-label", "Map of the overlay. The tables of members and links below say the same.");
    for (const layer of ["links", "labels", "edges", "nodes"]) svg.append("g").attr("class", layer);
    this.svg = svg.node() as SVGSVGElement;
    this.svg.addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.draw()).observe(box);
  }

  setStatus(status: Status): void {
    this.status = status;
    this.draw();
  }

  setEdges(edges: TreeEdge[]): void {
    this.edges = edges;
    this.draw();
  }

  private draw(): void {
    if (this.status === null || this.box.clientWidth === 0) return;
    this.place(this.status);
    this.drawLinks(this.status);
    this.drawEdges();
    this.drawNodes(this.status);
    select(this.svg)
      .classed("with-trees", this.edges.length > 0)
      .classed("many", this.isCrowded)
      .classed("looking", this.focused !== "");
  }

  private get isCrowded(): boolean {
    return (this.status?.nodes.length ?? 0) > MANY_NODES;
  }

  private get radius(): number {
    return this.isCrowded ? 6 : (this.status?.nodes.length ?? 0) > 20 ? 12 : 17;
  }

  // Lays out anew when what positions depend on has changed. Measured delays waver, and nodes should not.
  private place(status: Status): void {
    const [width, height] = [this.box.clientWidth, this.box.clientHeight];
    const names = [status.nodes.map((node) => [node.name, node.place]), status.links.map(linkKey)];
    const shape = JSON.stringify([width, height, names]);
    const isFar = (link: Link) => Math.abs(link.delay_ms - (this.delays.get(linkKey(link)) ?? 0)) > MOVING_MS;
    const moved = status.links.filter(isFar).length > status.links.length / 4;
    if (shape === this.laidOut && !moved) return;
    this.laidOut = shape;
    this.delays = new Map(status.links.map((link) => [linkKey(link), link.delay_ms]));
    const points = layOut(status.nodes, status.links, width, height, this.radius + 22);
    this.points = new Map(status.nodes.map((node, i) => [node.name, points[i]]));
    select(this.svg).attr("viewBox", `0 0 ${width} ${height}`);
  }

  private arcOf(from: string, to: string, bend: number, headSize: number): Arc | null {
    const [a, b] = [this.points.get(from), this.points.get(to)];
    return a === undefined || b === undefined ? null : arc(a, b, this.radius + 3, bend, headSize);
  }

  private drawnLinks(status: Status): DrawnLink[] {
    const inTree = new Set(this.edges.map(linkKey));
    const links =
      status.links.length <= MOST_LINKS
        ? status.links
        : status.links.filter((link) => link.bytes > 0 || inTree.has(linkKey(link))).slice(0, MOST_LINKS);
    return links.flatMap((link) => {
      const drawn = this.arcOf(link.from, link.to, this.isCrowded ? 2 : 5, 0);
      return drawn === null ? [] : [{ link, arc: drawn }];
    });
  }

  private drawLinks(status: Status): void {
    const drawn = this.drawnLinks(status);
    const fastest = Math.max(...drawn.map(({ link }) => link.mbps), 1);
    const isAside = (link: Link) => this.focused !== "" && link.from !== this.focused && link.to !== this.focused;
    const widest = this.isCrowded ? WIDEST / 2 : WIDEST;
    const out = new Set(status.links_out.flatMap(({ between: [a, b] }) => [`${a} ${b}`, `${b} ${a}`]));
    select(this.svg)
      .select("g.links")
      .selectAll<SVGPathElement>("path")
      .data(drawn, ({ link }) => linkKey(link))
      .join("path")
      .each(function ({ link, arc: { path } }) {
        const classes = [`load-${Math.min(4, Math.floor(link.busy_share * 5))}`];
        if (link.old || link.age_s === null) classes.push("old");
        if (link.blocked || out.has(linkKey(link))) classes.push("out");
        if (isAside(link)) classes.push("aside");
        put(this, "class", classes.join(" "));
        put(this, "stroke-width", (1 + (widest - 1) * Math.sqrt(link.mbps / fastest)).toFixed(1));
        put(this, "d", path);
      })
      .on("pointerenter", ({ link, arc: { label } }) =>
        this.inspector.show(`${link.from} → ${link.to}`, linkFacts(link), label),
      )
      .on("pointerleave", () => this.inspector.hide());
    select(this.svg)
      .select("g.labels")
      .selectAll<SVGTextElement>("text")
      .data(drawn.length <= MOST_LABELS ? drawn : [], ({ link }) => linkKey(link))
      .join("text")
      .attr("x", ({ arc: { label } }) => label.x.toFixed(1))
      .attr("y", ({ arc: { label } }) => label.y.toFixed(1))
      .classed("aside", ({ link }) => isAside(link))
      .text(({ link }) => (link.mbps >= 10 ? link.mbps.toFixed(0) : format.digits(link.mbps)));
  }

  // Trees beside each other: each bends a little more than the one before.
  private drawEdges(): void {
    const drawn = this.edges.flatMap((edge) => {
      const line = this.arcOf(edge.from, edge.to, (this.isCrowded ? 2 : 5) + 4 * edge.place, this.isCrowded ? 7 : 10);
      return line === null ? [] : [{ edge, line }];
    });
    const groups = select(this.svg)
      .select("g.edges")
      .selectAll<SVGGElement>("g")
      .data(drawn, ({ edge }) => `${linkKey(edge)} ${edge.colour} ${edge.place} ${edge.broadcast}`)
      .join((enter) => {
        const group = enter.append<SVGGElement>("g");
        group.append("path").attr("class", "way");
        group.append("path").attr("class", "head");
        return group;
      })
      .attr("class", ({ edge }) => `tree-${edge.colour} ${edge.broadcast ? "broadcast" : "reduce"}`);
    groups.each(function (datum) {
      (this.children[0] as SVGPathElement).setAttribute("d", datum.line.path);
      (this.children[1] as SVGPathElement).setAttribute("d", datum.line.head);
    });
  }

  private drawNodes(status: Status): void {
    const waited = awaited(status);
    const rooted = new Set(status.trees.map((tree) => tree.root));
    const first = status.nodes[0]?.name;
    const near = new Set(status.links.flatMap((link) => (link.from === this.focused ? [link.to] : [])));
    const radius = this.radius;
    const nodes = select(this.svg)
      .select("g.nodes")
      .selectAll<SVGGElement>("g")
      .data(status.nodes, (member) => member.name)
      .join((enter) => {
        const group = enter.append<SVGGElement>("g").attr("role", "img");
        group.append("circle").attr("class", "halo");
        group.append("circle").attr("class", "body");
        group.append("text");
        return group;
      })
      .attr("transform", (member) => {
        const point = this.points.get(member.name) as Point;
        return `translate(${point.x.toFixed(1)},${point.y.toFixed(1)})`;
      })
      .attr("class", (member) => `node ${member.state}`)
      .classed("awaited", (member) => waited.has(member.name))
      .classed("root", (member) => rooted.has(member.name))
      .classed("focused", (member) => this.focused === member.name)
      .classed("near", (member) => near.has(member.name))
      // One stop of the tabulator key for all; arrows go from one to the next.
      .attr("tabindex", (member) => (member.name === (this.focused || first) ? 0 : -1))
      .attr("aria-label", (member) => `${member.name}: ${memberFacts(member).map((fact) => fact.join(" ")).join(", ")}`)
      .on("pointerenter", (member) => this.look(member))
      .on("pointerleave", () => this.lookAway())
      .on("focus", (member) => this.look(member))
      .on("blur", () => this.lookAway());
    nodes.each(function (member) {
      const [halo, body, text] = Array.from(this.children);
      halo.setAttribute("r", String(radius + 4));
      body.setAttribute("r", String(radius));
      text.textContent = member.name;
      // A name that does not fit stands below.
      const inside = member.name.length * 7.2 <= radius * 2;
      text.setAttribute("y", inside ? "0" : String(radius + 13));
      text.setAttribute("class", inside ? "inside" : "below");
    });
  }

  private look(member: Member): void {
    if (this.focused === member.name) return;
    this.focused = member.name;
    const point = this.points.get(member.name) as Point;
    this.inspector.show(member.name, memberFacts(member), { x: point.x, y: point.y + this.radius });
    this.draw();
  }

  private lookAway(): void {
    if (this.focused === "") return;
    this.focused = "";
    this.inspector.hide();
    this.draw();
  }

  private onKey(event: KeyboardEvent): void {
    const groups = Array.from(this.svg.querySelectorAll<SVGGElement>("g.nodes > g"));
    const at = groups.indexOf(document.activeElement as unknown as SVGGElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (at < 0 || step === undefined) return;
    event.preventDefault();
    groups[(at + step + groups.length) % groups.length].focus();
  }
}

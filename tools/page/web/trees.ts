// The list of trees. Each is switched on the map by itself; a click on what is on switches it off.
import { select } from "d3-selection";
import * as format from "./format";
import { TreeEdge } from "./map";
import { Status, Tree } from "./status";

const COLOURS = 8;
// More would not be told from each other.
const MOST_SHOWN = 8;

export type Half = "both" | "reduce" | "broadcast";

// Hops from the farthest node to the root.
function depth(parents: Record<string, string>): number {
  let deepest = 0;
  for (const node of Object.keys(parents)) {
    let hops = 0;
    for (let at: string | undefined = node; at !== undefined && hops <= 1000; at = parents[at]) hops += 1;
    deepest = Math.max(deepest, hops - 1);
  }
  return deepest;
}

export class TreeList {
  private trees: Tree[] = [];
  private policy = -1;
  private shown = new Set<number>();
  private half: Half = "both";

  constructor(
    private readonly list: HTMLElement,
    private readonly onChange: (edges: TreeEdge[]) => void,
  ) {}

  setStatus(status: Status): void {
    // The trees of another policy are other trees.
    if (status.policy !== this.policy) {
      this.policy = status.policy;
      this.trees = [...status.trees].sort((a, b) => b.share - a.share);
      this.shown = new Set(Array.from(this.shown).filter((tree) => tree < this.trees.length));
      this.draw();
    }
  }

  setHalf(half: Half): void {
    this.half = half;
    this.onChange(this.edges());
  }

  showFirst(count: number): void {
    this.shown = new Set(this.trees.slice(0, Math.min(count, MOST_SHOWN)).map((_, i) => i));
    this.draw();
  }

  private toggle(tree: number): void {
    if (!this.shown.delete(tree)) {
      this.shown.add(tree);
      // The one that was chosen longest ago gives way.
      if (this.shown.size > MOST_SHOWN) this.shown.delete(this.shown.values().next().value as number);
    }
    this.draw();
  }

  private draw(): void {
    const largest = Math.max(...this.trees.map((tree) => tree.share), 1e-9);
    const rows = select(this.list)
      .selectAll<HTMLLIElement>("li")
      .data(this.trees)
      .join((enter) => {
        const row = enter.append<HTMLLIElement>("li");
        const button = row.append<HTMLButtonElement>("button").attr("type", "button");
        for (const part of ["swatch", "root", "bar", "share", "depth"]) button.append("span").attr("class", part);
        button.select(".bar").append("span");
        return row;
      });
    const list = this;
    rows.each(function (tree) {
      const at = list.trees.indexOf(tree);
      const button = this.firstElementChild as HTMLButtonElement;
      button.className = `tree-${at % COLOURS}`;
      button.setAttribute("aria-pressed", String(list.shown.has(at)));
      button.onclick = () => list.toggle(at);
      const part = (name: string) => button.querySelector(`.${name}`) as HTMLElement;
      part("root").textContent = tree.root;
      part("share").textContent = format.percent(tree.share);
      (part("bar").firstElementChild as HTMLElement).style.width = `${(100 * tree.share) / largest}%`;
      part("depth").textContent = `${depth(tree.reduce)} / ${depth(tree.broadcast)} hops`;
      const halves = `${depth(tree.reduce)} hops up, ${depth(tree.broadcast)} down`;
      button.setAttribute("aria-label", `tree ${at + 1} on ${tree.root}, ${format.percent(tree.share)}, ${halves}`);
      button.title = `${halves}: ${at + 1} of ${list.trees.length}`;
    });
    this.onChange(this.edges());
  }

  private edges(): TreeEdge[] {
    const edges: TreeEdge[] = [];
    Array.from(this.shown).forEach((tree, place) => {
      const { reduce, broadcast } = this.trees[tree];
      const colour = tree % COLOURS;
      if (this.half !== "broadcast") {
        for (const [child, parent] of Object.entries(reduce)) {
          edges.push({ from: child, to: parent, colour, place, broadcast: false });
        }
      }
      if (this.half !== "reduce") {
        for (const [child, parent] of Object.entries(broadcast)) {
          edges.push({ from: parent, to: child, colour, place, broadcast: true });
        }
      }
    });
    return edges;
  }
}

// Arcs between two nodes: each direction of a link bends to its own side.
import { Point } from "./layout";

export interface Arc {
  path: string;
  head: string; // an arrow at its end
  label: Point; // beside its middle
}

// `from` and `to` are centres; the arc begins and ends `gap` away from them and bends by `bend` pixels to the right.
export function arc(from: Point, to: Point, gap: number, bend: number, headSize: number): Arc {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const [nx, ny] = [-dy / length, dx / length];
  const middle = { x: (from.x + to.x) / 2 + nx * bend * 2, y: (from.y + to.y) / 2 + ny * bend * 2 };
  const start = towards(from, middle, gap);
  const end = towards(to, middle, gap + headSize * 0.6);
  const tip = towards(to, middle, gap);
  return {
    path: `M${xy(start)}Q${xy(middle)} ${xy(end)}`,
    head: arrow(middle, tip, headSize),
    label: { x: (from.x + to.x) / 2 + nx * (bend + 10), y: (from.y + to.y) / 2 + ny * (bend + 8) },
  };
}

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: from.x + ((to.x - from.x) * distance) / length, y: from.y + ((to.y - from.y) * distance) / length };
}

function arrow(from: Point, tip: Point, size: number): string {
  const length = Math.hypot(tip.x - from.x, tip.y - from.y) || 1;
  const [ux, uy] = [(tip.x - from.x) / length, (tip.y - from.y) / length];
  const back = { x: tip.x - ux * size, y: tip.y - uy * size };
  const half = size * 0.42;
  const left = { x: back.x - uy * half, y: back.y + ux * half };
  const right = { x: back.x + uy * half, y: back.y - ux * half };
  return `M${xy(tip)}L${xy(left)}L${xy(right)}Z`;
}

function xy(point: Point): string {
  return `${point.x.toFixed(1)},${point.y.toFixed(1)}`;
}

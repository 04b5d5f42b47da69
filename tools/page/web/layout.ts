// Where nodes are drawn: at their places on earth where all have one, else so that distances on the picture are like
// the delays between nodes.
import { forceCollide, forceLink, forceManyBody, forceSimulation, SimulationNode } from "d3-force";
import { Link, Member } from "./status";

export interface Point {
  x: number;
  y: number;
}

interface Pair {
  source: number;
  target: number;
  length: number;
}

// With more nodes the distances of all pairs cost more than they show.
const MOST_FOR_ALL_PAIRS = 150;
// Steps in which springs come to rest: few nodes need more to untangle well, many cost more in each.
const TICKS = 500;
const TICKS_OF_MANY = 150;
const MANY = 40;
const NODE_SPACE = 0.16;

// Lengths of links in the unit of the picture. The shortest delays are not drawn shorter than nodes need.
function linkLengths(links: Link[]): number[] {
  const longest = Math.max(...links.map((link) => link.delay_ms), 1e-6);
  return links.map((link) => 0.45 + (0.55 * link.delay_ms) / longest);
}

// Shortest ways between all pairs of nodes (Floyd and Warshall).
function distances(size: number, pairs: Pair[]): number[][] {
  const far = Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => (i === j ? 0 : Infinity)));
  for (const { source, target, length } of pairs) {
    far[source][target] = far[target][source] = Math.min(far[source][target], length);
  }
  for (let via = 0; via < size; via += 1) {
    for (let i = 0; i < size; i += 1) {
      for (let j = 0; j < size; j += 1) far[i][j] = Math.min(far[i][j], far[i][via] + far[via][j]);
    }
  }
  return far;
}

function allPairs(size: number, pairs: Pair[]): Pair[] {
  const far = distances(size, pairs);
  const all: Pair[] = [];
  for (let i = 0; i < size; i += 1) {
    for (let j = i + 1; j < size; j += 1) all.push({ source: i, target: j, length: Math.min(far[i][j], 5) });
  }
  return all;
}

// Turns the picture so that it is wider than high, as screens are.
function layFlat(points: Point[]): Point[] {
  const mean = { x: 0, y: 0 };
  for (const { x, y } of points) {
    mean.x += x / points.length;
    mean.y += y / points.length;
  }
  let [xx, xy, yy] = [0, 0, 0];
  for (const { x, y } of points) {
    xx += (x - mean.x) ** 2;
    xy += (x - mean.x) * (y - mean.y);
    yy += (y - mean.y) ** 2;
  }
  const turn = -Math.atan2(2 * xy, xx - yy) / 2;
  return points.map(({ x, y }) => ({
    x: (x - mean.x) * Math.cos(turn) - (y - mean.y) * Math.sin(turn),
    y: (x - mean.x) * Math.sin(turn) + (y - mean.y) * Math.cos(turn),
  }));
}

function byDelay(members: Member[], links: Link[]): Point[] {
  const index = new Map(members.map((member, i) => [member.name, i]));
  const lengths = linkLengths(links);
  const pairs = links
    .map((link, i) => ({ source: index.get(link.from) ?? -1, target: index.get(link.to) ?? -1, length: lengths[i] }))
    .filter((pair) => pair.source >= 0 && pair.target >= 0);
  const springs = members.length <= MOST_FOR_ALL_PAIRS ? allPairs(members.length, pairs) : pairs;
  // On a circle first: the same overlay looks the same each time.
  const nodes: SimulationNode[] = members.map((_, i) => ({
    x: Math.cos((2 * Math.PI * i) / members.length),
    y: Math.sin((2 * Math.PI * i) / members.length),
  }));
  const ticks = members.length > MANY ? TICKS_OF_MANY : TICKS;
  const nearness = Math.max(1, members.length / 2);
  forceSimulation(nodes)
    .force(
      "springs",
      forceLink<SimulationNode, Pair>(springs)
        .distance((pair) => pair.length)
        .strength((pair) => 1 / (nearness * pair.length ** 2)),
    )
    .force("repulsion", forceManyBody().strength(-0.004))
    .force("space", forceCollide(NODE_SPACE))
    .alphaDecay(1 - 0.001 ** (1 / ticks))
    .stop()
    .tick(ticks);
  return layFlat(nodes.map((node) => ({ x: node.x ?? 0, y: node.y ?? 0 })));
}

// A picture of a part of the earth on which distances around its middle are right.
function byPlace(members: Member[]): Point[] {
  const places = members.map((member) => member.place as [number, number]);
  const middle = places.reduce((sum, place) => sum + place[0], 0) / places.length;
  const narrow = Math.max(0.2, Math.cos((middle * Math.PI) / 180));
  return places.map(([latitude, longitude]) => ({ x: longitude * narrow, y: -latitude }));
}

export function hasPlaces(members: Member[]): boolean {
  return members.length > 1 && members.every((member) => member.place !== undefined);
}

// Returns a point for each member, within the box and `margin` away from its border.
export function layOut(members: Member[], links: Link[], width: number, height: number, margin: number): Point[] {
  if (members.length === 0) return [];
  const points = hasPlaces(members) ? byPlace(members) : byDelay(members, links);
  const [xs, ys] = [points.map((point) => point.x), points.map((point) => point.y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  let [scaleX, scaleY] = [(width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (bottom - top || 1)];
  // Delays may be stretched a little to fill the box; the earth is not.
  const stretch = hasPlaces(members) ? 1 : 1.7;
  [scaleX, scaleY] = [Math.min(scaleX, scaleY * stretch), Math.min(scaleY, scaleX * stretch)];
  return points.map(({ x, y }) => ({
    x: width / 2 + (x - (left + right) / 2) * scaleX,
    y: height / 2 + (y - (top + bottom) / 2) * scaleY,
  }));
}

// What the page uses of D3, for the type checker: Debian has the libraries without declarations.
declare module "d3-force" {
  export interface SimulationNode {
    x?: number;
    y?: number;
    fx?: number | null;
    fy?: number | null;
  }
  export interface Force {
    (alpha: number): void;
  }
  export interface LinkForce<N, L> extends Force {
    distance(distance: (link: L) => number): this;
    strength(strength: (link: L) => number): this;
    iterations(count: number): this;
  }
  export interface RepulsiveForce extends Force {
    strength(strength: number): this;
  }
  export interface Simulation<N extends SimulationNode> {
    force(name: string, force: Force | null): this;
    stop(): this;
    tick(count?: number): this;
    alpha(alpha: number): this;
    alphaDecay(decay: number): this;
  }
  export function forceSimulation<N extends SimulationNode>(nodes: N[]): Simulation<N>;
  export function forceLink<N, L>(links: L[]): LinkForce<N, L>;
  export function forceManyBody(): RepulsiveForce;
  export function forceCollide(radius: number): Force;
}

declare module "d3-scale" {
  export interface LinearScale {
    (value: number): number;
    domain(domain: [number, number]): this;
    domain(): [number, number];
    range(range: [number, number]): this;
    range(): [number, number];
    nice(count?: number): this;
    ticks(count?: number): number[];
    invert(value: number): number;
  }
  export function scaleLinear(): LinearScale;
  export function scaleSqrt(): LinearScale;
}

declare module "d3-shape" {
  export interface Curve {
    readonly kind: "curve";
  }
  export const curveStepAfter: Curve;
  export interface Line<D> {
    (data: D[]): string | null;
    x(x: (datum: D) => number): this;
    y(y: (datum: D) => number): this;
    defined(defined: (datum: D) => boolean): this;
    curve(curve: Curve): this;
  }
  export function line<D>(): Line<D>;
}

declare module "d3-selection" {
  export type Key<D> = (datum: D) => string;
  export type Value<D> = (datum: D, index: number) => string | number | boolean | null;
  export interface Selection<E extends Element, D> {
    attr(name: string, value: string | number | boolean | null | Value<D>): this;
    classed(names: string, value: boolean | ((datum: D) => boolean)): this;
    text(value: string | Value<D>): this;
    on(type: string, listener: ((datum: D) => void) | null): this;
    each(call: (this: E, datum: D) => void): this;
    append<C extends Element>(name: string): Selection<C, D>;
    select<C extends Element>(selector: string): Selection<C, D>;
    selectAll<C extends Element>(selector: string): Selection<C, unknown>;
    data<N>(data: N[], key?: Key<N>): Selection<E, N>;
    join(enter: string | ((enter: Selection<E, D>) => Selection<E, D>)): Selection<E, D>;
    order(): this;
    node(): E | null;
  }
  export function select<E extends Element>(element: E): Selection<E, unknown>;
}

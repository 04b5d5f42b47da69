// Shows a recording in place of a live job: play and pause, a slider over time, a speed.
// tools/view/recording_server.h says what is asked for.
import { Listener } from "./feed";
import * as format from "./format";
import { History, HistoryNews, Status } from "./status";
import { TracedRound } from "./trace";

interface Facts {
  from_s: number;
  to_s: number;
  speed: number;
  history_parts: number;
}

interface Moment {
  at_s: number;
  next_s: number | null;
  trace: number | null; // its number
  traced_s: number | null;
  status: Status;
}

const SPEEDS = [0.5, 1, 2, 5, 10, 30, 100, 300];
// Between two moments that are shown, however fast it plays.
const LEAST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 500;
// Of a press of an arrow key: a part of the whole.
const STEPS = 100;

async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(`/api/recording/${path}`);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

export class Player {
  private readonly play: HTMLButtonElement;
  private readonly slider: HTMLInputElement;
  private readonly speed: HTMLSelectElement;
  private readonly played: HTMLElement;
  private readonly history = new History();
  private facts: Facts = { from_s: 0, to_s: 0, speed: 1, history_parts: 0 };
  private atS = 0;
  private playsSince: number | null = null; // a time of performance.now(), at which `atS` was reached; null: paused
  private shownS: number | null = null; // the moment that is shown
  private nextS: number | null = null; // and the one after it
  private shownTrace: number | null = null; // its number
  private turn = 0; // what was asked for before the newest turn is not shown
  private timer = 0;

  constructor(
    private readonly box: HTMLElement,
    private readonly listener: Listener,
  ) {
    this.play = box.querySelector("#play") as HTMLButtonElement;
    this.slider = box.querySelector("#position") as HTMLInputElement;
    this.speed = box.querySelector("#speed") as HTMLSelectElement;
    this.played = box.querySelector("#played") as HTMLElement;
    this.play.addEventListener("click", () => this.toggle());
    this.slider.addEventListener("input", () => this.seek(this.facts.from_s + Number(this.slider.value)));
    this.speed.addEventListener("change", () => this.seek(this.positionS(), Number(this.speed.value)));
    void this.open();
  }

  private async open(): Promise<void> {
    try {
      this.facts = await ask<Facts>("facts");
    } catch {
      this.listener.onConnection(false);
      this.timer = window.setTimeout(() => void this.open(), 1000);
      return;
    }
    const { from_s, to_s, speed } = this.facts;
    this.atS = from_s;
    this.slider.max = String(to_s - from_s);
    // A second, unless that is too little or too much of the whole.
    const step = (to_s - from_s) / STEPS;
    this.slider.step = String(step < 0.5 ? 0.1 : Math.max(1, Math.round(step)));
    const speeds = SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed].sort((a, b) => a - b);
    for (const value of speeds) this.speed.add(new Option(`${value}×`, String(value), value === speed, value === speed));
    this.box.hidden = false;
    this.toggle();
    await this.readHistory();
  }

  private async readHistory(): Promise<void> {
    for (let part = 0; part < this.facts.history_parts; ++part) {
      try {
        this.addHistory(await ask<HistoryNews>(`history/${part}`));
      } catch {
        return this.listener.onConnection(false);
      }
      this.tellHistory();
    }
  }

  // A part does not know what the one before ended with.
  private addHistory(part: HistoryNews): void {
    const { rounds, policies } = this.history;
    const [round, policy] = [rounds[rounds.length - 1]?.round, policies[policies.length - 1]?.policy];
    this.history.add({
      all: false,
      rounds: part.rounds.filter((entry, i) => i > 0 || entry.round !== round),
      policies: part.policies.filter((entry, i) => i > 0 || entry.policy !== policy),
    });
  }

  // As much as had come until the moment that is shown.
  private tellHistory(): void {
    if (this.shownS === null) return;
    const until = <E extends { at_s: number }>(entries: E[]) => entries.filter((e) => e.at_s <= (this.shownS ?? 0));
    const { rounds, policies } = this.history;
    this.listener.onHistory({ all: true, rounds: until(rounds), policies: until(policies) });
  }

  private positionS(): number {
    if (this.playsSince === null) return this.atS;
    const passed = ((performance.now() - this.playsSince) / 1000) * this.facts.speed;
    return Math.min(this.atS + passed, this.facts.to_s);
  }

  private toggle(): void {
    const wasPlaying = this.playsSince !== null;
    const atS = this.positionS();
    this.playsSince = wasPlaying ? null : performance.now();
    this.seek(!wasPlaying && atS >= this.facts.to_s ? this.facts.from_s : atS);
  }

  private seek(atS: number, speed = this.facts.speed): void {
    this.atS = atS;
    this.facts.speed = speed;
    if (this.playsSince !== null) this.playsSince = performance.now();
    void this.show();
  }

  // Shows the moment of the position, unless it is shown already, and plays on.
  private async show(): Promise<void> {
    const turn = ++this.turn;
    window.clearTimeout(this.timer);
    const atS = this.positionS();
    if (this.playsSince !== null && atS >= this.facts.to_s) {
      this.playsSince = null;
      this.atS = atS;
    }
    this.showControls(atS);
    const isShown = this.shownS !== null && this.shownS <= atS && (this.nextS === null || atS < this.nextS);
    if (!isShown) {
      try {
        const moment = await ask<Moment>(`at/${atS.toFixed(3)}`);
        const isNew = moment.trace !== this.shownTrace;
        const traced = isNew && moment.trace !== null ? await ask<TracedRound>(`trace/${moment.trace}`) : null;
        if (turn !== this.turn) return;
        const tracedS = (moment.traced_s ?? 0) - this.facts.from_s;
        if (isNew) this.listener.onTrace(traced, `the last one traced by then, at ${format.elapsed(tracedS)}`);
        this.shownTrace = moment.trace;
        this.take(moment);
      } catch {
        if (turn !== this.turn) return;
        this.listener.onConnection(false);
      }
    }
    if (this.playsSince === null) return;
    const pauseMs = ((this.nextS ?? this.facts.to_s) - this.positionS()) * (1000 / this.facts.speed);
    this.timer = window.setTimeout(() => void this.show(), Math.min(Math.max(pauseMs, LEAST_PAUSE_MS), LONGEST_PAUSE_MS));
  }

  private take(moment: Moment): void {
    this.shownS = moment.at_s;
    this.nextS = moment.next_s;
    this.listener.onConnection(true);
    this.listener.onStatus(moment.status);
    this.tellHistory();
  }

  private showControls(atS: number): void {
    const { from_s, to_s } = this.facts;
    this.play.textContent = this.playsSince === null ? "Play" : "Pause";
    this.slider.value = String(atS - from_s);
    const text = `${format.elapsed(atS - from_s)} of ${format.elapsed(to_s - from_s)}`;
    this.played.textContent = text;
    this.slider.setAttribute("aria-valuetext", `${text}, ${format.clock(atS)}`);
  }
}

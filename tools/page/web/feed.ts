// What the scheduler tells, as it tells it: by events, or where it has too many readers already, by asking.
import { HistoryNews, Status } from "./status";
import { TracedRound } from "./trace";

export interface Listener {
  onStatus(status: Status): void;
  onHistory(news: HistoryNews): void;
  // null while no round has been traced. `note` is said beside it.
  onTrace(traced: TracedRound | null, note?: string): void;
  // `live` is false while nobody answers.
  onConnection(live: boolean): void;
}

const RETRY_MS = 3000;
const SILENCE_MS = 10000;

export class Feed {
  private heardAt = Date.now();

  constructor(private readonly listener: Listener) {
    this.open();
    // A status comes every second. Without one the other end may be gone without a word.
    window.setInterval(() => this.checkSilence(), 1000);
  }

  private open(): void {
    const source = new EventSource("/api/events");
    source.addEventListener("history", (event) => this.listener.onHistory(JSON.parse((event as MessageEvent).data)));
    source.addEventListener("status", (event) => this.take(JSON.parse((event as MessageEvent).data)));
    source.addEventListener("trace", (event) => this.listener.onTrace(JSON.parse((event as MessageEvent).data)));
    source.addEventListener("beat", () => this.take({}));
    source.onerror = () => {
      // The browser tries again by itself unless it was refused.
      if (source.readyState !== EventSource.CLOSED) return this.listener.onConnection(false);
      this.ask();
    };
  }

  private take(status: Partial<Status>): void {
    this.heardAt = Date.now();
    this.listener.onConnection(true);
    if (status.nodes !== undefined) this.listener.onStatus(status as Status);
  }

  private ask(): void {
    fetch("/api/status")
      .then((answer) => answer.json())
      .then((status) => this.take(status))
      .catch(() => this.listener.onConnection(false))
      .finally(() => window.setTimeout(() => this.open(), RETRY_MS));
  }

  private checkSilence(): void {
    if (Date.now() - this.heardAt > SILENCE_MS) this.listener.onConnection(false);
  }
}

// The columns of the tables of members and links.
import * as format from "./format";
import { awaited, Link, Member, Status } from "./status";
import { Column } from "./table";

const MARKS: Record<string, string> = { joined: "good", silent: "warn", out: "bad" };

function memory(member: Member): number {
  return Object.values(member.memory ?? {}).reduce((sum, size) => sum + size, 0);
}

function optional(value: number | null | undefined, write: (value: number) => string): string {
  return value === null || value === undefined ? format.NONE : write(value);
}

// A column of words, and one of numbers that are read as `text`.
function words<T>(name: string, text: (row: T) => string, mark?: (row: T) => string): Column<T> {
  return { name, text, mark, isText: true };
}

function numbers<T>(name: string, order: (row: T) => number, text: (row: T) => string, hint?: string): Column<T> {
  return { name, order, text, hint };
}

function ago(seconds: number): string {
  return `${format.seconds(seconds)} ago`;
}

export function memberColumns(status: () => Status | null): Column<Member>[] {
  const waited = (member: Member) => {
    const now = status();
    return now !== null && awaited(now).has(member.name);
  };
  const state = (row: Member) => (waited(row) ? `${row.state}, awaited` : row.state);
  const stateMark = (row: Member) => (waited(row) ? "warn" : MARKS[row.state] ?? "off");
  const sync = (row: Member) => row.sync_seconds || null;
  const loss = (row: Member) => row.loss || null;
  const refused = (row: Member) => row.rejected_messages ?? 0;
  const address = (row: Member) => (row.insecure ? `${row.address}, without a key` : row.address || format.NONE);
  return [
    words("node", (row) => row.name, () => "strong"),
    words("state", state, stateMark),
    numbers("round", (row) => row.round ?? -1, (row) => optional(row.round, format.count)),
    numbers("synchronisation", (row) => sync(row) ?? 0, (row) => optional(sync(row), format.seconds), "last round"),
    numbers("loss", (row) => loss(row) ?? 0, (row) => optional(loss(row), format.digits)),
    numbers("workers", (row) => row.workers ?? 0, (row) => optional(row.workers, String)),
    numbers("memory", memory, (row) => (row.memory === undefined ? format.NONE : format.bytes(memory(row)))),
    numbers("heard", (row) => row.heard_s ?? Infinity, (row) => optional(row.heard_s, ago)),
    numbers("joined in epoch", (row) => row.joined_in ?? 0, (row) => optional(row.joined_in, String)),
    numbers("refused", refused, (row) => optional(row.rejected_messages, format.count), "messages"),
    words("version", (row) => row.version || format.NONE, () => "quiet"),
    words("address", address, (row) => (row.insecure ? "warn" : "quiet")),
  ];
}

export function linkColumns(): Column<Link>[] {
  const load: Column<Link> = {
    ...numbers("load", (row) => row.busy_share, (row) => format.percent(row.busy_share)),
    hint: "part of the last round with chunks on their way",
    bar: (row) => row.busy_share,
  };
  const measured: Column<Link> = {
    ...numbers("measured", (row) => row.age_s ?? Infinity, (row) => optional(row.age_s, ago)),
    mark: (row) => (row.old ? "quiet" : ""),
  };
  const size = (name: string, of: (row: Link) => number, hint?: string): Column<Link> =>
    numbers(name, of, (row) => format.bytes(of(row)), hint);
  return [
    words("from", (row) => row.from, () => "strong"),
    words("to", (row) => row.to, () => "strong"),
    numbers("rate", (row) => row.mbps, (row) => format.rate(row.mbps)),
    load,
    numbers("delay", (row) => row.delay_ms, (row) => `${format.digits(row.delay_ms)} ms`, "propagation, one way"),
    numbers("loss", (row) => row.loss_percent, (row) => `${format.digits(row.loss_percent)} %`),
    measured,
    words("by", (row) => row.source, () => "quiet"),
    size("sent", (row) => row.bytes),
    size("resent", (row) => row.resent_bytes),
    size("auxiliary", (row) => row.auxiliary_bytes, "the part on auxiliary paths"),
    size("trimmed", (row) => row.cut_bytes, "what chunks lacked as they left the queue"),
  ];
}

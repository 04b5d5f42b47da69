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

export function memberColumns(status: () => Status | null): Column<Member>[] {
  const waited = (member: Member) => {
    const now = status();
    return now !== null && awaited(now).has(member.name);
  };
  return [
    { name: "node", text: (row) => row.name, mark: () => "strong", isText: true },
    { name: "state", text: (row) => (waited(row) ? `${row.state}, awaited` : row.state), mark: (row) => (waited(row) ? "warn" : MARKS[row.state] ?? "off"), isText: true },
    { name: "round", text: (row) => optional(row.round, format.count), order: (row) => row.round ?? -1 },
    { name: "synchronisation", hint: "of the last round", text: (row) => optional(row.sync_seconds || null, format.seconds), order: (row) => row.sync_seconds ?? 0 },
    { name: "loss", text: (row) => optional(row.loss || null, format.digits), order: (row) => row.loss ?? 0 },
    { name: "workers", text: (row) => optional(row.workers, String), order: (row) => row.workers ?? 0 },
    { name: "memory", text: (row) => (row.memory === undefined ? format.NONE : format.bytes(memory(row))), order: memory },
    { name: "heard", text: (row) => optional(row.heard_s, (s) => `${format.seconds(s)} ago`), order: (row) => row.heard_s ?? Infinity },
    { name: "joined in epoch", text: (row) => optional(row.joined_in, String) },
    { name: "refused messages", text: (row) => optional(row.rejected_messages, format.count), order: (row) => row.rejected_messages ?? 0 },
    { name: "version", text: (row) => row.version || format.NONE, mark: () => "quiet", isText: true },
    { name: "address", text: (row) => row.address || format.NONE, mark: () => "quiet", isText: true },
  ];
}

export function linkColumns(): Column<Link>[] {
  return [
    { name: "from", text: (row) => row.from, mark: () => "strong", isText: true },
    { name: "to", text: (row) => row.to, mark: () => "strong", isText: true },
    { name: "rate", text: (row) => format.rate(row.mbps), order: (row) => row.mbps },
    { name: "load", hint: "part of the last round with chunks on their way", text: (row) => format.percent(row.busy_share), order: (row) => row.busy_share, bar: (row) => row.busy_share },
    { name: "delay", hint: "propagation, one way", text: (row) => `${format.digits(row.delay_ms)} ms`, order: (row) => row.delay_ms },
    { name: "loss", text: (row) => `${format.digits(row.loss_percent)} %`, order: (row) => row.loss_percent },
    { name: "measured", text: (row) => optional(row.age_s, (s) => `${format.seconds(s)} ago`), order: (row) => row.age_s ?? Infinity, mark: (row) => (row.old ? "quiet" : "") },
    { name: "by", hint: "believed: nobody has measured it", text: (row) => row.source, mark: () => "quiet", isText: true },
    { name: "sent", text: (row) => format.bytes(row.bytes), order: (row) => row.bytes },
    { name: "resent", text: (row) => format.bytes(row.resent_bytes), order: (row) => row.resent_bytes },
    { name: "auxiliary", hint: "the part on auxiliary paths", text: (row) => format.bytes(row.auxiliary_bytes), order: (row) => row.auxiliary_bytes },
    { name: "trimmed", hint: "what chunks lacked as they left the queue", text: (row) => format.bytes(row.cut_bytes), order: (row) => row.cut_bytes },
  ];
}

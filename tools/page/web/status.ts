// What the scheduler tells: scheduler/status_report.h and tools/page/job_history.h say what the members mean.

export interface Member {
  name: string;
  id: number;
  state: string;
  address: string;
  heard_s: number | null;
  version: string;
  insecure: boolean;
  member: boolean;
  joined_in?: number;
  place?: [number, number];
  up_mbps?: number;
  down_mbps?: number;
  workers?: number;
  round?: number | null;
  step?: number;
  loss?: number | null;
  sync_seconds?: number;
  rejected_messages?: number;
  memory?: Record<string, number>;
  not_finite?: { key: string; values: number; last_round: number }[];
}

export interface Link {
  from: string;
  to: string;
  mbps: number;
  delay_ms: number;
  loss_percent: number;
  age_s: number | null;
  source: string;
  old: boolean;
  bytes: number;
  resent_bytes: number;
  auxiliary_bytes: number;
  busy_share: number;
  renewals: number;
  blocked: boolean;
  cut_chunks: number;
  cut_bytes: number;
  overtakings: number;
}

export interface Tree {
  root: string;
  share: number;
  reduce: Record<string, string>;
  broadcast: Record<string, string>;
}

export interface EpochChange {
  epoch: number;
  reason: string;
  members: number;
  seconds: number;
}

export interface OpenRound {
  key: string;
  round: number;
  not_pushed: string[];
  not_held: string[];
  waits_for: string;
  since_s: number;
}

export interface Status {
  job: string;
  state: string;
  error?: string;
  version: string;
  term: number;
  epoch: number;
  policy: number;
  rejected_messages: number;
  waiting_for: string[];
  insecure: boolean;
  change: string | null;
  transfer: string | null;
  disorder: string | null;
  storage?: string | null;
  epochs?: { count: number; total_seconds: number; longest_seconds: number; last: EpochChange[] };
  open_round: OpenRound | null;
  barrier_waits_for: string[];
  links_out: { between: [string, string]; seconds_left: number; why: string }[];
  nodes: Member[];
  links: Link[];
  links_left_out?: number;
  auxiliary_share: number;
  planner?: string;
  rate_mbps?: number;
  auxiliary_rate_mbps?: number;
  bound_mbps?: number;
  bound_ratio?: number | null;
  predicted_round_seconds?: number | null;
  policy_reason?: string;
  policies_taken_back?: number;
  trees: Tree[];
  keys: { key: string; elements: number; closed_rounds: number }[];
}

export interface RoundEntry {
  at_s: number;
  round: number;
  seconds: number;
  predicted_seconds: number | null;
  loss: number | null;
  bytes: number;
  policy: number;
}

export interface PolicyEntry {
  at_s: number;
  policy: number;
  planner: string;
  rate_mbps: number;
  bound_mbps: number;
  predicted_seconds: number | null;
  trees: number;
  reason: string;
}

export interface HistoryNews {
  all: boolean;
  rounds: RoundEntry[];
  policies: PolicyEntry[];
}

const MOST_ROUNDS = 600;
const MOST_POLICIES = 50;

// As much as the scheduler keeps too, however long the page stays open.
export class History {
  rounds: RoundEntry[] = [];
  policies: PolicyEntry[] = [];

  add(news: HistoryNews): void {
    this.rounds = (news.all ? news.rounds : this.rounds.concat(news.rounds)).slice(-MOST_ROUNDS);
    this.policies = (news.all ? news.policies : this.policies.concat(news.policies)).slice(-MOST_POLICIES);
  }
}

// Who is reached by other machines without keys.
export function insecure(status: Status): string[] {
  const nodes = status.nodes.filter((node) => node.insecure).map((node) => node.name);
  return status.insecure ? ["the scheduler", ...nodes] : nodes;
}

// The members that the job waits for now.
export function awaited(status: Status): Set<string> {
  const names = new Set([...status.waiting_for, ...status.barrier_waits_for]);
  // Every round waits for somebody; worth a look is who keeps it for long.
  if (status.open_round !== null && status.open_round.since_s > 3) {
    for (const name of [...status.open_round.not_pushed, ...status.open_round.not_held]) names.add(name);
  }
  return names;
}

// What the scheduler tells. Its types are those of proto/status.h and tools/page/job_history.h, which say what the members
// mean; tools/page/page_types.cc makes page_types.ts of them.

import type { HistoryNews, Status } from "./page_types";

export type { HistoryNews, Status };
export type Member = Status["nodes"][number];
export type Link = Status["links"][number];
export type Tree = Status["trees"][number];
export type RoundEntry = HistoryNews["rounds"][number];
export type PolicyEntry = HistoryNews["policies"][number];

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

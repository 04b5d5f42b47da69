// The page: what the scheduler tells goes to its parts.
import { select } from "d3-selection";
import { Chart, Sample } from "./chart";
import { Faults } from "./faults";
import { Feed, Listener } from "./feed";
import * as format from "./format";
import { OverlayMap } from "./map";
import { Player } from "./player";
import { awaited, History, insecure, Link, Member, RoundEntry, Status } from "./status";
import { Table } from "./table";
import { linkColumns, memberColumns } from "./columns";
import { Inspection } from "./inspection";
import { Operator } from "./operate";
import { RoundChart } from "./trace";
import { Half, TreeList } from "./trees";
import { byId } from "./dom";

// Rows of links that are shown at first.
const FIRST_LINKS = 40;
// A round longer than so many predictions is worth a word.
const SLOW = 3;

function setText(id: string, text: string): void {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

const history = new History();
let status: Status | null = null;

const map = new OverlayMap(byId("map"), new Inspection(byId("inspector"), byId("map")));
const trees = new TreeList(byId("trees"), (edges) => map.setEdges(edges));
const members = new Table<Member>(byId("member-table"), memberColumns(() => status), (row) => row.name, Infinity);
const moreLinks = byId<HTMLButtonElement>("more-links");
const linkKey = (row: Link) => `${row.from} ${row.to}`;
const links = new Table<Link>(byId("link-table"), linkColumns(), linkKey, FIRST_LINKS, moreLinks);
const charts = {
  sync: new Chart(byId("sync-chart"), { title: "Seconds per round", write: format.seconds, besideName: "predicted" }),
  wire: new Chart(byId("wire-chart"), { title: "Mbit/s over all links", write: format.rate }),
  loss: new Chart(byId("loss-chart"), { title: "Training loss", write: format.digits }),
};

const traced = new RoundChart(byId("traced"));

for (const input of Array.from(document.querySelectorAll<HTMLInputElement>("input[name=half]"))) {
  input.addEventListener("change", () => trees.setHalf(input.value as Half));
}
byId("no-trees").addEventListener("click", () => trees.showFirst(0));

function plural(count: number, what: string): string {
  return `${format.count(count)} ${what}${count === 1 ? "" : "s"}`;
}

// The one thing that is most worth to be known, with how much it matters.
function news(now: Status): [string, string] {
  if (now.error) return ["bad", now.error];
  if (now.disorder !== null) return ["bad", now.disorder];
  if (now.storage) return ["warn", `Scheduler: ${now.storage}`];
  if (now.change !== null) return ["warn", `Membership changes: ${now.change}`];
  if (now.transfer !== null) return ["warn", now.transfer];
  if (now.waiting_for.length > 0) return ["warn", `Waiting for ${now.waiting_for.join(", ")} to join`];
  const open = now.open_round;
  if (open !== null && open.since_s > Math.max(3, SLOW * (now.predicted_round_seconds ?? 0))) {
    const since = format.seconds(open.since_s);
    return ["warn", `Round ${open.round} waits for ${open.waits_for}, ${since} since the last one closed`];
  }
  if (now.links_out.length > 0) {
    return ["warn", now.links_out.map((out) => `Without ${out.between.join(" – ")}: ${out.why}`).join("; ")];
  }
  return ["", ""];
}

// Mbit/s between this entry and the one before.
function wireMbps(rounds: RoundEntry[], i: number): number | null {
  const [before, now] = [rounds[i - 1], rounds[i]];
  if (before === undefined || now.bytes < before.bytes || now.at_s <= before.at_s) return null;
  return ((now.bytes - before.bytes) * 8) / (now.at_s - before.at_s) / 1e6;
}

function showTiles(now: Status): void {
  const rounds = history.rounds;
  const last = rounds[rounds.length - 1];
  const newest = Math.max(0, ...now.nodes.map((node) => node.round ?? 0));
  setText("round", newest > 0 ? format.count(newest) : format.NONE);
  setText("round-note", now.open_round === null ? "" : `round ${now.open_round.round} is open`);
  setText("sync", last === undefined ? format.NONE : format.seconds(last.seconds));
  setText("sync-note", now.predicted_round_seconds ? `predicted ${format.seconds(now.predicted_round_seconds)}` : "");
  setText("rate", now.rate_mbps === undefined ? format.NONE : format.rate(now.rate_mbps));
  const bound = format.rate(now.bound_mbps ?? 0);
  setText("rate-note", now.bound_ratio ? `${format.percent(now.bound_ratio)} of the bound, ${bound}` : "");
  const wire = wireMbps(rounds, rounds.length - 1);
  const sent = now.links.reduce((sum, link) => sum + link.bytes, 0);
  const trimmed = now.links.reduce((sum, link) => sum + link.cut_bytes, 0);
  setText("wire", wire === null ? format.bytes(sent) : format.rate(wire));
  const parts = [`${format.bytes(sent)} sent`];
  if (now.auxiliary_share > 0) parts.push(`${format.percent(now.auxiliary_share)} on auxiliary paths`);
  if (trimmed > 0) parts.push(`${format.bytes(trimmed)} trimmed`);
  setText("wire-note", parts.join(", "));
  const joined = now.nodes.filter((node) => node.state === "joined").length;
  setText("members", `${joined} of ${now.nodes.length}`);
  const workers = now.nodes.reduce((sum, node) => sum + (node.workers ?? 0), 0);
  const waited = Array.from(awaited(now));
  setText("members-note", waited.length > 0 ? `waiting for ${waited.join(", ")}` : plural(workers, "worker"));
}

function showHeader(now: Status): void {
  document.title = `${now.job} – Banyan`;
  setText("job", now.job);
  setText("state", now.state);
  byId("state").className = `pill ${now.state}`;
  const unguarded = insecure(now);
  const facts = [`policy ${now.policy}`, `epoch ${now.epoch}`, `term ${now.term}`, `Banyan ${now.version}`];
  if (unguarded.length > 0) facts.push(`reached without keys: ${unguarded.join(", ")}`);
  setText("facts", facts.join(", "));
  const [level, text] = news(now);
  setText("news", text);
  byId("news").className = level;
  byId("news").hidden = text === "";
}

interface Entry {
  number: string;
  at: string;
  text: string;
  facts: string;
}

function showEntries(id: string, entries: Entry[]): void {
  const rows = select(byId(id)).selectAll<HTMLLIElement>("li").data(entries).join((enter) => {
    const row = enter.append<HTMLLIElement>("li");
    for (const part of ["number", "at"]) row.append("span").attr("class", part);
    const words = row.append("span");
    for (const part of ["reason", "facts"]) words.append("div").attr("class", part);
    return row;
  });
  rows.each(function (entry) {
    const texts = { number: entry.number, at: entry.at, reason: entry.text, facts: entry.facts };
    for (const [part, text] of Object.entries(texts)) {
      (this.querySelector(`.${part}`) as HTMLElement).textContent = text;
    }
  });
}

function showEvents(now: Status): void {
  const entries = [...history.policies].reverse().map((policy) => ({
    number: String(policy.policy),
    at: format.clock(policy.at_s),
    text: policy.reason,
    facts: [
      `${policy.planner}, ${plural(policy.trees, "tree")}`,
      `${format.rate(policy.rate_mbps)} of at most ${format.rate(policy.bound_mbps)}`,
      ...(policy.predicted_seconds === null ? [] : [`${format.seconds(policy.predicted_seconds)} a round`]),
    ].join(", "),
  }));
  showEntries("policies", entries);
  setText("policies-note", now.policies_taken_back ? `${now.policies_taken_back} taken back` : "");
  const changes = now.epochs?.last ?? [];
  showEntries("epochs", [...changes].reverse().map((change) => ({
    number: String(change.epoch),
    at: plural(change.members, "node"),
    text: change.reason,
    facts: `took ${format.seconds(change.seconds)}`,
  })));
  setText("epochs-note", changes.length === 0 ? "none yet" : "");
}

function showCharts(): void {
  const rounds = history.rounds;
  const sample = (entry: RoundEntry, value: number | null, beside: number | null): Sample => {
    return { atS: entry.at_s, round: entry.round, value, beside };
  };
  const marks = history.policies.map((policy) => ({ atS: policy.at_s, text: `policy ${policy.policy}` }));
  charts.sync.set(rounds.map((round) => sample(round, round.seconds, round.predicted_seconds)), marks);
  charts.wire.set(rounds.map((round, i) => sample(round, wireMbps(rounds, i), null)), marks);
  charts.loss.set(rounds.map((round) => sample(round, round.loss, null)), marks);
}

let faults: Faults | null = null;

function show(now: Status): void {
  status = now;
  faults?.setStatus(now);
  showHeader(now);
  showTiles(now);
  map.setStatus(now);
  trees.setStatus(now);
  setText("trees-note", now.planner === undefined ? "no plan yet" : `${now.trees.length + (now.trees_left_out ?? 0)} by ${now.planner}`);
  members.set(now.nodes);
  links.set(now.links);
  setText("links-note", plural(now.links.length, "direction"));
  showEvents(now);
}

// `banyan view` serves the page so.
const isRecording = document.body.hasAttribute("data-recording");

const listener: Listener = {
  onStatus: show,
  onHistory: (newer) => {
    history.add(newer);
    showCharts();
  },
  onTrace: (round, note) => traced.set(round, note),
  onConnection: (live) => {
    byId("live").className = live ? "live" : "";
    setText("live", live ? (isRecording ? "recording" : "live") : "no answer");
  },
};
if (isRecording) {
  new Player(byId("player"), listener);
} else {
  new Feed(listener);
  new Operator(() => status);
  faults = new Faults();
}

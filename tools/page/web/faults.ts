// What breaks a demo, on its own page alone: kills a node, cuts a link, fills it with others' traffic. The token comes
// with the address that the demo prints, behind the #. tools/demo/demo_page.h has the paths.
import { Status } from "./status";
import { byId } from "./dom";

interface Answer {
  accepted: boolean;
  text: string;
}

// A page that was opened by an address with a password must not ask by that address.
const PATH = `${location.origin}/api/faults`;

export class Faults {
  private readonly token = new URLSearchParams(location.hash.slice(1)).get("demo");
  private readonly node = byId<HTMLSelectElement>("fault-node");
  private readonly link = byId<HTMLSelectElement>("fault-link");
  private readonly answer = byId("fault-answer");

  constructor() {
    if (this.token === null) return;
    byId("kill").addEventListener("click", () => void this.give("kill", this.node.value));
    byId("cut").addEventListener("click", () => void this.give("cut", this.link.value));
    byId("traffic").addEventListener("click", () => void this.give("traffic", this.link.value));
    void this.begin();
  }

  setStatus(now: Status): void {
    if (this.token === null) return;
    this.fill(this.node, now.nodes.map((node) => [node.name, node.name]));
    const pairs = now.links.filter((link) => link.from < link.to || !now.links.some((back) =>
      back.from === link.to && back.to === link.from));
    this.fill(this.link, pairs.map((link) => [`${link.from} ${link.to}`, `${link.from} – ${link.to}`]));
  }

  // What is chosen stays chosen, and a list that is open stays as it is.
  private fill(list: HTMLSelectElement, entries: [string, string][]): void {
    const isSame = list.length === entries.length && entries.every(([value], i) => list.options[i].value === value);
    if (isSame) return;
    const chosen = list.value;
    list.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
    if (entries.some(([value]) => value === chosen)) list.value = chosen;
  }

  private async begin(): Promise<void> {
    try {
      const about: Answer = await (await fetch(PATH)).json();
      byId("faults").hidden = false;
      for (const id of ["fault-link", "cut", "traffic"]) {
        (byId(id) as HTMLButtonElement | HTMLSelectElement).disabled = !about.accepted;
      }
      byId("fault-note").textContent = about.text;
    } catch {
      // This page is no demo's, or it is over.
    }
  }

  private async give(path: string, body: string): Promise<void> {
    this.show(true, "…");
    try {
      const headers = { Authorization: `Bearer ${this.token}` };
      const answer: Answer = await (await fetch(`${PATH}/${path}`, { method: "POST", headers, body })).json();
      this.show(answer.accepted, answer.text);
    } catch {
      this.show(false, "No answer: the demo is over.");
    }
  }

  private show(isGood: boolean, text: string): void {
    this.answer.className = `answer ${isGood ? "good" : "bad"}`;
    this.answer.textContent = text;
  }
}

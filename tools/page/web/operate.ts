// What an operator does here: the orders of `banyan reconfigure`, `remove` and `stop`, each after a dialog that says
// what will happen. The token stays in this page, until it is locked or left. tools/page/operator_routes.h has the paths.
import { Status } from "./status";
import { byId } from "./dom";

interface Answer {
  accepted: boolean;
  text: string;
}

type Kind = "reconfigure" | "remove" | "stop";

// A page that was opened by an address with a password must not ask by that address.
const PATH = `${location.origin}/api/operator`;
// Of the lines that differ, so many are shown.
const MOST_CHANGES = 12;

// Lines of one text that the other lacks, as often as they are there.
function linesBeyond(text: string, other: string): string[] {
  const left = new Map<string, number>();
  for (const line of other.split("\n")) left.set(line, (left.get(line) ?? 0) + 1);
  return text.split("\n").filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0 && line.trim() !== "";
  });
}

export class Operator {
  private readonly panel = byId("operate");
  private readonly unlockForm = byId<HTMLFormElement>("unlock");
  private readonly tokenField = byId<HTMLInputElement>("token");
  private readonly answer = byId("operate-answer");
  private readonly dialog = byId<HTMLDialogElement>("order");
  private readonly overlay = byId<HTMLTextAreaElement>("order-overlay");
  private readonly node = byId<HTMLSelectElement>("order-node");
  private readonly reason = byId<HTMLInputElement>("order-reason");
  private readonly give = byId<HTMLButtonElement>("order-give");
  private readonly cancel = byId<HTMLButtonElement>("order-cancel");
  private readonly orderAnswer = byId("order-answer");
  private token = "";
  private kind: Kind = "stop";
  private running = ""; // the overlay that the job runs under
  private isWaiting = false;

  // `status` is what the page shows now.
  constructor(private readonly status: () => Status | null) {
    this.unlockForm.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.unlock();
    });
    byId("lock").addEventListener("click", () => this.lock(""));
    for (const kind of ["reconfigure", "remove", "stop"] as Kind[]) {
      byId(`open-${kind}`).addEventListener("click", () => void this.open(kind));
    }
    this.dialog.querySelector("form")?.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.send();
    });
    this.cancel.addEventListener("click", () => this.dialog.close());
    this.overlay.addEventListener("input", () => this.showChoice());
    this.node.addEventListener("change", () => this.showChoice());
    const file = byId<HTMLInputElement>("order-file");
    file.addEventListener("change", () => {
      void file.files?.[0]?.text().then((text) => {
        this.overlay.value = text;
        this.showChoice();
      });
    });
    void this.begin();
  }

  // Shows what there is to be done here, or how one gets it.
  private async begin(): Promise<void> {
    try {
      const answer: Answer = await (await fetch(PATH)).json();
      this.panel.hidden = !answer.accepted && answer.text === "";
      this.unlockForm.hidden = !answer.accepted;
      this.answer.textContent = answer.text;
    } catch {
      // The scheduler is away; the page says so, and asks again with the next load.
    }
  }

  private async ask(path: string, body = ""): Promise<Answer> {
    try {
      const headers = { Authorization: `Bearer ${this.token}` };
      const answer = await fetch(`${PATH}/${path}`, { method: "POST", headers, body });
      return await answer.json();
    } catch {
      return { accepted: false, text: "No answer: the scheduler may still have taken it. The job's state shows it." };
    }
  }

  private async unlock(): Promise<void> {
    this.token = this.tokenField.value.trim();
    const who = await this.ask("who");
    if (!who.accepted) return this.lock(who.text);
    this.tokenField.value = "";
    this.unlockForm.hidden = true;
    byId("orders").hidden = false;
    byId("operator").textContent = who.text;
    this.show(this.answer, true, "");
    byId("open-reconfigure").focus();
  }

  private lock(why: string): void {
    this.token = "";
    this.unlockForm.hidden = false;
    byId("orders").hidden = true;
    this.show(this.answer, false, why);
    this.tokenField.focus();
  }

  private show(place: HTMLElement, isGood: boolean, text: string): void {
    place.className = `answer ${isGood ? "good" : "bad"}`;
    place.textContent = text;
  }

  private async open(kind: Kind): Promise<void> {
    this.kind = kind;
    for (const part of Array.from(this.dialog.querySelectorAll<HTMLElement>("[data-order]"))) {
      part.hidden = part.dataset.order !== kind;
    }
    this.show(this.orderAnswer, true, "");
    this.give.hidden = false;
    this.cancel.textContent = "Cancel";
    this.reason.value = "";
    byId<HTMLInputElement>("order-file").value = "";
    if (kind === "reconfigure") {
      const overlay = await this.ask("overlay");
      if (!overlay.accepted) return this.show(this.answer, false, overlay.text);
      this.running = overlay.text;
      this.overlay.value = overlay.text;
    }
    if (kind === "remove") this.fillNodes();
    this.showChoice();
    this.dialog.showModal();
    // A key that is pressed twice must not stop a job.
    this.cancel.focus();
  }

  private fillNodes(): void {
    const nodes = this.status()?.nodes ?? [];
    const present = nodes.filter((node) => node.state !== "removed");
    this.node.replaceChildren(...present.map((node) => new Option(`${node.name}, ${node.state}`, node.name)));
  }

  // Says what will happen if the button is pressed now.
  private showChoice(): void {
    const now = this.status();
    const [job, count] = [now?.job ?? "", now?.nodes.length ?? 0];
    const name = this.node.value;
    let what: string;
    if (this.kind === "reconfigure") {
      byId("order-title").textContent = "Change the overlay";
      what =
        "The scheduler checks the text, plans anew and tells all nodes. No round is lost, and a text with a mistake " +
        "changes nothing. New nodes come at the end of nodes, with links of their own.";
      this.showChanges();
    } else if (this.kind === "remove") {
      byId("order-title").textContent = "Remove a node";
      what =
        `${name} falls out of job ${job}; the others go on without it. ` +
        "It may not come back until an overlay that names it is applied.";
      this.give.textContent = `Remove ${name}`;
    } else {
      byId("order-title").textContent = "Stop the job";
      what = `Job ${job} ends for all its ${count} nodes. It cannot go on after that.`;
      this.give.textContent = `Stop ${job}`;
    }
    byId("order-what").textContent = what;
    this.give.disabled = this.kind === "remove" && name === "";
    this.give.classList.toggle("danger", this.kind !== "reconfigure");
  }

  private showChanges(): void {
    const removed = linesBeyond(this.running, this.overlay.value).map((line) => `− ${line}`);
    const added = linesBeyond(this.overlay.value, this.running).map((line) => `+ ${line}`);
    const lines = [...removed, ...added];
    const more = lines.length - MOST_CHANGES;
    const shown = more > 0 ? [...lines.slice(0, MOST_CHANGES), `and ${more} more`] : lines;
    byId("order-changes").textContent = shown.join("\n") || "no line differs from what the job runs under";
    const count = `${lines.length} changed line${lines.length === 1 ? "" : "s"}`;
    this.give.textContent = lines.length === 0 ? "Plan again" : `Apply ${count}`;
  }

  private async send(): Promise<void> {
    if (this.isWaiting || this.give.hidden) return;
    this.isWaiting = true;
    this.give.disabled = true;
    this.show(this.orderAnswer, true, "The scheduler is asked…");
    const bodies = { reconfigure: this.overlay.value, remove: this.node.value, stop: this.reason.value };
    const answer = await this.ask(this.kind, bodies[this.kind]);
    this.isWaiting = false;
    this.give.disabled = false;
    this.show(this.orderAnswer, answer.accepted, answer.text);
    this.show(this.answer, answer.accepted, answer.text);
    if (!answer.accepted) return;
    this.give.hidden = true;
    this.cancel.textContent = "Close";
    this.cancel.focus();
  }
}

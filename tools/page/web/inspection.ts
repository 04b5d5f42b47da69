// The small window on the map that tells of what is looked at.
import { select } from "d3-selection";
import { Point } from "./layout";
import { Inspector } from "./map";

export class Inspection implements Inspector {
  constructor(
    private readonly window: HTMLElement,
    private readonly around: HTMLElement,
  ) {}

  show(title: string, facts: [string, string][], at: Point): void {
    this.window.hidden = false;
    this.window.textContent = "";
    select(this.window).append("h3").text(title);
    const list = select(this.window).append("dl");
    for (const [name, value] of facts) {
      list.append("dt").text(name);
      list.append("dd").text(value);
    }
    const { offsetWidth: width, offsetHeight: height } = this.window;
    const left = Math.max(0, Math.min(at.x - width / 2, this.around.clientWidth - width));
    const below = at.y + 12;
    const top = below + height <= this.around.clientHeight ? below : Math.max(0, at.y - height - 50);
    this.window.style.left = `${left}px`;
    this.window.style.top = `${top}px`;
  }

  hide(): void {
    this.window.hidden = true;
  }
}

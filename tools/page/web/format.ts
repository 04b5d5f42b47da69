// Numbers as people read them.

export const NONE = "–";

// Three digits that count, without an exponent.
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.01) return value.toFixed(size >= 1 ? 2 : 3);
  return value.toPrecision(2);
}

export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  let value = count;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : digits(value)} ${units[unit]}`;
}

export function rate(mbps: number): string {
  return mbps >= 1000 ? `${digits(mbps / 1000)} Gbit/s` : `${digits(mbps)} Mbit/s`;
}

export function seconds(value: number): string {
  if (value < 1) return `${digits(value * 1000)} ms`;
  if (value < 120) return `${digits(value)} s`;
  if (value < 7200) return `${Math.round(value / 60)} min`;
  if (value < 172800) return `${digits(value / 3600)} h`;
  return `${digits(value / 86400)} days`;
}

export function percent(part: number): string {
  const value = part * 100;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${value.toFixed(value >= 1 || value === 0 ? 0 : 1)} %`;
}

// Simulations count from their start.
const LEAST_DATE_S = 1e8;

export function clock(atS: number): string {
  const two = "2-digit";
  const timeZone = atS < LEAST_DATE_S ? "UTC" : undefined;
  return new Date(atS * 1000).toLocaleTimeString([], { hour: two, minute: two, second: two, hour12: false, timeZone });
}

// As 1:02:03 or 2:03.
export function elapsed(value: number): string {
  const whole = Math.floor(value);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (parts[0] === 0) parts.shift();
  return parts.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
}

export function count(value: number): string {
  return value.toLocaleString("en");
}

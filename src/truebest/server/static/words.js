// Numbers and times as people read them.

export function number(value, digits = 4) {
  if (value === null || value === undefined) return "";
  if (value === 0) return "0"; // also -0
  if (typeof value === "string") return value; // "inf", which JSON has no number for
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
}

// To two digits: it is an estimate.
export function rough(value) {
  return Number(Number(value).toPrecision(2)).toLocaleString("en");
}

export function percent(part) {
  if (part === null || part === undefined) return "";
  return `${Number((100 * part).toPrecision(3))}%`;
}

export function duration(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export function range(least, most, show) {
  if (least <= 0) return `up to ${show(most)}`;
  const [from, to] = [show(least), show(most)];
  return from === to ? `about ${to}` : `${from} to ${to}`;
}

export function moment(seconds) {
  return seconds === null || seconds === undefined ? "" : new Date(1000 * seconds).toLocaleString("en-GB");
}

export function plural(count, thing) {
  return `${number(count)} ${thing}${count === 1 ? "" : "s"}`;
}

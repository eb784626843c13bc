// Numbers and times as people read them.

export function number(value, digits = 4) {
  if (value === null || value === undefined) return "";
  if (value === 0) return "0"; // also -0
  if (typeof value === "string") return value; // "inf", which JSON has no number for
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-4 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
}

export function percent(part) {
  if (part === null || part === undefined) return "";
  return `${Number((100 * part).toPrecision(3))}%`;
}

export function moment(seconds) {
  return seconds === null || seconds === undefined ? "" : new Date(1000 * seconds).toLocaleString("en-GB");
}

export function plural(count, thing) {
  return `${number(count)} ${thing}${count === 1 ? "" : "s"}`;
}

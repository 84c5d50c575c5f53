// NumberText: numbers for people: durations and sizes with three significant digits and a unit, counts with all digits.
// The functions are pure.

/** Returns '830 µs', '12.4 ms', '1.24 s', '2 min 3 s'. */
export function durationText(ms: number): string {
  if (ms < 0.0005) return '0 µs';
  if (ms < 0.9995) return `${digits(ms * 1000)} µs`;
  if (ms < 999.5) return `${digits(ms)} ms`;
  if (ms < 59_995) return `${digits(ms / 1000)} s`;
  return spanText(ms);
}

/** Returns a duration without fractions: '4 s', '2 min 3 s', '5 h 10 min', '3 d 4 h'. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return two(minutes, 'min', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return two(hours, 'h', minutes % 60, 'min');
  return two(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function two(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`;
}

/** Returns '12,345'. */
export function countText(count: number): string {
  return Math.round(count)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** Returns '1 event', '12,345 events'. */
export function amountText(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** Returns '980 B', '1.2 MB'. */
export function bytesText(bytes: number): string {
  let amount = bytes;
  for (const unit of ['B', 'kB', 'MB', 'GB']) {
    if (amount < 999.5 || unit === 'GB') return `${digits(amount)} ${unit}`;
    amount /= 1000;
  }
  return `${bytes} B`;
}

function digits(amount: number): string {
  if (amount >= 99.95 || Number.isInteger(amount)) return String(Math.round(amount));
  return amount >= 9.995 ? amount.toFixed(1) : amount.toFixed(2);
}

// BenchReport: what a run has measured, and its table.

export interface Pace {
  /** Of one round of one side, in seconds. */
  readonly seconds: number;
  /** Each side is measured this many times, in turns; the figures are medians. */
  readonly rounds: number;
  /** Of each side, before its first round. */
  readonly warmUpSeconds: number;
  /** Cold starts of each side that count. */
  readonly starts: number;
}

export interface Measurement {
  readonly letter: string;
  readonly what: string;
  /** Median of svc's rounds. */
  readonly svc: number;
  readonly beside: string;
  /** Median of the rounds of what svc stands beside; undefined where there is nothing. */
  readonly other: number | undefined;
  readonly unit: 'per second' | 'ms' | 'MiB';
  /** Median of the rounds' own ratios: svc to the other, as each round's neighbours measured them. */
  readonly ratio: number | undefined;
  readonly cores: string;
}

export interface BenchReport {
  /** YYYY-MM-DD */
  readonly date: string;
  readonly machine: string;
  /** What made the requests. */
  readonly load: string;
  readonly pace: Pace;
  readonly measurements: readonly Measurement[];
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function reportText({ date, machine, load, pace, measurements }: BenchReport): string {
  const rows = measurements.map(({ letter, what, svc, beside, other, unit, ratio, cores }) => [
    `(${letter})`,
    what,
    figure(svc, unit),
    other === undefined ? beside : `${beside}: ${figure(other, unit)}`,
    ratio === undefined ? '' : ratio.toFixed(2),
    cores,
  ]);
  return [
    `${date}, ${machine}. Requests by ${load}. Medians of ${pace.rounds} rounds of ${pace.seconds} s, in turns.`,
    '',
    ...table([['', 'What', 'svc', 'Beside it', 'Ratio', 'Cores'], ...rows]),
    '',
  ].join('\n');
}

function figure(value: number, unit: Measurement['unit']): string {
  if (unit === 'ms') return `${value.toFixed(value < 10 ? 2 : 0)} ms`;
  const whole = Math.round(value).toLocaleString('en-US');
  return unit === 'MiB' ? `${whole} MiB` : `${whole}/s`;
}

function table([head, ...rows]: readonly (readonly string[])[]): string[] {
  const widths = head!.map((_, column) =>
    Math.max(...[head!, ...rows].map((row) => row[column]!.length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [
    line(head!),
    `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`,
    ...rows.map(line),
  ];
}

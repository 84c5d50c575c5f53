// BenchReport: the results of a run, and their table.

export interface Pace {
  /** Duration of one round of one side, in seconds. */
  readonly seconds: number;
  /** Number of rounds of each side, in turns; the figures are medians. */
  readonly rounds: number;
  /** Usual warm-up of a side before its first round, in seconds; 0: none. Some measurements deviate from this time. */
  readonly warmUpSeconds: number;
  /** Number of measured cold starts of each side, and of measured changes of `svc dev`. */
  readonly starts: number;
}

export interface Measurement {
  /** Name by which `--only` selects the measurement: a letter, perhaps with a digit. */
  readonly letter: string;
  readonly what: string;
  /** Median of svc's rounds; the only value if there are no rounds. */
  readonly svc: number;
  /** Name of the reference; without a reference, a remark on the figure. */
  readonly beside: string;
  /** Median of the reference's rounds; undefined if there is no reference. */
  readonly other: number | undefined;
  readonly unit: 'per second' | 'ms' | 'µs' | 'MiB' | 'KiB' | '%';
  /**
   * Ratio of svc to the reference: in (e) and (o), the ratio of the medians; otherwise, the median of the ratios of
   * neighbouring rounds. Undefined if there is no reference.
   */
  readonly ratio: number | undefined;
  /** Processors on which the servers and the load ran, in words. */
  readonly cores: string;
}

export interface BenchReport {
  /** Date as YYYY-MM-DD. */
  readonly date: string;
  readonly machine: string;
  /** Program that sent the requests. */
  readonly load: string;
  readonly pace: Pace;
  readonly measurements: readonly Measurement[];
}

/** Returns the number of the first round: -1 if a round that is not measured comes first, as a warm-up. */
export function firstRound({ warmUpSeconds }: Pace): number {
  return warmUpSeconds > 0 ? -1 : 0;
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** `part`: 0.99 for the 99th percentile. */
export function percentile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)]!;
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
  if (unit === 'µs') return `${value.toFixed(1)} µs`;
  if (unit === 'ms') return `${value.toFixed(value < 10 ? 2 : 0)} ms`;
  if (unit === '%') return `${value.toFixed(2)} %`;
  if (unit === 'KiB' && value < 10) return `${value.toFixed(2)} KiB`;
  const whole = Math.round(value).toLocaleString('en-US');
  return unit === 'per second' ? `${whole}/s` : `${whole} ${unit}`;
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

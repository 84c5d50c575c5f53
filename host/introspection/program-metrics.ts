// ProgramMetrics: the series that a program adds to those of its embedded service. The program keeps its numbers itself, and each
// scrape reads them, so that a number that nobody reads costs nothing.
//
// Invariants: no series of a program has the name of one of the runtime. A metric that cannot be read has no sample, and prevents no
// other one. A metric has at most LABEL_VALUES_MAX samples.
import type { Family, Sample } from './observability/metrics-text.ts';

/** A counter or a gauge of a program. */
export interface Metric {
  /** Lower-case letters, digits and `_`, and not `svc_…` or `process_…`. The name of a counter ends with `_total`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  /** Meaning, as a sentence. */
  readonly help: string;
  /** Name of the label by which the samples differ. Absent: there is one sample, without a label. */
  readonly label?: string;
  /**
   * Returns the number now; with a `label`, the numbers by its values, of which the first 100 count. Undefined, or a
   * number that is not finite: there is none now. It is called at each scrape, and must not wait for anything.
   */
  read(): number | Readonly<Record<string, number>> | undefined;
}

/** Maximum number of values of a label, whose further ones are left out. */
const LABEL_VALUES_MAX = 100;
const METRICS_MAX = 1000;
const NAME = /^(?!svc_|process_)[a-z][a-z0-9_]{0,199}$/;
const LABEL = /^(?!__)[a-z_][a-z0-9_]{0,99}$/;

/** Returns why the metrics cannot be those of a program, worded to follow "The option "; undefined if they can. */
export function metricsProblem(metrics: readonly Metric[]): string | undefined {
  if (metrics.length > METRICS_MAX)
    return `metrics takes ${METRICS_MAX} metrics at most, and found ${metrics.length}`;
  const names = new Set<string>();
  for (const { name, type, label } of metrics) {
    if (!NAME.test(name))
      return `metrics takes names of lower-case letters, digits and _ that do not begin with svc_ or process_, and found '${name}'`;
    if ((type === 'counter') !== name.endsWith('_total'))
      return `metrics takes names that end with _total for counters, and for counters only, and found the ${type} '${name}'`;
    if (label !== undefined && !LABEL.test(label))
      return `metrics takes labels of lower-case letters, digits and _, and found '${label}'`;
    if (names.has(name)) return `metrics has '${name}' twice`;
    names.add(name);
  }
  return undefined;
}

export function programFamilies(metrics: readonly Metric[]): Family[] {
  return metrics.map((metric) => {
    const { name, type, help } = metric;
    return { name, type, help, samples: samplesOf(metric) };
  });
}

function samplesOf(metric: Metric): readonly Sample[] {
  let read: ReturnType<Metric['read']>;
  try {
    read = metric.read();
  } catch {
    return [];
  }
  const { label } = metric;
  if (label === undefined) return isSample(read) ? [{ value: read }] : [];
  if (typeof read !== 'object' || read === null) return [];
  return Object.entries(read)
    .filter(([, value]) => isSample(value))
    .slice(0, LABEL_VALUES_MAX)
    .map(([of, value]) => ({ labels: { [label]: of }, value }));
}

/** The text format writes other numbers otherwise than JavaScript does. */
function isSample(value: unknown): value is number {
  return Number.isFinite(value);
}

// MetricsText formats series in Prometheus' text exposition format 0.0.4. Names are the host's own; the values of
// labels may come from a module, and are escaped.

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface Sample {
  /** Suffix of the family's name. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A family: all samples of one name. No two of them have the same suffix and the same labels. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export function metricsText(families: readonly Family[]): string {
  let text = '';
  for (const { name, type, help, samples } of families) {
    text += `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`;
    for (const sample of samples) text += `${sampleName(name, sample)} ${sample.value}\n`;
  }
  return text;
}

/** Returns a sample's name with its labels, as in the text. */
export function sampleName(family: string, { suffix, labels = {} }: Sample): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapedLabel(value)}"`);
  return `${family}${suffix ?? ''}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`}`;
}

function escapedLabel(value: string): string {
  // An unpaired surrogate cannot be encoded in UTF-8.
  return value
    .toWellFormed()
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n');
}

function escapedHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

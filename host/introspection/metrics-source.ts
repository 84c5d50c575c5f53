// MetricsSource: the metrics of the service of this process, made of what its threads share and of what the process
// knows of itself. It asks no thread, so it answers whatever a guest does.
import type { LimitCounts } from '../model/limit-counters.ts';
import {
  counter,
  gauge,
  httpFamilies,
  invocationFamilies,
  journalFamilies,
  type JournalNumbers,
  labelledCounter,
  shardFamilies,
  windowFamilies,
} from './observability/series.ts';
import { type KindTotals, summedTotals } from '../shards/recorder/invocation-totals.ts';
import { type Family, metricsText, sampleName } from './observability/metrics-text.ts';
import type { ServiceShards } from './service-shards.ts';

/** What metrics are made of. */
export interface MetricsParts {
  readonly shards: Pick<ServiceShards, 'numbers' | 'counters' | 'count' | 'serving'>;
  readonly journal: { read(): JournalNumbers };
  /** Of the service's window of spans. */
  readonly ringCapacity: number;
}

/** They fall, and are no totals. */
const OF_WINDOW = new Set(['svc_invocations_total', 'svc_invocation_duration_seconds_sum']);
const MICROS_PER_S = 1_000_000;
const MS_PER_S = 1_000;

/** Of the spans that are exported. */
export interface ExportCounts {
  readonly exported: number;
  /** That nobody has received: the receiver did not take them in time, or they had left their window. */
  readonly dropped: number;
}

export class MetricsSource {
  /** Set by who exports spans. */
  exportCounts: () => ExportCounts = () => ({ exported: 0, dropped: 0 });
  readonly #parts: MetricsParts;

  constructor(parts: MetricsParts) {
    this.#parts = parts;
  }

  /** Text exposition format 0.0.4 (METRICS_CONTENT_TYPE). */
  text(): string {
    return metricsText(this.#families());
  }

  /** By the names of the series. Of those with labels, each by its name with them, where it is not nothing. */
  totals(): Record<string, number> {
    const totals: Record<string, number> = {};
    for (const { name, samples } of this.#families()) {
      if (OF_WINDOW.has(name)) continue;
      for (const sample of samples) {
        const { suffix, labels, value } = sample;
        if (suffix === '_bucket' || (labels !== undefined && value === 0)) continue;
        totals[sampleName(name, sample)] = value;
      }
    }
    return totals;
  }

  /** Of the handlers of routes, since the process started. */
  endpointTotals(): KindTotals {
    return this.#invocationTotals().find(({ kind }) => kind === 'endpoint')!;
  }

  #invocationTotals(): KindTotals[] {
    return summedTotals(this.#parts.shards.numbers.map(({ totals }) => totals));
  }

  #families(): Family[] {
    const { shards, journal, ringCapacity } = this.#parts;
    const { numbers } = shards;
    const [first] = numbers;
    return [
      ...windowFamilies(
        first?.places.handlers ?? [],
        numbers.map(({ window }) => window),
        ringCapacity,
      ),
      ...invocationFamilies(this.#invocationTotals()),
      ...httpFamilies(
        first?.routes ?? [],
        numbers.map(({ http }) => http),
      ),
      ...shardFamilies((name) => numbers.reduce((sum, { sampled }) => sum + sampled.get(name), 0)),
      ...journalFamilies(journal.read()),
      ...limitFamilies(shards.counters.read()),
      gauge('svc_shards', 'Shards that the service has.', shards.count),
      gauge('svc_shards_listening', 'Shards that serve.', shards.serving.filter(Boolean).length),
      ...exportFamilies(this.exportCounts()),
      ...processFamilies(),
    ];
  }
}

function limitFamilies(counts: LimitCounts): Family[] {
  const entries = Object.entries(counts);
  const under = (prefix: string) =>
    entries
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, count]) => [name.slice(prefix.length), count] as const);
  return [
    labelledCounter(
      'svc_guest_faults_total',
      'Faults of the module, by cause.',
      'cause',
      under('fault:'),
    ),
    labelledCounter(
      'svc_guest_limit_met_total',
      'Limits that the module met, by the name of the limit.',
      'limit',
      under('limit:'),
    ),
    labelledCounter(
      'svc_failures_total',
      'Failures of the runtime, by code (docs/errors).',
      'code',
      under('failure:'),
    ),
    counter(
      'svc_shard_ends_total',
      'Shards that ended, or could not be started, and were started again.',
      counts['shard-ends'],
    ),
    counter(
      'svc_shard_hangs_total',
      'Of these, shards that did not answer and were ended.',
      counts['shard-hangs'],
    ),
    counter(
      'svc_log_lines_not_written_total',
      'Lines of the log that were over its limits.',
      counts['log-lines-not-written'],
    ),
  ];
}

function exportFamilies({ exported, dropped }: ExportCounts): Family[] {
  return [
    counter('svc_otlp_spans_exported_total', 'Spans that a receiver of OTLP has taken.', exported),
    counter(
      'svc_otlp_spans_dropped_total',
      'Spans that were to be exported, and that no receiver has taken in time.',
      dropped,
    ),
  ];
}

/** By the names that every Prometheus client gives them. */
function processFamilies(): Family[] {
  const { user, system } = process.cpuUsage();
  return [
    gauge(
      'process_start_time_seconds',
      'When the process started, in seconds since 1970.',
      performance.timeOrigin / MS_PER_S,
    ),
    gauge(
      'process_resident_memory_bytes',
      'Resident memory of the process.',
      process.memoryUsage.rss(),
    ),
    counter(
      'process_cpu_seconds_total',
      'Processor time of the process, all its threads together.',
      (user + system) / MICROS_PER_S,
    ),
  ];
}

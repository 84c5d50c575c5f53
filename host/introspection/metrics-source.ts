// MetricsSource computes the metrics of this process's service from the memory that its threads share and from the
// statistics that Node keeps of the process. It asks no thread, so it answers whatever a guest in another thread does.
import type { LimitCounts } from '@svc/model/limit-counters';
import { clusterFamilies, type ClusterNumbers } from './observability/cluster-families.ts';
import { consumerFamilies, type ConsumerNumbers } from './observability/consumer-families.ts';
import type { ViewStatus } from '@svc/model/view-status';
import { viewFamilies } from './observability/view-families.ts';
import {
  counter,
  gauge,
  httpFamilies,
  invocationFamilies,
  journalFamilies,
  type JournalNumbers,
  labelledCounter,
  shardFamilies,
  timerFamilies,
  type TimerNumbers,
  windowFamilies,
} from './observability/series.ts';
import { type KindTotals, summedTotals } from '../shards/recorder/invocation-totals.ts';
import { type Family, metricsText, sampleName } from './observability/metrics-text.ts';
import { type Metric, programFamilies } from './program-metrics.ts';
import type { ServiceShards } from './service-shards.ts';

/** Sources of the metrics. */
export interface MetricsParts {
  readonly shards: Pick<ServiceShards, 'numbers' | 'counters' | 'count' | 'serving'>;
  readonly journal: { read(): JournalNumbers };
  readonly timers: { read(): TimerNumbers };
  readonly consumers: { read(): readonly ConsumerNumbers[] };
  readonly views: { read(): readonly ViewStatus[] };
  /** Absent, or undefined until the journal is open: the service has one node. */
  readonly cluster?: { read(): ClusterNumbers | undefined };
  /** Metrics of the program itself. */
  readonly program?: readonly Metric[];
  /** Maximum number of spans in the service's window. */
  readonly ringCapacity: number;
}

/** Names of the series that cover the window only. They may decrease, so they are not totals. */
const WINDOW_SERIES = new Set(['svc_invocations_total', 'svc_invocation_duration_seconds_sum']);
const MICROS_PER_S = 1_000_000;
const MS_PER_S = 1_000;

/** Counts of the spans that the export has settled. */
export interface ExportCounts {
  readonly exported: number;
  /**
   * Spans that the receiver refused or did not accept in time, that had left their window before, or that were left
   * when the export failed or the service stopped. Of spans that were not taken from their window it is unknown whether
   * they are sampled, so all of them are counted.
   */
  readonly dropped: number;
}

export class MetricsSource {
  /** Returns the counts of the span export, which sets this function; zeros if spans are not exported. */
  exportCounts: () => ExportCounts = () => ({ exported: 0, dropped: 0 });
  readonly #parts: MetricsParts;

  constructor(parts: MetricsParts) {
    this.#parts = parts;
  }

  /** Returns the metrics in text exposition format 0.0.4 (METRICS_CONTENT_TYPE). */
  text(): string {
    return metricsText(this.#families());
  }

  /**
   * Returns the totals, indexed by the names of the series. A series with labels is listed with its labels if its value
   * is not 0. The buckets of histograms and the series that cover the window only are left out.
   */
  totals(): Record<string, number> {
    const totals: Record<string, number> = {};
    for (const { name, samples } of this.#families()) {
      if (WINDOW_SERIES.has(name)) continue;
      for (const sample of samples) {
        const { suffix, labels, value } = sample;
        if (suffix === '_bucket' || (labels !== undefined && value === 0)) continue;
        totals[sampleName(name, sample)] = value;
      }
    }
    return totals;
  }

  /** Returns the totals of the handlers of routes since the process started. */
  endpointTotals(): KindTotals {
    return this.#invocationTotals().find(({ kind }) => kind === 'endpoint')!;
  }

  #invocationTotals(): KindTotals[] {
    return summedTotals(this.#parts.shards.numbers.map(({ totals }) => totals));
  }

  #families(): Family[] {
    const { shards, journal, timers, consumers, views, cluster, ringCapacity } = this.#parts;
    const { program = [] } = this.#parts;
    const { numbers } = shards;
    const [first] = numbers;
    return [
      ...windowFamilies(
        first?.handlerTable.handlers ?? [],
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
      ...timerFamilies(timers.read(), (ending) =>
        numbers.reduce((sum, { firings }) => sum + firings.get(ending), 0),
      ),
      ...consumerFamilies(consumers.read()),
      ...viewFamilies(views.read()),
      ...clusterFamilies(cluster?.read(), (kind) =>
        numbers.reduce((sum, { nodeCalls }) => sum + nodeCalls.get(kind), 0),
      ),
      ...limitFamilies(shards.counters.read()),
      gauge('svc_shards', 'Shards that the service has.', shards.count),
      gauge('svc_shards_listening', 'Shards that serve.', shards.serving.filter(Boolean).length),
      ...exportFamilies(this.exportCounts()),
      ...processFamilies(),
      ...programFamilies(program),
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

/** Metrics of the process under the names that all Prometheus clients use. */
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

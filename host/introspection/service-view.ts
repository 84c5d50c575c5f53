// ServiceView is what introspection sees of a running service. `svc run` implements it with its supervisor, an
// embedded service with its own process, so that both have the same endpoints, metrics, spans and registration.
import type { DevState } from '@svc/contract';
import type { HistoryReader } from '../history/reader/history-reader.ts';
import type { SourceDescription } from '../hosting/guest-source.ts';
import type { AddressNames } from '@svc/kit/listen';
import type { Log } from '@svc/kit/log';
import type { ViewStatus } from '@svc/model/view-status';
import type { ClusterState } from '../storage/cluster-nodes.ts';
import { type MetricsParts, MetricsSource } from './metrics-source.ts';
import type { ObservabilityLimits } from './observability/observability-limits.ts';
import type { ServiceShards } from './service-shards.ts';

/** The process that holds the code of a service. */
export interface ObservedProcess {
  readonly address: string;
  /** Name and version of the SDK. */
  readonly sdk: string;
  /** Why the process does not serve; undefined if it does. */
  readonly problem: string | undefined;
}

export interface ServiceView {
  readonly settings: IntrospectionSettings;
  readonly shards: ServiceShards;
  /** How the views of the service fare; none if it declares none. */
  readonly views: { read(): readonly ViewStatus[] };
  readonly metrics: MetricsSource;
  /** The configuration of the module. `problem`: why changed values are not in use. Absent: it cannot change. */
  readonly configuration?: { readonly problem: string | undefined };
  /** The process that holds the code of the service, once it was reached. Absent: there is none. */
  readonly process?: (() => ObservedProcess | undefined) | undefined;
  /** The source that is served first. It rejects if the source is refused, which ends the service. */
  readonly source: Promise<SourceDescription>;
  /**
   * The journal, once it is open, which may never happen. `failure` resolves when the journal can store nothing any
   * more. `problem`: why it stores nothing now, as a sentence; undefined: it stores.
   */
  readonly journal: Promise<{
    readonly failure: Promise<unknown>;
    readonly problem?: string | undefined;
  }>;
  /** Returns the cluster of the service; undefined, or absent: the instance is its only node. */
  readonly cluster?: () => ClusterState | undefined;
  /** Whether the service waits for the data folder, and for nothing else. Absent: it never does. */
  readonly isPrepared?: () => boolean;
  /** Answers questions about stored entities, and finds the source locations of faults. */
  readonly history: Pick<HistoryReader, 'ask'>;
  /** The environment of the threads that introspection starts. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Returns the path of the control socket, once the service is served; undefined if there is none. */
  readonly controlSocket?: () => string | undefined;
  /** Returns the state of a developer's build; present if `svc dev` runs the service. */
  readonly dev?: () => DevState;
}

/** Names of settings in messages that ask the reader to change one: `svc run` and a program name them differently. */
export interface IntrospectionNames {
  readonly management: AddressNames;
  readonly runningFolder: string;
}

export interface IntrospectionSettings {
  readonly name: string;
  /** Whether the service has an HTTP server, and its port. */
  readonly http: boolean;
  readonly port: number;
  /** Address of the management server; undefined if there is none. */
  readonly management:
    | { readonly host: string; readonly port: number; readonly fd?: number }
    | undefined;
  /** Whether the service has an observability endpoint on loopback, and registers for the console. */
  readonly isLocal: boolean;
  /** `developmentKeyFile`: undefined if development tokens do not count. */
  readonly tokens: { readonly developmentKeyFile: string | undefined };
  /** Absolute path of the folder in which a local service registers; undefined if there is no home folder. */
  readonly runningFolder: string | undefined;
  /** Receiver of spans (OTLP over HTTP); undefined if they are not exported. */
  readonly otlp:
    | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
    | undefined;
  readonly names: IntrospectionNames;
  readonly sections: {
    readonly observability: ObservabilityLimits;
    readonly http: { readonly answerTimeoutMs: number };
  };
}

/** Parts of a view, from which its metrics are computed. */
export interface ViewParts extends Omit<ServiceView, 'metrics'> {
  /** Counts of the journal's writer. */
  readonly journalSeries: MetricsParts['journal'];
  /** Counts of the thread that fires timers. */
  readonly timerSeries: MetricsParts['timers'];
  /** Counts of the consumers. */
  readonly consumerSeries: MetricsParts['consumers'];
  /** Counts of the nodes of the service's cluster; absent: it has one node. */
  readonly clusterSeries?: MetricsParts['cluster'];
  /** Metrics of the program, for an embedded service. */
  readonly programMetrics?: MetricsParts['program'];
}

export function serviceView({
  journalSeries: journal,
  timerSeries: timers,
  consumerSeries: consumers,
  clusterSeries: cluster,
  programMetrics: program = [],
  ...parts
}: ViewParts): ServiceView {
  const { shards, settings, views } = parts;
  const { ringCapacity } = settings.sections.observability;
  const metrics = new MetricsSource({
    shards,
    journal,
    timers,
    consumers,
    views,
    ...(cluster && { cluster }),
    program,
    ringCapacity,
  });
  return { ...parts, metrics };
}

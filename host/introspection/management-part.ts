// ManagementPart is the introspection for operators: the management server, which runs from before the module is
// admitted until the journal is closed. Without the server nobody could check whether the instance is ready, so
// a service that is configured with such a server does not run without it.
import { hostname } from 'node:os';
import {
  clusterMembers,
  type ClusterMembers,
  membershipProblem,
  SingleNode,
} from './management/cluster-members.ts';
import { ManagementServer } from './management/management-server.ts';
import { type ReadinessCheck, readinessReport } from './management/readiness.ts';
import { newSpanId, spanIdText } from '@svc/kit/trace-context';
import type { ViewStatus } from '@svc/model/view-status';
import { RUNTIME_VERSION } from '../runtime-version.ts';
import type { IntrospectionPart } from './introspection-part.ts';
import type { ServiceView } from './service-view.ts';
import { systemRandom } from '../system.ts';

type ManagementAddress = NonNullable<ServiceView['settings']['management']>;

/** States of the journal before it is open, and after it has failed. */
const NOT_OPEN = { problem: 'It is not open yet.' };
const FAILED = { problem: 'It can store nothing any more.' };

export class ManagementPart implements IntrospectionPart {
  readonly #view: ServiceView;
  readonly #self: SingleNode;
  readonly #server: ManagementServer;
  #isServed = false;
  #isStopping = false;

  constructor(view: ServiceView) {
    this.#view = view;
    this.#self = new SingleNode(
      view.settings.name,
      hostname(),
      spanIdText(newSpanId(systemRandom())),
    );
    const checks = this.#checks();
    this.#server = new ManagementServer(
      {
        version: RUNTIME_VERSION,
        readiness: () => readinessReport(checks, view.isPrepared?.()),
        metrics: () => view.metrics.text(),
        members: () => this.#members(),
      },
      { onBug: onceLogged(view) },
    );
  }

  /** Resolves with the actual address. Rejects with SVC_PORT_IN_USE, SVC_ADDRESS_UNAVAILABLE. */
  async listen(address: ManagementAddress): Promise<ManagementAddress> {
    const { settings, log } = this.#view;
    const { host, port } = await this.#server.listen(address, settings.names.management);
    log({ level: 'info', message: 'management listening', fields: { host, port } });
    return { host, port };
  }

  served(): void {
    this.#isServed = true;
  }

  stopping(): void {
    this.#isStopping = true;
    this.#self.leave();
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  #members(): ClusterMembers {
    const { cluster, settings } = this.#view;
    const own = this.#self.members();
    const state = cluster?.();
    return state === undefined ? own : clusterMembers(settings.name, state, own);
  }

  #membershipProblem(): string | undefined {
    if (this.#self.status !== 'Up') return 'The instance leaves its cluster.';
    const state = this.#view.cluster?.();
    return state && membershipProblem(state);
  }

  #checks(): readonly ReadinessCheck[] {
    const { settings, shards, source, journal, views, configuration, process: code } = this.#view;
    let isAdmitted = false;
    // A refused module ends the service, which reports the reason.
    source.then(
      () => (isAdmitted = true),
      () => {},
    );
    let journalState: { readonly problem?: string | undefined } = NOT_OPEN;
    void journal.then(async (opened) => {
      journalState = opened;
      await opened.failure;
      journalState = FAILED;
    });
    const checks: ReadinessCheck[] = [
      {
        part: 'cluster',
        failureReason: () => this.#membershipProblem(),
      },
      {
        part: 'module',
        failureReason: () => (isAdmitted ? undefined : 'It is not admitted yet.'),
      },
      {
        part: 'journal',
        failureReason: () =>
          this.#view.isPrepared?.() === true
            ? 'Another process uses the journal, which this one waits for.'
            : journalState.problem,
      },
      {
        part: 'shards',
        failureReason: () => {
          const { count, serving } = shards;
          const away = serving.filter((serves) => !serves).length;
          return away === 0 ? undefined : `${away} of ${count} do not serve.`;
        },
      },
      {
        part: 'start',
        failureReason: () => (this.#isServed ? undefined : 'It has not ended yet.'),
      },
      {
        part: 'stopping',
        failureReason: () => (this.#isStopping ? 'The instance is stopping.' : undefined),
      },
    ];
    // The instance can be routed to without them: other routes answer, and the journal has no other host that could take over.
    checks.push({
      part: 'views',
      isRequired: false,
      failureReason: () => unansweredViews(views.read()),
    });
    // The values before stay in use.
    if (configuration !== undefined)
      checks.push({
        part: 'configuration',
        isRequired: false,
        failureReason: () =>
          configuration.problem &&
          `Changed values are not in use, and those before are: ${configuration.problem}.`,
      });
    if (code !== undefined) checks.push({ part: 'process', failureReason: () => code()?.problem });
    if (settings.http)
      checks.push({
        part: 'http',
        failureReason: () =>
          shards.serving.includes(true) ? undefined : `No shard listens on port ${settings.port}.`,
      });
    return checks;
  }
}

/** Returns which views do not answer their queries with present rows, and why; undefined if all do. */
function unansweredViews(views: readonly ViewStatus[]): string | undefined {
  const sentences = views.flatMap(({ view, state, progress }) => {
    switch (state) {
      case 'live':
        return [];
      case 'stopped':
        return [`'${view}' has stopped at an event.`];
      case 'missing':
      case 'building':
        return [`'${view}' is being built (${Math.floor(100 * progress)} %).`];
    }
  });
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

/** Logs the first failure only, because clients poll. */
function onceLogged({ log }: ServiceView): (error: unknown) => void {
  let isLogged = false;
  return (error) => {
    if (isLogged) return;
    isLogged = true;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log({ level: 'error', message: 'the management server could not answer', fields: { reason } });
  };
}

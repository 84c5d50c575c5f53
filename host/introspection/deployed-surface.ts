// DeployedSurface: what a deployed instance shows of itself: its management server, from before its module is looked at
// until its journal is closed, and the export of its spans. Without a management server nobody could tell whether the
// instance is ready, so it is not run without one.
import { hostname } from 'node:os';
import { SingleNode } from './management/cluster-members.ts';
import { ManagementServer } from './management/management-server.ts';
import { type Opinion, readinessReport } from './management/readiness.ts';
import { newSpanId, spanIdText } from '../model/trace-context.ts';
import { RUNTIME_VERSION } from '../runtime-version.ts';
import { type SpanExport, startExport } from './span-export.ts';
import type { ServedService, ShownService, Surface } from './surface.ts';
import { systemChance } from '../system.ts';

export function deployedSurface(shown: ShownService): Surface {
  return new DeployedSurface(shown);
}

class DeployedSurface implements Surface {
  readonly #shown: ShownService;
  readonly #self: SingleNode;
  readonly #server: ManagementServer;
  #isStopping = false;
  #export: SpanExport | undefined;

  constructor(shown: ShownService) {
    this.#shown = shown;
    this.#self = new SingleNode(
      shown.settings.name,
      hostname(),
      spanIdText(newSpanId(systemChance())),
    );
    const opinions = this.#opinions();
    this.#server = new ManagementServer(
      {
        version: RUNTIME_VERSION,
        readiness: () => readinessReport(opinions),
        metrics: () => shown.metrics.text(),
        members: () => this.#self.members(),
      },
      { onBug: onceLogged(shown) },
    );
  }

  async open(): Promise<void> {
    const { host, port } = await this.#server.listen(this.#shown.settings.management);
    this.#shown.log({ level: 'info', message: 'management listening', fields: { host, port } });
  }

  async served(service: ServedService): Promise<void> {
    this.#export = startExport(this.#shown, service);
  }

  stopping(): void {
    this.#isStopping = true;
    this.#self.leave();
  }

  async finished(): Promise<void> {
    await this.#export?.finish();
  }

  async close(): Promise<void> {
    await this.#export?.close();
    await this.#server.close();
  }

  #opinions(): readonly Opinion[] {
    const { settings, supervisor, module, journal } = this.#shown;
    let isAdmitted = false;
    // A module that is refused ends the service, and the end says why.
    module.then(
      () => (isAdmitted = true),
      () => {},
    );
    let journalProblem: string | undefined = 'It is not open yet.';
    void journal.then(async ({ failure }) => {
      journalProblem = undefined;
      await failure;
      journalProblem = 'It can store nothing any more.';
    });
    const opinions: Opinion[] = [
      {
        part: 'cluster',
        objection: () =>
          this.#self.status === 'Up' ? undefined : 'The instance leaves its cluster.',
      },
      {
        part: 'module',
        objection: () => (isAdmitted ? undefined : 'It is not admitted yet.'),
      },
      { part: 'journal', objection: () => journalProblem },
      {
        part: 'shards',
        objection: () => {
          const { count, serving } = supervisor;
          const away = serving.filter((serves) => !serves).length;
          return away === 0 ? undefined : `${away} of ${count} do not serve.`;
        },
      },
      {
        part: 'stopping',
        objection: () => (this.#isStopping ? 'The instance was told to stop.' : undefined),
      },
    ];
    if (settings.http)
      opinions.push({
        part: 'http',
        objection: () =>
          supervisor.serving.includes(true)
            ? undefined
            : `No shard listens on port ${settings.port}.`,
      });
    return opinions;
  }
}

/** Whoever scrapes does so again and again. */
function onceLogged({ log }: ShownService): (error: unknown) => void {
  let isLogged = false;
  return (error) => {
    if (isLogged) return;
    isLogged = true;
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log({ level: 'error', message: 'the management server could not answer', fields: { reason } });
  };
}

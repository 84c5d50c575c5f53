// ServiceControl opens the control socket of a service that runs modules, and carries out what arrives there. A service
// without such a socket serves as well: a failure to open it is logged.
import { makeControlSocket, removeControlSocket } from '@svc/kit/control-socket';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import type { ControlledService, ControlRequest } from '../control/control-request.ts';
import { ControlServer } from '../control/control-server.ts';
import { SKIPS_MAX } from '../engine/needs/views.ts';
import type { EntityRef } from '../model/entity.ts';
import type { SqliteJournal } from '../storage/sqlite/sqlite-journal.ts';
import { systemClock } from '../system.ts';
import type { ViewChange } from '../views/view-report.ts';
import type { ConsumerDispatch } from './consumer-dispatch.ts';
import type { ViewStatuses } from './view-statuses.ts';
import type { ViewThreads } from './view-threads.ts';

export type TimerRequest = Extract<ControlRequest, { readonly owner: EntityRef | null }>;

export interface ServiceControlOptions {
  readonly log: Log;
  /** Resolves once the journal is open. */
  readonly journal: Promise<SqliteJournal>;
  readonly views: Pick<ViewThreads, 'skip' | 'rebuild'>;
  readonly viewStatuses: Pick<ViewStatuses, 'read'>;
  readonly consumers: Pick<ConsumerDispatch, 'retry' | 'skip'>;
}

export class ServiceControl {
  readonly #options: ServiceControlOptions;
  #server: ControlServer | undefined;
  #socket: string | undefined;
  /** Bound, so that it can be removed again. */
  readonly #remove = (): void => {
    if (this.#socket !== undefined) removeControlSocket(this.#socket);
  };

  constructor(options: ServiceControlOptions) {
    this.#options = options;
  }

  /** The path of the socket; undefined while there is none. */
  get socket(): string | undefined {
    return this.#socket;
  }

  /** Opens the socket, and names it in the data folder. Never rejects. */
  async open(): Promise<void> {
    const { log } = this.#options;
    const journal = await this.#options.journal;
    try {
      const socket = makeControlSocket();
      if (socket === undefined) return;
      this.#socket = socket;
      // The file of a process that ends by an unexpected error must not stay.
      process.on('exit', this.#remove);
      this.#server = new ControlServer({ service: this.#controlled(journal), log });
      await this.#server.listen(socket);
      journal.nameControlSocket(socket);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = 'there is no control socket: commands cannot change the running service';
      log({ level: 'warn', message, fields: { reason } });
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.#server?.close();
    process.off('exit', this.#remove);
    this.#remove();
    this.#socket = undefined;
  }

  #controlled(journal: SqliteJournal): ControlledService {
    const { views, viewStatuses, consumers } = this.#options;
    return {
      views: () => viewStatuses.read(),
      async change(request) {
        switch (request.kind) {
          case 'cancel-timer':
          case 'retry-timer':
            return changeTimer(journal, request);
          case 'rebuild-view':
            return isChanged(request.view, await views.rebuild(request.view));
          case 'skip-in-view': {
            const { view, entity, seq, reason } = request;
            return isChanged(view, await views.skip(view, { entity, seq }, reason));
          }
          case 'retry-lane':
            return consumers.retry(request.consumer, request.entity);
          case 'skip-in-lane': {
            const { consumer, entity, seq, reason } = request;
            return consumers.skip(consumer, entity, seq, reason);
          }
        }
      },
    };
  }
}

/** Changes a timer. Resolves with whether it was there, once the change is on disk. Rejects as the journal does. */
export function changeTimer(
  journal: Pick<SqliteJournal, 'cancelTimer' | 'retryTimer'>,
  { kind, owner, name }: TimerRequest,
): Promise<boolean> {
  const entity = owner ?? undefined;
  return kind === 'cancel-timer'
    ? journal.cancelTimer(entity, name)
    : journal.retryTimer(entity, name, systemClock.nowMs());
}

/** Returns whether the outcome is a change. Throws SVC_SHARD_UNAVAILABLE and SVC_VIEWS_FULL where it can be tried again. */
function isChanged(view: string, outcome: ViewChange): boolean {
  switch (outcome) {
    case 'done':
      return true;
    case 'unknown-view':
    case 'not-stopped-there':
      return false;
    case 'too-many':
      throw new SvcError(
        'SVC_VIEWS_FULL',
        `The view '${view}' skips ${SKIPS_MAX} events already, which is the most. Correct its code, and give it another version.`,
      );
    case 'unavailable':
      throw new SvcError(
        'SVC_SHARD_UNAVAILABLE',
        `The thread that folds the view '${view}' does not run at the moment. Try again.`,
      );
  }
}

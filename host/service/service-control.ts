// ServiceControl opens the control socket of a service that runs modules, and carries out what arrives there. A service
// without such a socket serves as well: a failure to open it is logged.
import { makeControlSocket, removeControlSocket } from '@svc/kit/control-socket';
import type { Log } from '@svc/kit/log';
import type { ControlledService } from '../control/control-request.ts';
import { ControlServer } from '../control/control-server.ts';
import type { LaneAdministration } from '../storage/lane-administration.ts';
import type { OpenedJournal } from '../storage/opened-journal.ts';
import type { ConsumerDispatch } from './consumer-dispatch.ts';
import { type ChangeableService, changeService } from './service-change.ts';
import type { ViewStatuses } from './view-statuses.ts';
import type { ViewThreads } from './view-threads.ts';

export interface ServiceControlOptions {
  readonly log: Log;
  /** Resolves once the journal is open. */
  readonly journal: Promise<OpenedJournal>;
  readonly views: Pick<ViewThreads, 'skip' | 'rebuild'>;
  readonly viewStatuses: Pick<ViewStatuses, 'read'>;
  readonly consumers: Pick<ConsumerDispatch, 'retry' | 'retrySome' | 'skip'>;
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

  #controlled(journal: OpenedJournal): ControlledService {
    const { views, viewStatuses, consumers } = this.#options;
    return {
      views: () => viewStatuses.read(),
      change: (request) =>
        changeService(
          { timers: journal, views, consumers: sharedLanes(consumers, journal.lanes) },
          request,
        ),
    };
  }
}

type LaneChanges = ChangeableService['consumers'];

/** Changes lanes of this process by its consumers, and those that other nodes deliver in the journal. */
function sharedLanes(own: LaneChanges, lanes: LaneAdministration | undefined): LaneChanges {
  if (lanes === undefined) return own;
  return {
    retry: async (consumer, entity) =>
      (await own.retry(consumer, entity)) || lanes.retryLane(consumer, entity),
    async retrySome(consumer) {
      const isHere = await own.retrySome(consumer);
      return (await lanes.retryLanes(consumer)) || isHere;
    },
    skip: async (consumer, ...event) =>
      (await own.skip(consumer, ...event)) || lanes.skipInLane(consumer, ...event),
  };
}

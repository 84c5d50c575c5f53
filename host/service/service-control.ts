// ServiceControl opens the control socket of a service that runs modules, and carries out what arrives there. A service
// without such a socket serves as well: a failure to open it is logged.
import type { Log } from '@svc/kit/log';
import { makeControlSocket, removeControlSocket } from '@svc/kit/control-socket';
import type { ControlledService, ControlRequest } from '../control/control-request.ts';
import { ControlServer } from '../control/control-server.ts';
import type { SqliteJournal } from '../storage/sqlite/sqlite-journal.ts';
import { systemClock } from '../system.ts';

export interface ServiceControlOptions {
  readonly log: Log;
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
  async open(journal: SqliteJournal): Promise<void> {
    const { log } = this.#options;
    try {
      const socket = makeControlSocket();
      if (socket === undefined) return;
      this.#socket = socket;
      // The file of a process that ends by an unexpected error must not stay.
      process.on('exit', this.#remove);
      this.#server = new ControlServer({ service: controlledService(journal), log });
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
}

function controlledService(journal: SqliteJournal): ControlledService {
  return { change: (request) => changeTimer(journal, request) };
}

/** Changes a timer. Resolves with whether it was there, once the change is on disk. Rejects as the journal does. */
export function changeTimer(
  journal: Pick<SqliteJournal, 'cancelTimer' | 'retryTimer'>,
  { kind, owner, name }: ControlRequest,
): Promise<boolean> {
  const entity = owner ?? undefined;
  return kind === 'cancel-timer'
    ? journal.cancelTimer(entity, name)
    : journal.retryTimer(entity, name, systemClock.nowMs());
}

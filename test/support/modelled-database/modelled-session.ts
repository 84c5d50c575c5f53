// ModelledSession is a connection of a process to a ModelledServer, with the interface of the real one: what it says of a statement whose
// connection is lost is what the real one says (postgres-session.ts).
import { databaseError } from '../../../host/storage/postgres/database-errors.ts';
import { DatabaseFailure } from '../../../host/storage/postgres/database-failure.ts';
import type {
  DatabaseSession,
  Parameter,
  Row,
  Statement,
} from '../../../host/storage/postgres/database-session.ts';
import type { Lane } from '../virtual/virtual-network.ts';
import { VirtualProcess } from '../virtual/virtual-process.ts';
import { Backend } from './modelled-backend.ts';
import type { ModelledServer } from './modelled-server.ts';

export const SHOWN = 'postgresql://database/model';
/** A connection is made within this time, in milliseconds. */
const CONNECT_MS = 10_000;
/** A server ends the connection of a client that has vanished after this time, in milliseconds. */
const VANISHED_MS = 10_000;
/** So many of a hundred connections are lost to the client when a statement is late, which the server carries out nevertheless. */
const LOST_PERCENT = 40;
/** Time after which a transaction without a next statement ends, unless the client has another one, in milliseconds. */
const IDLE_IN_TRANSACTION_MS = 5_000;

interface Waiting {
  readonly statement: Statement;
  readonly values: readonly Parameter[];
  readonly settle: PromiseWithResolvers<readonly Row[]>;
}

type Answer = { readonly rows: readonly Row[] } | { readonly failure: DatabaseFailure };

const SERVERS = new WeakMap<VirtualProcess, ModelledServer>();

/** Lets the code of a process connect to a server. */
export function useModel(process: VirtualProcess, server: ModelledServer): void {
  SERVERS.set(process, server);
}

/** Connects the process whose code calls this function. Rejects with SVC_JOURNAL_UNAVAILABLE. */
export async function connectToModel({
  idleInTransactionMs = IDLE_IN_TRANSACTION_MS,
}: { readonly idleInTransactionMs?: number } = {}): Promise<ModelledSession> {
  const client = VirtualProcess.current!;
  const server = SERVERS.get(client)!;
  const connected = Promise.withResolvers<ModelledSession>();
  const unreachable = (why: string): void =>
    connected.reject(
      databaseError(
        new DatabaseFailure(why, { outcome: 'not-done', reason: 'unreachable' }),
        SHOWN,
      ),
    );
  const cancel = client.timer(CONNECT_MS, () => unreachable('there was no answer in time'));
  const { network, process } = server;
  const lane: Lane = { arrivesMs: 0 };
  if (process.isDead) client.turn(() => unreachable('nothing listens there (ECONNREFUSED)'));
  else
    network.send(client, process, lane, () => {
      const session = new ModelledSession(server, client, idleInTransactionMs);
      network.send(process, client, { arrivesMs: 0 }, () => connected.resolve(session));
    });
  try {
    return await connected.promise;
  } finally {
    cancel();
  }
}

export class ModelledSession implements DatabaseSession {
  readonly shown = SHOWN;
  readonly ended: Promise<void>;
  readonly #server: ModelledServer;
  readonly #serverProcess: VirtualProcess;
  readonly #client: VirtualProcess;
  readonly #backend: Backend;
  readonly #there: Lane = { arrivesMs: 0 };
  readonly #back: Lane = { arrivesMs: 0 };
  readonly #end = Promise.withResolvers<void>();
  readonly #waiting: Waiting[] = [];
  #sent: Waiting | undefined;
  #hasEnded = false;
  #isClosing = false;
  #isLostToClient = false;

  constructor(server: ModelledServer, client: VirtualProcess, idleInTransactionMs: number) {
    this.#server = server;
    this.#serverProcess = server.process;
    this.#client = client;
    this.ended = this.#end.promise;
    this.#backend = new Backend({
      server,
      idleInTransactionMs,
      ended: () => this.#toClient(() => this.#lose()),
      reset: () => this.#reset(),
    });
    client.onDeath(() => this.#vanish());
  }

  query(statement: Statement, values: readonly Parameter[] = []): Promise<readonly Row[]> {
    if (this.#hasEnded || this.#isClosing) return Promise.reject(lost('not-done'));
    const settle = Promise.withResolvers<readonly Row[]>();
    this.#waiting.push({ statement, values, settle });
    if (this.#sent === undefined) this.#send();
    return settle.promise;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#sent === undefined) this.abort();
    await this.ended;
  }

  abort(): void {
    if (this.#hasEnded) return;
    this.#vanish();
    this.#lose();
  }

  #send(): void {
    const next = this.#waiting.shift();
    this.#sent = next;
    if (next === undefined) {
      if (this.#isClosing) this.abort();
      return;
    }
    this.#server.network.send(this.#client, this.#serverProcess, this.#there, () => {
      void this.#carryOut(next);
    });
  }

  async #carryOut({ statement, values, settle }: Waiting): Promise<void> {
    if (this.#backend.isGone) return;
    let answer: Answer;
    const lateMs = this.#server.lateMs();
    // Connections that are lost while something is under way are those that matter most.
    if (lateMs > 0 && this.#client.random.chance(LOST_PERCENT)) this.#loseClient();
    await this.#server.pause(lateMs);
    try {
      answer = { rows: await this.#backend.query(statement, values) };
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) {
        this.#server.bug(error);
        settle.reject(error);
        return;
      }
      answer = { failure: error };
    }
    if (this.#isLostToClient) this.#backend.leave();
    else this.#toClient(() => this.#answered(answer));
  }

  #answered(answer: Answer): void {
    if (this.#hasEnded) return;
    const { settle } = this.#sent!;
    if ('rows' in answer) settle.resolve(answer.rows);
    else settle.reject(answer.failure);
    this.#send();
  }

  #toClient(arrives: () => void): void {
    this.#server.network.send(this.#serverProcess, this.#client, this.#back, arrives);
  }

  /** Lets the server know, now or later, that this side is gone. */
  #vanish(): void {
    const leave = (): void => this.#backend.leave();
    this.#server.network.send(this.#client, this.#serverProcess, this.#there, leave);
    this.#serverProcess.arrives(VANISHED_MS, leave);
  }

  /** The connection is lost, as both sides notice. */
  #reset(): void {
    this.#serverProcess.arrives(0, () => this.#backend.leave());
    this.#toClient(() => this.#lose());
  }

  /** The client loses the connection; the server notices once the statement that has come is carried out. */
  #loseClient(): void {
    this.#toClient(() => this.#lose());
    this.#isLostToClient = true;
  }

  #lose(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#sent?.settle.reject(lost('unknown'));
    for (const { settle } of this.#waiting) settle.reject(lost('not-done'));
    this.#end.resolve();
  }
}

function lost(outcome: 'not-done' | 'unknown'): DatabaseFailure {
  return new DatabaseFailure('the connection was lost', { outcome, reason: 'lost' });
}

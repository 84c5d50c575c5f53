// ProcessStarter starts guests of a process for tools, which open and close many of them in a row. The guests share a stream: it is opened
// when the first of them is used, and closed a moment after the last one was closed.
//
// Invariants
// T1  A guest that is closed leaves no entity open in the process.
// T2  A tool never waits for a process that is gone: a call either reaches the process or rejects with SVC_PROCESS_UNAVAILABLE.
import type { Awaitable } from '@svc/model/call';
import type { Guest } from '@svc/model/guest';
import { GuestFault } from '@svc/model/guest-fault';
import type { GuestLog } from '@svc/model/guest-log';
import { NO_SHARD } from '../guest-shard.ts';
import { ProcessEntity } from './process-entity.ts';
import { processInvalid } from './process-failures.ts';
import { logLine } from './process-guest.ts';
import { holdsCodeOf, type ProcessSource } from './process-source.ts';
import { openProcessStream, type ProcessStream } from './process-stream.ts';
import { ProcessViews } from './process-views.ts';

/** Time after the last guest was closed in which another one finds the stream open, in milliseconds. */
const LINGER_MS = 100;

/** Returns a function that starts guests. The log of a guest receives what the process logs from then on. */
export function processStarter(source: ProcessSource): (log: GuestLog) => Guest {
  const shared = new SharedStream(source);
  return (log) => processToolGuest(source, shared, log);
}

class SharedStream {
  readonly #source: ProcessSource;
  #log: GuestLog | undefined;
  #guests = 0;
  #opening: Promise<ProcessStream> | undefined;
  #stream: ProcessStream | undefined;
  #closing: NodeJS.Timeout | undefined;

  constructor(source: ProcessSource) {
    this.#source = source;
  }

  /** Counts a guest that uses the stream until `release`. */
  hold(log: GuestLog): void {
    this.#log = log;
    this.#guests += 1;
    clearTimeout(this.#closing);
  }

  release(): void {
    this.#guests -= 1;
    if (this.#guests === 0) this.#closing = setTimeout(() => this.#close(), LINGER_MS);
  }

  /** Returns the stream, and opens it if there is none. Rejects with SVC_PROCESS_UNAVAILABLE and SVC_PROCESS_INVALID. */
  opened(): Awaitable<ProcessStream> {
    if (this.#stream?.endedBy === undefined && this.#stream !== undefined) return this.#stream;
    return (this.#opening ??= this.#open());
  }

  async #open(): Promise<ProcessStream> {
    const { connection } = this.#source;
    const events = { log: (line: Parameters<typeof logLine>[0]) => this.#log?.(logLine(line)) };
    try {
      const stream = await openProcessStream(connection, NO_SHARD, { ...events, ended: () => {} });
      if (!holdsCodeOf(this.#source, stream.welcome)) {
        stream.close();
        throw processInvalid(
          connection.address,
          'it has other code than when it was asked first. Start again once it no longer changes.',
        );
      }
      this.#stream = stream;
      return stream;
    } finally {
      this.#opening = undefined;
    }
  }

  #close(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }
}

function processToolGuest(source: ProcessSource, shared: SharedStream, log: GuestLog): Guest {
  const { descriptor, fingerprint, isFingerprinted, connection } = source;
  const { settings } = connection;
  const opened = new Set<ProcessEntity>();
  const hasViews = (descriptor.views ?? []).length > 0;
  let isClosed = false;
  shared.hold(log);
  return {
    descriptor,
    fingerprint: isFingerprinted ? fingerprint : undefined,
    entities: {
      async open({ component, id }, snapshot, alone = false) {
        const stream = await shared.opened();
        const entity =
          snapshot === undefined
            ? ProcessEntity.openEmpty(stream, settings, { component, id, alone })
            : await ProcessEntity.openFrom(stream, settings, { component, id, snapshot, alone });
        opened.add(entity);
        return entity;
      },
    },
    endpoints: {
      handle() {
        throw new GuestFault('trap', 'A process that a tool has reached serves no requests.');
      },
    },
    views: hasViews ? new ProcessViews(() => shared.opened(), settings) : undefined,
    close() {
      if (isClosed) return;
      isClosed = true;
      for (const entity of opened) entity.close();
      shared.release();
    },
  };
}

// ProgramGuest runs the entities and views of a program for tools: each call goes to a thread that has loaded the
// program's file, and is answered synchronously. A thread that has ended during a call is replaced when the next entity is
// opened or the next view is called, until THREADS_MAX threads were started: code that does not return would cost each
// further entity and view the time limit of a call.
import { SvcError } from '@svc/kit/svc-error';
import type { Guest, GuestEntity } from '@svc/model/guest';
import type { CallContext, Effect, Refusal, Reply } from '@svc/model/call';
import type { EntityRef, StoredEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import type { ProgramSource } from '../guest-source.ts';
import type { EntityCall } from './program-messages.ts';
import { PROGRAM_LIMITS_DEFAULT, type ProgramLimits, ProgramThread } from './program-thread.ts';
import { ProgramViews } from './program-views.ts';

const THREADS_MAX = 4;

/** Returns a function that starts guests, which share a thread and so the variables of the program's files. */
export function programStarter(
  source: ProgramSource,
  limits: ProgramLimits = PROGRAM_LIMITS_DEFAULT,
): () => Guest {
  const threads = new ProgramThreads(source, limits);
  return () => programGuest(source, threads);
}

/** The thread of a program, and the threads that replace it. */
class ProgramThreads {
  readonly #source: ProgramSource;
  readonly #limits: ProgramLimits;
  #thread: ProgramThread | undefined;
  #started = 0;

  constructor(source: ProgramSource, limits: ProgramLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  /**
   * Returns the running thread, which it starts if there is none. Throws SVC_PROGRAM_INVALID, SVC_DEFINITION_INVALID.
   */
  running(): ProgramThread {
    if (this.#thread?.isEnded === false) return this.#thread;
    const { file, fingerprint } = this.#source;
    if (this.#started === THREADS_MAX) {
      const last = this.#thread?.endedBy ?? 'it ended between two calls';
      throw new SvcError(
        'SVC_PROGRAM_INVALID',
        `${file}: Its code has ended the thread in which it runs ${THREADS_MAX} times, by computing for too long or by ` +
          `ending the process; the last time: ${last}. Let apply, the handlers and the folds of views return.`,
      );
    }
    this.#started += 1;
    const thread = new ProgramThread(file, this.#limits);
    if (thread.loaded().fingerprint !== fingerprint) {
      thread.end();
      throw new SvcError(
        'SVC_PROGRAM_INVALID',
        `${file}: It declares other components than when it was read. Start again once it no longer changes.`,
      );
    }
    this.#thread = thread;
    return thread;
  }
}

function programGuest({ descriptor }: ProgramSource, threads: ProgramThreads): Guest {
  const hasViews = (descriptor.views ?? []).length > 0;
  return {
    descriptor,
    entities: {
      open: (entity, snapshot) => new ProgramEntity(threads.running(), entity, snapshot),
    },
    endpoints: {
      handle() {
        throw new GuestFault('trap', 'A program that a tool has loaded serves no requests.');
      },
    },
    views: hasViews ? new ProgramViews(() => threads.running()) : undefined,
    // The entities are closed one by one, and other guests may use the thread.
    close() {},
  };
}

let lastEntityNo = 0;

class ProgramEntity implements GuestEntity {
  readonly #thread: ProgramThread;
  readonly #component: string;
  readonly #entityNo = ++lastEntityNo;
  #isLost = false;

  constructor(thread: ProgramThread, entity: EntityRef, snapshot: string | undefined) {
    this.#thread = thread;
    this.#component = entity.component;
    this.#call({ kind: 'open', entity, snapshot }, 'the empty state');
  }

  get lost(): boolean {
    return this.#isLost || this.#thread.isEnded;
  }

  apply(events: readonly StoredEvent[]): string | undefined {
    return this.#call({ kind: 'apply', events }, 'apply') as string | undefined;
  }

  command(context: CallContext, name: string, input: string): Effect | Refusal {
    const call = { kind: 'command', context: plain(context), name, input } as const;
    return this.#call(call, `command '${name}'`) as Effect | Refusal;
  }

  query(context: CallContext, name: string, input: string): Reply | Refusal {
    const call = { kind: 'query', context: plain(context), name, input } as const;
    return this.#call(call, `query '${name}'`) as Reply | Refusal;
  }

  reply(context: CallContext, name: string): Reply | Refusal {
    const call = { kind: 'reply', context: plain(context), name } as const;
    return this.#call(call, `the reply of command '${name}'`) as Reply | Refusal;
  }

  snapshot(): string {
    return this.#call({ kind: 'snapshot' }, 'the state') as string;
  }

  close(): void {
    this.#thread.send({ entityNo: this.#entityNo, call: { kind: 'close' } });
  }

  #call(call: EntityCall, what: string): unknown {
    try {
      const entityNo = this.#entityNo;
      return this.#thread.call({ entityNo, call }, `${what} of component '${this.#component}'`);
    } catch (error) {
      this.#isLost = true;
      throw error;
    }
  }
}

/** Returns the context without `spent`: a program's calls use no fuel. */
function plain({ nowMs, seed, metadata }: CallContext): CallContext {
  return { nowMs, seed, metadata };
}

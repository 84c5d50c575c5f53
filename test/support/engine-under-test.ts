// An engine with a counter guest, a journal that can be held and a clock that can be set.
import { type EntityEngine, createEngine } from '../../host/engine/entity-engine.ts';
import type { EngineLimits } from '../../host/engine/engine-limits.ts';
import type { TimerSettings } from '../../host/engine/timer-settings.ts';
import type { DeadTimerLog } from '../../host/engine/needs/dead-timer-log.ts';
import type { Leases } from '../../host/engine/needs/leases.ts';
import type { Recorder } from '../../host/engine/needs/recorder.ts';
import type { Metadata, Refusal, Reply } from '../../model/call.ts';
import type { EntityRef, JournalRecord, StoredEvent } from '../../model/entity.ts';
import { MemoryJournal } from '../../host/storage/memory/memory-journal.ts';
import { COUNTER, CounterGuest, type CounterOptions } from './counter-guest.ts';
import { HeldJournal } from './held-journal.ts';
import { systemDigest } from '../../host/system.ts';

export interface Logged {
  readonly entity: EntityRef;
  readonly handler: string | undefined;
  readonly fault: unknown;
}

const START_MS = 1_700_000_000_000;

export class EngineUnderTest {
  readonly guest: CounterGuest;
  readonly journal: HeldJournal;
  readonly engine: EntityEngine;
  readonly faults: Logged[] = [];
  readonly deadTimers: Parameters<DeadTimerLog>[] = [];
  /** Time that passes by both clocks. */
  nowMs = START_MS;
  /** How far the wall clock was set forward, or back; the monotonic clock does not notice. */
  wallSetMs = 0;
  seed = 0n;
  /** Number of times that the engine has yielded to the event loop. `turn`: what it waits for then. */
  turnCount = 0;
  turn: () => Promise<void> = () => Promise.resolve();

  constructor(
    options: CounterOptions & {
      readonly limits?: Partial<EngineLimits>;
      /** One that has history, from an engine before. */
      readonly journal?: HeldJournal;
      readonly recorder?: Recorder;
      readonly leases?: Leases;
      readonly timers?: Partial<TimerSettings>;
      readonly shown?: (text: string) => string;
    } = {},
  ) {
    this.guest = new CounterGuest(options);
    this.journal = options.journal ?? new HeldJournal(new MemoryJournal());
    this.engine = createEngine({
      guest: this.guest,
      journal: this.journal,
      clock: {
        nowMs: () => this.nowMs + this.wallSetMs,
        monotonicMs: () => this.nowMs - START_MS + 0.25,
      },
      random: { next64: () => ++this.seed },
      digest: systemDigest,
      eventLoop: {
        yield: async () => {
          this.turnCount++;
          await this.turn();
        },
      },
      faultLog: (entity, handler, fault) => this.faults.push({ entity, handler, fault }),
      deadTimerLog: (...dead) => this.deadTimers.push(dead),
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...(options.timers === undefined ? {} : { timers: options.timers }),
      ...(options.leases === undefined ? {} : { leases: options.leases }),
      ...(options.recorder === undefined ? {} : { recorder: options.recorder }),
      ...(options.shown === undefined ? {} : { shown: options.shown }),
    });
  }

  /** The call as the engine answers it; what it throws is a rejection. */
  async call(
    id: string,
    name: string,
    input: unknown = null,
    metadata: Metadata = [],
  ): Promise<Reply | Refusal> {
    return this.engine.call({ component: COUNTER, id }, name, JSON.stringify(input), metadata);
  }

  /** The value of the reply, `refused CODE`, or `failed CODE`. */
  async outcome(id: string, name: string, input: unknown = null): Promise<unknown> {
    try {
      const outcome = await this.call(id, name, input);
      return outcome.kind === 'reply' ? JSON.parse(outcome.json) : `refused ${outcome.code}`;
    } catch (error) {
      return `failed ${failureOf(error)}`;
    }
  }

  /** Stores events that no command of the guest has persisted, after those that there are. */
  async storeEvents(id: string, events: readonly StoredEvent[]): Promise<void> {
    const entity = { component: COUNTER, id };
    const { length } = await this.journal.read(entity, 0, 1_000_000);
    const records = events.map(
      (event, index) =>
        ({ kind: 'event', seq: length + index + 1, timeMs: this.nowMs, event }) as const,
    );
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.journal.append(entity, records, resolve);
    const failure = await promise;
    if (failure !== undefined) throw failure;
    this.journal.reads.length = 0;
  }

  records(id: string): Promise<readonly JournalRecord[]> {
    return this.journal.read({ component: COUNTER, id }, 0, 1_000_000);
  }
}

/** The code of an SvcError, the cause of a GuestFault. */
export function failureOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  if (error instanceof Error && 'faultCause' in error) return String(error.faultCause);
  return String(error);
}

/** Lets everything happen that waits for nothing but its turn. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

// An engine with a counter guest whose timers are in a memory journal, and a dispatcher that a test turns by hand.
import type { Firing, FiringOutcome } from '../../host/engine/firing.ts';
import type { StoredTimer } from '../../host/engine/needs/timers.ts';
import type { EntityRef } from '../../model/entity.ts';
import type { Timer, TimerChange } from '../../model/timer.ts';
import { MemoryJournal } from '../../host/storage/memory/memory-journal.ts';
import { COUNTER } from './counter-guest.ts';
import { EngineUnderTest } from './engine-under-test.ts';
import { HeldJournal } from './held-journal.ts';

type Options = Omit<NonNullable<ConstructorParameters<typeof EngineUnderTest>[0]>, 'journal'>;

/** More than any time of a test, in milliseconds since 1970. */
const LATEST_MS = 9e15;

export class TimersUnderTest extends EngineUnderTest {
  readonly memory: MemoryJournal;

  constructor(
    options: Options = {},
    memory = new MemoryJournal(),
    journal = new HeldJournal(memory),
  ) {
    super({ ...options, journal });
    this.memory = memory;
  }

  /** The timers that are not dead, in the order in which they are due. */
  get timers(): readonly StoredTimer[] {
    return this.memory.dueTimers(LATEST_MS, 1_000_000);
  }

  timerOf(owner: string, name = 'tick'): StoredTimer | undefined {
    return this.timers.find((timer) => timer.owner?.id === owner && timer.name === name);
  }

  /** Sets a timer that is due at once, and belongs to its target. */
  set(id: string, command: string, input: unknown = null, more: Partial<Timer> = {}) {
    const timer = timerFor(id, command, input, more);
    return this.engine.changeTimers(ref(id), [{ kind: 'set', timer }], []);
  }

  cancel(id: string, name = 'tick'): Promise<void> {
    return this.engine.changeTimers(ref(id), [{ kind: 'cancel', name }], []);
  }

  /** Fires a timer as it was when it was read. */
  fire(timer: StoredTimer, more: Partial<Firing> = {}): Promise<FiringOutcome> {
    return this.engine.fire({ ...firingOf(timer), ...more });
  }

  /** How a firing of the timer ends, in one word. */
  async fired(timer: StoredTimer, more: Partial<Firing> = {}): Promise<string> {
    return (await this.fire(timer, more)).kind;
  }
}

export function ref(id: string): EntityRef {
  return { component: COUNTER, id };
}

export function timerFor(
  id: string,
  command: string,
  input: unknown = null,
  more: Partial<Timer> = {},
): Timer {
  const due = { kind: 'after', afterMs: 0 } as const;
  return { name: 'tick', target: ref(id), command, input: JSON.stringify(input), due, ...more };
}

/** The input of the command `effect` that changes timers. */
export function changing(...timers: readonly TimerChange[]): unknown {
  return { timers };
}

export function firingOf(timer: StoredTimer): Firing {
  const { number, dueMs, attempts, target, command, input, traceParent } = timer;
  const read = { number, dueMs, attempts, target, command, input, traceParent };
  return { ...read, rearmMs: undefined, missed: 0 };
}

// ProgramViews folds the views of a program for tools, in the thread of the program (program-thread.ts).
//
// Invariants
// V1  A batch of events that has ended the thread is repeated event by event. So a batch that only takes long is folded,
//     and the event at which the code does not return is known.
// V2  The same code is not called again with an event that has ended a thread alone: the fault is thrown at once. So a
//     caller that repeats the event in smaller and smaller batches ends no further thread.
import type { GuestViews } from '@svc/model/guest';
import type { EntityEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import type { KeyedEvent, RowState } from '@svc/model/view';
import type { ViewCall } from './program-messages.ts';
import type { ProgramThread } from './program-thread.ts';

/** Maximum number of events in one call of the thread. */
const EVENTS_PER_CALL_MAX = 512;

type Keys = readonly (readonly string[])[];

export class ProgramViews implements GuestViews {
  readonly #running: () => ProgramThread;
  /** The faults of events that have ended a thread alone. */
  readonly #faults = new Map<string, GuestFault>();

  /** `running` returns the running thread, and starts one if there is none. */
  constructor(running: () => ProgramThread) {
    this.#running = running;
  }

  keys(view: string, events: readonly EntityEvent[]): Keys | string {
    return inBatches(events, EVENTS_PER_CALL_MAX, (batch) => this.#keysOf(view, batch));
  }

  fold(
    view: string,
    rows: readonly RowState[],
    events: readonly KeyedEvent[],
  ): readonly RowState[] | string {
    return this.#called(
      view,
      { kind: 'fold', rows, events },
      events.map(({ event }) => event),
      () => this.#foldedSingly(view, rows, events),
    );
  }

  #keysOf(view: string, events: readonly EntityEvent[]): Keys | string {
    return this.#called(view, { kind: 'keys', events }, events, () =>
      inBatches(events, 1, (one) => this.#keysOf(view, one)),
    );
  }

  #foldedSingly(
    view: string,
    rows: readonly RowState[],
    events: readonly KeyedEvent[],
  ): readonly RowState[] | string {
    const present = [...rows];
    for (const { event, rows: concerned } of events) {
      const before = concerned.map((index) => present[index]!);
      const changed = this.fold(view, before, [{ event, rows: [...concerned.keys()] }]);
      if (typeof changed === 'string') return changed;
      for (const row of changed)
        present[concerned.find((index) => present[index]!.key === row.key)!] = row;
    }
    return present.filter(({ json }, index) => json !== rows[index]!.json);
  }

  /** Calls the view. `singly` is called if this ends the thread, and there are several events. */
  #called<Result>(
    view: string,
    call: ViewCall,
    events: readonly EntityEvent[],
    singly: () => Result,
  ): Result {
    const nameOf = ({ entity: { component, id }, seq }: EntityEvent) =>
      JSON.stringify([view, call.kind, component, id, seq]);
    for (const event of events) {
      const fault = this.#faults.get(nameOf(event));
      if (fault !== undefined) throw fault;
    }
    const thread = this.#running();
    try {
      return thread.call({ view, call }, `the ${call.kind} of view '${view}'`) as Result;
    } catch (fault) {
      if (!(fault instanceof GuestFault && thread.isEnded)) throw fault;
      if (events.length > 1) return singly();
      for (const event of events) this.#faults.set(nameOf(event), fault);
      throw fault;
    }
  }
}

/** Returns the keys of the events, or the first message. */
function inBatches(
  events: readonly EntityEvent[],
  eventsMax: number,
  keysOf: (batch: readonly EntityEvent[]) => Keys | string,
): Keys | string {
  const all: (readonly string[])[] = [];
  for (let at = 0; at < events.length; at += eventsMax) {
    const keys = keysOf(events.slice(at, at + eventsMax));
    if (typeof keys === 'string') return keys;
    all.push(...keys);
  }
  return all;
}

// ProcessViews fold events into rows in the process of a service.
import type { Awaitable } from '@svc/model/call';
import type { EntityEvent } from '@svc/model/entity';
import type { GuestViews } from '@svc/model/guest';
import type { KeyedEvent, RowState } from '@svc/model/view';
import { GuestFault } from '@svc/model/guest-fault';
import { faultOf } from '@svc/process-protocol/fault-frames';
import { eventFrame } from '@svc/process-protocol/handler-frames';
import { rowOf, viewFoldFrame } from '@svc/process-protocol/view-frames';
import { type Answer, isAnswer } from './process-calls.ts';
import { lostInProcess, ProcessAway } from './process-failures.ts';
import type { ProcessSettings } from './process-settings.ts';
import type { ProcessStream, ToFrame } from './process-stream.ts';

/** The process may be lost so often in a row while it folds a view. */
const LOSSES_MAX = 5;

export class ProcessViews implements GuestViews {
  readonly #stream: () => Awaitable<ProcessStream>;
  readonly #timeoutMs: number;
  /** How often the process was lost since it last answered, by view and kind of call. */
  readonly #losses = new Map<string, number>();

  /** `stream` returns the stream. It may throw, or reject with, SVC_PROCESS_UNAVAILABLE. */
  constructor(stream: () => Awaitable<ProcessStream>, { foldTimeoutMs }: ProcessSettings) {
    this.#stream = stream;
    this.#timeoutMs = foldTimeoutMs;
  }

  async keys(
    view: string,
    events: readonly EntityEvent[],
  ): Promise<readonly (readonly string[])[] | string> {
    const value = { view, events: events.map(eventFrame) };
    const stream = await this.#stream();
    const answer = await this.#call(stream, view, { $case: 'viewKeys', value });
    if (answer.$case === 'problem') return answer.value.message;
    if (answer.$case !== 'keys') throw violated(stream);
    return answer.value.events.map(({ keys }) => keys);
  }

  async fold(
    view: string,
    rows: readonly RowState[],
    events: readonly KeyedEvent[],
  ): Promise<readonly RowState[] | string> {
    const value = viewFoldFrame(view, rows, events);
    const stream = await this.#stream();
    const answer = await this.#call(stream, view, { $case: 'viewFold', value });
    if (answer.$case === 'problem') return answer.value.message;
    if (answer.$case !== 'rows') throw violated(stream);
    return changedRows(view, rows, answer.value.rows.map(rowOf));
  }

  async #call(stream: ProcessStream, view: string, frame: ToFrame): Promise<Answer> {
    const call = { frame, timeoutMs: this.#timeoutMs, subject: `view '${view}'` };
    const key = `${frame.$case} ${view}`;
    const answer = await stream.call(call).answer;
    if (isAnswer(answer)) {
      this.#losses.delete(key);
      if (answer.$case === 'fault') throw faultOf(answer.value);
      return answer;
    }
    if (answer.$case === 'ended') throw this.#lost(key, view, answer.why);
    // It is tried again: a pause of the process is no fault of the view's code, which would stop the view.
    throw new ProcessAway(`has not folded view '${view}' within ${this.#timeoutMs} ms`);
  }

  /** The process was lost with a fold of the view in it. If that happens time and again, the fold is why: a fault, which stops the view. */
  #lost(key: string, view: string, why: string): Error {
    const losses = (this.#losses.get(key) ?? 0) + 1;
    if (losses < LOSSES_MAX) {
      this.#losses.set(key, losses);
      return lostInProcess(why);
    }
    this.#losses.delete(key);
    return new GuestFault(
      'trap',
      `the process ${why}, ${losses} times while it folded view '${view}'`,
    );
  }
}

function violated(stream: ProcessStream): Error {
  const problem = 'it has answered a view with a frame of another kind';
  stream.violated(problem);
  return new ProcessAway(`has broken the protocol: ${problem}`);
}

/** Returns the rows that have changed. Throws GuestFault if one of them was not given, or is there twice. */
function changedRows(
  view: string,
  given: readonly RowState[],
  changed: readonly RowState[],
): readonly RowState[] {
  const keys = new Set(given.map(({ key }) => key));
  for (const { key } of changed)
    if (!keys.delete(key))
      throw new GuestFault(
        'value',
        `view '${view}' has changed a row that it was not given, or one row twice`,
      );
  return changed;
}

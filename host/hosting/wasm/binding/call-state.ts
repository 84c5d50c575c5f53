// CallState is the state of the call that an instance is executing: its phase, which decides the imports that the
// module may call (the table of phases in wit/runtime.wit), what is left of its limits, and the handles of the module's
// own resources. Each instance has one.
import type { HostCalls } from '@svc/model/guest';
import { GuestFault } from '@svc/model/guest-fault';
import type { FuelLimit } from './fuel.ts';
import { trapFrames } from './trap-frames.ts';

export const PHASE = {
  /**
   * Start, constructor, apply, snapshot, log, realloc, post-return: the module may call no import except the intrinsics
   * of its own resource.
   */
  closed: 0,
  command: 1,
  query: 2,
  handler: 3,
} as const;
export type Phase = (typeof PHASE)[keyof typeof PHASE];

export class CallState {
  phase: Phase = PHASE.closed;
  /** Name of the limit that gave the current call its fuel. */
  fuelLimit: FuelLimit = 'start-fuel';
  /**
   * Time that the clock reports: the recorded time in a command or query; in a handler, when its request came or its
   * last wait ended.
   */
  nowMs = 0n;
  /** Host functions that a handler's imports reach; undefined outside a handler. */
  calls: HostCalls | undefined;
  /** Calls of the host that the module may still make in the current call. */
  hostCallsLeft = 0;
  /** Calls of components that the handler may still make. */
  componentCallsLeft = 0;
  readonly #handlesMax: number;
  /** Handle → the module's representation of the resource (`rep` in the canonical ABI). */
  readonly #reps = new Map<number, number>();
  /** Released handles, which are reused: handle numbers have 31 bits and would run out. */
  readonly #freeHandles: number[] = [];
  #lastHandle = 0;

  /** `handlesMax`: maximum number of resources that the module may hold itself. */
  constructor(handlesMax: number) {
    this.#handlesMax = handlesMax;
  }

  /**
   * Counts a call of the host function `name` by the module. Throws a GuestFault if the phase does not allow the call
   * (`allowed`), or if the call exceeds the limit of host calls. `help`: end of the message if the phase forbids the
   * call.
   */
  enter(name: string, allowed: boolean, help = ''): void {
    if (!allowed)
      throw new GuestFault('trap', `The module called ${name} where it may not be called.${help}`, {
        // The module's calling code is still on the stack.
        frames: trapFrames(new Error('here')),
      });
    if (--this.hostCallsLeft < 0)
      throw new GuestFault('limit', 'The module called the host too often in one call.', {
        limit: 'host-calls',
      });
  }

  /** Counts a call of a component, which only a handler may make. */
  enterComponentCall(): void {
    const isHandler = this.phase === PHASE.handler;
    if (!isHandler && this.phase !== PHASE.closed)
      throw new GuestFault(
        'limit',
        'An entity called a component (routing.call). Calls go one deep, from an endpoint to an ' +
          'entity, so that none can come back to where it began. Let the endpoint make the call.',
        { limit: 'call-depth' },
      );
    this.enter('routing.call', isHandler);
    this.#countComponentCall();
  }

  /**
   * Counts a call that changes a timer, which only a handler may make. It counts as a call of a component: each may
   * store something.
   */
  enterTimerCall(name: string): void {
    this.enterHandlerCall(
      name,
      ' Endpoints and consumers set timers; a command sets those of its entity by its effect.',
    );
    this.#countComponentCall();
  }

  /** Counts a request to another service, which only a handler may make. */
  enterServiceCall(): void {
    this.enterHandlerCall(
      'routing.request',
      ' Endpoints and consumers call other services, and give an entity what it needs of the response as its input.',
    );
  }

  /** Counts a call that only a handler of a request or an event may make. `help`: as for `enter`. */
  enterHandlerCall(name: string, help = ''): void {
    this.enter(name, this.phase === PHASE.handler, help);
  }

  #countComponentCall(): void {
    if (--this.componentCallsLeft < 0)
      throw new GuestFault('limit', 'The handler of one request called components too often.', {
        limit: 'component-calls',
      });
  }

  newHandle(rep: number): number {
    if (this.#reps.size >= this.#handlesMax)
      throw new GuestFault('limit', 'The module made too many resources.', { limit: 'handles' });
    const handle = this.#freeHandles.pop() ?? ++this.#lastHandle;
    this.#reps.set(handle, rep);
    return handle;
  }

  repOf(handle: number): number {
    const rep = this.#reps.get(handle);
    if (rep === undefined)
      throw new GuestFault('value', 'The module passed a handle of no resource of its own.');
    return rep;
  }

  /** Takes the handle away from the module, which dropped the resource or gave it to the host. Returns its `rep`. */
  takeHandle(handle: number): number {
    const rep = this.repOf(handle);
    this.#reps.delete(handle);
    this.#freeHandles.push(handle);
    return rep;
  }

  /** Resets phase, host functions and handles to those of a new instance; the next call begins with its own limits. */
  reset(): void {
    this.phase = PHASE.closed;
    this.calls = undefined;
    if (this.#reps.size > 0) this.#reps.clear();
    this.#freeHandles.length = 0;
    this.#lastHandle = 0;
  }
}

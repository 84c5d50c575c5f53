// PurityCheck finds commands and queries that change the state that they are given, which only `apply` may do. It
// encodes the state before and after one in every `purityCheckInterval` calls. When the state has changed, the call
// fails and the entity is rebuilt from the journal, so nothing wrong is stored.
//
// Invariants
// P1  A call that is not checked costs only a decrement. A command counts once, together with its reply from the state
//     after its events. Encoding a large state takes longer, so the next check comes later, unless every call is checked.
// P2  The check never disables a component: when its state cannot be encoded before a call, that call fails, and the
//     component is not checked any more.
import type { ModuleDescriptor } from '@svc/contract';
import type { Awaitable } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import type { GuestEntities, GuestEntity } from '@svc/model/guest';
import { quoted } from '../quoted.ts';
import type { HandlerKind } from './entity-call.ts';
import { type Answer, type Args, ForwardingEntity } from './forwarding-entity.ts';
import { entityName } from './history.ts';
import { differencePath } from './state-difference.ts';

type CheckedCall = HandlerKind | 'the reply of command';

/** Characters of an encoded state after which a check counts as several ones. */
const STATE_LENGTH = 8_192;

export class PurityCheck implements GuestEntities {
  readonly #entities: GuestEntities;
  readonly #descriptor: ModuleDescriptor;
  readonly #interval: number;
  /** The number of calls until the next check, that call included. */
  #left: number;
  /** Components whose state could not be encoded. */
  readonly #unchecked = new Set<string>();

  /** `interval`: one of this many calls is checked, 1 or more. */
  constructor(entities: GuestEntities, descriptor: ModuleDescriptor, interval: number) {
    this.#entities = entities;
    this.#descriptor = descriptor;
    this.#interval = interval;
    this.#left = interval;
  }

  open(ref: EntityRef, snapshot: string | undefined, alone?: boolean): Awaitable<GuestEntity> {
    return andThen(
      this.#entities.open(ref, snapshot, alone),
      (entity) => new CheckedEntity(this, ref, entity),
    );
  }

  /** Counts a call, and returns whether to check it. */
  isDue({ component }: EntityRef): boolean {
    if (--this.#left > 0) return false;
    this.#left = this.#interval;
    return !this.#unchecked.has(component);
  }

  /** Called with the length of the encoded state of each checked call. */
  encoded(length: number): void {
    if (this.#interval > 1)
      this.#left = this.#interval * Math.max(1, Math.ceil(length / STATE_LENGTH));
  }

  /** Called when the state could not be encoded before a call. Returns the error to throw. */
  unencodable({ component }: EntityRef, fault: unknown): unknown {
    if (!(fault instanceof GuestFault)) return fault;
    this.#unchecked.add(component);
    return fault.explained(
      `The state could not be written as JSON, and the handlers of component ${quoted(component)} ` +
        `are no longer checked for changing it. ${fault.message}`,
    );
  }

  /**
   * Returns the error for a call that has changed the state. `after`: undefined when the state has no JSON form any
   * more.
   */
  changed(
    ref: EntityRef,
    what: CheckedCall,
    name: string,
    before: string,
    after: string | undefined,
  ): SvcError {
    const entity = this.#descriptor.entities.find(({ component }) => component === ref.component);
    const path =
      after === undefined || entity === undefined
        ? undefined
        : differencePath(before, after, entity.state.schema, this.#descriptor.types);
    const where = path === undefined ? '' : `, at ${path}`;
    const how = after === undefined ? ', so that it has no JSON form any more' : '';
    return new SvcError(
      'SVC_STATE_CHANGED',
      `${what} ${quoted(name)} of ${entityName(ref)} changed the state it was given${where}${how}; ` +
        'only apply may. Nothing of the call was kept: let the handler work on a copy, and return ' +
        'the change as an event.',
    );
  }
}

class CheckedEntity extends ForwardingEntity {
  readonly #check: PurityCheck;
  readonly #ref: EntityRef;
  /** Whether the last command is checked, and with it its reply from the state after its events. */
  #isCommandChecked = false;

  constructor(check: PurityCheck, ref: EntityRef, entity: GuestEntity) {
    super(entity);
    this.#check = check;
    this.#ref = ref;
  }

  override command(...args: Args<'command'>): Answer<'command'> {
    this.#isCommandChecked = this.#check.isDue(this.#ref);
    if (!this.#isCommandChecked) return this.entity.command(...args);
    return this.#checked('command', args[1], () => this.entity.command(...args));
  }

  override query(...args: Args<'query'>): Answer<'query'> {
    if (!this.#check.isDue(this.#ref)) return this.entity.query(...args);
    return this.#checked('query', args[1], () => this.entity.query(...args));
  }

  override reply(...args: Args<'reply'>): Answer<'reply'> {
    if (!this.#isCommandChecked) return this.entity.reply(...args);
    return this.#checked('the reply of command', args[1], () => this.entity.reply(...args));
  }

  #checked<T>(what: CheckedCall, name: string, call: () => Awaitable<T>): Awaitable<T> {
    const before = recovered(
      () => this.entity.snapshot(),
      (fault) => {
        throw this.#check.unencodable(this.#ref, fault);
      },
    );
    return andThen(before, (stateBefore) => {
      this.#check.encoded(stateBefore.length);
      return andThen(call(), (answer) => {
        // The fault of another entity destroyed the instance while this call waited.
        if (this.entity.lost) return answer;
        return andThen(this.#stateAfter(), (stateAfter) => {
          if (stateBefore === stateAfter) return answer;
          throw this.#check.changed(this.#ref, what, name, stateBefore, stateAfter);
        });
      });
    });
  }

  /**
   * Returns the state as JSON text; undefined if it has no JSON form. A guest that answers later rejects instead,
   * because another entity may have caused the fault.
   */
  #stateAfter(): Awaitable<string | undefined> {
    try {
      return this.entity.snapshot();
    } catch (fault) {
      if (!(fault instanceof GuestFault)) throw fault;
      return undefined;
    }
  }
}

/** Calls `next` with the value: synchronously where the value is there. */
function andThen<A, B>(value: Awaitable<A>, next: (value: A) => Awaitable<B>): Awaitable<B> {
  // oxlint-disable-next-line promise/no-callback-in-promise -- the caller waits for it
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Returns the result of `call`, or the result of `recover` if `call` throws or rejects. */
function recovered<T>(call: () => Awaitable<T>, recover: (fault: unknown) => T): Awaitable<T> {
  try {
    const answer = call();
    return answer instanceof Promise ? answer.catch(recover) : answer;
  } catch (fault) {
    return recover(fault);
  }
}

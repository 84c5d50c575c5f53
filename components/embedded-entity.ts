// EmbeddedEntity: implements the engine's entity for one live entity of a TypeScript component. An error that
// its handlers throw is a fault: this entity's state is dropped, and no other's.
//
// Invariants: a state is computed from stored events alone, each decoded from its JSON text. The engine
// receives an error of the program only as a GuestFault, and a caller receives nothing of it.
import assert from 'node:assert';
import { atOnce } from './at-once.ts';
import { STORED_DEPTH_MAX, CodecProblem } from './codec.ts';
import {
  type CallContext,
  type Effect as StoredEffect,
  type Refusal,
  type Reply,
  type Spent,
  refusal,
} from '@svc/model/call';
import type { StoredEvent } from '@svc/model/entity';
import type { GuestEntity } from '@svc/model/guest';
import { GuestFault } from '@svc/model/guest-fault';
import { callOf } from './deferred-calls.ts';
import { EncodedReply } from './encoded-reply.ts';
import { DecidingContext, Effect, HandlerContext, type LaterReply } from './entity-context.ts';
import type { HandlerDefinition, RunnableEntity } from './entity-definition.ts';
import { decodeEvent } from './event-source.ts';
import { frozen, isChangeOfFrozen } from './frozen.ts';
import { programFault } from './program-fault.ts';
import { Refused, refusalOf } from './result.ts';

const EMPTY = 'empty answered a promise';
const CHANGED =
  'it changes the state that it was given. In a process of its own the state is frozen: return a new one';

export class EmbeddedEntity implements GuestEntity {
  readonly #definition: RunnableEntity;
  readonly #id: string;
  #state: unknown;
  /** The state after the events of the last command, until it is known whether they are stored; undefined: there is none. */
  #aside: { readonly state: unknown } | undefined;
  readonly #isFrozen: boolean;
  /** Computes the reply of the last command; undefined if the command has replied already. */
  #laterReply: LaterReply | undefined;
  #isLost = false;

  /**
   * Opens the entity. `isFrozen`: `apply` returns a new state and cannot change the one that it is given, which an entity needs whose states are set
   * aside. Throws GuestFault.
   */
  constructor(
    definition: RunnableEntity,
    id: string,
    snapshot: string | undefined,
    isFrozen = false,
  ) {
    this.#definition = definition;
    this.#id = id;
    this.#isFrozen = isFrozen;
    this.#state = this.#guarded('its empty state', () =>
      // The initial state is copied through its JSON text: a value that the program holds on to is never an entity's
      // state.
      this.#decoded(
        snapshot ?? definition.state.codec.encode(atOnce(definition.empty(id), EMPTY), 'state'),
      ),
    );
  }

  get lost(): boolean {
    return this.#isLost;
  }

  apply(events: readonly StoredEvent[], _spent?: Spent): string | undefined {
    this.#aside = undefined;
    const folded = this.#folded(events);
    if (typeof folded === 'string') return folded;
    this.#state = folded.state;
    return undefined;
  }

  /**
   * Folds the events of the last command into a state that is set aside: `keep` makes it the state. The states are frozen. Returns why an
   * event could not be decoded; then nothing is set aside. Throws GuestFault.
   */
  setAside(events: readonly StoredEvent[]): string | undefined {
    assert(this.#isFrozen);
    const folded = this.#folded(events);
    if (typeof folded === 'string') return folded;
    this.#aside = folded;
    return undefined;
  }

  /** Makes the state that was set aside the entity's state. Returns whether there was one. */
  keep(): boolean {
    const aside = this.#aside;
    if (aside === undefined) return false;
    this.#aside = undefined;
    this.#state = aside.state;
    return true;
  }

  #folded(events: readonly StoredEvent[]): { readonly state: unknown } | string {
    let state = this.#state;
    for (const [index, stored] of events.entries()) {
      const location = `event ${index + 1} of ${events.length}`;
      let event: unknown;
      try {
        event = decodeEvent(this.#definition, stored);
      } catch (error) {
        if (error instanceof CodecProblem) return `${location}: ${error.message}`;
        throw this.#fault('reading an event', error);
      }
      const before = state;
      state = this.#guarded('apply', () =>
        stateOf(atOnce(this.#definition.apply(before, event), 'apply answered a promise')),
      );
    }
    return { state: this.#isFrozen ? frozen(state) : state };
  }

  command(context: CallContext, name: string, input: string): StoredEffect | Refusal {
    this.#aside = undefined;
    const call = this.#handler('command', name, input);
    if ('code' in call) return call;
    const { handler, value } = call;
    const { manifest, codec } = this.#definition.event;
    const codecs = { manifest, event: codec, reply: handler.reply };
    const deciding = new DecidingContext(this.#id, context, codecs, (id) =>
      callOf(this.#definition, id),
    );
    return this.#guarded(`command '${name}'`, () => {
      const answer = this.#run(handler, value, deciding);
      if (answer instanceof Refused) return refusalOf(answer);
      if (answer instanceof Effect) {
        this.#laterReply = answer.laterReply;
        return answer.stored;
      }
      throw new Error(
        'it answered neither an effect nor a refusal: return persist(…).thenReply(…), reply(…) or refuse(…)',
      );
    });
  }

  query(context: CallContext, name: string, input: string): Reply | Refusal {
    this.#aside = undefined;
    const call = this.#handler('query', name, input);
    if ('code' in call) return call;
    const { handler, value } = call;
    return this.#guarded(`query '${name}'`, () => {
      const answer = this.#run(handler, value, new HandlerContext(this.#id, context));
      if (answer instanceof Refused) return refusalOf(answer);
      return new EncodedReply(handler.reply!.encodeValue(answer, 'reply'));
    });
  }

  /** Computes the reply from the state that was set aside, if there is one, or else from the state. */
  reply(_context: CallContext, name: string): Reply {
    const { state } = this.#aside ?? { state: this.#state };
    const compute = this.#laterReply;
    this.#laterReply = undefined;
    assert(compute !== undefined, 'the last command has replied');
    return this.#guarded(`the reply of command '${name}'`, () => ({
      kind: 'reply',
      json: compute(state),
    }));
  }

  snapshot(): string {
    return this.#guarded('its state', () =>
      this.#definition.state.codec.encode(this.#state, 'state'),
    );
  }

  close(): void {
    this.#state = undefined;
  }

  /** Returns the handler with its decoded input. */
  #handler(
    kind: HandlerDefinition['kind'],
    name: string,
    input: string,
  ): { readonly handler: HandlerDefinition; readonly value: unknown } | Refusal {
    const { component, byWireName } = this.#definition;
    const handler = byWireName.get(name);
    if (handler?.kind !== kind)
      return refusal('NOT_FOUND', `component '${component}' has no ${kind} '${name}'`);
    if (handler.input === undefined) return { handler, value: undefined };
    try {
      return { handler, value: handler.input.decode(input, 'input') };
    } catch (error) {
      if (error instanceof CodecProblem) return refusal('BAD_REQUEST', error.message);
      throw this.#fault(`reading the input of '${name}'`, error);
    }
  }

  #run(handler: HandlerDefinition, input: unknown, context: HandlerContext): unknown {
    return atOnce(
      handler.input === undefined
        ? handler.handle(this.#state, context)
        : handler.handle(this.#state, input, context),
      'it answered a promise',
    );
  }

  #decoded(state: string): unknown {
    const decoded = this.#definition.state.codec.decode(state, 'state', STORED_DEPTH_MAX);
    return this.#isFrozen ? frozen(decoded) : decoded;
  }

  #guarded<T>(what: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw this.#fault(what, error);
    }
  }

  #fault(what: string, error: unknown): GuestFault {
    this.#isLost = true;
    if (this.#isFrozen && isChangeOfFrozen(error))
      return programFault(
        `${what} of component '${this.#definition.component}'`,
        new Error(CHANGED, { cause: error }),
      );
    return programFault(`${what} of component '${this.#definition.component}'`, error);
  }
}

/** Refuses undefined, which no schema allows as a state: the handler forgot to return the state. */
function stateOf(applied: unknown): unknown {
  if (applied === undefined) throw new Error('it answered nothing: return the state');
  return applied;
}

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
import { programFault } from './program-fault.ts';
import { Refused, refusalOf } from './result.ts';

const EMPTY = 'empty answered a promise';

export class EmbeddedEntity implements GuestEntity {
  readonly #definition: RunnableEntity;
  readonly #id: string;
  #state: unknown;
  /** Computes the reply of the last command; undefined if the command has replied already. */
  #laterReply: LaterReply | undefined;
  #isLost = false;

  /** Opens the entity. Throws GuestFault. */
  constructor(definition: RunnableEntity, id: string, snapshot: string | undefined) {
    this.#definition = definition;
    this.#id = id;
    this.#state = this.#guarded('its empty state', () =>
      // The initial state is copied through its JSON text: a value that the program holds on to is never an entity's
      // state.
      definition.state.codec.decode(
        snapshot ?? definition.state.codec.encode(atOnce(definition.empty(id), EMPTY), 'state'),
        'state',
        STORED_DEPTH_MAX,
      ),
    );
  }

  get lost(): boolean {
    return this.#isLost;
  }

  apply(events: readonly StoredEvent[]): string | undefined {
    for (const [index, stored] of events.entries()) {
      const location = `event ${index + 1} of ${events.length}`;
      let event: unknown;
      try {
        event = decodeEvent(this.#definition, stored);
      } catch (error) {
        if (error instanceof CodecProblem) return `${location}: ${error.message}`;
        throw this.#fault('reading an event', error);
      }
      this.#state = this.#guarded('apply', () =>
        stateOf(atOnce(this.#definition.apply(this.#state, event), 'apply answered a promise')),
      );
    }
    return undefined;
  }

  command(context: CallContext, name: string, input: string): StoredEffect | Refusal {
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
    const call = this.#handler('query', name, input);
    if ('code' in call) return call;
    const { handler, value } = call;
    return this.#guarded(`query '${name}'`, () => {
      const answer = this.#run(handler, value, new HandlerContext(this.#id, context));
      if (answer instanceof Refused) return refusalOf(answer);
      return new EncodedReply(handler.reply!.encodeValue(answer, 'reply'));
    });
  }

  reply(_context: CallContext, name: string): Reply {
    const compute = this.#laterReply;
    this.#laterReply = undefined;
    assert(compute !== undefined, 'the last command has replied');
    return this.#guarded(`the reply of command '${name}'`, () => ({
      kind: 'reply',
      json: compute(this.#state),
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

  #guarded<T>(what: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw this.#fault(what, error);
    }
  }

  #fault(what: string, error: unknown): GuestFault {
    this.#isLost = true;
    return programFault(`${what} of component '${this.#definition.component}'`, error);
  }
}

/** Refuses undefined, which no schema allows as a state: the handler forgot to return the state. */
function stateOf(applied: unknown): unknown {
  if (applied === undefined) throw new Error('it answered nothing: return the state');
  return applied;
}

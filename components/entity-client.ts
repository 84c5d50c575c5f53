// EntityClient: typed calls of one entity by its definition: `call(cart, id).addItem(input)`.
import type { HostCalls } from '@svc/model/guest';
import type { Metadata } from '@svc/model/call';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import { type Codec, CodecProblem, STORED_DEPTH_MAX } from './codec.ts';
import { EncodedReply } from './encoded-reply.ts';
import type { EntityDefinition, HandlerDefinition } from './entity-definition.ts';
import { Ok, type Result, refusedBy } from './result.ts';

/** An event as the journal stores it. */
export interface RecordedEvent<Event> {
  /** Sequence number in the entity's history: 1, 2, 3 … */
  readonly seq: number;
  /** When it was recorded, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly timeMs: number;
  readonly event: Event;
}

/**
 * Has a method for each command and query, and the members below. A command's method resolves once its events are on
 * disk. A method rejects with a CodecProblem (a TypeError) if the input or the reply does not fit its schema, with a
 * GuestFault if the handler faulted, and with an SvcError if the call failed in another way.
 */
export type EntityClient<Definition> =
  Definition extends EntityDefinition<infer Handlers, infer Event>
    ? {
        readonly [Key in keyof Handlers]: Handlers[Key] extends {
          readonly input: infer Input;
          readonly reply: infer Reply;
        }
          ? (...input: [Input] extends [undefined] ? [] : [input: Input]) => Promise<Result<Reply>>
          : never;
      } & ClientMembers<EntityClient<Definition>, Event>
    : never;

interface ClientMembers<Client, Event> {
  readonly id: string;
  /**
   * Returns a client whose commands carry the key: a command is executed once, however often it is sent. The same key
   * with another command or input is refused.
   */
  withIdempotencyKey(key: string): Client;
  /**
   * Returns acknowledged events of the entity's present incarnation after `afterSeq` (0 if absent), oldest first, at
   * most `limit` (1 to 1,000; 100 if absent).
   */
  events(afterSeq?: number, limit?: number): Promise<readonly RecordedEvent<Event>[]>;
}

/** Path by which calls reach the entity. */
export interface CallPath {
  readonly calls: Pick<HostCalls, 'call' | 'readEvents'>;
  readonly metadata: () => Metadata;
}

type ClientClass = new (
  path: CallPath,
  id: string,
  key: string | undefined,
) => EntityClient<EntityDefinition>;

/** Client classes, one for each definition. */
const classes = new WeakMap<EntityDefinition, ClientClass>();

export function entityClient(
  definition: EntityDefinition,
  path: CallPath,
  id: string,
): EntityClient<EntityDefinition> {
  let Client = classes.get(definition);
  if (Client === undefined) {
    Client = clientClass(definition);
    classes.set(definition, Client);
  }
  return new Client(path, id, undefined);
}

function clientClass(definition: EntityDefinition): ClientClass {
  const { component, event } = definition;
  class Client {
    readonly id: string;
    readonly #path: CallPath;
    readonly #key: string | undefined;

    constructor(path: CallPath, id: string, key: string | undefined) {
      this.#path = path;
      this.id = id;
      this.#key = key;
    }

    withIdempotencyKey(key: string): Client {
      return new Client(this.#path, this.id, key);
    }

    async events(afterSeq = 0, limit = 100): Promise<readonly RecordedEvent<unknown>[]> {
      if (!Number.isSafeInteger(afterSeq) || afterSeq < 0)
        throw new RangeError(`afterSeq is a whole number from 0 on, found ${afterSeq}`);
      if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
        throw new RangeError(`limit is a whole number from 1 to 1,000, found ${limit}`);
      const entity = { component, id: this.id };
      const records = await this.#path.calls.readEvents(entity, afterSeq, limit);
      return records.map(({ seq, timeMs, event: { json } }) => ({
        seq,
        timeMs,
        event: readEvent(event.codec, json, component, this.id, seq),
      }));
    }

    async #call(handler: HandlerDefinition, input: unknown): Promise<Result<unknown>> {
      const text = handler.input === undefined ? 'null' : handler.input.encode(input, 'input');
      const { calls, metadata } = this.#path;
      const entity = { component, id: this.id };
      const outcome = await calls.call(entity, handler.name, text, metadata(), this.#key);
      if (outcome.kind === 'refusal') return refusedBy(outcome);
      const { reply } = handler;
      if (reply === undefined) return new Ok(null);
      return new Ok(
        outcome instanceof EncodedReply
          ? reply.decodeEncoded(outcome.value, 'reply')
          : reply.decode(outcome.json, 'reply', STORED_DEPTH_MAX),
      );
    }

    /** Adds the method of a handler to the class. */
    static add(handler: HandlerDefinition): void {
      const method = function (this: Client, input?: unknown): Promise<Result<unknown>> {
        return this.#call(handler, input);
      };
      Object.defineProperty(Client.prototype, handler.key, { value: method });
    }
  }
  for (const handler of definition.handlers) Client.add(handler);
  return Client;
}

function readEvent(
  codec: Codec,
  json: string,
  component: string,
  id: string,
  seq: number,
): unknown {
  try {
    return codec.decode(json, 'event', STORED_DEPTH_MAX);
  } catch (error) {
    if (!(error instanceof CodecProblem)) throw error;
    throw new SvcError(
      'SVC_EVENT_UNREADABLE',
      `Event ${seq} of entity '${id}' of component '${component}' does not decode: ${error.message}. ` +
        'Let the schema of the event take what was stored.',
      { cause: new GuestFault('value', error.message) },
    );
  }
}

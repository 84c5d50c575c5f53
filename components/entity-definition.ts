// EntityDefinition: an event-sourced entity in TypeScript. Its types follow from its schemas. Its codecs are
// created when it is defined, so the program fails at its start if a type cannot be stored.
import { NameTable } from '@svc/model/name-table';
import { type Codec, type Schema, type ValueOf, codecOf } from './codec.ts';
import type {
  CommandContext,
  Effect,
  HandlerContext,
  QueryContext,
  ReadonlyDeep,
} from './entity-context.ts';
import type { OwnCalls } from './deferred-call.ts';
import type { Refused } from './result.ts';
import { type RecordShape, type Shape, invalidDefinition } from './shape.ts';
import { wireName } from './wire-name.ts';

/** Type of a handler's input or reply by its schema; `null` without a schema. */
export type Described<S> = S extends Schema ? ValueOf<S> : null;

type HandlerArguments<State, Input, Context> = Input extends Schema
  ? [state: ReadonlyDeep<State>, input: ValueOf<Input>, context: Context]
  : [state: ReadonlyDeep<State>, context: Context];

/** Declare the schemas before `handle`, whose types follow from them. */
interface WithInput<Input> {
  /** Absent: the handler takes no input. */
  readonly input?: Input;
  /** Name in requests and calls; absent: derived from the handler's own name, `addItem` as `add-item`. */
  readonly name?: string;
}

interface Command<State, Event, Input, Reply, Inputs> {
  /** Absent: the command has no reply. */
  readonly reply?: Reply;
  /** Decides on the command without changing the state. */
  handle(
    ...args: HandlerArguments<
      State,
      Input,
      CommandContext<Event, Described<Reply>, State, OwnCalls<Inputs>>
    >
  ): Effect<Described<Reply>> | Refused;
}

interface Query<State, Input, Reply> {
  readonly reply: Reply;
  /** Answers the query without changing the state. */
  handle(
    ...args: HandlerArguments<State, Input, QueryContext>
  ): ReadonlyDeep<Described<Reply>> | Refused;
}

/** A stored type: its manifest names it, and is stored with each value. */
export interface StoredType<S> {
  readonly manifest: string;
  readonly schema: S;
}

type Of<Types, Key> = Key extends keyof Types ? Types[Key] : undefined;

/**
 * `C`: the commands' names, which are inferred by themselves because TypeScript infers nothing from commands that are functions
 * alone. `CI`, `CR`: schemas of the commands' inputs and replies, by the handlers' names. `QI`, `QR`: schemas of the queries'
 * inputs and replies.
 */
export interface EntitySpecification<
  State extends Schema,
  Event extends Schema,
  C,
  CI,
  CR,
  QI,
  QR,
> {
  /** Id of the component: it is stored, and part of addresses. */
  readonly component: string;
  readonly state: StoredType<State>;
  /** A union of objects whose field `type` names the case. */
  readonly event: StoredType<Event>;
  /** Returns the state of an entity without events. */
  empty(entityId: string): ValueOf<State>;
  /** Returns the state after an event; it may change and return the given state. It must not decide anything. */
  apply(state: ValueOf<State>, event: ValueOf<Event>): ValueOf<State>;
  /**
   * Returns the part of a command's input that is compared when its idempotency key comes again; absent: the whole input. Leave out
   * what may differ when a request is repeated, such as the name of the caller. It must not change the input.
   */
  comparedInput?(input: unknown): unknown;
  readonly commands: { readonly [Key in keyof C]: unknown } & {
    readonly [Key in keyof CI]: WithInput<CI[Key]>;
  } & {
    readonly [Key in keyof CR]: Command<ValueOf<State>, ValueOf<Event>, Of<CI, Key>, CR[Key], CI>;
  };
  readonly queries?: { readonly [Key in keyof QI]: WithInput<QI[Key]> } & {
    readonly [Key in keyof QR]: Query<ValueOf<State>, Of<QI, Key>, QR[Key]>;
  };
}

/** Input and reply types of an entity's commands or queries, by the handlers' names. */
export type HandlerTypes<Kind, Names, Inputs, Replies> = {
  readonly [Key in keyof Names]: {
    readonly kind: Kind;
    readonly input: Of<Inputs, Key> extends infer Input extends Schema ? ValueOf<Input> : undefined;
    readonly reply: Described<Of<Replies, Key>>;
  };
};

/** `Handlers` and `Event` are the types of the entity's calls and events. */
export interface EntityDefinition<Handlers = unknown, Event = unknown> {
  readonly component: string;
  readonly state: { readonly manifest: string; readonly codec: Codec };
  readonly event: { readonly manifest: string; readonly codec: Codec };
  readonly handlers: readonly HandlerDefinition[];
  /** Carries the types for the compiler only. */
  readonly types?: { readonly handlers: Handlers; readonly event: Event };
}

/** A definition as the hosting runs it, without its types. */
export interface RunnableEntity extends EntityDefinition {
  readonly empty: (entityId: string) => unknown;
  readonly apply: (state: unknown, event: unknown) => unknown;
  readonly comparedInput: ((input: unknown) => unknown) | undefined;
  readonly byWireName: NameTable<HandlerDefinition>;
}

export interface HandlerDefinition {
  /** Name of the handler in the program; clients call it by this name. */
  readonly key: string;
  /** Name of the handler in requests, calls and the descriptor. */
  readonly name: string;
  readonly kind: 'command' | 'query';
  readonly input: Codec | undefined;
  readonly reply: Codec | undefined;
  readonly handle: (state: unknown, input: unknown, context?: HandlerContext) => unknown;
}

/** Names that no handler may have: a client's own members, and `then`, with which a client would be a thenable. */
const CLIENT_MEMBERS = new Set(['id', 'events', 'withIdempotencyKey', 'then', 'constructor']);
const REMEDY_NAME = 'Give it another name.';

/** Entities that this copy of the package has defined. */
const DEFINED = new WeakSet<object>();

/** Returns whether `defineEntity` of this copy of the package has made the value. */
export function isEntityDefinition(value: unknown): value is EntityDefinition {
  return typeof value === 'object' && value !== null && DEFINED.has(value);
}

/** Defines an entity. Throws SVC_DEFINITION_INVALID, which names the invalid part. */
export function defineEntity<State extends Schema, Event extends Schema, C, CI, CR, QI, QR>(
  specification: EntitySpecification<State, Event, C, CI, CR, QI, QR>,
): EntityDefinition<
  HandlerTypes<'command', C, CI, CR> & HandlerTypes<'query', QR, QI, QR>,
  ValueOf<Event>
> {
  const { component, state, event, commands, queries = {} } = specification;
  const location = `component '${component}'`;
  const handlers = [
    ...handlersOf(location, 'command', commands),
    ...handlersOf(location, 'query', queries),
  ];
  const keys = new Set<string>();
  for (const { key } of handlers) {
    if (keys.has(key) || CLIENT_MEMBERS.has(key))
      throw invalidDefinition(location, `'${key}' is taken`, REMEDY_NAME);
    keys.add(key);
  }
  const entity: RunnableEntity = {
    component,
    state: { manifest: state.manifest, codec: codecOf(state.schema, `${location}, state`) },
    event: { manifest: event.manifest, codec: eventCodec(event.schema, `${location}, event`) },
    handlers,
    empty: (id) => specification.empty(id),
    apply: specification.apply.bind(specification) as RunnableEntity['apply'],
    comparedInput: specification.comparedInput?.bind(specification),
    byWireName: new NameTable(handlers.map((handler) => [handler.name, handler] as const)),
  };
  DEFINED.add(entity);
  return entity as ReturnType<typeof defineEntity<State, Event, C, CI, CR, QI, QR>>;
}

type GivenHandlers = Readonly<
  Record<
    string,
    {
      readonly name?: string;
      readonly input?: Schema;
      readonly reply?: Schema;
      readonly handle: HandlerDefinition['handle'];
    }
  >
>;

function handlersOf(
  location: string,
  kind: HandlerDefinition['kind'],
  handlers: GivenHandlers,
): HandlerDefinition[] {
  return Object.entries(handlers).map(([key, handler]) => {
    const { input, reply, name = wireName(key) } = handler;
    const codec = (schema: Schema | undefined, part: string) =>
      schema && codecOf(schema, `${location}, ${part} of '${key}'`);
    return {
      key,
      name,
      kind,
      input: codec(input, 'input'),
      reply: codec(reply, 'reply'),
      handle: (...args) => handler.handle(...args),
    };
  });
}

function eventCodec(schema: Schema, location: string): Codec {
  const codec = codecOf(schema, location);
  return { ...codec, shape: casesOf(codec.shape, location) };
}

/** Returns the cases of the event type; the journal stores the case of each event. */
function casesOf(shape: Shape, location: string): Shape {
  const target = shape.kind === 'reference' ? shape.target() : shape;
  if (target.kind === 'union') return target;
  if (target.kind === 'record' && target.tag !== undefined)
    return { kind: 'union', cases: new Map<string, RecordShape>([[target.tag, target]]) };
  throw invalidDefinition(
    location,
    "it is no union of objects whose field 'type' is a Literal",
    "Write Type.Union([Type.Object({ type: Type.Literal('…'), … }), …]).",
  );
}

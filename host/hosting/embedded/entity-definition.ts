// EntityDefinition: an event-sourced entity in TypeScript. Its types follow from its schemas, and its codecs
// are made when it is defined, so that a type which cannot be stored is told where the program starts.
import { NameTable } from '../../model/name-table.ts';
import { type Codec, type Schema, type ValueOf, codecOf } from './codec.ts';
import type {
  CommandContext,
  Effect,
  HandlerContext,
  QueryContext,
  ReadonlyDeep,
} from './entity-context.ts';
import type { Refused } from './result.ts';
import { type RecordShape, type Shape, invalidDefinition } from './shape.ts';

/** A handler's input or reply, of the schema; `null` where there is none. */
export type Described<S> = S extends Schema ? ValueOf<S> : null;

type HandlerArguments<State, Input, Context> = Input extends Schema
  ? [state: ReadonlyDeep<State>, input: ValueOf<Input>, context: Context]
  : [state: ReadonlyDeep<State>, context: Context];

/** The schemas stand before `handle`, whose types follow from them. */
interface WithInput<Input> {
  /** Absent: the handler takes none. */
  readonly input?: Input;
  /** The name in requests and calls; absent: the handler's own, `addItem` as `add-item`. */
  readonly name?: string;
}

interface Command<State, Event, Input, Reply> {
  /** Absent: the command replies nothing. */
  readonly reply?: Reply;
  /** Decides, and leaves the state as it is. */
  handle(
    ...args: HandlerArguments<State, Input, CommandContext<Event, Described<Reply>, State>>
  ): Effect<Described<Reply>> | Refused;
}

interface Query<State, Input, Reply> {
  readonly reply: Reply;
  /** Answers, and leaves the state as it is. */
  handle(
    ...args: HandlerArguments<State, Input, QueryContext>
  ): ReadonlyDeep<Described<Reply>> | Refused;
}

/** What is stored: its manifest names the type, and is stored with it. */
export interface StoredType<S> {
  readonly manifest: string;
  readonly schema: S;
}

type Of<Types, Key> = Key extends keyof Types ? Types[Key] : undefined;

export interface EntitySpecification<State extends Schema, Event extends Schema, CI, CR, QI, QR> {
  /** The id of the component: it is stored, and part of addresses. */
  readonly component: string;
  readonly state: StoredType<State>;
  /** A union of objects whose field `type` names the case. */
  readonly event: StoredType<Event>;
  /** The state of an entity that has no events. */
  empty(entityId: string): ValueOf<State>;
  /** The state after an event; the given state may be changed and returned. It decides nothing. */
  apply(state: ValueOf<State>, event: ValueOf<Event>): ValueOf<State>;
  readonly commands: { readonly [Key in keyof CI]: WithInput<CI[Key]> } & {
    readonly [Key in keyof CR]: Command<ValueOf<State>, ValueOf<Event>, Of<CI, Key>, CR[Key]>;
  };
  readonly queries?: { readonly [Key in keyof QI]: WithInput<QI[Key]> } & {
    readonly [Key in keyof QR]: Query<ValueOf<State>, Of<QI, Key>, QR[Key]>;
  };
}

/** What calls of an entity take and give, by the handlers' names. */
export type HandlerTypes<Inputs, Replies> = {
  readonly [Key in keyof Replies]: {
    readonly input: Of<Inputs, Key> extends infer Input extends Schema ? ValueOf<Input> : undefined;
    readonly reply: Described<Replies[Key]>;
  };
};

/** `Handlers` and `Event` are the types of its calls and its events. */
export interface EntityDefinition<Handlers = unknown, Event = unknown> {
  readonly component: string;
  readonly state: { readonly manifest: string; readonly codec: Codec };
  readonly event: { readonly manifest: string; readonly codec: Codec };
  readonly handlers: readonly HandlerDefinition[];
  /** For the compiler only. */
  readonly types?: { readonly handlers: Handlers; readonly event: Event };
}

/** As the hosting has it, its types forgotten. */
export interface RunnableEntity extends EntityDefinition {
  readonly empty: (entityId: string) => unknown;
  readonly apply: (state: unknown, event: unknown) => unknown;
  readonly byWireName: NameTable<HandlerDefinition>;
}

export interface HandlerDefinition {
  /** Of the program; calls are made by it. */
  readonly key: string;
  readonly name: string;
  readonly kind: 'command' | 'query';
  readonly input: Codec | undefined;
  readonly reply: Codec | undefined;
  readonly handle: (state: unknown, input: unknown, context?: HandlerContext) => unknown;
}

/** Members that every client has. */
const CLIENT_MEMBERS = new Set(['id', 'events', 'withIdempotencyKey', 'then', 'constructor']);
const REMEDY_NAME = 'Give it another name.';

/** Throws SVC_DEFINITION_INVALID, which says what of it cannot be. */
export function defineEntity<State extends Schema, Event extends Schema, CI, CR, QI, QR>(
  specification: EntitySpecification<State, Event, CI, CR, QI, QR>,
): EntityDefinition<HandlerTypes<CI, CR> & HandlerTypes<QI, QR>, ValueOf<Event>> {
  const { component, state, event, commands, queries = {} } = specification;
  const place = `component '${component}'`;
  const handlers = [
    ...handlersOf(place, 'command', commands),
    ...handlersOf(place, 'query', queries),
  ];
  const keys = new Set<string>();
  for (const { key } of handlers) {
    if (keys.has(key) || CLIENT_MEMBERS.has(key))
      throw invalidDefinition(place, `'${key}' is taken`, REMEDY_NAME);
    keys.add(key);
  }
  const entity: RunnableEntity = {
    component,
    state: { manifest: state.manifest, codec: codecOf(state.schema, `${place}, state`) },
    event: { manifest: event.manifest, codec: eventCodec(event.schema, `${place}, event`) },
    handlers,
    empty: (id) => specification.empty(id),
    apply: specification.apply.bind(specification) as RunnableEntity['apply'],
    byWireName: new NameTable(handlers.map((handler) => [handler.name, handler] as const)),
  };
  return entity as EntityDefinition<HandlerTypes<CI, CR> & HandlerTypes<QI, QR>, ValueOf<Event>>;
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
  place: string,
  kind: HandlerDefinition['kind'],
  handlers: GivenHandlers,
): HandlerDefinition[] {
  return Object.entries(handlers).map(([key, handler]) => {
    const { input, reply, name = wireName(key) } = handler;
    const codec = (schema: Schema | undefined, part: string) =>
      schema && codecOf(schema, `${place}, ${part} of '${key}'`);
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

/** `addItem` → `add-item` */
function wireName(key: string): string {
  return key.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

function eventCodec(schema: Schema, place: string): Codec {
  const codec = codecOf(schema, place);
  return { ...codec, shape: casesOf(codec.shape, place) };
}

/** The journal names the case of each event. */
function casesOf(shape: Shape, place: string): Shape {
  const target = shape.kind === 'reference' ? shape.target() : shape;
  if (target.kind === 'union') return target;
  if (target.kind === 'record' && target.tag !== undefined)
    return { kind: 'union', cases: new Map<string, RecordShape>([[target.tag, target]]) };
  throw invalidDefinition(
    place,
    "it is no union of objects whose field 'type' is a Literal",
    "Write Type.Union([Type.Object({ type: Type.Literal('…'), … }), …]).",
  );
}

// DeferredCalls: the commands of an entity for timers: `callOf(order, id).expire(input)`. The input is encoded by the
// command's schema when the call is created, so a timer is never set with an input that its command cannot read.
import { DeferredCall } from './deferred-call.ts';
import type { EntityDefinition, HandlerDefinition } from './entity-definition.ts';

/**
 * Has a method for each command of an entity, which returns the command for a timer instead of sending it. A method
 * throws a CodecProblem (a TypeError) if the input does not fit its schema.
 */
export type DeferredCalls<Definition> =
  Definition extends EntityDefinition<infer Handlers>
    ? {
        readonly [
          Key in keyof Handlers as Handlers[Key] extends { readonly kind: 'command' } ? Key : never
        ]: Handlers[Key] extends { readonly input: infer Input }
          ? (...input: [Input] extends [undefined] ? [] : [input: Input]) => DeferredCall
          : never;
      }
    : never;

type CallsClass = new (id: string) => object;

/** Classes with a method for each command, one for each definition. */
const classes = new WeakMap<EntityDefinition, CallsClass>();

/** Returns the commands of an entity for timers: `callOf(order, id).expire({ reason })`. */
export function callOf<Definition extends EntityDefinition>(
  entity: Definition,
  id: string,
): DeferredCalls<Definition> {
  let Calls = classes.get(entity);
  if (Calls === undefined) {
    Calls = callsClass(entity);
    classes.set(entity, Calls);
  }
  return new Calls(id) as DeferredCalls<Definition>;
}

function callsClass({ component, handlers }: EntityDefinition): CallsClass {
  class Calls {
    readonly #id: string;

    constructor(id: string) {
      this.#id = id;
    }

    /** Adds the method of a command to the class. */
    static add({ key, name, input: codec }: HandlerDefinition): void {
      const value = function (this: Calls, input?: unknown): DeferredCall {
        const text = codec === undefined ? 'null' : codec.encode(input, 'input');
        return new DeferredCall({ component, id: this.#id }, name, text);
      };
      Object.defineProperty(Calls.prototype, key, { value });
    }
  }
  for (const handler of handlers) if (handler.kind === 'command') Calls.add(handler);
  return Calls;
}

// HandlerTable numbers the handlers of a module, so that the records of an invocation are small, and threads that
// know the descriptor use the same numbers. Commands and queries come first, in the descriptor's order, then routes,
// then the firings of each command, and the sources of each consumer.
import type { InvocationKind, ModuleDescriptor } from '@svc/contract';

export interface HandlerEntry {
  readonly kind: InvocationKind;
  /** Name of the component; for a route, of its endpoint; for a consumer, its id. */
  readonly component: string;
  /** For a consumer: the component whose events it handles. */
  readonly handler: string;
}

type Handlers = Pick<ModuleDescriptor, 'entities' | 'endpoints' | 'consumers'>;

export class HandlerTable {
  readonly handlers: readonly HandlerEntry[];
  /** Handler index of the first route. */
  readonly firstRoute: number;
  /** Component → handler → index. A key joined of both names would create a new string for every forwarded call. */
  readonly #indexes = new Map<string, Map<string, number>>();
  /** Index of a command → index of its firings. */
  readonly #firings = new Map<number, number>();
  /** Consumer → source → index. */
  readonly #consumers = new Map<string, Map<string, number>>();

  constructor({ entities, endpoints, consumers = [] }: Handlers) {
    const handlers: HandlerEntry[] = [];
    for (const { component, commands, queries } of entities) {
      for (const { name } of commands) handlers.push({ kind: 'command', component, handler: name });
      for (const { name } of queries) handlers.push({ kind: 'query', component, handler: name });
    }
    for (const [index, { component, handler }] of handlers.entries())
      this.#indexes.getOrInsertComputed(component, () => new Map()).set(handler, index);
    this.firstRoute = handlers.length;
    for (const { name, routes } of endpoints)
      for (const { handler } of routes)
        handlers.push({ kind: 'endpoint', component: name, handler });
    for (const [index, { kind, component, handler }] of handlers.entries()) {
      if (kind !== 'command') continue;
      this.#firings.set(index, handlers.length);
      handlers.push({ kind: 'firing', component, handler });
    }
    for (const { id, sources } of consumers)
      for (const source of sources) {
        this.#consumers.getOrInsertComputed(id, () => new Map()).set(source, handlers.length);
        handlers.push({ kind: 'consumer', component: id, handler: source });
      }
    this.handlers = handlers;
  }

  /** Returns the index of a command or a query; undefined if there is none. */
  indexOf(component: string, handler: string): number | undefined {
    return this.#indexes.get(component)?.get(handler);
  }

  /** Returns the index of the firings of a command, which the module has. */
  firingOf(commandIndex: number): number {
    return this.#firings.get(commandIndex)!;
  }

  /** Returns the index of a consumer that handles events of this component; undefined if there is none. */
  consumerOf(consumer: string, source: string): number | undefined {
    return this.#consumers.get(consumer)?.get(source);
  }
}

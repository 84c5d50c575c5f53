// HandlerTable numbers the handlers of a module, so that the records of an invocation are small, and threads that
// know the descriptor use the same numbers. Commands and queries come first, in the descriptor's order, and routes
// after them.
import type { InvocationKind, ModuleDescriptor } from '@svc/contract';

export interface HandlerEntry {
  readonly kind: InvocationKind;
  /** Name of the component; for a route, of its endpoint. */
  readonly component: string;
  readonly handler: string;
}

export class HandlerTable {
  readonly handlers: readonly HandlerEntry[];
  /** Handler index of the first route. */
  readonly firstRoute: number;
  /** Component → handler → index. A key joined of both names would create a new string for every forwarded call. */
  readonly #indexes = new Map<string, Map<string, number>>();

  constructor({ entities, endpoints }: Pick<ModuleDescriptor, 'entities' | 'endpoints'>) {
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
    this.handlers = handlers;
  }

  /** Returns the index of a command or a query; undefined if there is none. */
  indexOf(component: string, handler: string): number | undefined {
    return this.#indexes.get(component)?.get(handler);
  }
}

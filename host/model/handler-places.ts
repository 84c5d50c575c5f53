// HandlerPlaces: each handler of a module by a number, so that what is kept of an invocation is small, and two
// threads that know the descriptor mean the same. Commands and queries come first, in the descriptor's order, and
// routes after them.
import type { InvocationKind, ModuleDescriptor } from '@svc/contract';

export interface PlacedHandler {
  readonly kind: InvocationKind;
  /** Of a route, the name of its endpoint. */
  readonly component: string;
  readonly handler: string;
}

export class HandlerPlaces {
  readonly handlers: readonly PlacedHandler[];
  /** The place of the first route. */
  readonly firstRoute: number;
  /** By component, by handler: on the way of every forwarded call, without a new text. */
  readonly #places = new Map<string, Map<string, number>>();

  constructor({ entities, endpoints }: Pick<ModuleDescriptor, 'entities' | 'endpoints'>) {
    const handlers: PlacedHandler[] = [];
    for (const { component, commands, queries } of entities) {
      for (const { name } of commands) handlers.push({ kind: 'command', component, handler: name });
      for (const { name } of queries) handlers.push({ kind: 'query', component, handler: name });
    }
    for (const [place, { component, handler }] of handlers.entries())
      this.#places.getOrInsertComputed(component, () => new Map()).set(handler, place);
    this.firstRoute = handlers.length;
    for (const { name, routes } of endpoints)
      for (const { handler } of routes)
        handlers.push({ kind: 'endpoint', component: name, handler });
    this.handlers = handlers;
  }

  /** Of a command or a query. Undefined: there is none. */
  of(component: string, handler: string): number | undefined {
    return this.#places.get(component)?.get(handler);
  }
}

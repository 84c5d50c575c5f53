// ComponentTable: the components of a module by name, each with its handlers and with its entities that are in memory.
import { HandlerTable } from '@svc/model/handler-table';
import { NameTable } from '@svc/model/name-table';
import type { Guest } from '@svc/model/guest';
import type { HandlerKind } from './entity-call.ts';
import { IdTable } from './id-table.ts';
import type { LiveEntity } from './live-entity.ts';

interface Handler {
  readonly kind: HandlerKind;
  /** Index of the handler (model/handler-table.ts). */
  readonly handlerIndex: number;
  /** Index of the firings of a command; undefined for a query. */
  readonly firingIndex: number | undefined;
}

/** A component of the descriptor. */
export interface Component {
  readonly handlers: NameTable<Handler>;
  /** The manifest that the component declares for its events. */
  readonly eventManifest: string;
  /** Its entities in memory, by id. */
  readonly live: IdTable<LiveEntity>;
}

export function componentsOf(guest: Pick<Guest, 'descriptor'>): NameTable<Component> {
  const handlerTable = new HandlerTable(guest.descriptor);
  const handlersOf = (
    component: string,
    kind: HandlerKind,
    declared: readonly { readonly name: string }[],
  ) =>
    declared.map(({ name }): [string, Handler] => {
      const handlerIndex = handlerTable.indexOf(component, name)!;
      const firingIndex = kind === 'command' ? handlerTable.firingOf(handlerIndex) : undefined;
      return [name, { kind, handlerIndex, firingIndex }];
    });
  return new NameTable(
    guest.descriptor.entities.map(({ component, commands, queries, event }) => [
      component,
      {
        handlers: new NameTable([
          ...handlersOf(component, 'command', commands),
          ...handlersOf(component, 'query', queries),
        ]),
        eventManifest: event.manifest,
        live: new IdTable(),
      },
    ]),
  );
}

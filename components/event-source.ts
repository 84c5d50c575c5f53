// EventSource: an entity whose events a view or a consumer receives. Each event is decoded from its JSON text by the
// entity's own schema.
import type { EntityEvent, StoredEvent } from '@svc/model/entity';
import { CodecProblem, STORED_DEPTH_MAX } from './codec.ts';
import { type EntityDefinition, isEntityDefinition } from './entity-definition.ts';
import { invalidDefinition } from './shape.ts';

/** The data of an event besides its value. */
export interface EventContext {
  readonly entityId: string;
  /** Sequence number in the entity's history: 1, 2, 3 … */
  readonly seq: number;
  /** When it was recorded, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly timeMs: number;
}

/** Decodes an event of an entity. Throws CodecProblem if the entity's schema does not accept the event. */
export function decodeEvent(
  { event: { manifest, codec } }: EntityDefinition,
  stored: StoredEvent,
): unknown {
  if (stored.manifest !== manifest)
    throw new CodecProblem(
      `its manifest is '${stored.manifest}', this component stores '${manifest}'`,
    );
  return codec.decode(stored.json, 'event', STORED_DEPTH_MAX);
}

/** Names an event in a message: `event 3 of entity 'a' of component 'order'`. */
export function eventLabel({ entity: { component, id }, seq }: EntityEvent): string {
  return `event ${seq} of entity '${id}' of component '${component}'`;
}

/**
 * Returns the sources by their components. `member`: the member of the specification that lists them. Throws
 * SVC_DEFINITION_INVALID if there is none, if one is no entity, and if two are the same.
 */
export function sourcesByComponent<Source extends { readonly entity: EntityDefinition }>(
  sources: readonly Source[],
  location: string,
  member: 'from' | 'on',
): ReadonlyMap<string, Source> {
  const found = new Map<string, Source>();
  for (const [index, source] of sources.entries()) {
    const { entity } = source;
    if (!isEntityDefinition(entity))
      throw invalidDefinition(
        `${location}, ${member}[${index}]`,
        'its entity was not made by defineEntity',
        `Write { entity: order, … } with the entity that defineEntity returned.`,
      );
    if (found.has(entity.component))
      throw invalidDefinition(
        `${location}, ${member}[${index}]`,
        `the component '${entity.component}' is listed before`,
        'Handle all of its events in one function.',
      );
    found.set(entity.component, source);
  }
  if (found.size === 0)
    throw invalidDefinition(
      location,
      `it has no entity in '${member}'`,
      `Write ${member}: [{ entity: order, … }].`,
    );
  return found;
}

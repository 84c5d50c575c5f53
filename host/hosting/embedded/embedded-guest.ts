// EmbeddedGuest: implements the engine's Guest for TypeScript components that run in the host's own process.
// They are the program's own code: nothing bounds what they compute or reach.
import assert from 'node:assert/strict';
import type { Guest } from '../../engine/needs/guest.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import { NameTable } from '../../model/name-table.ts';
import { describeComponents } from './embedded-descriptor.ts';
import { EmbeddedEndpoints } from './embedded-endpoints.ts';
import { EmbeddedEntity } from './embedded-entity.ts';
import type { EndpointDefinition } from './endpoint-definition.ts';
import type { EntityDefinition, RunnableEntity } from './entity-definition.ts';

export interface Components {
  readonly entities?: readonly EntityDefinition[];
  readonly endpoints?: readonly EndpointDefinition[];
  /** Version of the entities' behaviour: a snapshot of another version is not read. Absent: no snapshots are stored. */
  readonly version?: string;
}

/** Creates the guest. Throws SVC_DEFINITION_INVALID if the components do not fit together. */
export function createEmbeddedGuest({ entities = [], endpoints = [], version }: Components): Guest {
  const descriptor = describeComponents(entities, endpoints);
  const served = new EmbeddedEndpoints(endpoints, entities);
  const components = new NameTable(
    entities.map((entity) => [entity.component, entity as RunnableEntity] as const),
  );
  let isClosed = false;
  return {
    descriptor,
    fingerprint: version,
    endpoints: served,
    entities: {
      open({ component, id }, snapshot) {
        if (isClosed) throw new GuestFault('trap', 'The service was stopped.');
        const definition = components.get(component);
        assert(definition !== undefined, 'an entity of a component that was not given');
        return new EmbeddedEntity(definition, id, snapshot);
      },
    },
    close() {
      isClosed = true;
      served.close();
    },
  };
}

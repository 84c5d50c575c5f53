// EmbeddedGuest: implements the engine's Guest for TypeScript components that run in the host's own process.
// They are the program's own code: nothing bounds what they compute or reach.
import assert from 'node:assert/strict';
import type { EntityRef } from '@svc/model/entity';
import type { Guest, GuestEntities } from '@svc/model/guest';
import { GuestFault } from '@svc/model/guest-fault';
import { NameTable } from '@svc/model/name-table';
import { describeComponents } from './embedded-descriptor.ts';
import type { Components } from './components.ts';
import type { ConsumerDefinition } from './consumer-definition.ts';
import { EmbeddedConsumers } from './embedded-consumers.ts';
import { EmbeddedEndpoints } from './embedded-endpoints.ts';
import { EmbeddedEntity } from './embedded-entity.ts';
import { EmbeddedViews } from './embedded-views.ts';
import { comparedInput } from './compared-input.ts';
import type { EntityDefinition, RunnableEntity } from './entity-definition.ts';
import { invalidDefinition } from './shape.ts';
import type { ViewDefinition } from './view-definition.ts';

/** A guest whose entities can set states aside. */
export interface EmbeddedGuest extends Guest {
  readonly entities: Omit<GuestEntities, 'open'> & {
    open(entity: EntityRef, snapshot: string | undefined): EmbeddedEntity;
  };
}

export interface EmbeddedGuestOptions {
  /** With `plain`, the errors that handlers make have no details. */
  readonly errors?: 'full' | 'plain';
  /** Whether the states of entities are frozen, so that they can be set aside. */
  readonly freezesStates?: boolean;
}

/** Creates the guest. Throws SVC_DEFINITION_INVALID if the components do not fit together. */
export function createEmbeddedGuest(
  components: Components,
  { errors = 'full', freezesStates = false }: EmbeddedGuestOptions = {},
): EmbeddedGuest {
  const { entities = [], endpoints = [], views = [], consumers = [], version } = components;
  const { configuration } = components;
  const reachable = { entities: new Set(entities), views: new Set(views), configuration };
  for (const view of views) checkSources(`view '${view.id}'`, view, reachable.entities);
  for (const consumer of consumers)
    checkSources(`consumer '${consumer.id}'`, consumer, reachable.entities);
  const descriptor = describeComponents(components);
  const servedEndpoints = new EmbeddedEndpoints(endpoints, reachable, errors === 'full');
  const servedViews = new EmbeddedViews(views);
  const servedConsumers = new EmbeddedConsumers(consumers, reachable);
  const byComponent = new NameTable(
    entities.map((entity) => [entity.component, entity as RunnableEntity] as const),
  );
  let isClosed = false;
  return {
    descriptor,
    fingerprint: version,
    endpoints: servedEndpoints,
    views: views.length === 0 ? undefined : servedViews,
    consumers: consumers.length === 0 ? undefined : servedConsumers,
    entities: {
      open({ component, id }, snapshot) {
        if (isClosed) throw new GuestFault('trap', 'The service was stopped.');
        const definition = byComponent.get(component);
        assert(definition !== undefined, 'an entity of a component that was not given');
        return new EmbeddedEntity(definition, id, snapshot, freezesStates);
      },
      comparedInput: (component, command, input) =>
        comparedInput(byComponent.get(component), command, input),
    },
    close() {
      isClosed = true;
      servedEndpoints.close();
      servedViews.close();
      servedConsumers.close();
    },
  };
}

/** Events are decoded by the definitions that the view or consumer names, so those have to be the service's own. */
function checkSources(
  location: string,
  { sources }: ViewDefinition | ConsumerDefinition,
  entities: ReadonlySet<EntityDefinition>,
): void {
  for (const [component, { entity }] of sources)
    if (!entities.has(entity))
      throw invalidDefinition(
        location,
        `the entity '${component}' is none of this service's entities`,
        'Add it to the entities.',
      );
}

// Components are the parts of a service that a program defines: the options of createService that a program's file exports.
import type { ConfigurationDefinition } from './configuration-definition.ts';
import type { ConsumerDefinition } from './consumer-definition.ts';
import type { EndpointDefinition } from './endpoint-definition.ts';
import type { EntityDefinition } from './entity-definition.ts';
import type { Schedule } from './schedule.ts';
import type { ViewDefinition } from './view-definition.ts';

export interface Components {
  readonly entities?: readonly EntityDefinition[];
  readonly endpoints?: readonly EndpointDefinition[];
  readonly views?: readonly ViewDefinition[];
  readonly consumers?: readonly ConsumerDefinition[];
  /** Commands that the runtime sends at times of their own. */
  readonly schedules?: readonly Schedule[];
  /** Values that the operator sets, which handlers of routes and consumers read. */
  readonly configuration?: ConfigurationDefinition;
  /** Version of the entities' behaviour: a snapshot of another version is not read. Absent: no snapshots are stored. */
  readonly version?: string;
}

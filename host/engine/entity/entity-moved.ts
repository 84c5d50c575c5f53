// EntityMoved is the failure of calls whose entity another node decides for, or is about to. Nothing of them was done.
import type { EntityRef } from '@svc/model/entity';
import { SvcError } from '@svc/kit/svc-error';
import { entityName } from './history.ts';

export function entityMoved(entity: EntityRef): SvcError {
  return new SvcError(
    'SVC_ENTITY_MOVED',
    `This node does not hold the lease of ${entityName(entity)}, or hands it over. Nothing of the call was done: try again.`,
  );
}

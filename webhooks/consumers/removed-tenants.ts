// RemovedTenants: the consumer that removes the key of a tenant that was removed, so that nothing of its subscriptions can be opened, whatever
// journals and backups of journals still have.
import { defineConsumer } from '@svc/host';
import { tenant } from '../model/tenant.ts';

/** Keys of tenants: `TenantKeys`. */
export interface RemovableKeys {
  /** Makes everything unreadable that was sealed with the key of the generation. */
  remove(tenantId: string, generation: number): Promise<void>;
}

export function removedTenants(keys: RemovableKeys) {
  return defineConsumer({
    id: 'removed-tenants',
    start: 'beginning',
    on: [
      {
        entity: tenant,
        async handle(event, { entityId, done, retry }) {
          if (event.type !== 'removed') return done();
          try {
            await keys.remove(entityId, event.generation);
          } catch (error) {
            return retry(`the salt cannot be removed: ${(error as NodeJS.ErrnoException).code}`);
          }
          return done();
        },
      },
    ],
  });
}

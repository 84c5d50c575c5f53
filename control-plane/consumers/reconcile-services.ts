// ReconcileServices: the consumer that has a service looked at after each of its changes. It keeps nothing: after a restart
// every service is looked at anyway.
import { defineConsumer } from '@svc/host';
import type { ServiceKey } from '@svc/client';
import { serviceKeyOf } from '../flows/service-id.ts';
import { service } from '../model/service.ts';

/** `changed` must not wait for anything. */
export function reconcileServices(changed: (key: ServiceKey) => void) {
  return defineConsumer({
    id: 'reconcile-services',
    start: 'now',
    on: [
      {
        entity: service,
        handle(_event, { entityId, done }) {
          changed(serviceKeyOf(entityId));
          return done();
        },
      },
    ],
  });
}

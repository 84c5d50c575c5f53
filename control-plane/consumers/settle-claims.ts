// SettleClaims: the consumer that ends what a flow left half done: claims that nobody confirmed, and names that nobody
// released.
//
// Invariant: every command that it sends may be repeated, and does nothing if the flow has sent it already.
import { defineConsumer } from '@svc/host';
import { holderOf, projectsOf, servicesOf, settleClaim } from '../flows/claim-settlement.ts';
import { releaseHostnames } from '../flows/held-hostnames.ts';
import { serviceKeyOf } from '../flows/service-id.ts';
import { hostname } from '../model/hostname.ts';
import { organization } from '../model/organization.ts';
import { project } from '../model/project.ts';
import { service } from '../model/service.ts';

export const settleClaims = defineConsumer({
  id: 'settle-claims',
  start: 'beginning',
  on: [
    {
      entity: organization,
      async handle(event, { call, entityId, done }) {
        if (event.type !== 'project-overdue') return done();
        const { project: name, claim } = event;
        const settled = await settleClaim(projectsOf(call, entityId), { name, claim });
        return settled.isOk ? done() : settled;
      },
    },
    {
      entity: project,
      async handle(event, { call, entityId, done }) {
        if (event.type === 'deleted') {
          const { organization: parent, claim } = event;
          const released = await projectsOf(call, parent).release({ name: entityId, claim });
          return released.isOk ? done() : released;
        }
        if (event.type !== 'service-overdue') return done();
        const { service: name, claim } = event;
        const settled = await settleClaim(servicesOf(call, entityId), { name, claim });
        return settled.isOk ? done() : settled;
      },
    },
    {
      entity: service,
      async handle(event, { call, entityId, done }) {
        if (event.type === 'applied' || event.type === 'unexposed' || event.type === 'deleted')
          await releaseHostnames(call, event.freed);
        if (event.type !== 'deleted') return done();
        const { project: parent, service: name } = serviceKeyOf(entityId);
        const released = await servicesOf(call, parent).release({ name, claim: event.claim });
        return released.isOk ? done() : released;
      },
    },
    {
      entity: hostname,
      async handle(event, { call, entityId, done }) {
        if (event.type !== 'overdue') return done();
        const { service: name, claim } = event;
        const settled = await settleClaim(holderOf(call, entityId), { name, claim });
        return settled.isOk ? done() : settled;
      },
    },
  ],
});

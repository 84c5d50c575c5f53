// SuspendServices: the consumer that enters the disabling and the enabling of an organization in the history of each of its
// services. The status of a service does not wait for it. It has two levels, so that an event makes a bounded number of calls:
// the organization's event changes its projects, and the project's event its services.
//
// Invariant: a project or a service that is created while its organization is being disabled is suspended once its claim is
// confirmed, which follows its creation in any case.
import { defineConsumer } from '@svc/host';
import { organization } from '../model/organization.ts';
import { project } from '../model/project.ts';
import { service } from '../model/service.ts';

export const suspendServices = defineConsumer({
  id: 'suspend-services',
  start: 'beginning',
  on: [
    {
      entity: organization,
      async handle(event, { call, entityId, done }) {
        if (event.type === 'project-confirmed') {
          const disabling = await call(organization, entityId).disabling();
          if (!disabling.isOk) return disabling;
          const { by } = disabling.value;
          if (by !== undefined) await call(project, event.project).suspend({ by });
          return done();
        }
        if (event.type !== 'disabled' && event.type !== 'enabled') return done();
        const ids = await call(organization, entityId).projectIds();
        if (!ids.isOk) return ids;
        const { by } = event;
        for (const id of ids.value) {
          const changed = call(project, id);
          await (event.type === 'disabled' ? changed.suspend({ by }) : changed.reinstate({ by }));
        }
        return done();
      },
    },
    {
      entity: project,
      async handle(event, { call, entityId, done }) {
        if (event.type === 'service-confirmed') {
          const suspension = await call(project, entityId).suspension();
          if (!suspension.isOk) return suspension;
          const { by } = suspension.value;
          if (by !== undefined) await call(service, `${entityId}/${event.service}`).suspend({ by });
          return done();
        }
        if (event.type !== 'suspended' && event.type !== 'reinstated') return done();
        const names = await call(project, entityId).serviceNames();
        if (!names.isOk) return names;
        const { by } = event;
        for (const name of names.value) {
          const changed = call(service, `${entityId}/${name}`);
          await (event.type === 'suspended' ? changed.suspend({ by }) : changed.reinstate({ by }));
        }
        return done();
      },
    },
  ],
});

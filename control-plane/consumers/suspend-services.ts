// SuspendServices: the consumer that enters the disabling and the enabling of an organization in the history of each of its
// services. What a service's status says does not wait for it.
import { defineConsumer, type ConsumerContext } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { organization } from '../model/organization.ts';
import { project } from '../model/project.ts';
import { service } from '../model/service.ts';

export const suspendServices = defineConsumer({
  id: 'suspend-services',
  start: 'beginning',
  on: [
    {
      entity: organization,
      async handle(event, context) {
        if (event.type !== 'disabled' && event.type !== 'enabled') return context.done();
        return changeServices(context, event.type, event.by);
      },
    },
  ],
});

async function changeServices(
  { call, entityId, done }: ConsumerContext,
  change: 'disabled' | 'enabled',
  by: Actor,
) {
  const projects = await call(organization, entityId).projectIds();
  if (!projects.isOk) return projects;
  for (const id of projects.value) {
    const names = await call(project, id).serviceNames();
    if (!names.isOk) return names;
    for (const name of names.value) {
      const changed = call(service, `${id}/${name}`);
      await (change === 'disabled' ? changed.suspend({ by }) : changed.reinstate({ by }));
    }
  }
  return done();
}

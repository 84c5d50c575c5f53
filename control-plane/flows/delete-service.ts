// DeleteService: deletes a service, frees its hostnames, and gives its name back to the project. Its database is kept.
import type { ServiceKey } from '@svc/client';
import { Ok, type Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { project } from '../model/project.ts';
import { service } from '../model/service.ts';
import { tidyUp, type Call } from './call.ts';
import { releaseHostnames } from './held-hostnames.ts';
import { serviceId } from './service-id.ts';

export async function deleteService(call: Call, key: ServiceKey, by: Actor): Promise<Result<null>> {
  const deleted = await call(service, serviceId(key)).delete({ by });
  if (!deleted.isOk) return deleted;
  const { claim, freed } = deleted.value;
  await tidyUp(() => releaseHostnames(call, freed));
  await tidyUp(() => call(project, key.project).releaseService({ service: key.service, claim }));
  return new Ok(null);
}

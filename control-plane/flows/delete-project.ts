// DeleteProject: deletes a project without services. Its id stays used.
import { Ok, type Result } from '@svc/host';
import type { Actor } from '../model/actor.ts';
import { organization } from '../model/organization.ts';
import { project } from '../model/project.ts';
import { tidyUp, type Call } from './call.ts';
import { decided, servicesOf, type Reauthorization } from './claim-settlement.ts';

/** Refused with CONFLICT while the project has services. `reauthorization`: see `decided`. */
export async function deleteProject(
  call: Call,
  id: string,
  by: Actor,
  reauthorization?: Reauthorization,
): Promise<Result<null>> {
  const deleted = await decided(
    servicesOf(call, id),
    () => call(project, id).delete({ by }),
    reauthorization,
  );
  if (!deleted.isOk) return deleted;
  const { organization: parent, claim } = deleted.value;
  await tidyUp(() => call(organization, parent).releaseProject({ project: id, claim }));
  return new Ok(null);
}

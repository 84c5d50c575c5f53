// ExpectSuspended: whether the disabling of an organization has reached its services.
import assert from 'node:assert/strict';
import type { Call } from '../../../control-plane/flows/call.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import { project } from '../../../control-plane/model/project.ts';
import { service } from '../../../control-plane/model/service.ts';
import { accepted } from '../control-plane-under-test.ts';
import { PROJECTS } from '../model-suite/requests.ts';

/** Fails unless exactly the services of disabled organizations are suspended. */
export async function expectSuspended(call: Call, run: string): Promise<void> {
  for (const id of PROJECTS.map((each) => each + run)) {
    const summary = await call(project, id).summary();
    if (!summary.isOk) continue;
    const { by } = accepted(await call(organization, summary.value.organization).disabling());
    for (const name of accepted(await call(project, id).serviceNames())) {
      const { suspended } = accepted(await call(service, `${id}/${name}`).get());
      assert.equal(suspended, by !== undefined, `whether ${id}/${name} is suspended`);
    }
  }
}

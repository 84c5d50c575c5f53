// Late failures: what a change is answered that was stored, if the service cannot be read afterwards.
import { expect, test } from 'vitest';
import { serviceHandlers } from '../../../control-plane/endpoints/services.ts';
import type { ListQueries } from '../../../control-plane/views/list-queries.ts';
import { DISK_FULL, cutAfter, givenProject } from '../control-plane-under-test.ts';
import { OrchestratedControlPlane } from '../orchestration/orchestrated-control-plane.ts';

const CALLER = { subject: 'ann', emailVerified: false, platformAdmin: false };
const MEMBERSHIP = { organizationId: 'shop', role: 'owner', isDisabled: false } as const;

test('is 504, since 503 says that nothing was done; a failure before the change stays what it is', async () => {
  const control = await OrchestratedControlPlane.start();
  await givenProject(control.call, 'shop', 'web');
  await control.apply();
  const { orchestration } = control;
  const handlers = serviceHandlers({
    orchestration,
    lists: {} as ListQueries,
    baseDomain: undefined,
  });
  const pause = (calls: number) =>
    handlers.pauseService({
      input: { projectId: 'web', name: 'cart' },
      given: { caller: CALLER, membership: MEMBERSHIP },
      call: cutAfter(control.call, calls, DISK_FULL),
    });
  await expect(pause(0)).rejects.toBe(DISK_FULL);
  expect((await control.state()).paused).toBe(false);
  expect(await pause(1)).toMatchObject({ status: 504 });
  expect((await control.state()).paused).toBe(true);
});

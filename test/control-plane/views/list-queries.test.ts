// Lists that are asked for right after a write, before the rows of the views can have followed.
import { expect, onTestFinished, test } from 'vitest';
import { createService } from '@svc/host';
import { componentsWith } from '../../../control-plane/components.ts';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { ListQueries } from '../../../control-plane/views/list-queries.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import { project } from '../../../control-plane/model/project.ts';
import { service } from '../../../control-plane/model/service.ts';
import { accepted, actor, descriptor, givenProject } from '../control-plane-under-test.ts';

test('every list waits for what was stored before it was asked for', async () => {
  const running = await createService({
    ...componentsWith(() => {}),
    name: 'control-plane',
    http: false,
    log: 'none',
    journal: 'memory',
  });
  onTestFinished(() => running.stop());
  const call: Call = (entity, id) => running.call(entity, id);
  const lists = new ListQueries(Promise.resolve(running));
  const ann = actor('ann');
  await givenProject(call, 'shop', 'web');
  const key = { project: 'web', service: 'cart' };
  accepted(await applyService(call, key, descriptor('cart'), ann));
  for (let n = 0; n < 10; n++) {
    const name = `Name ${n}`;
    accepted(await call(organization, 'shop').rename({ name, by: ann }));
    expect((await lists.organizations()).rows).toMatchObject([{ name }]);
    accepted(await call(project, 'web').rename({ name, by: ann }));
    expect((await lists.projects(['shop'])).rows).toMatchObject([{ name }]);
    const applied = { descriptor: descriptor('cart'), hostnames: [], by: ann };
    const { generation } = accepted(await call(service, 'web/cart').apply(applied));
    expect(await lists.services('web')).toMatchObject([{ state: { generation } }]);
    accepted(await call(service, 'web/cart').apply(applied));
    expect((await lists.history('web/cart'))[0]).toMatchObject({ generation: generation + 1 });
  }
});

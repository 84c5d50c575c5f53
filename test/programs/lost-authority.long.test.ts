// An installation of svc up whose authority of identities is lost: it says so, and starts again with another one when that is asked for.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OneMachine } from '../support/one-machine.ts';

test('a lost authority stops the start with what to do, and svc up --new-authority makes another one', async () => {
  const machine = await OneMachine.make();
  await machine.upInBackground();
  await machine.svc('org create acme');
  expect(await machine.svc('down')).toContain('Stopped');
  rmSync(join(machine.folder, 'machine', 'authorities', 'identities.json'));
  const lost = await machine.run(machine.upWords('-d').join(' '));
  expect([lost.code, lost.stdout]).toEqual([1, '']);
  expect(lost.stderr).toMatch(/--new-authority[^]*\[SVC_[A-Z_]+\]\n$/);

  const again = await machine.run(machine.upWords('-d', '--new-authority').join(' '));
  expect(again).toMatchObject({ code: 0 });
  expect(await machine.svc('org get acme')).toMatch(/^id +acme$/m);
  expect((await machine.sendTo('api', '/auth')).status).toBe(200);
}, 240_000);

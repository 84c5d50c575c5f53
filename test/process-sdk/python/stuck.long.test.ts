// A process in Python ends when it is asked to, whatever its code does.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { python, startPython } from '../../support/python.ts';
import { connectionTo, guestAt } from '../typescript/support/served-guest.ts';

test.skipIf(python === undefined)(
  'a process ends while a command computes without end',
  async () => {
    const path = join(import.meta.dirname, 'support', 'stuck_program.py');
    const { program, address } = await startPython(path);
    onTestFinished(() => void program.child.kill('SIGKILL'));
    const guest = await guestAt(connectionTo(address));
    onTestFinished(async () => guest.close());
    const entity = await guest.entities.open({ component: 'stuck', id: 's1' }, undefined);
    const call = { nowMs: 0, seed: 0n, metadata: [] };
    const answer = Promise.resolve(entity.command(call, 'compute', 'null')).catch(String);
    await expect.poll(() => program.stderr).toContain('computing');
    expect(await program.end('SIGTERM')).toMatchObject({ code: 143 });
    expect(await answer).toMatch(/did not return within|has ended its connection/);
  },
);

// The commands of the README's section "Deploy", by a person with a login, from nothing to the first answer of a service.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { logInByDevice } from './support/machine-person.ts';
import { OneMachine } from './support/one-machine.ts';
import { snippetsOf } from './support/doc-snippets.ts';

const root = join(import.meta.dirname, '..');
const block = snippetsOf('README.md', 'sh').find(({ code }) => code.includes('npx svc up -d'))!;
const commands = block.code
  .trim()
  .split('\n')
  .map((line) => line.split(' #')[0]!.trim());
const hasCurl = spawnSync('curl', ['--version']).status === 0;
if (!hasCurl) console.log('README.md: "Deploy" is not tested: there is no curl');

test.skipIf(!hasCurl)(
  'the README deploys the cart in a checkout, up to the first answer',
  async () => {
    const machine = await OneMachine.make({});
    const curl = commands.at(-1).split(' ');
    expect(commands.slice(0, 2)).toEqual(['npx svc up -d', 'npx svc login']);
    await machine.upInBackground();
    expect(await logInByDevice(machine, 'ann')).toMatchObject({ code: 0 });
    for (const command of commands.slice(2, -1)) {
      const words = command.replace(/^npx svc /, '').replace('fixtures/', join(root, 'fixtures/'));
      // oxlint-disable-next-line no-await-in-loop -- each command needs what the one before has made
      await machine.svc(words);
    }
    const [port] = machine.ports;
    const here = curl
      .map((word) => word.replace('~/.local/state/svc/machine', machine.folder))
      .map((word) => word.replace(':8443', `:${port}`));
    expect(here).not.toEqual(curl);
    await vi.waitFor(
      () => {
        const { stdout, stderr } = spawnSync(here[0]!, ['-sS', ...here.slice(1)], {
          encoding: 'utf8',
        });
        expect([stdout, stderr]).toEqual(['{"id":"1","items":[],"checkedOut":false}', '']);
      },
      { timeout: 30_000, interval: 100 },
    );
  },
  240_000,
);

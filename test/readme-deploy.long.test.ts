// The commands of the README's section "Deploy", by a person with a login, from nothing to the first answer of a service.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { SvcProcess } from './support/host-process.ts';
import { FormBrowser } from './support/identity-provider/form-browser.ts';
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

/** Returns the value of the form field, or of the attribute `action`, in a page of the login provider. */
function valueIn(body: string, pattern: RegExp): string {
  const [, value] = pattern.exec(body) ?? [];
  if (value === undefined) throw new Error(`The page has no ${pattern.source}:\n${body}`);
  return value;
}

/** Logs in with the code of a device, at the pages that a person sees. */
async function logIn({ cwd, env }: OneMachine, subject: string): Promise<void> {
  const login = new SvcProcess(['login', '--device'], { cwd, env });
  await login.logged(/enter the code \S+\n/);
  const [, page, code] = /^Open (\S+) in .* code (\S+)\n/m.exec(login.stderr)!;
  const browser = new FormBrowser('svc:');
  const entry = await browser.go(page!);
  const xsrf = valueIn(entry.body, /name="xsrf" value="([^"]+)"/);
  const people = await browser.go(page!, { xsrf, user_code: code!, confirm: 'yes' });
  const token = valueIn(people.body, /name="token" value="([^"]+)"/);
  const action = new URL(valueIn(people.body, /method="post" action="([^"]+)"/), people.url).href;
  const { body } = await browser.go(action, { token, as: subject });
  expect(body).toContain('You are logged in');
  expect(await login.ended).toMatchObject({ code: 0 });
}

test.skipIf(!hasCurl)(
  'the README deploys the cart in a checkout, up to the first answer',
  async () => {
    const machine = await OneMachine.make({});
    const curl = commands.at(-1).split(' ');
    expect(commands.slice(0, 2)).toEqual(['npx svc up -d', 'npx svc login']);
    await machine.upInBackground();
    await logIn(machine, 'ann');
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

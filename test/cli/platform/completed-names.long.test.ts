// Completion of ids in the real shells, which ask a control plane for them.
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiUnderTest } from '../../control-plane/endpoints/api-under-test.ts';
import { runSvc } from '../../support/host-process.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const run = promisify(execFile);
const home = temporaryFolderOfFile();
const program = join(import.meta.dirname, '..', '..', '..', 'cli', 'bin', 'svc.js');
let api: ApiUnderTest;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  api = await ApiUnderTest.start();
  for (const id of ['acme', 'apex'])
    await api.done(`POST /organizations/${id}`, { as: 'ann', json: { name: id } });
  for (const id of ['shop', 'stock'])
    await api.done(`POST /projects/${id}`, {
      as: 'ann',
      json: { name: id, organizationId: 'acme' },
    });
  for (const name of ['cart', 'catalog'])
    await api.done(`PUT /services/shop/${name}`, {
      as: 'ann',
      json: { name, image: 'registry.test/it:1' },
    });
  mkdirSync(join(home, 'bin'));
  const svc = join(home, 'bin', 'svc');
  writeFileSync(svc, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(svc, 0o755);
  env = {
    ...process.env,
    PATH: `${join(home, 'bin')}${delimiter}${process.env['PATH']}`,
    HOME: home,
    XDG_CONFIG_HOME: home,
    SVC_URL: api.control.url,
    SVC_TOKEN: await api.token('ann'),
    SVC_PROJECT: 'shop',
  };
  for (const shell of ['bash', 'zsh', 'fish'])
    writeFileSync(join(home, shell), (await runSvc(['completion', shell])).stdout);
});
afterAll(() => api[Symbol.asyncDispose]());

function has(shell: string): boolean {
  const found = spawnSync(shell, ['-c', 'exit 0']).status === 0;
  if (!found) console.log(`${shell} is not installed, so its completion is not tried.`);
  return found;
}

async function inShell(shell: string, args: readonly string[], script: string): Promise<string> {
  const { stdout, stderr } = await run(shell, [...args, '-c', script], {
    cwd: home,
    env,
    timeout: 60_000,
  });
  expect(stderr).toBe('');
  return stdout;
}

/** Asks again while nothing is offered: on a busy machine the second that completion has for names may be too short. */
async function offered(complete: () => Promise<readonly string[]>): Promise<readonly string[]> {
  for (;;) {
    const words = await complete();
    if (words.length > 0) return words.toSorted();
  }
}

const OFFERS: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['svc org get ', ['acme', 'apex']],
  ['svc project get st', ['stock']],
  ['svc service logs c', ['cart', 'catalog']],
  ['svc deploy --project s', ['shop', 'stock']],
];

describe.skipIf(!has('bash'))('bash', () => {
  test.each(OFFERS)('after %j offers %j', async (line, expected) => {
    const words = line.split(' ').map((word) => `'${word}'`);
    const script = `source ./bash; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}
     _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const found = await offered(async () =>
      (await inShell('bash', ['--norc'], script)).split('\n').filter((word) => word !== ''),
    );
    expect(found).toEqual(expected);
  });
});

describe.skipIf(!has('fish'))('fish', () => {
  test.each(OFFERS)('after %j offers %j', async (line, expected) => {
    const found = await offered(async () =>
      (await inShell('fish', ['--no-config'], `source ./fish; complete -C '${line}'`))
        .split('\n')
        .map((offer) => offer.split('\t')[0]!)
        .filter((word) => word !== ''),
    );
    expect(found).toEqual(expected);
  });
});

describe.skipIf(!has('zsh'))('zsh', () => {
  test.each([
    ['svc org get ap', 'svc org get apex'],
    ['svc service get ca', 'cart*catalog'],
  ])('makes of %j and a tab %j', async (line, screen) => {
    const script = `zmodload zsh/zpty
     zpty shell zsh -f -i
     zpty -w shell "PS1='> '; autoload -U compinit; compinit -u -D; source ./zsh; echo REA''DY"
     zpty -r -m shell out '*READY*'
     zpty -w -n shell '${line}'$'\\t'
     zpty -r -m shell out '*${screen}*'
     print found`;
    expect(await inShell('zsh', ['-f'], script)).toBe('found\n');
  });
});

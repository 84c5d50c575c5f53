// Access tokens of components in a process that are deployed with `auth: platform`: on a whole installation with real commands, and with an
// identity provider that changes its keys.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { noSandbox } from '../control-plane/local/sandbox/support.ts';
import { HostingMachine } from '../support/hosting-machine.ts';
import { archiveOfPython, writePythonMembers } from '../support/hosted-process/python-cart.ts';
import { archiveOfSdk, writeTypeScriptMembers } from '../support/hosted-process/typescript-cart.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { MachinePerson } from '../support/machine-person.ts';
import { OneMachine } from '../support/one-machine.ts';
import { python } from '../support/python.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const PEOPLE = `people:
  - subject: ann
    roles: [owner]
  - subject: bob
    roles: [reader]
`;
const WAIT = { timeout: 60_000, interval: 100 };
const AUDIENCE = 'https://services.example.com';

interface Language {
  readonly language: string;
  /** Writes the image of the members, with the tag 1. */
  readonly write: (folder: string) => void;
}

const folder = temporaryFolderOfFile();
const LANGUAGES: readonly Language[] = [
  {
    language: 'TypeScript',
    write: (image) => writeTypeScriptMembers(image, archiveOfSdk(join(folder, 'typescript'))),
  },
  ...(python === undefined
    ? []
    : [
        {
          language: 'Python',
          write: (image: string) =>
            writePythonMembers(image, archiveOfPython(join(folder, 'python'))),
        },
      ]),
];

/** Puts the secret that the members ask for into the folder of the project. */
function putSecret(machineFolder: string): void {
  const secrets = join(machineFolder, 'secrets', 'shop');
  mkdirSync(secrets, { mode: 0o700, recursive: true });
  writeFileSync(join(secrets, 'apiKey'), 'of-the-bank', { mode: 0o600 });
}

test.skipIf(noSandbox !== undefined).each(LANGUAGES)(
  'members in $language are asked for tokens of svc auth token, and the handler knows who calls',
  async ({ write }) => {
    const machine = await OneMachine.make();
    writeFileSync(join(machine.cwd, 'people.yaml'), PEOPLE);
    await machine.upInBackground();
    const ann = await MachinePerson.loggedIn('ann', machine);
    const bob = await MachinePerson.loggedIn('bob', machine);
    await ann.svc('org create acme');
    await ann.svc('project create shop --organization acme');
    putSecret(join(machine.folder, 'machine'));
    write(join(ann.cwd, 'members'));
    const image = `registry.svc.localhost:${machine.ports[0]}/shop/members:1`;
    await ann.svc(`image push members:1 ${image}`);
    const descriptor = `name: members\nimage: ${image}\nhosting: process\nprotocol: svc/1\nenv: { fee: "2.50" }\n`;

    // Without the platform's tokens the runtime does not start, and says what to do.
    writeFileSync(join(ann.cwd, 'members.yaml'), descriptor);
    const refused = await ann.run('deploy -f members.yaml');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('auth: platform in the descriptor of the service');

    writeFileSync(join(ann.cwd, 'members.yaml'), `${descriptor}auth: platform\n`);
    expect(await ann.svc('deploy -f members.yaml')).toMatch(/members is ready\.\n$/);
    await ann.svc('service expose members');
    const ask = async (path: string, token?: string) =>
      await machine.send('members', path, undefined, token);
    await vi.waitUntil(async () => (await ask('/visitors/me')).status === 200, WAIT);
    const owner = (await ann.svc('auth token')).trim();
    const reader = (await bob.svc('auth token')).trim();
    expect((await ask('/members/me')).status).toBe(401);
    expect((await ask('/members/me', `${reader.slice(0, -6)}AAAAAA`)).status).toBe(401);
    const known = await ask('/members/me', reader);
    expect(known.status).toBe(200);
    expect(JSON.parse(known.body)).toEqual({
      subject: 'bob',
      roles: ['reader'],
      fee: '2.50',
      keyLength: 11,
      sawToken: false,
    });
    expect((await ask('/members/admin', reader)).status).toBe(403);
    expect(await ask('/members/admin', owner)).toEqual({ status: 200, body: '{"isKnown":true}' });
    expect((await ask('/visitors/me', reader)).body).toBe('{"isKnown":false}');
  },
  600_000,
);

describe.skipIf(noSandbox !== undefined)('the keys of the identity provider', () => {
  let provider: IdentityProvider;
  beforeAll(async () => {
    provider = await IdentityProvider.start();
  });
  afterAll(() => provider.stop());

  const MEMBERS = {
    name: 'members',
    image: 'oci:images/members:1',
    hosting: 'process',
    protocol: 'svc/1',
    auth: 'platform',
    env: { fee: '2.50' },
  };
  const tokenOf = async (aud = AUDIENCE) =>
    await provider.issue({ subject: 'ann', roles: ['owner'], claims: { aud } });

  test('reach the runtime alone: its process reaches no program of the machine, and the keys outlive the control plane', async () => {
    const machine = await HostingMachine.start(provider, { SVC_LOCAL_SERVICE_AUDIENCE: AUDIENCE });
    const { identified } = machine;
    writeTypeScriptMembers(
      join(identified.machine.cwd, 'images', 'members'),
      archiveOfSdk(join(folder, 'keys')),
    );
    putSecret(identified.folder);
    const [members] = await machine.deploy(MEMBERS);
    const statusOf = async (token?: string) => {
      const asking = { ...identified.asGateway, token };
      return (await identified.ask(members!, '/members/admin', asking)).status;
    };
    expect(await statusOf(await tokenOf())).toBe(200);
    expect(await statusOf()).toBe(401);
    // A token for the control plane is for nobody else.
    expect(await statusOf(await tokenOf(provider.audience))).toBe(401);

    const controlPlane = await identified.machine.svc.listening();
    for (const { hostname, port } of [provider.issuer, controlPlane].map((url) => new URL(url))) {
      const path = `/probes/connect?host=${hostname}&port=${port}`;
      expect(await machine.ask(members!, path)).toBe('ECONNREFUSED');
    }
    const socket = join(identified.folder, 'keys.sock');
    expect(await machine.ask(members!, `/probes/file?path=${socket}`)).toBe('ENOENT');

    // A new key is found as by a module, at most 5 s after the last read.
    await provider.rotate({ overlap: true });
    const fresh = await tokenOf();
    await expect.poll(() => statusOf(fresh), WAIT).toBe(200);

    await identified.machine.svc.end('SIGKILL');
    expect(await statusOf(await tokenOf())).toBe(200);
    await provider.rotate({ overlap: true });
    const unknown = await tokenOf();
    await expect.poll(() => statusOf(unknown), WAIT).toBe(503);
    expect(await statusOf(fresh)).toBe(200);
    await identified.machine.killAndStart();
    await expect.poll(() => statusOf(unknown), WAIT).toBe(200);
  }, 240_000);
});

// The commands of the platform with a real control plane over HTTP: one for each route, their output, and what they refuse.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ROUTES, WEBHOOK_ROUTES } from '@svc/client';
import { COMMAND_NAMES, loadAllCommands } from '../../../cli/command-list.ts';
import type { RouteCommand } from '../../../cli/platform/route-command.ts';
import { ApiUnderTest, idleOrchestrator } from '../../control-plane/endpoints/api-under-test.ts';
import { runCommand } from '../../support/command-line.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

let api: ApiUnderTest;
const LOGS = [
  { instance: 'cart-1', output: 'one\n\u001b[31mred\ttab\n', error: null },
  { instance: 'cart-22', output: '', error: 'the node is away' },
];
const home = temporaryFolderOfFile();

beforeAll(async () => {
  api = await ApiUnderTest.start({}, undefined, idleOrchestrator({ logs: async () => LOGS }));
  for (const subject of ['ann', 'ben'])
    api.knows({ subject, name: subject, email: `${subject}@example.com`, verified: true });
  api.knows({ subject: 'root', roles: ['platform-admin'] });
});
afterAll(() => api[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const name of ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'])
    vi.stubEnv(name, join(home, name));
  vi.stubEnv('SVC_URL', api.control.url);
  await as('ann');
});
afterEach(() => vi.unstubAllEnvs());

async function as(subject: string): Promise<void> {
  vi.stubEnv('SVC_TOKEN', await api.token(subject));
}

/** Runs a command that has to succeed, and returns its output without the blanks of columns. */
async function svc(line: string): Promise<string> {
  const { code, stdout, stderr } = await runCommand(line.split(' '));
  if (code !== 0) throw new Error(`svc ${line}: ${stderr}`);
  return `${stdout}${stderr}`.replaceAll(/ {2,}/g, ' ').trimEnd();
}

test('there is one command for each route, and nothing else under the words of the platform', async () => {
  const commands = (await loadAllCommands()) as readonly Partial<RouteCommand>[];
  const routes = commands.flatMap(({ route }) => (route === undefined ? [] : [route]));
  expect(routes.toSorted()).toEqual(
    [...Object.keys(ROUTES), ...Object.keys(WEBHOOK_ROUTES)].toSorted(),
  );
  const words = /^(?:auth|whoami|(?:org|project|service|webhooks) .*)$/;
  // listen and replay call several routes.
  expect(COMMAND_NAMES.filter((name) => words.test(name))).toHaveLength(routes.length + 2);
});

test('the token that commands send is printed for other programs', async () => {
  await as('ann');
  expect(await svc('auth token')).toBe(process.env['SVC_TOKEN']);
});

test('organizations, members and projects are managed', async () => {
  expect(await svc('org list')).toContain('You belong to no organization. Create one');
  expect(await svc('org create acme --name Acme')).toContain('Created the organization acme.');
  expect(await svc('org list')).toBe('id name role projects state\nacme Acme owner 0');
  expect(await svc('org rename acme Acme-2')).toContain('Renamed');
  expect(await svc('org get acme')).toBe('id acme\nname Acme-2\nrole owner\nprojects 0');
  expect(await svc('org invite acme ben@example.com')).toContain(
    'Invited ben@example.com to acme.',
  );
  expect(await svc('org members acme')).toMatch(/^\(invited\) ben@example\.com member .* ann$/m);
  expect(await svc('org withdraw acme ben@example.com')).toContain('Withdrew');
  await svc('org invite acme ben@example.com --role owner');
  await as('ben');
  expect(await svc('whoami')).toMatch(/^organizations acme \(owner\)$/m);
  await as('ann');
  expect(await svc('org role acme ben member')).toBe('ben has the role member in acme now.');
  expect(await svc('org members acme -o names')).toBe('ann\nben');
  expect(await svc('org remove acme ben')).toBe('Removed ben from acme.');

  expect(await svc('project create shop --organization acme')).toContain(
    'Created the project shop',
  );
  expect(await svc('project rename shop Shop')).toContain('Renamed');
  expect(await svc('project list --organization acme')).toBe(
    'id name organization services\nshop Shop acme 0',
  );
  expect(await svc('project get shop')).toContain('organization acme');
  expect(await svc('project create gone --organization acme')).toContain('gone');
  expect(await svc('project delete gone --yes')).toBe('Deleted the project gone.');

  await as('root');
  expect(await svc('org repair acme ben')).toBe('ben is a member of acme now.');
  expect(await svc('org disable acme')).toContain('svc org enable acme reverses it');
  expect(await svc('org get acme')).toContain('state disabled by a platform administrator');
  expect(await svc('org enable acme')).toBe('Enabled acme.');
  expect(await svc('org create empty --owner zoe --owner-name Zoe')).toContain('Created');
  expect(await svc('org repair empty root')).toContain('root is a member');
  expect(await svc('org delete empty --yes')).toBe('Deleted the organization empty.');
});

test('services are applied, watched and deleted', async () => {
  const file = join(home, 'service.yaml');
  writeFileSync(file, 'name: cart\nimage: registry.test/cart:1\nenv: { MODE: "on" }\n');
  vi.stubEnv('SVC_PROJECT', 'shop');
  expect(await svc('service list')).toContain('The project shop has no services. Apply one');
  expect(await svc(`service apply -f ${file}`)).toContain('name cart\nproject shop\nstate pending');
  expect(await svc('service get cart --project shop')).toContain('image registry.test/cart:1');
  expect(await svc('service pause cart')).toContain('state paused');
  expect(await svc('service resume cart')).not.toContain('state paused');
  expect(await svc('service restart cart')).toContain('generation 2');
  expect(await svc('service expose cart')).toContain('url https://cart-shop.svc.test');
  expect(await svc('service list')).toMatch(/^cart \w+ 0\/1 2 https:\S+ registry\.test\/cart:1$/m);
  expect(await svc('service unexpose cart')).not.toContain('url');
  expect(await svc('service history cart')).toMatch(/^\S+Z unexposed 2 ann$/m);
  const logs = await runCommand(['service', 'logs', 'cart', '--tail', '5']);
  expect(logs.stdout).toBe(
    'cart-1   one\ncart-1   \\u{1b}[31mred\ttab\ncart-22  cannot be read: the node is away\n',
  );
  expect(await svc('service delete cart --yes')).toContain('Its database is kept.');
});

describe('output', () => {
  test('-o json is the body of the answer, alone on stdout', async () => {
    const { stdout, stderr } = await runCommand(['auth', '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual((await api.send('GET /auth')).body);
    expect(stderr).toBe('');
  });

  test('-o names is silent when it fails', async () => {
    vi.stubEnv('SVC_URL', 'http://127.0.0.1:1');
    expect(await runCommand(['project', 'list', '-o', 'names'])).toEqual({
      code: 1,
      stdout: '',
      stderr: '',
    });
  });
});

describe('a refusal says what to do, with a code', () => {
  test.each([
    ['org delete acme', 2, /nobody can answer here\. Give --yes\. \[SVC_USAGE\]/],
    ['org get nowhere', 1, /answered 404: .* svc org list.*\[SVC_API_REFUSED\]/],
    ['org create acme', 1, /answered 409: .*\[SVC_API_REFUSED\]/],
    ['org create Acme!', 1, /answered 400: .*\[SVC_API_REFUSED\]/],
    ['service list', 2, /needs a project: .*\[SVC_USAGE\]/],
    ['project create shop', 2, /needs an organization: .*\[SVC_USAGE\]/],
    ['service apply', 2, /needs the file of a descriptor: .*\[SVC_USAGE\]/],
    ['service logs x --project shop -f --previous', 2, /not both\. \[SVC_USAGE\]/],
    ['service logs x --project shop --tail x', 2, /takes a whole number as --tail/],
    ['context use nowhere', 2, /there is no context 'nowhere'.*\[SVC_USAGE\]/],
    ['context set ../x --url https://a.test', 2, /takes a name of up to 63/],
    ['context set x --url http://a.test', 2, /takes a URL such as .*\[SVC_USAGE\]/],
    ['context set x', 2, /needs --url/],
    ['org', 2, /org takes a command: list, get/],
    ['org delet acme', 2, /Did you mean 'delete'\?/],
  ])('svc %s', async (line, code, message) => {
    const ended = await runCommand(line.split(' '));
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toMatch(message);
  });
});

describe('a descriptor', () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\nname: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n`;

  test.each([
    ['an alias bomb', bomb, /cannot be read as YAML/],
    ['a value within itself', 'name: &a [*a]\n', /SVC_DESCRIPTOR_INVALID/],
    [
      'a key that comes twice',
      'name: a\nname: b\n',
      /cannot be read as YAML: Map keys must be unique/,
    ],
    ['several documents', 'name: a\n---\nname: b\n', /cannot be read as YAML/],
    ['deep nesting', '['.repeat(200_000), /SVC_DESCRIPTOR_INVALID/],
    ['more than 1 MiB', `name: ${'x'.repeat(1024 * 1024)}`, /has more than 1048576 bytes/],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00]), /is not text in UTF-8/],
    ['several problems', 'name: 1\nport: 99999\n', /yaml: name is .*\n.*yaml: port is .*\n/],
    ['nothing', '', /SVC_DESCRIPTOR_INVALID/],
    ['a key that objects have', '__proto__: { image: x }\n', /SVC_DESCRIPTOR_INVALID/],
  ])('with %s is refused, and not sent', async (_what, content, message) => {
    const file = join(home, 'bad.yaml');
    writeFileSync(file, content);
    const ended = await runCommand(['service', 'apply', '-f', file, '--project', 'shop']);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).toMatch(/\[SVC_DESCRIPTOR_INVALID\]\n$/);
  });

  test('that is not there is reported with its path', async () => {
    const ended = await runCommand([
      'service',
      'apply',
      '-f',
      join(home, 'none.yaml'),
      '-p',
      'shop',
    ]);
    expect(ended.stderr).toMatch(/none\.yaml cannot be read \(ENOENT\)/);
  });
});

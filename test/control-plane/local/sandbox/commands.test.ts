// The commands of programs of images: what a sandbox has of the machine, and where the variables of a member are.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WebServiceDescriptor } from '@svc/client';
import { beforeEach, expect, test } from 'vitest';
import { InstanceFolder } from '../../../../control-plane/local/instance-folder.ts';
import {
  type LaunchCommand,
  moduleCommand,
  programMark,
} from '../../../../control-plane/local/launch-command.ts';
import { embeddedCommand } from '../../../../control-plane/local/sandbox/embedded-command.ts';
import { processCommand } from '../../../../control-plane/local/sandbox/process-command.ts';
import { webCommand } from '../../../../control-plane/local/sandbox/web-command.ts';
import { projectSocketsFolder } from '../../../../kit/call-sockets.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const KEY = { project: 'shop', service: 'cart' };
const SECRET = 'correct-horse-battery';
const ENV = { PASSWORD: SECRET, LD_PRELOAD: '/evil.so', SVC_NAME: 'vault', PORT: '1' };
const TOOLS = {
  bwrap: '/usr/bin/bwrap',
  unshare: '/usr/bin/unshare',
  prlimit: '/usr/bin/prlimit',
  setpriv: '/usr/bin/setpriv',
  pasta: '/usr/bin/pasta',
};

let machine: string;
let image: string;
beforeEach(() => {
  machine = temporaryFolder();
  image = temporaryFolder();
  const config = {
    entrypoint: ['/bin/serve'],
    cmd: ['all'],
    env: { FROM: 'image', PASSWORD: 'none' },
    workingDir: '/app',
    user: { uid: 1000, gid: 1001 },
  };
  writeFileSync(join(image, 'config.json'), JSON.stringify({ config }));
});

function folderOf(descriptor: object): InstanceFolder {
  return InstanceFolder.create(join(machine, 'instances'), {
    version: 1,
    name: 'cart-1-00000000',
    key: KEY,
    incarnation: 'life1',
    generation: 1,
    descriptor: { name: 'cart', image: 'cart:1', env: ENV, ...descriptor },
    imageDigest: `sha256:${'0'.repeat(64)}`,
    imageFolder: image,
    address: '127.83.0.1',
    ports: { http: 9000, management: 7626 },
    createdAtMs: 1,
  });
}

function dependencies() {
  return {
    dataFolder: join(machine, 'data'),
    databases: { urlFileOf: () => undefined },
    drainMs: 2000,
    callers: { trustDomain: 'svc.localhost', gatewayId: 'spiffe://svc.localhost/gateway' },
    servicesFolder: join(machine, 'addresses'),
    socketsFolder: join(machine, 'sockets'),
    secretsFolder: join(machine, 'secrets'),
    serviceTokens: { SVC_AUTH_ISSUER: 'https://id.example.com' },
    keysSocket: join(machine, 'keys.sock'),
    baseDomain: 'svc.localhost',
    tools: TOOLS,
    proxy: '/svc/proxy/main.ts',
  };
}

const embedded = () => embeddedCommand(folderOf({ hosting: 'embedded' }), image, dependencies());

function web(): LaunchCommand {
  const folder = folderOf({ hosting: 'process', protocol: 'http/1.1' });
  const descriptor = folder.spec.descriptor as WebServiceDescriptor;
  return webCommand(folder, image, descriptor, dependencies());
}

const processHosted = () =>
  processCommand(folderOf({ hosting: 'process', protocol: 'svc/1' }), image, dependencies());

/** The arguments of bubblewrap, from the file that it reads. */
function argumentsOf({ files = [] }: LaunchCommand): readonly string[] {
  return files.find(({ path }) => path.endsWith('sandbox.arguments'))!.content.split('\0');
}

/** The folders and files of the machine that a sandbox has, by their paths in it. */
function boundIn(command: LaunchCommand): ReadonlyMap<string, string> {
  const args = argumentsOf(command);
  return new Map(
    args.flatMap((arg, at): [string, string][] =>
      arg === '--bind' || arg === '--ro-bind' ? [[args[at + 2]!, args[at + 1]!]] : [],
    ),
  );
}

function variablesIn(command: LaunchCommand): Readonly<Record<string, string>> {
  const args = argumentsOf(command);
  return Object.fromEntries(
    args.flatMap((arg, at): [string, string][] =>
      arg === '--setenv' ? [[args[at + 1]!, args[at + 2]!]] : [],
    ),
  );
}

test('an embedded program has the sockets, the addresses and the data of its own, and nothing else of the machine', () => {
  const sockets = projectSocketsFolder('/run/svc/sockets', KEY.project);
  const ofMachine = [...boundIn(embedded())].filter(([, from]) => from.startsWith(machine));
  const instance = join(machine, 'instances/shop/cart/cart-1-00000000');
  expect(Object.fromEntries(ofMachine)).toEqual({
    '/etc/hosts': join(instance, 'hosts'),
    '/etc/resolv.conf': join(instance, 'resolv.conf'),
    '/run/svc/data': join(machine, 'data/shop/cart'),
    '/run/svc/identity': join(instance, 'identity'),
    '/run/svc/services': join(machine, 'addresses/projects/shop'),
    '/run/svc/state': join(instance, 'state'),
    [sockets]: projectSocketsFolder(join(machine, 'sockets'), KEY.project),
  });
});

test.each([
  ['a web-hosted program', web],
  ['a process with components', processHosted],
])('%s has nothing of the machine but the names of hosts', (_what, command) => {
  const ofMachine = [...boundIn(command())].filter(([, from]) => from.startsWith(machine));
  expect(ofMachine.map(([path]) => path)).toEqual(['/etc/resolv.conf', '/etc/hosts']);
});

test.each([
  ['an embedded program', embedded],
  ['a web-hosted program', web],
])('the variables of %s are in its sandbox alone', (_what, command) => {
  const launched = command();
  const { file, args, env, files = [] } = launched;
  expect(JSON.stringify([file, args, env])).not.toMatch(/correct-horse|evil/);
  expect(files.filter(({ content }) => content.includes(SECRET)).map(({ path }) => path)).toEqual([
    join(machine, 'instances/shop/cart/cart-1-00000000/sandbox.arguments'),
  ]);
  expect(variablesIn(launched)).toMatchObject({ FROM: 'image', PASSWORD: SECRET });
});

test('what the platform decides is replaced by nothing of a descriptor', () => {
  expect(variablesIn(embedded())).toMatchObject({ SVC_NAME: 'cart', SVC_DATA: '/run/svc/data' });
});

test('a web-hosted program has the ports that the platform gives it, and its proxy the name', () => {
  const command = web();
  expect(variablesIn(command)).toMatchObject({
    PORT: '8080',
    SVC_SERVICES_URL: 'http://127.0.0.1:7630',
  });
  expect(command.env['SVC_NAME']).toBe('cart');
});

test('a process with components has all its variables, and its runtime those that are limits or values', () => {
  const launched = processHosted();
  const { args, env, files = [] } = launched;
  expect(variablesIn(launched)).toMatchObject({ ...ENV, FROM: 'image', SVC_PROCESS_PORT: '9010' });
  expect(JSON.stringify([args, env])).not.toMatch(/correct-horse|evil/);
  const instance = join(machine, 'instances/shop/cart/cart-1-00000000');
  expect(files.filter(({ content }) => content.includes(SECRET)).map(({ path }) => path)).toEqual([
    join(instance, 'variables.json'),
    join(instance, 'sandbox.arguments'),
  ]);
  expect(env).toMatchObject({
    SVC_NAME: 'cart',
    SVC_DATA: join(machine, 'data/shop/cart'),
    SVC_IDENTITY_FOLDER: join(instance, 'identity'),
    SVC_CALLS_SOCKETS_FOLDER: join(machine, 'sockets'),
    SVC_PROCESS_FILE: join(instance, 'process.json'),
    SVC_CONFIGURATION_SECRETS: join(machine, 'secrets/shop'),
  });
  expect(args).toEqual(
    expect.arrayContaining(['--deployed', '--standby', '--process', '127.0.0.1:9010']),
  );
  expect(launched.sockets).toEqual({ http: 'http', management: 'management', calls: 'calls' });
  // Its descriptor takes no tokens.
  expect(JSON.stringify(env)).not.toContain('SVC_AUTH');
});

test('a runtime beside a process takes tokens of the platform if the descriptor says so, and its process has no setting of them', () => {
  const descriptor = { hosting: 'process', protocol: 'svc/1', auth: 'platform' };
  const launched = processCommand(folderOf(descriptor), image, dependencies());
  expect(launched.env).toMatchObject({
    SVC_AUTH_ISSUER: 'https://id.example.com',
    SVC_AUTH_KEYS_SOCKET: join(machine, 'keys.sock'),
  });
  expect(JSON.stringify(variablesIn(launched))).not.toContain('SVC_AUTH');
});

test('neither a module nor a runtime beside a process gets data that a program had', () => {
  const folder = folderOf({ hosting: 'embedded' });
  expect(() => moduleCommand(folder, '/modules/cart.wasm', dependencies())).not.toThrow();
  const mark = programMark(join(machine, 'data'), KEY);
  const { files = [] } = embeddedCommand(folder, image, dependencies());
  expect(files.map(({ path }) => path)).toContain(mark);
  mkdirSync(join(mark, '..'), { recursive: true });
  writeFileSync(mark, '');
  expect(() => moduleCommand(folder, '/modules/cart.wasm', dependencies())).toThrow(
    'its data were written by a program',
  );
  expect(() => processCommand(folder, image, dependencies())).toThrow('its data were written by');
});

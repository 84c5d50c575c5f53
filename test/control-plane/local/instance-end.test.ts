// Why an instance has ended, as the members of its project read it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  endInWords,
  isRefusedBeside,
  startInWords,
} from '../../../control-plane/local/instance-end.ts';
import { InstanceFolder } from '../../../control-plane/local/instance-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { CART } from './cart.ts';

function instanceOf(machine: string, moduleFile: string): InstanceFolder {
  return InstanceFolder.create(join(machine, 'instances'), {
    version: 1,
    name: 'cart-1-00000000',
    key: CART,
    incarnation: 'life1',
    generation: 1,
    descriptor: { name: 'cart', image: 'svc.test/good:1' },
    imageDigest: `sha256:${'0'.repeat(64)}`,
    moduleFile,
    address: '127.84.0.1',
    ports: { management: 7626, remoting: 17_355 },
    createdAtMs: 0,
  });
}

test('a failure names no path of the machine', () => {
  const machine = temporaryFolder();
  const moduleFile = join(machine, 'modules', 'cart.wasm');
  const folder = instanceOf(machine, moduleFile);
  const data = join(machine, 'data', CART.project, CART.service);
  const message = `${moduleFile} cannot take over what ${data} holds: see '${folder.stateFile}', and ${folder.path}.`;
  const exit = { code: 1, signal: null, error: 'SVC_UPGRADE_UNSAFE', message };
  expect(
    endInWords({ folder, end: { kind: 'ended', exit, refusal: undefined, isFailure: true } }),
  ).toBe(
    "SVC_UPGRADE_UNSAFE: its module cannot take over what its data folder holds: see 'a file of this machine', and a file of this machine",
  );
});

test.each([
  ['SVC_UPGRADE_UNSAFE', [false, true, true]],
  ['SVC_DATA_IN_USE', [false, false, true]],
  ['SVC_MANIFEST_UNREADABLE', [false, false, false]],
  [undefined, [false, false, false]],
] as const)(
  '%s says that an instance is refused beside 0, 1, or 2 other modules: %j',
  (code, refused) => {
    expect([0, 1, 2].map((count) => isRefusedBeside(code, count))).toEqual(refused);
  },
);

test('a database that is supplied is named by its secret, wherever the operator keeps it', () => {
  const folder = instanceOf(temporaryFolder(), '/modules/cart.wasm');
  const descriptor = { ...folder.spec.descriptor, database: { urlFrom: 'cart.url' } };
  const supplied = InstanceFolder.create(temporaryFolder(), { ...folder.spec, descriptor });
  const message = `The URL of the database in the file /srv/secrets/${CART.project}/cart.url cannot be used: it is empty.`;
  const exit = { code: 1, signal: null, error: 'SVC_DATABASE_URL_INVALID', message };
  const end = { kind: 'ended', exit, refusal: undefined, isFailure: true } as const;
  expect(endInWords({ folder: supplied, end })).toBe(
    'SVC_DATABASE_URL_INVALID: The URL of the database in the secret cart.url cannot be used: it is empty.',
  );
});

test('an instance that has not started is described by its last line, without a path', () => {
  const machine = temporaryFolder();
  const folder = instanceOf(machine, '/modules/cart.wasm');
  expect(startInWords(folder)).toBeUndefined();
  const message = `waiting for ${join(machine, 'sockets')}`;
  writeFileSync(join(folder.path, 'stderr'), `first\n${JSON.stringify({ message })}\n`);
  expect(startInWords(folder)).toBe(
    'has not started; its last line: waiting for a file of this machine',
  );
});

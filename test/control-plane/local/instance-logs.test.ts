// The output of an instance, from its files.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { InstanceFolder } from '../../../control-plane/local/instance-folder.ts';
import { logsOf } from '../../../control-plane/local/instance-logs.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { CART } from './cart.ts';

test('output that cannot be read is an error without a path of the machine', () => {
  const folder = InstanceFolder.create(temporaryFolder(), {
    version: 1,
    name: 'cart-1-00000000',
    key: CART,
    incarnation: 'life1',
    generation: 1,
    descriptor: { name: 'cart', image: 'svc.test/good:1' },
    imageDigest: `sha256:${'0'.repeat(64)}`,
    moduleFile: 'module.wasm',
    address: '127.84.0.1',
    ports: { management: 7626, remoting: 17_355 },
    createdAtMs: 0,
  });
  // A folder in the place of a file cannot be read by anybody.
  mkdirSync(join(folder.path, 'stderr'));
  expect(logsOf(folder, { previous: false, bytesMax: 1000 })).toEqual({
    instance: 'cart-1-00000000',
    output: '',
    error: 'its output cannot be read (EISDIR)',
  });
});

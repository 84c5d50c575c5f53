// UnknownEventTypes: a journal that the module cannot read is refused at the start.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { unknownEventTypes } from '../../../host/service/unknown-event-types.ts';
import {
  admitModule,
  type AdmittedModule,
} from '../../../host/hosting/wasm/admission/admission.ts';
import { journalPath } from '../../../host/storage/sqlite/journal-file.ts';
import { readEventTypes } from '../../../host/storage/sqlite/stored-event-types.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { runSvc, SvcProcess } from '../../support/host-process.ts';
import { scriptedJournal } from '../../support/scripted-journal.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const data = join(folder, 'data');
const cart = join(folder, 'cart.wasm');
const counter = join(folder, 'counter.wasm');
let module: AdmittedModule;

beforeAll(async () => {
  writeFileSync(cart, await compileFixture('shopping-cart'));
  const bytes = await compileFixture('counter');
  writeFileSync(counter, bytes);
  module = admitModule(bytes);
  await scriptedJournal(data, module, 'counter', [['a', 'add', { amount: 1 }]]);
});

test('what is stored is read when component and manifest are those of the module', () => {
  expect(readEventTypes(journalPath(data))).toEqual([
    { component: 'counter', manifest: 'CounterEvent' },
  ]);
  expect(unknownEventTypes(readEventTypes(journalPath(data)), module.descriptor)).toEqual([]);
  const others = [
    { component: 'counter', manifest: 'Other' },
    { component: 'other', manifest: 'CounterEvent' },
  ];
  expect(unknownEventTypes(others, module.descriptor)).toEqual(others);
});

describe('svc run', () => {
  const run = ['--port', '0', '--data', data, '--log', 'json'];

  test('refuses a module that reads nothing of the journal, and names what it does not read', async () => {
    const { code, stderr } = await runSvc(['run', cart, ...run]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `The journal in ${data} holds events that no component of this service reads: 'CounterEvent' of component ` +
        "'counter'. Run code that reads them, or start with --ignore-components counter when that is meant. " +
        '[SVC_MANIFEST_UNREADABLE]',
    );
  });

  test('what is allowed of another component is refused all the same', async () => {
    const { code, stderr } = await runSvc(['run', cart, ...run, '--ignore-components', 'other']);
    expect(code).toBe(1);
    expect(stderr).toContain('[SVC_MANIFEST_UNREADABLE]');
  });

  test.each([
    ['the module that wrote it', [counter]],
    ['another one when that is meant', [cart, '--ignore-components', 'other,counter']],
  ])('starts %s', async (_what, args) => {
    const svc = new SvcProcess(['run', ...args, ...run]);
    expect(await svc.listening()).toMatch(/^http:/);
    expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
  });
});

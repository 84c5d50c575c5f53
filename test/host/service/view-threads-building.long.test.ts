// The thread that builds views of a large journal, while the first thread serves and follows.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { wasmSource } from '../../../host/hosting/guest-source.ts';
import { admitModule } from '../../../host/hosting/wasm/admission/admission.ts';
import {
  BAD,
  opened,
  sourceOf,
  store,
  threadsOn,
  VIEW,
} from '../../support/started-view-threads.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { viewModule } from '../../support/view-module.ts';

test('a view that has stopped in the midst of a large journal goes on when the event was skipped', async () => {
  const dir = temporaryFolder();
  const journal = await opened(dir);
  for (let entity = 0; entity < 6; entity++) await store(journal, `many-${entity}`, 1_000);
  await store(journal, BAD.id);
  for (let entity = 6; entity < 12; entity++) await store(journal, `many-${entity}`, 1_000);
  const view = threadsOn(journal, dir, await sourceOf());
  // A start does not wait for it.
  await view.threads.answering(new AbortController().signal);
  expect(view.report().state).not.toBe('stopped');
  await view.until('stopped', ({ state }) => state === 'stopped');
  expect(view.logged.map(({ message }) => message)).toContain('the rows of a view are being built');
  expect(await view.threads.skip(VIEW, { entity: BAD, seq: 1 }, 'a known fault')).toBe('done');
  await view.until('live', ({ state }) => state === 'live');
  expect(view.keys()).toHaveLength(12);
  await store(journal, 'later');
  await view.until('folded', ({ position }) => position === '12002');
  expect(view.keys()).toHaveLength(13);
  expect(await view.threads.rebuild(VIEW)).toBe('done');
  await view.until('building', ({ state }) => state === 'building');
  await view.until('live', ({ state }) => state === 'live');
  expect(view.keys()).toHaveLength(13);
});

test('several new views are built together, and then followed', async () => {
  const dir = temporaryFolder();
  const journal = await opened(dir);
  for (let entity = 0; entity < 11; entity++) await store(journal, `many-${entity}`, 1_000);
  const ids = [VIEW, 'b', 'c', 'd', 'e', 'f'];
  const module = admitModule(await viewModule('1', ids));
  const started = threadsOn(journal, dir, wasmSource(module, join(dir, 'm.wasm')));
  await started.until('live', ({ state }) => state === 'live');
  const report = () =>
    started.threads.report().map(({ state, position }) => `${state} ${position}`);
  // Those of a group are never further apart than a page.
  const group = report().slice(0, 4);
  expect(group.map((one) => one.split(' ')[1])).toEqual(Array(4).fill('11000'));
  await expect.poll(report).toEqual(Array(6).fill('live 11000'));
  await store(journal, 'later');
  await expect.poll(report).toEqual(Array(6).fill('live 11001'));
});

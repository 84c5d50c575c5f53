// The journal of an embedded service: it is never in memory by mistake, and never one that the components do not
// read.
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  createService,
  defineEndpoint,
  defineEntity,
  get,
  type ServiceOptions,
} from '../../../host/embed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const note = (component: string, manifest: string) =>
  defineEntity({
    component,
    state: { manifest: 'note', schema: Type.String() },
    event: {
      manifest,
      schema: Type.Object({ type: Type.Literal('written'), text: Type.String() }),
    },
    empty: () => '',
    apply: (_state, { text }) => text,
    commands: {
      write: {
        input: Type.String(),
        handle: (_state, text, { persist }) => persist({ type: 'written', text }).thenReply(),
      },
    },
    queries: { read: { reply: Type.String(), handle: (state) => state } },
  });
const kept = note('note', 'note-event');

async function start(options: object) {
  const service = await createService({
    observability: { local: false },
    name: 'notes',
    log: 'none',
    ...options,
  } as unknown as ServiceOptions);
  onTestFinished(() => service.stop(0));
  return service;
}

async function folderWithNote(): Promise<string> {
  const dataFolder = temporaryFolder();
  const service = await start({ entities: [kept], dataFolder });
  await service.call(kept, 'a').write('first');
  await service.stop();
  return dataFolder;
}

describe('a journal that the components do not read', () => {
  const unread = expect.objectContaining({
    code: 'SVC_MANIFEST_UNREADABLE',
    message: expect.stringContaining(
      "no component of this program reads: 'note-event' of component 'note'. Give it the component that reads " +
        'them, or ignoreComponents: ["note"] when that is meant.',
    ),
  });

  test('is refused, whether the component or its manifest is another', async () => {
    const dataFolder = await folderWithNote();
    for (const other of [note('other', 'note-event'), note('note', 'renamed')])
      await expect(start({ entities: [other], dataFolder })).rejects.toEqual(unread);
    const other = note('other', 'note-event');
    const ignoreComponents = ['no-such'];
    await expect(start({ entities: [other], dataFolder, ignoreComponents })).rejects.toEqual(
      unread,
    );
    // The folder was released, and is unchanged.
    const service = await start({ entities: [kept], dataFolder });
    expect(await service.call(kept, 'a').read()).toMatchObject({ value: 'first' });
  });

  test('is taken where the component was dropped on purpose', async () => {
    const dataFolder = await folderWithNote();
    const other = note('other', 'note-event');
    const service = await start({ entities: [other], dataFolder, ignoreComponents: ['note'] });
    expect(await service.call(other, 'a').read()).toMatchObject({ value: '' });
  });
});

test.each([
  {},
  { dataFolder: undefined },
  { dataFolder: '' },
  { journal: 'disk' },
  { journal: 'memory', dataFolder: 'notes' },
])('a program that does not say where the journal is has none in memory: %j', async (options) => {
  await expect(start({ entities: [kept], ...options })).rejects.toMatchObject({
    code: 'SVC_SETTING_INVALID',
    message: expect.stringContaining(
      "one of dataFolder, the folder of its journal, database, and journal: 'memory'",
    ),
  });
});

test('a service that did not begin leaves no timer behind', async () => {
  const set = vi.spyOn(globalThis, 'setInterval');
  const cleared = vi.spyOn(globalThis, 'clearInterval');
  onTestFinished(() => void vi.restoreAllMocks());
  const endpoints = [
    defineEndpoint({ prefix: '/n', access: 'internet', routes: { get: get('', {}, () => {}) } }),
  ];
  const parts = { entities: [kept], endpoints, journal: 'memory' };
  const first = await start({ ...parts, http: { port: 0 } });
  const ofFirst = set.mock.results.length;
  const port = Number(new URL(first.url!).port);
  await expect(start({ ...parts, http: { port } })).rejects.toMatchObject({
    code: 'SVC_PORT_IN_USE',
  });
  const timers = set.mock.results.slice(ofFirst).map(({ value }) => value as unknown);
  expect(timers.length).toBeGreaterThan(0);
  const over = new Set(cleared.mock.calls.map(([timer]) => timer as unknown));
  expect(timers.filter((timer) => !over.has(timer))).toEqual([]);
});

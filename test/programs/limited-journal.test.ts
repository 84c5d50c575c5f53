// A journal that no module may fill the disk with, and an entity whose own event makes its module fault: over
// HTTP, with the neighbours served all the while.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JournalRecord } from '../../model/entity.ts';
import { append } from '../suites/journal-suite.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { withJournal } from '../support/with-journal.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'faulty.wasm');
const data = join(folder, 'data');
let svc: SvcProcess;
let url: string;

function event(seq: number, json: object): JournalRecord {
  const stored = { manifest: 'faulty-event', json: JSON.stringify(json) };
  return { kind: 'event', seq, timeMs: 1_700_000_000_000, event: stored };
}

async function start(...settings: readonly string[]): Promise<void> {
  const set = settings.flatMap((setting) => ['--set', setting]);
  svc = new SvcProcess(['run', module, '--port', '0', '--data', data, '--log', 'json', ...set]);
  url = await svc.listening();
}

beforeAll(async () => {
  writeFileSync(module, await compileFixture('faulty'));
  await withJournal(data, async (journal) => {
    const poisoned = { component: 'faulty', id: 'poisoned' };
    const events = [event(1, { type: 'counted', by: 1 }), event(2, { type: 'poison' })];
    const failure = await append(journal, poisoned, ...events);
    if (failure !== undefined) throw failure;
  });
  await start('svc.engine.entity-pause-ms=60000', 'svc.journal.bytes-max=80000');
});
afterAll(async () => {
  await svc.end('SIGTERM');
});

async function count(id: string, amount = 1) {
  const response = await fetch(`${url}/faulty/count/${id}/${amount}`, { method: 'POST' });
  const body = (await response.json()) as { readonly count?: number; readonly error?: string };
  return { status: response.status, retryAfter: response.headers.get('retry-after'), ...body };
}

test('an entity with a poisoned event is held back, named in the log, and no neighbour notices', async () => {
  expect(await count('neighbour')).toMatchObject({ status: 200, count: 1 });
  const answers: Awaited<ReturnType<typeof count>>[] = [];
  for (let turn = 0; turn < 5; turn++) answers.push(await count('poisoned'));
  expect(answers.map(({ status }) => status)).toEqual([500, 500, 500, 503, 503]);
  expect(answers[4]).toMatchObject({
    retryAfter: expect.stringMatching(/^\d+$/) as string,
    error: expect.stringContaining('SVC_ENTITY_HELD_BACK') as string,
  });
  expect(await count('neighbour')).toMatchObject({ status: 200, count: 2 });
  await svc.logged(/SVC_ENTITY_HELD_BACK.*\n/);
  const lines = svc.stderr.split('\n').filter((line) => line.includes('SVC_ENTITY_HELD_BACK'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    component: 'faulty',
    entity: 'poisoned',
    reason: expect.stringContaining("event 2 of entity 'poisoned'") as string,
  });
});

test('a full journal refuses commands with a code, answers queries, and goes on when the limit is raised', async () => {
  expect(await count('reader')).toMatchObject({ count: 1 });
  expect(await count('reader')).toMatchObject({ count: 2 });
  const burst = () => fetch(`${url}/faulty/count-with-calls/filler/100`, { method: 'POST' });
  let full: Response | undefined;
  for (let turn = 0; full === undefined && turn < 100; turn++) {
    const response = await burst();
    if (response.status !== 200) full = response;
  }
  expect(full?.status).toBe(503);
  expect(await full?.json()).toMatchObject({
    error: expect.stringContaining('SVC_JOURNAL_FULL') as string,
  });
  const query = await fetch(`${url}/faulty/history/reader/0/10`);
  expect(query.status).toBe(200);
  expect(await query.json()).toHaveLength(2);
  await svc.end('SIGTERM');
  await start('svc.journal.bytes-max=100000000');
  expect(await count('reader')).toMatchObject({ status: 200, count: 3 });
  expect((await burst()).status).toBe(200);
});

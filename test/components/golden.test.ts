// The stored form of the user directory's events is the same in TypeScript and in AssemblyScript: each file in
// fixtures/user-directory/golden is decoded and encoded to the same bytes.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { GuestEntity } from '../../model/guest.ts';
import { directoryGuest } from './support/directory.ts';

interface Golden {
  readonly command?: string;
  readonly input?: unknown;
  readonly nowMs?: number;
  readonly manifest: string;
  readonly stored: string;
}

const FOLDER = join(import.meta.dirname, '../../fixtures/user-directory/golden');
const files = readdirSync(FOLDER)
  .filter((name) => /^\d{4}-.*\.json$/.test(name))
  .toSorted();
const golden = files.map((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Golden);
const guest = directoryGuest();

async function directoryAfter(events: readonly Golden[]): Promise<GuestEntity> {
  const ref = { component: 'user-directory', id: 'golden' };
  const entity = guest.entities.open(ref, undefined);
  for (const { manifest, stored } of events)
    expect(entity.apply([{ manifest, json: stored }], undefined)).toBeUndefined();
  return entity;
}

test('there are files', () => {
  expect(files.length).toBeGreaterThan(9);
});

describe.each(files.map((name, index) => ({ name, index })))('$name', ({ index }) => {
  const { command, input, nowMs = 0, manifest, stored } = golden[index]!;

  test('is read', async () => {
    const entity = await directoryAfter(golden.slice(0, index));
    expect(await entity.apply([{ manifest, json: stored }], undefined)).toBeUndefined();
  });

  if (command === undefined) return;
  test('is written with the same bytes', async () => {
    const entity = await directoryAfter(golden.slice(0, index));
    const context = { nowMs, seed: 1n, metadata: [] };
    expect(await entity.command(context, command, JSON.stringify(input))).toMatchObject({
      events: [{ manifest, json: stored }],
    });
  });
});

test('the state after all of them is written with the same bytes, and read again', async () => {
  const stored = readFileSync(join(FOLDER, 'state.json'), 'utf8').trimEnd();
  expect(await (await directoryAfter(golden)).snapshot()).toBe(stored);
  const ref = { component: 'user-directory', id: 'golden' };
  expect(guest.entities.open(ref, stored).snapshot()).toBe(stored);
});

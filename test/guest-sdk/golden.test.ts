// The stored form of the user directory's events, as files: the current module reads each of them, and writes current
// events with the same bytes. See fixtures/user-directory/golden/README.md.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Guest, GuestEntity } from '../../model/guest.ts';
import type { CallContext } from '../../model/call.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import { compileFixture } from '../support/compile-fixture.ts';

interface Golden {
  readonly about: string;
  /** The command that writes the event; absent if the current module writes another event. */
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
const read = (name: string): Golden =>
  JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Golden;

let guest: Guest;

beforeAll(async () => {
  guest = await createWasmGuest(await compileFixture('user-directory'));
});

afterAll(async () => {
  await guest.close();
});

/** Returns an entity whose history is the files before this one. */
async function before(name: string): Promise<GuestEntity> {
  const entity = await guest.entities.open(
    { component: 'user-directory', id: 'golden' },
    undefined,
  );
  for (const earlier of files.slice(0, files.indexOf(name))) await fold(entity, read(earlier));
  return entity;
}

async function fold(entity: GuestEntity, { manifest, stored }: Golden): Promise<void> {
  const problem = await entity.apply([{ manifest, json: stored }], undefined);
  if (problem !== undefined) throw new Error(problem);
}

test('there is a file for each case of the event', () => {
  const stored = files.map((name) => (JSON.parse(read(name).stored) as { type: string }).type);
  const event = guest.descriptor.types['DirectoryEvent']!;
  const cases = 'oneOf' in event ? event.oneOf.map((one) => one.$ref.slice('#/types/'.length)) : [];
  const tags = cases.map((one) => {
    const schema = guest.descriptor.types[one]!;
    const tag = 'properties' in schema ? schema.properties['type'] : undefined;
    return tag !== undefined && 'const' in tag ? tag.const : '';
  });
  expect(new Set(stored)).toEqual(new Set(tags));
});

describe.each(files)('%s', (name) => {
  const golden = read(name);

  test('is read', async () => {
    const { manifest, stored } = golden;
    const entity = await before(name);
    expect(await entity.apply([{ manifest, json: stored }], undefined)).toBeUndefined();
  });

  // Events of older versions are read, but no longer written.
  if (golden.command === undefined) return;
  test('is written with the same bytes', async () => {
    const entity = await before(name);
    const context: CallContext = { nowMs: golden.nowMs ?? 0, seed: 1n, metadata: [] };
    const effect = await entity.command(context, golden.command!, JSON.stringify(golden.input));
    if (effect.kind !== 'effect') throw new Error(effect.message);
    expect(effect.events).toEqual([{ manifest: golden.manifest, json: golden.stored }]);
  });
});

test('the state after all of them is written with the same bytes, and read again', async () => {
  const stored = readFileSync(join(FOLDER, 'state.json'), 'utf8').trimEnd();
  const entity = await guest.entities.open(
    { component: 'user-directory', id: 'golden' },
    undefined,
  );
  for (const name of files) await fold(entity, read(name));
  expect(await entity.snapshot()).toBe(stored);
  const again = await guest.entities.open({ component: 'user-directory', id: 'golden' }, stored);
  expect(await again.snapshot()).toBe(stored);
});

// The modules of the corpus that are attacks as a whole, each in a host process of its own, while another
// service counts beside them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAMILIES } from '../../fixtures/hostile/families.ts';
import { type AloneCase, isAlone } from '../../fixtures/hostile/hostile-case.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { HostileHost } from './support/hostile-host.ts';
import { Neighbour } from './support/neighbour.ts';
import { stepProblem } from './support/run-routed.ts';
import { UNPRINTABLE } from './support/unprintable.ts';

/** So often a neighbour must have had its turn beside an attack. */
const TURNS_MIN = 5;
/** A neighbour that a machine has held back for a moment has more the next time; one that the attack starves has not. */
const TRIES_MAX = 5;
const folder = temporaryFolderOfFile();
let other: HostileHost;
let neighbour: Neighbour;

beforeAll(async () => {
  other = await HostileHost.start(folder, 'other', await compileFixture('counter'));
  neighbour = new Neighbour(`${other.url}/counters/n`);
});
afterAll(async () => {
  // Rejects when any of its requests did not succeed.
  await neighbour.stop();
  await other.kill();
});

/** What is shown to a person once it listens, and nothing in it that a terminal would act on. */
async function expectShown(host: HostileHost): Promise<void> {
  await host.said('the announcement', (line) => line.startsWith('hostile is served at http://'));
  await host.said('the requests to try', (line) => line.startsWith('  curl '));
  const lines = host.stderr.split('\n');
  expect(lines.filter((line) => line.length > 1000 || UNPRINTABLE.test(line))).toEqual([]);
}

/** Attacks a host; gives how often a neighbour within it had its turn meanwhile. */
async function turnsBeside(alone: AloneCase, name: string): Promise<number> {
  const { settings = [], log = 'json' } = alone;
  const host = await HostileHost.start(folder, name, await alone.bytes(), { settings, log });
  try {
    const own = alone.neighbour === true ? new Neighbour(`${host.url}/neighbour/n`) : null;
    await own?.begun();
    const before = own?.count ?? 0;
    for (const step of alone.steps) expect(await stepProblem(host, step)).toBeUndefined();
    const turns = own === null ? Infinity : (await own.stop()) - before;
    if (log === 'text') await expectShown(host);
    expect(host.lives).toBe(true);
    return turns;
  } finally {
    await host.kill();
  }
}

describe.each(FAMILIES.filter(({ cases }) => cases.some(isAlone)))(
  'the host lives on: $name',
  ({ name: family, cases }) => {
    test.each(cases.filter(isAlone).map((alone, index) => [alone.name, alone, index] as const))(
      '%s',
      async (_name, alone, index) => {
        let turns: number;
        let tries = 0;
        do turns = await turnsBeside(alone, `${family.slice(0, 2)}-${index}-${tries++}`);
        while (turns <= TURNS_MIN && tries < TRIES_MAX);
        expect(turns).toBeGreaterThan(TURNS_MIN);
      },
    );
  },
);

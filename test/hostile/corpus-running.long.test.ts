// The cases of the corpus that run, a hundred in one host process, each with its documented answer. All the
// while two neighbours count: an entity of the same module, and another service.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAMILIES } from '../../fixtures/hostile/families.ts';
import { isRouted } from '../../fixtures/hostile/hostile-case.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { HostileHost } from './support/hostile-host.ts';
import { Neighbour } from './support/neighbour.ts';
import { problemOf, switchboardModule } from './support/run-routed.ts';
import { send } from './support/send.ts';
import { UNPRINTABLE } from './support/unprintable.ts';

/**
 * What a process may hold more after a second round, beside what the first one took. Five rounds swing by a fifth, as
 * the garbage of the moment is; what is lost with each case adds up to more.
 */
const LEVEL_FACTOR = 1.35;
/** Garbage that nobody has had the time to collect is gone after another round; what is lost is more then. */
const ROUNDS_MAX = 3;
const folder = temporaryFolderOfFile();
const routed = FAMILIES.flatMap((family) =>
  family.cases.filter(isRouted).map((attack) => ({ family: family.name, attack })),
);
let other: HostileHost;
let otherNeighbour: Neighbour;

beforeAll(async () => {
  other = await HostileHost.start(folder, 'other', await compileFixture('counter'));
  otherNeighbour = new Neighbour(`${other.url}/counters/n`);
});
afterAll(async () => {
  await otherNeighbour.stop();
  await other.kill();
});

describe.each(['utf8', 'utf16', 'latin1+utf16'] as const)(
  'a module with text in %s',
  (encoding) => {
    const cases = routed
      .filter(({ attack }) => (attack.encoding ?? 'utf8') === encoding)
      .map((entry, index) => ({ ...entry, index }));
    const rows = cases.map(
      ({ family, attack, index }) => [family, attack.name, attack, index] as const,
    );
    let host: HostileHost;
    let neighbour: Neighbour;

    beforeAll(async () => {
      const attacks = cases.map(({ attack }) => attack);
      host = await HostileHost.start(
        folder,
        encoding.slice(0, 5),
        await switchboardModule(attacks, encoding),
      );
      neighbour = new Neighbour(`${host.url}/neighbour/n`);
    });
    afterAll(async () => {
      await host.kill();
    });

    test.each(rows)('%s › %s', async (_family, _name, attack, index) => {
      expect(await problemOf(host, attack, index)).toBeUndefined();
      expect(host.lives).toBe(true);
    });

    test('a second round is answered as the first one, and leaves the memory at its level', async () => {
      const mostKib = host.residentKib() * LEVEL_FACTOR;
      let residentKib = Infinity;
      for (let round = 0; round < ROUNDS_MAX && residentKib >= mostKib; round++) {
        const problems: string[] = [];
        for (const { family, attack, index } of cases) {
          const problem = await problemOf(host, attack, index);
          if (problem !== undefined) problems.push(`${family} › ${attack.name} ${problem}`);
        }
        expect(problems).toEqual([]);
        residentKib = host.residentKib();
      }
      expect(residentKib).toBeLessThan(mostKib);
    });

    test('the neighbours have counted all the while, and missed nothing', async () => {
      const counted = await neighbour.stop();
      expect(counted).toBeGreaterThan(0);
      const { status, text } = await send(`${host.url}/neighbour/n`);
      expect([status, text]).toEqual([200, String(counted)]);
      expect(otherNeighbour.count).toBeGreaterThan(0);
      expect(other.lives).toBe(true);
    });

    test('the thread was the same all the while, and each line of the log is one line of text', () => {
      const lines = host.stderr.split('\n').slice(0, -1);
      expect(host.stderr).not.toContain('SVC_SHARD_FAILED');
      expect(lines.filter((line) => !line.startsWith('{') || UNPRINTABLE.test(line))).toEqual([]);
      expect(host.lines.filter(({ code }) => code === 'bug')).toEqual([]);
    });
  },
);

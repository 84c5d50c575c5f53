// `svc webhook-service` as a process that is killed at one of its writes to the disk, in the midst of a write, or after a sync, and started again: it has
// what it answered, delivers it, and every request that a receiver got is in the log. SVC_TEST_WRITES sets at how many, `all`, or which, as `101-200`, and SVC_TEST_SEED
// at which of so many.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { faultDiskProblem } from '../support/crash/fault-disk.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { playedKilled, type WritePoint, writePoints } from '../support/killed-script.ts';
import { Random } from '../support/random.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { SCRIPT_TENANTS } from '../support/webhook-script.ts';

const { SVC_TEST_WRITES: writes = '12', SVC_TEST_SEED: seed = '1' } = process.env;
/** Scripts at the same time: each one waits most of its time for a retry. */
const PARALLEL = 12;
const COUNTED_MS = 120_000;
const MS_PER_KILL = 15_000;
/** The least share of the drawn points that is reached, in percent: the number of writes differs a little from play to play. */
const REACHED_PERCENT = 75;

const problem = faultDiskProblem();
beforeEach((context) => context.skip(problem !== undefined, problem));
const compiled = temporaryFolderOfFile();
let provider: IdentityProvider;

beforeAll(async () => {
  provider = await IdentityProvider.start();
});
afterAll(() => provider.stop());

/** Returns the points that SVC_TEST_WRITES asks for. */
function chosenOf(all: readonly WritePoint[]): readonly WritePoint[] {
  const range = /^(\d+)-(\d+)$/u.exec(writes);
  if (range !== null) return all.slice(Number(range[1]) - 1, Number(range[2]));
  return writes === 'all' ? all : drawn(all, Math.min(Number(writes), all.length));
}

/** Returns a point out of each of so many equal parts of the range. */
function drawn(points: readonly WritePoint[], count: number): readonly WritePoint[] {
  const random = new Random(Number(seed));
  return Array.from({ length: count }, (_, part) => {
    const from = Math.floor((part * points.length) / count);
    const to = Math.floor(((part + 1) * points.length) / count);
    return points[from + random.below(to - from)]!;
  });
}

test(
  'a service that is killed at a write has what it answered, and delivers and logs it',
  async () => {
    const token = await provider.issue({
      subject: 'ann',
      roles: ['tenant-admin', 'platform'],
      claims: { tenants: [...SCRIPT_TENANTS] },
      lifetimeS: 86_400,
    });
    const env = { NODE_COMPILE_CACHE: compiled };
    const options = { provider, token, env, scratch: temporaryFolder() };
    const all = await writePoints(options);
    const chosen = chosenOf(all);
    const complaints: string[] = [];
    let kills = 0;
    let played = 0;
    const waiting = chosen.values();
    const line = async (): Promise<void> => {
      for (const point of waiting) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other in each line
        const end = await playedKilled(options, point);
        if (end.wasKilled) kills++;
        for (const text of end.complaints) {
          const complaint = `${JSON.stringify(point)}: ${text}`;
          console.log(complaint);
          complaints.push(complaint);
        }
        if (++played % 100 === 0) console.log(`${played} of ${chosen.length} points`);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, line));
    console.log(
      `seed ${seed}: ${all.length} points, ${chosen.length} played, ${kills} kills, ${complaints.length} complaints`,
    );
    expect(complaints).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual((chosen.length * REACHED_PERCENT) / 100);
  },
  COUNTED_MS + MS_PER_KILL * Math.max(/^\d+$/u.test(writes) ? Number(writes) : 4_000, PARALLEL),
);

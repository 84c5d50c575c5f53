// Random histories of a cluster; cluster-histories.long.test.ts has more of them. `SVC_TEST_SEED` plays the history of another seed, and with
// `SVC_TEST_TRACE` it is printed what happens in it.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { useVirtualGlobals } from '../../support/virtual/virtual-globals.ts';
import { simulated } from './simulation.ts';

vi.mock(
  import('../../../host/storage/postgres/connect-database.ts'),
  async () => import('./modelled-connections.ts'),
);
vi.mock(
  import('../../../model/slice.ts'),
  async (original) => (await import('./fewer-slices.ts')).fewerSlices(await original()) as never,
);

const SEED = Number(process.env['SVC_TEST_SEED'] ?? 1);
const HISTORIES = process.env['SVC_TEST_SEED'] === undefined ? 4 : 1;
const trace =
  process.env['SVC_TEST_TRACE'] === undefined
    ? undefined
    : (line: string) => process.stderr.write(`${line}\n`);

let restore: () => void;
beforeAll(() => {
  restore = useVirtualGlobals();
});
afterAll(() => restore());

test('histories keep every promise', async () => {
  for (let seed = SEED; seed < SEED + HISTORIES; seed++)
    expect((await simulated(seed, { trace })).complaints, `seed ${seed}`).toEqual([]);
});

/** Returns everything that is printed of the history of a seed. */
async function traced(seed: number): Promise<readonly string[]> {
  const lines: string[] = [];
  const { counts, events } = await simulated(seed, { trace: (line) => lines.push(line) });
  return [...lines, JSON.stringify([...counts]), String(events)];
}

test('a seed makes the same history each time', async () => {
  expect(await traced(SEED + 1)).toEqual(await traced(SEED + 1));
});

// `npm run bench:scale` counts what it sends, and sees a wait for a row of another node where there is one. No test depends on how fast
// anything is.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOCK_LOGGING, LockWatch } from '../../bench/scale/lock-watch.ts';
import { type ScaleReport, scaleText } from '../../bench/scale/scale-report.ts';
import { serverVersions } from '../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const main = join(import.meta.dirname, '..', '..', 'bench', 'scale.ts');
const COMMANDS = 900;
/** Commands of a node at a steady rate: five seconds of it. */
const PACED = 300;
const bench = async (...args: string[]) => promisify(execFile)(process.execPath, [main, ...args]);

describe('npm run bench:scale', () => {
  test('counts each command of one node and of three, once, and no wait for a row of another node', async () => {
    const file = join(temporaryFolder(), 'report.json');
    const load = [
      '--commands',
      String(COMMANDS),
      '--rounds',
      '1',
      '--seconds',
      '1',
      '--per-second',
      '60',
    ];
    const { stdout } = await bench(...load, '--json', file);
    const report = JSON.parse(readFileSync(file, 'utf8')) as ScaleReport;
    expect(report.rounds).toHaveLength(1);
    const [round] = report.rounds;
    const paced: Readonly<Record<string, number>> = {
      onePaced: PACED,
      ownPaced: 3 * PACED,
      spreadPaced: 3 * PACED,
    };
    for (const [kind, usage] of Object.entries(round!)) {
      const sent = paced[kind] ?? COMMANDS;
      expect(usage.commands).toBe(sent);
      expect(usage.events).toBe(sent);
      expect(usage.forwarded).toBe(usage.strays);
      expect(usage.appends).toBeGreaterThan(0);
      expect(usage.appends).toBeLessThanOrEqual(1);
      expect(usage.statements).toBeGreaterThanOrEqual(usage.appends);
      expect(usage.nodeUs).toBeGreaterThan(0);
      expect(usage.locks.looks).toBeGreaterThan(0);
      expect(usage.locks.rowWaits).toEqual([]);
    }
    for (const kind of ['one', 'oneWithAll', 'own', 'onePaced', 'ownPaced'] as const)
      expect(round![kind].strays).toBe(0);
    for (const kind of ['spread', 'spreadPaced'] as const)
      expect(round![kind].strays).toBeGreaterThan(round![kind].commands / 2);
    expect(report.alone.map(({ loops }) => loops)).toEqual([1, 1, 3, 3]);
    for (const { eventsPerStatement, inFlight } of report.alone) {
      expect(eventsPerStatement).toBeGreaterThanOrEqual(1);
      expect(eventsPerStatement).toBeLessThanOrEqual(inFlight);
    }
    expect(stdout).toBe(scaleText(report));
  }, 300_000);

  test.each([
    ['--nodes', '1'],
    ['--commands', 'many'],
    ['--in-flight', '12'],
    ['--postgres', '9'],
  ])('refuses %s %s', async (option, value) => {
    await expect(bench(option, value)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${option} takes`) as string,
    });
  });
});

describe.each(serverVersions())('a watch of the locks of PostgreSQL %s', (version) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start(version, { configuration: LOCK_LOGGING });
    await server.sql('CREATE TABLE watched AS SELECT 1 AS number');
  });
  afterAll(() => server.stop());

  async function connectedAs(name: string): ReturnType<PostgresServer['client']> {
    const client = await server.client('postgres');
    await client.query(`SET application_name = '${name}'`);
    return client;
  }

  test('sees that a node waits for the row of another one, and not that it waits for its own', async () => {
    const holding = await connectedAs('node-1');
    const own = await connectedAs('node-1');
    const other = await connectedAs('node-2');
    const update = 'UPDATE watched SET number = number + 1';
    await holding.query('BEGIN');
    await holding.query(update);
    const watch = LockWatch.start(server, 'postgres');
    const waiting = Promise.all([own.query(update), other.query(update)]);
    await expect
      .poll(async () => {
        const [row] = await server.sql(
          `SELECT count(*)::int AS waits FROM pg_stat_activity WHERE wait_event_type = 'Lock'`,
        );
        return row!['waits'] as number;
      })
      .toBe(2);
    await expect.poll(() => watch.looksAtSeveral).toBeGreaterThan(1);
    await holding.query('COMMIT');
    await waiting;
    const { rowWaits, loggedRowWaits } = await watch.stop();
    expect(rowWaits).toContainEqual(
      expect.objectContaining({ waiting: 'node-2', holding: 'node-1' }),
    );
    expect(rowWaits.filter(({ waiting: one, holding: two }) => one === two)).toEqual([]);
    expect(loggedRowWaits.some((line) => line.includes('node-2'))).toBe(true);
    await Promise.all([holding.end(), own.end(), other.end()]);
  });
});

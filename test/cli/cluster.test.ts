// svc cluster: what it shows of nodes that run, of one that ended without a word, and of slices that nobody owns.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { DatabaseSource } from '../../host/storage/postgres/database-source.ts';
import { SLICE_COUNT } from '../../model/slice.ts';
import { runCommand } from '../support/command-line.ts';
import { JournalNodes } from '../support/postgres/journal-nodes.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let server: PostgresServer;

beforeEach(async () => {
  server = await PostgresServer.shared('18');
});

function word(source: DatabaseSource): string {
  if (source.kind !== 'file') throw new Error('the URL is in a file');
  return `url-file:${source.path}`;
}

async function journalNodes(): Promise<JournalNodes> {
  const nodes = await JournalNodes.make(server);
  onTestFinished(() => nodes.close());
  return nodes;
}

interface Shown {
  readonly nodes: readonly Readonly<Record<string, unknown>>[];
  readonly slices?: readonly Readonly<Record<string, unknown>>[];
  readonly owned: number;
  readonly ofEnded: number;
  readonly free: number;
}

async function shown(...args: readonly string[]): Promise<Shown> {
  const { code, stdout, stderr } = await runCommand(['cluster', ...args, '-o', 'json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Shown;
}

test('svc cluster shows nodes with their leases and shares, and the owner of each slice', async () => {
  const nodes = await journalNodes();
  const [first, second] = await nodes.startServing(2);
  const database = word(nodes.database.source);
  const found = await shown(database, '--slices');
  expect(found).toMatchObject({ owned: SLICE_COUNT, ofEnded: 0, free: 0 });
  expect(found.nodes).toEqual(
    [first!, second!].map(({ number, share }) => ({
      number,
      status: 'Up',
      uid: expect.any(String),
      machine: expect.any(String),
      address: { host: '127.0.0.1', port: 17_355 },
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      fingerprint: 'test',
      joined: expect.stringMatching(/Z$/),
      memberMs: expect.any(Number),
      leaseLeftMs: expect.any(Number),
      slices: share,
    })),
  );
  for (const { leaseLeftMs } of found.nodes) expect(leaseLeftMs).toBeGreaterThan(0);
  const rows = await nodes.database.sql(
    'SELECT slice::int, owner::int, epoch::int, head::int FROM svc.slice ORDER BY slice',
  );
  expect(found.slices).toEqual(rows);

  const { stdout } = await runCommand(['cluster', database]);
  expect(stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, '|'))).toEqual([
    'node|status|machine|address|version|module|member for|lease left|slices',
    ...[first!, second!].map(({ number, share }) =>
      expect.stringMatching(
        new RegExp(
          String.raw`^${number}\|Up\|.+\|127\.0\.0\.1:17355\|.+\|test\|.*\d s\|\d\.\d s\|${share}$`,
        ),
      ),
    ),
    '',
    `Of 1,024 slices, 1,024 are owned by nodes whose leases last, 0 by nodes whose leases have ended, and 0 are free.`,
    expect.stringMatching(/^Their epochs are 1 to \d+; the version of the cluster is \d+\.$/),
    'A 200 means that the events are on the disk of one server: the database has no synchronous standby.',
    '',
  ]);
});

test('svc cluster shows the slices of nodes that have ended, are gone, or have left', async () => {
  const nodes = await journalNodes();
  const [node] = await nodes.startServing(1);
  await node!.opened.close();
  const sql = (text: string) => nodes.database.sql(text);
  const database = word(nodes.database.source);
  expect(await shown(database)).toMatchObject({ nodes: [], owned: 0, ofEnded: 0, free: 1024 });
  const { stdout } = await runCommand(['cluster', database, '--slices']);
  expect(stdout).toMatch(/^No node uses the journal\.\n/);
  expect(stdout).toMatch(/^1023 +- +\d+ +0$/m);

  await sql(`INSERT INTO svc.node (uid, status, lease_until, is_exclusive, machine, version, fingerprint)
    VALUES ('u', 'up', clock_timestamp() - interval '1 hour', false, E'a\\u001b[2J', '1.0.0', 'x'),
      ('v', 'leaving', clock_timestamp() + interval '1 hour', false, 'b', '1.0.0', 'y')`);
  await sql(`UPDATE svc.slice SET owner = CASE WHEN slice < 10
    THEN (SELECT number FROM svc.node WHERE uid = 'u') WHEN slice < 30 THEN 999 WHEN slice < 31
    THEN (SELECT number FROM svc.node WHERE uid = 'v') END`);
  await sql(`UPDATE svc.cluster SET takeover_from = clock_timestamp() + interval '1 hour'`);
  expect(await shown(database)).toMatchObject({
    nodes: [
      { status: 'Ended', address: null, leaseLeftMs: 0, slices: 10 },
      { status: 'Leaving', slices: 1 },
    ],
    owned: 1,
    ofEnded: 10,
    free: 1013,
  });
  const hostile = await runCommand(['cluster', database]);
  expect(hostile.stdout).toContain(String.raw`a\u{1b}[2J`);
  expect(hostile.stdout).toMatch(/Nothing is taken from ended nodes for 3\d{3}\.\d s more/);
  expect(hostile.stdout).toContain('The nodes run more than one module.');

  await sql('UPDATE svc.cluster SET format = format + 1');
  const newer = await runCommand(['cluster', database]);
  expect(newer).toMatchObject({ code: 1, stdout: '' });
  expect(newer.stderr).toContain('[SVC_JOURNAL_NEWER]');
});

test('svc cluster names what is not the journal of a database', async () => {
  const empty = await server.freshDatabase();
  onTestFinished(() => empty.end());
  const without = await runCommand(['cluster', word(empty.source)]);
  expect(without).toMatchObject({ code: 1, stdout: '' });
  expect(without.stderr).toContain('[SVC_JOURNAL_MISSING]');
  await empty.sql('CREATE SCHEMA svc; CREATE TABLE svc.cluster (id text)');
  const forbidden = await runCommand(['cluster', word(empty.source)]);
  expect(forbidden.stderr).toContain('[SVC_DATABASE_UNUSABLE]');
  await empty.sql('GRANT ALL ON SCHEMA svc TO public; GRANT ALL ON svc.cluster TO public');
  const edited = await runCommand(['cluster', word(empty.source)]);
  expect(edited.stderr).toContain('[SVC_JOURNAL_CORRUPT]');
  for (const database of [temporaryFolder(), empty.url]) {
    // oxlint-disable-next-line no-await-in-loop -- commands run one at a time
    const refused = await runCommand(['cluster', database]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('url-file:FILE');
    expect(refused.stderr).not.toContain(empty.url);
  }
});

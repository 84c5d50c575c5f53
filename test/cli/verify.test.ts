// svc verify: its report about a module's folds, for a journal, a file of events, or generated events.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from 'vitest';
import { admitModule } from '../../host/hosting/wasm/admission/admission.ts';
import { append } from '../suites/journal-suite.ts';
import { runCommand } from '../support/command-line.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { runSvc } from '../support/host-process.ts';
import { scriptedJournal } from '../support/scripted-journal.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { withJournal } from '../support/with-journal.ts';

const folder = temporaryFolderOfFile();
const impure = join(folder, 'impure.wasm');
const cart = join(folder, 'cart.wasm');
const data = join(folder, 'data');

const SHELVED = '{"type":"shelved","title":"Emma","copies":1}';
const NUMBERED = '{"type":"numbered"}';

async function shelve(dir: string, id: string, ...events: readonly string[]): Promise<void> {
  await withJournal(dir, async (journal) => {
    const records = events.map((json, index) => {
      const event = { manifest: 'shelf-event', json };
      return { kind: 'event', seq: index + 1, timeMs: 1, event } as const;
    });
    expect(await append(journal, { component: 'shelf', id }, ...records)).toBeUndefined();
  });
}

const svcVerify = (...args: readonly string[]) => runCommand(['verify', ...args]);

beforeAll(async () => {
  writeFileSync(impure, await compileFixture('impure'));
  writeFileSync(cart, await compileFixture('shopping-cart'));
  await shelve(data, 's1', SHELVED, SHELVED);
  await shelve(data, 's2', SHELVED, SHELVED, NUMBERED);
});

const line = (kind: string, event?: object) =>
  JSON.stringify({ component: 'shelf', id: 's9', kind, event });

describe('svc verify', () => {
  test('of a journal names component, id, first event and place of what differs', async () => {
    // A process of its own, without colours because its output is none of a terminal.
    const { code, stdout, stderr } = await runSvc(['verify', impure, '--data', data], {
      env: { FORCE_COLOR: undefined, NO_COLOR: undefined },
    });
    expect(code).toBe(1);
    expect(stdout).toContain(
      'other-entities  shelf s2: another state from event 3 on, at number, when folded ',
    );
    expect(stdout).not.toContain('shelf s1');
    expect(stdout).toMatch(/^2 entities, 5 events$/m);
    expect(stderr).toMatch(/\[SVC_FOLD_IMPURE\]\n$/);
    expect(readdirSync(data).toSorted()).toEqual(['journal.sqlite', 'lock']);
  });

  test('prints one JSON document', async () => {
    const { stdout } = await svcVerify(impure, '--data', data, '-o', 'json');
    const books = [
      { title: 'Emma', copies: 1 },
      { title: 'Emma', copies: 1 },
    ];
    expect(JSON.parse(stdout)).toMatchObject({
      module: impure,
      findings: expect.arrayContaining([
        {
          component: 'shelf',
          id: 's2',
          seq: 3,
          way: 'used-instance',
          path: 'number',
          expected: { books, readers: {}, number: 1 },
          found: { books, readers: {}, number: 2 },
        },
      ]),
      entities: 2,
      events: 5,
      failures: 0,
    });
  });

  test('of a pure module exits with 0, over made-up events where none are given', async () => {
    expect(await svcVerify(cart)).toMatchObject({
      code: 0,
      stdout: '5 entities, 16 made-up events: every fold depends on the events alone\n',
      stderr: '',
    });
    const { stdout } = await svcVerify(cart, '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ findings: [], entities: 5, failures: 0 });
  });

  test('makes up events that find each kind of impurity', async () => {
    const { code, stdout } = await svcVerify(impure, '-o', 'json');
    expect(code).toBe(1);
    const { findings } = JSON.parse(stdout) as {
      findings: readonly { id: string; way?: string; error?: { code: string } }[];
    };
    const ways = (type: string) =>
      findings.filter(({ id }) => id === `made-up ${type}`).map(({ way }) => way);
    expect(ways('shelved')).toEqual([]);
    expect(ways('numbered')).toEqual(['other-entities', 'used-instance', 'after-snapshot']);
    expect(ways('located')).toContain('batches');
    expect(ways('sighted')).toEqual(['used-instance']);
    // Only an instance in which a handler has run folds this event differently.
    expect(findings.find(({ id }) => id === 'made-up glimpsed')).toMatchObject({
      error: { code: 'SVC_FOLD_FAULTED', message: expect.stringContaining('nothing was sighted') },
    });
    expect(findings.find(({ id }) => id === 'made-up poison')).toBeUndefined();
  });

  test('of a file takes the present life of each entity, as an export has it', async () => {
    const file = join(folder, 'events.ndjson');
    const shelved = JSON.parse(SHELVED) as object;
    writeFileSync(
      file,
      [
        line('event', { type: 'numbered' }),
        line('deleted'),
        line('event', shelved),
        line('event', shelved),
      ].join('\n'),
    );
    expect(await svcVerify(impure, '--events', file)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 entity, 2 events: /),
    });
    writeFileSync(
      file,
      `${line('deleted')}\n${line('event', { type: 'displayed', title: 'x' })}\n`,
    );
    writeFileSync(file, `${line('event', { type: 'copied' })}\n`, { flag: 'a' });
    const impureEvents = await svcVerify(impure, '--events', file);
    expect(impureEvents).toMatchObject({ code: 1 });
  });

  test.each([
    ['x\n', 'Line 1 of ', 'it is no JSON object'],
    ['{"component":"shelf","id":"a","event":{}}\n{"id":1}\n', 'Line 2 of ', 'no component and id'],
    ['{"component":"shelf","id":"a","event":7}\n', 'Line 1 of ', 'it has no event'],
  ])('of a file %j names the line', async (text, where, what) => {
    const file = join(temporaryFolder(), 'events.ndjson');
    writeFileSync(file, text);
    const { code, stdout, stderr } = await svcVerify(impure, '--events', file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(where);
    expect(stderr).toMatch(new RegExp(`${what}.*\\[SVC_EVENTS_INVALID\\]\\n$`));
  });

  test('an entity that cannot be folded is named, and the others are judged', async () => {
    const dir = temporaryFolder();
    await shelve(dir, 'a', '{"type":"shelvd"}');
    await shelve(dir, 'b', SHELVED, SHELVED);
    await shelve(dir, 'c', SHELVED);
    const database = new DatabaseSync(join(dir, 'journal.sqlite'));
    database.exec(`UPDATE journal SET json = '{}' WHERE seq = 2`);
    database.close();
    const { code, stdout, stderr } = await svcVerify(impure, '--data', dir);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^not judged {2}shelf a: This version cannot read event 1 .*shelved/m);
    expect(stdout).toMatch(/^not judged {2}shelf b: Record 2 of .* is damaged/m);
    expect(stdout).toMatch(/^3 entities, 2 events$/m);
    expect(stderr).toMatch(/2 entities could not be judged.*\[SVC_FOLD_FAULTED\]\n$/);
  });

  test('of views names rows that depend on the order between entities', async () => {
    const orders = join(folder, 'orders.wasm');
    writeFileSync(orders, await compileFixture('order-list'));
    const dir = temporaryFolder();
    await scriptedJournal(dir, admitModule(readFileSync(orders)), 'order', [
      ['a', 'place', 100],
      ['b', 'place', 200],
    ]);
    const { code, stdout, stderr } = await svcVerify(orders, '--data', dir);
    expect(code).toBe(1);
    expect(stdout).toBe(
      'entity-order  view amounts: 1 row is different when the same events are folded in another order between entities\n' +
        '  all, orders[0]: "a", and "b"\n' +
        '2 entities, 2 events, 2 views\n',
    );
    expect(stderr).toMatch(/ let no row of a view depend on the order .*\[SVC_FOLD_IMPURE\]\n$/);
    const { stdout: text } = await svcVerify(orders, '--data', dir, '-o', 'json');
    expect(JSON.parse(text)).toEqual({
      module: orders,
      findings: [
        {
          view: 'amounts',
          way: 'entity-order',
          rows: 1,
          examples: [{ key: 'all', path: 'orders[0]', expected: '"a"', found: '"b"' }],
        },
      ],
      entities: 2,
      events: 2,
      views: 2,
      failures: 0,
    });
  });

  test('of a module without the component says so', async () => {
    const { code, stdout, stderr } = await svcVerify(cart, '--data', data, '-o', 'json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /The module has no component 'shelf', of which there are entities.*\[SVC_NOT_IN_MODULE\]/,
    );
  });

  test('says in its help what it judges', async () => {
    const { stdout } = await svcVerify('--help');
    expect(stdout).toContain('It judges a module; svc journal verify judges a journal.');
  });
});

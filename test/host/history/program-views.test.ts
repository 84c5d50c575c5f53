// svc verify and svc upgrade-check with the views of a program, on the folder of a service that has served them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { createService } from '../../../host/embed.ts';
import { checkUpgrade } from '../../../host/history/upgrade-check.ts';
import { type VerifiedView, verifyViews } from '../../../host/history/view-verification.ts';
import type { ProgramSource } from '../../../host/hosting/guest-source.ts';
import { readProgram } from '../../../host/hosting/program/program-source.ts';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import { rowChecksum } from '../../../host/storage/views/row-checksum.ts';
import { viewPath, viewsFolder } from '../../../host/storage/views/view-file.ts';
import { declaredViews } from '../../../host/views/view-definitions.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { account, amounts, orders } from '../../components/support/order-list.ts';
import { order } from '../../components/support/order.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';

const SUPPORT = join(import.meta.dirname, '../../components/support');
const SETTINGS = { wasm: WASM_LIMITS_DEFAULT };
const PAID = "put({ ...row, status: 'paid' })";

const dir = temporaryFolderOfFile();
const programs = temporaryFolderOfFile();
let program: ProgramSource;
let programCount = 0;

beforeAll(async () => {
  program = changed();
  const parts = { entities: [order, account], views: [orders, amounts] };
  const service = await createService({ name: 'orders', ...parts, dataFolder: dir });
  const ids = ['a', 'b', 'c'];
  for (const id of ids) await service.call(order, id).place({ cents: 5n });
  for (const id of ids) await service.call(order, id).pay();
  const after = service.position();
  // The answers come once the views are folded up to the last event.
  await service.view(orders, { after }).get('a');
  await service.view(amounts, { after }).get('a');
  await service.stop();
});

/** The program of the orders with other code, from a file of its own. */
function changed(...edits: readonly (readonly [find: string, replace: string])[]): ProgramSource {
  const path = join(SUPPORT, 'order-list.ts');
  let text = readFileSync(path, 'utf8');
  for (const [find, replace] of edits) {
    if (!text.includes(find)) throw new Error(`the program has this text no more: ${find}`);
    text = text.replace(find, () => replace);
  }
  const file = join(programs, `${++programCount}.mts`);
  const resolved = (specifier: string) =>
    specifier.startsWith('.')
      ? new URL(specifier, pathToFileURL(path)).href
      : import.meta.resolve(specifier);
  writeFileSync(
    file,
    text.replaceAll(
      / from '([^']*)'/g,
      (_all, specifier: string) => ` from '${resolved(specifier)}'`,
    ),
  );
  return readProgram(file);
}

/** Edits with which the view `orders` folds the payment of order 'b' with this code. */
const paidB = (code: string) =>
  [
    ['{ put, remove, keep, timeMs }', '{ put, remove, keep, timeMs, entityId }'],
    [PAID, `(entityId === 'b' ? ${code} : ${PAID})`],
  ] as const;

const verified = async (source: ProgramSource): Promise<readonly VerifiedView[]> =>
  Array.fromAsync(verifyViews({ source, settings: SETTINGS, location: journalIn(dir) }));
const checked = async (now: ProgramSource, before = program) =>
  (await checkUpgrade({ location: journalIn(dir), now, before, settings: SETTINGS, threads: 1 }))
    .findings;

const AMOUNTS = {
  view: 'amounts',
  findings: [
    {
      way: 'entity-order',
      rows: 2,
      examples: [
        { key: '5', path: 'orders[0]', expected: '"a"', found: '"c"' },
        { key: 'all', path: 'orders[0]', expected: '"a"', found: '"c"' },
      ],
      problem: undefined,
    },
  ],
  failure: undefined,
};

describe('verification of the views of a program', () => {
  test('finds rows that depend on the order between entities, and no others', async () => {
    expect(await verified(program)).toEqual([
      { view: 'orders', findings: [], failure: undefined },
      AMOUNTS,
    ]);
  });

  test('compares the rows that the service has', async () => {
    const [{ folded }] = declaredViews(program.descriptor, program.fingerprint) as [
      ReturnType<typeof declaredViews>[number],
    ];
    const database = new DatabaseSync(viewPath(viewsFolder(dir), folded.stored.definition));
    const write = (key: string, json: string) =>
      database
        .prepare('UPDATE row SET json = ?, crc = ? WHERE key = ?')
        .run(json, rowChecksum(key, json), key);
    const { json } = database.prepare(`SELECT json FROM row WHERE key = 'b'`).get() as {
      readonly json: string;
    };
    try {
      write('b', json.replace('"paid"', '"expired"'));
      expect((await verified(program))[0]!.findings).toMatchObject([
        {
          way: 'stored-rows',
          rows: 1,
          examples: [{ key: 'b', path: 'status', expected: '"paid"', found: '"expired"' }],
        },
      ]);
    } finally {
      write('b', json);
      database.close();
    }
  });

  test('names the event at which a fold ends its thread, and judges the next view', async () => {
    const [found, next] = await verified(changed(...paidB('process.exit(3)')));
    expect(found!.failure).toMatchObject({
      code: 'SVC_VIEW_STOPPED',
      message: expect.stringMatching(
        /^The view 'orders' stops at event 2 of entity 'b' of component 'order': the fold of view 'orders' ended its thread: the program called process\.exit\(3\)$/,
      ) as string,
    });
    expect(next).toEqual(AMOUNTS);
  });
});

describe('an upgrade check of the views of a program', () => {
  test('finds rows that differ while the version is the same, and not once it is another', async () => {
    const other = ["put({ ...row, status: 'paid' })", 'remove()'] as const;
    expect(await checked(changed(other))).toMatchObject([
      {
        name: 'view-rows-differ',
        component: 'orders',
        entities: 3,
        examples: ['a', 'b', 'c'].map((id) => ({ id, problem: 'the row is gone' })),
      },
    ]);
    expect(await checked(changed(other, ["version: '1'", "version: '2'"]))).toEqual([]);
  });
});

// svc upgrade-check: its output, when it succeeds, and which arguments it refuses.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { progressText } from '../../cli/progress-line.ts';
import { FINDING_NAMES } from '../../host/history/upgrade-finding.ts';
import { admitModule } from '../../host/hosting/wasm/admission/admission.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { edit } from '../support/damaged-journal.ts';
import { runCommand } from '../support/command-line.ts';
import { runSvc } from '../support/host-process.ts';
import { scriptedJournal } from '../support/scripted-journal.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { withJournal } from '../support/with-journal.ts';

const folder = temporaryFolderOfFile();
const data = join(folder, 'data');
const first = join(folder, 'parcels.wasm');
const second = join(folder, 'parcels-2.wasm');
const page = readFileSync(
  join(import.meta.dirname, '../../docs/how-to/evolving-events.md'),
  'utf8',
);

const check = (...args: readonly string[]) => runCommand(['upgrade-check', ...args]);

beforeAll(async () => {
  const before = await compileFixture('evolving-before');
  writeFileSync(first, before);
  writeFileSync(second, await compileFixture('evolving-after'));
  await scriptedJournal(data, admitModule(before), 'parcel', [
    ['p1', 'send', { to: 'Ada', grams: 250, speed: 'Fast', clerk: 'Bob' }],
    ['p1', 'move', 'Lyon, FR'],
    ['p2', 'send', { to: 'Cyd', grams: 90, speed: 'Slow', clerk: 'Bob' }],
  ]);
});

describe('svc upgrade-check', () => {
  test('lists what was found as the page shows it, and fails', async () => {
    const words = ['upgrade-check', second, '--data', data, '--from', first];
    const env = { FORCE_COLOR: undefined, NO_COLOR: undefined };
    const { code, stdout, stderr } = await runSvc(words, { env });
    expect(code).toBe(1);
    expect(page).toContain(`\`\`\`\n${stdout}\`\`\`\n`);
    expect(stderr).toBe(
      `svc: ${second} cannot take over what ${data} holds: state-field-removed, command-removed. ` +
        'Fix the module, or accept intended findings with --allow. [SVC_UPGRADE_UNSAFE]\n',
    );
  });

  test('is content with what is allowed, for all components or for one', async () => {
    const allowed = ['--allow', 'state-field-removed', '--allow', 'command-removed:parcel'];
    const args = [second, '--data', data, '--from', first, '--threads', '1', '-o', 'json'];
    const { code, stdout, stderr } = await check(...args, ...allowed);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      dir: data,
      module: second,
      from: first,
      compared: 'module',
      safe: true,
      entities: 2,
      records: 3,
      findings: [
        {
          name: 'state-field-removed',
          component: 'parcel',
          subject: 'place',
          message: 'in the state, place is gone',
          entities: 0,
          examples: [],
          allowed: true,
        },
        {
          name: 'command-removed',
          component: 'parcel',
          subject: 'move',
          message: "command 'move' is gone",
          entities: 0,
          examples: [],
          allowed: true,
        },
      ],
    });
    const elsewhere = allowed.with(3, 'command-removed:cart');
    expect(await check(...args, ...elsewhere)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^--allow command-removed:cart is of no use: nothing of it was found\.\nsvc: /,
      ),
    });
  });

  test('says what was compared without the module before', async () => {
    const told = join(folder, 'told');
    const { descriptor } = admitModule(readFileSync(second));
    await withJournal(told, async () => {});
    const counts = 'safe: 0 records of 0 entities';
    expect(await check(second, '--data', told)).toMatchObject({
      code: 0,
      stdout: `${counts}, neither states nor declarations compared: that takes --from\n`,
    });
    const known = JSON.stringify(descriptor).replaceAll("'", "''");
    const columns = '(fingerprint, from_pos, time_ms, descriptor)';
    edit(told, `INSERT INTO module ${columns} VALUES ('f', 1, 1, '${known}')`);
    expect(await check(second, '--data', told)).toMatchObject({
      code: 0,
      stdout: `${counts}, states not compared: that takes --from\n`,
    });
  });

  test('of a damaged journal says that no module can repair it', async () => {
    const damaged = join(folder, 'damaged');
    await scriptedJournal(damaged, admitModule(readFileSync(first)), 'parcel', [
      ['p1', 'move', 'Lyon, FR'],
    ]);
    edit(damaged, `UPDATE journal SET json = '{}' WHERE pos = 1`);
    const { code, stdout, stderr } = await check(first, '--data', damaged);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^unsafe: 1 record of 1 entity,/m);
    expect(stderr).toMatch(/record-damaged\. Restore the journal .*\[SVC_UPGRADE_UNSAFE\]\n$/);
  });

  test('names entities, and shows nothing harmful', async () => {
    const hostile = join(folder, 'hostile');
    const module = admitModule(readFileSync(first));
    await scriptedJournal(hostile, module, 'parcel', [['a\u202eb', 'move', '\u001b[2J']]);
    const other = join(folder, 'cart.wasm');
    writeFileSync(other, await compileFixture('shopping-cart'));
    const { code, stdout } = await check(other, '--data', hostile);
    expect(code).toBe(1);
    expect(stdout).toContain('    a\\u{202e}b, record 1: no component reads it\n');
    expect(stdout).toContain("events 'ParcelEvent' of it are stored (1 entity)\n");
  });

  test.each([
    [[second], 'upgrade-check takes the journal'],
    [
      ['--data', data],
      'upgrade-check takes the new version: NEW.wasm, --program NEW.ts, --process ADDRESS',
    ],
    [
      [second, '--data', data, '--allow', 'state-field-remved'],
      "Did you mean 'state-field-removed'?",
    ],
    [[second, '--data', data, '--allow', 'record-damaged'], "takes no 'record-damaged' as --allow"],
    [[second, '--data', data, '--threads', '0'], 'a whole number from 1 to 64'],
    [[second, '--data', data, '--set', 'svc.wasm.nothing=1'], "no setting 'svc.wasm.nothing'"],
  ])('does not understand %j', async (args, message) => {
    const { code, stderr } = await check(...args);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(message) as string,
    });
  });

  test('says which of the modules cannot be read', async () => {
    const missing = join(folder, 'missing.wasm');
    expect(await check(second, '--data', data, '--from', missing)).toMatchObject({
      code: 1,
      stderr: `svc: The module ${missing} cannot be read (ENOENT). Give the path of a .wasm file. [SVC_MODULE_UNREADABLE]\n`,
    });
  });
});

test('the page lists everything that can be found', () => {
  for (const name of FINDING_NAMES) expect(page).toContain(`\`${name}\``);
});

test('progress says how much is left once it is more than a guess', () => {
  expect(progressText(0, 5_000, 'records', 5_000)).toBe('0 of 5,000 records (0 %)');
  expect(progressText(500, 5_000, 'records', 999)).toBe('500 of 5,000 records (10 %)');
  expect(progressText(500, 5_000, 'records', 2_000)).toBe('500 of 5,000 records (10 %), 18 s left');
  expect(progressText(1, 1_000, 'records', 60_000)).toMatch(/, 17 h left$/);
  expect(progressText(0, 0, 'records', 2_000)).toBe('0 of 0 records (100 %)');
});

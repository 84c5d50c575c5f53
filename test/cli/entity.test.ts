// svc entity: the history of an entity, also while a service runs, and its refusals.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { journalPath } from '../../host/storage/sqlite/journal-file.ts';
import { openTimerReader } from '../../host/storage/sqlite/timer-reader.ts';
import { append } from '../suites/journal-suite.ts';
import { CART, CART_TIME_MS, fillCart } from '../support/cart-journal.ts';
import { runCommand } from '../support/command-line.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { change, end, timerAt } from '../support/timer-writes.ts';
import { withJournal } from '../support/with-journal.ts';

const folder = temporaryFolderOfFile();
const data = join(folder, 'data');
const module = join(folder, 'shopping-cart.wasm');
const PEAR = '{"sku":"pear","quantity":1}';

const svcEntity = (...args: readonly string[]) => runCommand(['entity', ...args]);
const ofCart = (...args: readonly string[]) =>
  svcEntity(data, 'shopping-cart', 'c1', '--module', module, ...args);

beforeAll(async () => {
  writeFileSync(module, await compileFixture('shopping-cart'));
  await fillCart(data);
});

describe('svc entity', () => {
  test('prints one JSON document with a line for each step', async () => {
    const asked = ['entity', data, CART.component, CART.id, '--module', module, '--at', '2'];
    // A process of its own, without colours because its output is none of a terminal.
    const { code, stdout } = await runSvc([...asked, '--steps', '-o', 'json'], {
      env: { FORCE_COLOR: undefined, NO_COLOR: undefined },
    });
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(5);
    expect(JSON.parse(stdout)).toEqual({
      dir: data,
      ...CART,
      steps: [
        {
          seq: 1,
          kind: 'event',
          time: '2030-01-02T03:04:05.000Z',
          manifest: 'cart-event',
          event: { type: 'item-added', sku: 'apple', quantity: 1 },
          changes: [{ path: 'items[0]', after: { sku: 'apple', quantity: 1 } }],
          moreChanges: 0,
        },
        {
          seq: 2,
          kind: 'event',
          time: '2030-01-02T03:04:15.000Z',
          manifest: 'cart-event',
          event: { type: 'item-added', sku: 'apple', quantity: 2 },
          changes: [{ path: 'items[0].quantity', before: 1, after: 3 }],
          moreChanges: 0,
        },
      ],
      seq: 2,
      time: '2030-01-02T03:04:15.000Z',
      deleted: false,
      state: { items: [{ sku: 'apple', quantity: 3 }], checkedOut: false },
    });
  });

  test('tells as JSON what a command would do, and when and with which seed', async () => {
    const asked = ['--what-if', 'add-item', '--input', PEAR, '-o', 'json'];
    const effect = JSON.parse(
      (await ofCart('--at', '5', '--seed', '7', ...asked)).stdout,
    ) as object;
    expect(effect).toMatchObject({
      seq: 5,
      whatIf: {
        command: 'add-item',
        now: new Date(CART_TIME_MS + 5000).toISOString(),
        seed: '7',
        input: { sku: 'pear', quantity: 1 },
        kind: 'effect',
        events: [
          { manifest: 'cart-event', event: { type: 'item-added', sku: 'pear', quantity: 1 } },
        ],
        deletesEntity: false,
        changes: [{ path: 'items[0].quantity', before: 5, after: 6 }],
        log: [],
      },
    });
    const refused = await ofCart('--now', '2031-01-01', ...asked);
    expect(refused.code).toBe(0);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      seq: 6,
      whatIf: { kind: 'refusal', code: 'CONFLICT', now: '2031-01-01T00:00:00.000Z' },
    });
  });

  test('shows the timers that the entity has now, pending and dead, and none of an earlier point', async () => {
    const dir = temporaryFolder();
    await fillCart(dir);
    const dueMs = Date.UTC(2030, 0, 2, 3, 4, 5);
    const target = { component: CART.component, id: CART.id };
    await withJournal(dir, async (journal) => {
      for (const name of ['expire', 'remind'])
        await change(journal, target, timerAt(name, dueMs, { target, command: 'check-out' }));
      await change(journal, { ...target, id: 'c2' }, timerAt('other', dueMs, { target }));
      const reader = openTimerReader(journalPath(dir));
      const [, remind] = reader.list({ owner: target }, 0, 10).timers;
      reader.close();
      const fault = 'it trapped \u001b[2J';
      expect(await end(journal, target, remind!, { kind: 'dead', fault })).toBeUndefined();
    });
    const asked = [dir, target.component, target.id, '--module', module];
    const { code, stdout } = await svcEntity(...asked, '-o', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      timers: [
        { name: 'expire', state: 'pending', due: '2030-01-02T03:04:05.000Z' },
        { name: 'remind', state: 'dead', fault: 'it trapped \u001b[2J' },
      ],
      moreTimers: false,
    });
    const text = (await svcEntity(...asked)).stdout;
    const [due, command] = ['2030-01-02T03:04:05.000Z', 'shopping-cart/c1 check-out'];
    const lines = text.slice(text.indexOf('\ndue ')).trim().split('\n');
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ['due', 'next', 'attempts', 'owner', 'name', 'command', 'last fault'],
      [due, due, '0', 'shopping-cart/c1', 'expire', command],
      [due, 'dead', '1', 'shopping-cart/c1', 'remind', command, String.raw`it trapped \u{1b}[2J`],
    ]);
    const before = JSON.parse(
      (await svcEntity(...asked, '--at', '1', '-o', 'json')).stdout,
    ) as object;
    expect(before).not.toHaveProperty('timers');
  });

  test('shows the first timers of an entity that has many', async () => {
    const dir = temporaryFolder();
    await fillCart(dir);
    const target = { component: CART.component, id: CART.id };
    await withJournal(dir, async (journal) => {
      for (let index = 0; index < 21; index++)
        await change(journal, target, timerAt(`t${index}`, CART_TIME_MS, { target }));
    });
    const asked = [dir, target.component, target.id, '--module', module];
    const shown = JSON.parse((await svcEntity(...asked, '-o', 'json')).stdout) as {
      readonly timers: readonly unknown[];
    };
    expect(shown).toMatchObject({ moreTimers: true });
    expect(shown.timers).toHaveLength(20);
    expect((await svcEntity(...asked)).stdout).toContain(
      `There are more: svc timers ${dir} --owner shopping-cart/c1\n`,
    );
  });

  test('makes and changes nothing where no service runs', async () => {
    const before = readFileSync(join(data, 'journal.sqlite'));
    expect(await ofCart('--steps', '--what-if', 'remove')).toMatchObject({ code: 0 });
    expect(readdirSync(data).toSorted()).toEqual(['journal.sqlite', 'lock']);
    expect(readFileSync(join(data, 'journal.sqlite')).equals(before)).toBe(true);
  });

  test('beside a running service sees what it has answered, and does not disturb it', async () => {
    const dir = temporaryFolder();
    const svc = new SvcProcess(
      ['run', module, '--port', '0', '--host', '127.0.0.1', '--data', dir],
      {},
    );
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    const url = await svc.listening();
    const add = async () => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/carts/c1/items`, { method: 'POST', headers, body: PEAR });
      expect(answer.status).toBe(200);
    };
    const args = [dir, 'shopping-cart', 'c1', '--module', module, '-o', 'json'];
    for (const seq of [1, 2]) {
      await add();
      const { stdout } = await svcEntity(...args, '--what-if', 'add-item', '--input', PEAR);
      expect(JSON.parse(stdout)).toMatchObject({
        seq,
        state: { items: [{ sku: 'pear', quantity: seq }] },
        whatIf: { changes: [{ path: 'items[0].quantity', before: seq, after: seq + 1 }] },
      });
    }
    await add();
    expect(await (await fetch(`${url}/carts/c1`)).json()).toMatchObject({
      items: [{ sku: 'pear', quantity: 3 }],
    });
    expect((await svc.end('SIGTERM')).code).toBe(0);
  });

  test('gives a terminal nothing of an id or an event to obey', async () => {
    const hostile = '\u001b[2J\u009b2J\u202e';
    const dir = temporaryFolder();
    const json = JSON.stringify({ type: 'item-added', sku: hostile, quantity: 1 });
    await withJournal(dir, async (journal) => {
      const event = { manifest: 'cart-event', json };
      await append(
        journal,
        { component: 'shopping-cart', id: hostile },
        { kind: 'event', seq: 1, timeMs: 1, event },
      );
    });
    const args = [dir, 'shopping-cart', hostile, '--module', module, '--steps'];
    const input = JSON.stringify({ sku: hostile, quantity: 1 });
    const answers = [
      await svcEntity(...args, '--what-if', 'add-item', '--input', input),
      await svcEntity(...args, '--what-if', 'add-item', '--input', input, '-o', 'json'),
      await svcEntity(...args, '--what-if', hostile),
    ];
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
    for (const { stdout, stderr } of answers) expect(stdout + stderr).not.toMatch(controls);
    expect(JSON.parse(answers[1]!.stdout)).toMatchObject({
      id: hostile,
      state: { items: [{ sku: hostile }] },
    });
  });

  test('shows with each step who has sent its command', async () => {
    const dir = temporaryFolder();
    const by = JSON.stringify(['https://login.example.com', 'user 1\u001b[2J']);
    const event = { manifest: 'cart-event', json: '{"type":"removed"}' };
    await withJournal(dir, async (journal) => {
      await append(journal, CART, { kind: 'event', seq: 1, timeMs: 1, event, by });
      await append(journal, CART, { kind: 'event', seq: 2, timeMs: 2, event });
    });
    const args = [dir, CART.component, CART.id, '--module', module, '--steps'];
    expect((await svcEntity(...args)).stdout.split('\n').slice(0, 2)).toEqual([
      String.raw`     1  1970-01-01T00:00:00.001Z  removed  by 'user 1\u{1b}[2J'`,
      '     2  1970-01-01T00:00:00.002Z  removed',
    ]);
    const { steps } = JSON.parse((await svcEntity(...args, '-o', 'json')).stdout) as {
      steps: readonly { by?: unknown }[];
    };
    expect(steps.map((step) => step.by)).toEqual([
      { issuer: 'https://login.example.com', subject: 'user 1\u001b[2J' },
      undefined,
    ]);
  });

  test.each([
    [['--at', '7'], 'has no record 7', 'SVC_NOT_IN_JOURNAL'],
    [['--at', 'noon'], "takes a record's number or a time as --at, such as", 'SVC_USAGE'],
    [['--at', '2030-13-02'], 'as --at', 'SVC_USAGE'],
    [['--at', '2030-02-31'], "and found '2030-02-31'", 'SVC_USAGE'],
    [['--at', '2031-02-29T03:04:05Z'], "and found '2031-02-29T03:04:05Z'", 'SVC_USAGE'],
    [['--at', '1969-12-31'], 'from 1970 on as --at', 'SVC_USAGE'],
    [['--at', '-3'], 'A value that does is written --at=VALUE', 'SVC_USAGE'],
    [['--what-if', 'chek-out'], "Did you mean 'check-out'?", 'SVC_NOT_IN_MODULE'],
    [['--what-if', 'check-out', '--input', '{'], 'takes JSON as --input', 'SVC_USAGE'],
    [['--what-if', 'check-out', '--seed', '1e3'], 'as --seed', 'SVC_USAGE'],
    [['--input', '{}'], '--input with --what-if COMMAND only', 'SVC_USAGE'],
    [['--set', 'svc.wasm.nothing=1'], 'svc.wasm.nothing', 'SVC_USAGE'],
    [['--set', 'svc.wasm.command-fuel=x'], 'command-fuel', 'SVC_SETTING_INVALID'],
  ])('says what is wrong with %j', async (args, message, code) => {
    const answer = await ofCart(...args);
    expect(answer.stdout).toBe('');
    expect(answer.stderr).toContain(message);
    expect(answer.stderr).toContain(`[${code}]`);
    expect(answer.code).toBe(code === 'SVC_USAGE' ? 2 : 1);
  });

  test('names a module, an entity, a component and a folder that there are not', async () => {
    const without = await svcEntity(data, 'shopping-cart', 'c1');
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('--module') });
    const missing = await svcEntity(data, 'shopping-cart', 'c1', '--module', 'none.wasm');
    expect(missing.stderr).toMatch(/\[SVC_MODULE_UNREADABLE\]\n$/);
    const noModule = await svcEntity(data, 'shopping-cart', 'c1', '--module', import.meta.filename);
    expect(noModule.stderr).toContain(`svc: ${import.meta.filename}: The file is not WebAssembly`);
    const other = await svcEntity(data, 'shopping-cart', 'c2', '--module', module);
    expect(other.stderr).toMatch(/no entity 'c2'.*\[SVC_NOT_IN_JOURNAL\]\n$/);
    const component = await svcEntity(data, 'cart', 'c1', '--module', module);
    expect(component.stderr).toMatch(/no component 'cart'.*\[SVC_NOT_IN_MODULE\]\n$/);
    const none = await svcEntity(join(data, 'none'), 'shopping-cart', 'c1', '--module', module);
    expect(none.stderr).toMatch(/\[SVC_JOURNAL_MISSING\]\n$/);
  });
});

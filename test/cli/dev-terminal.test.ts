import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { DevTerminal } from '../../cli/dev/dev-terminal.ts';
import { EVENT_PARKED, EVENT_SKIPPED } from '../../host/tools.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const HOSTILE = 'a\u001b[2Jb\u202ec';
const descriptor = {
  protocol: '0.1.0' as const,
  sdk: { name: 'test', version: '1' },
  types: {},
  entities: [],
  endpoints: [],
};

function terminal(root = '/nowhere') {
  const written: string[] = [];
  const stream = { write: (text: string) => written.push(text) > 0 };
  return { shown: new DevTerminal(root, stream), text: () => written.join('') };
}

const served = (file: string) => ({
  kind: 'served' as const,
  source: { kind: 'wasm' as const, file, fingerprint: 'f' },
  settings: {} as never,
  url: 'http://127.0.0.1:9000',
  dataFolder: '/nowhere/.svc/till',
  journal: '/nowhere/.svc/till',
  afterMs: 62,
  isNewest: true,
});
const endpointWith = (count: number) => ({
  name: 'Tills',
  prefix: '/tills',
  access: { allow: 'internet' as const },
  routes: Array.from({ length: count }, (_, index) => ({
    method: 'GET' as const,
    path: `/${index + 1}`,
    handler: `get${index + 1}`,
    parameters: [],
    reply: { kind: 'text' as const },
  })),
});
const problem = (line: number) => ({ message: 'wrong', file: 'a.ts', line, column: 1 });
const build = { descriptor, builtMs: 1234, changed: ['/nowhere/a.ts'], warnings: [] };

test('text of a module reaches no terminal unescaped', () => {
  const { shown, text } = terminal();
  shown.logged({ level: 'info', message: HOSTILE, fields: { from: 'entity' } }, undefined);
  const fields = { component: HOSTILE, entity: HOSTILE, handler: HOSTILE, code: 'trap' };
  shown.logged({ level: 'warn', message: 'm', fields: { ...fields, reason: HOSTILE } }, undefined);
  shown.logged(
    { level: 'warn', message: 'm', fields: { ...fields, guestMessage: HOSTILE } },
    { locationsOf: () => [{ file: HOSTILE, line: 1, column: 1, function: HOSTILE }] },
  );
  shown.logged({ level: 'error', message: HOSTILE, fields: { route: HOSTILE } }, undefined);
  shown.refused('SVC_MODULE_START_FAILED', HOSTILE, []);
  shown.upgrade([HOSTILE]);
  shown.output(HOSTILE);
  // oxlint-disable-next-line no-control-regex -- it is what may not be there
  expect(text()).not.toMatch(/\u001b|\u202e/);
  expect(text()).toContain(String.raw`a\u{1b}[2Jb\u{202e}c`);
});

test('a module that is tried again is not said to have left the one before in its place', () => {
  const { shown, text } = terminal();
  shown.refused('SVC_SHARD_FAILED', 'It ended.', [], true);
  expect(text()).toContain('not served: It ended. [SVC_SHARD_FAILED] · it is tried again');
});

test('one fault that also failed a request is printed once, with the request', () => {
  const { shown, text } = terminal();
  const frames = [{ functionIndex: 1, offset: 2 }];
  const reason = { code: 'trap', reason: 'It trapped.' };
  const entity = { component: 'till', entity: 'a', handler: 'add', ...reason };
  shown.logged({ level: 'warn', message: 'an entity failed', fields: entity, frames }, undefined);
  const request = { route: 'POST /tills/{id}', errorId: 'abc', ...reason };
  shown.logged({ level: 'warn', message: 'failed', fields: request, frames }, undefined);
  expect(text().match(/It trapped/g)).toHaveLength(1);
  expect(text()).toContain('till.add a');
  expect(text()).toContain('in POST /tills/{id}, error id abc');
  shown.logged({ level: 'warn', message: 'an entity failed', fields: entity, frames }, undefined);
  expect(text()).toMatch(/till\.add a · the same again\n$/);
});

test('what the module said of a fault stands before what the runtime says of it', () => {
  const { shown, text } = terminal();
  const fields = {
    component: 'till',
    entity: 'a',
    handler: 'add',
    code: 'trap',
    reason: 'It trapped.',
  };
  const said = { level: 'warn' as const, message: 'an entity failed' };
  shown.logged({ ...said, fields: { ...fields, guestMessage: 'no such coin' } }, undefined);
  expect(text()).toMatch(/ ✕ till\.add a\n +no such coin\n +It trapped\. \[trap\]\n$/);
  shown.logged({ ...said, fields: { ...fields, reason: 'same', guestMessage: 'same' } }, undefined);
  expect(text()).toMatch(/ ✕ till\.add a\n +same \[trap\]\n$/);
});

test('a warning about nothing else than its message is printed once', () => {
  const { shown, text } = terminal();
  shown.logged({ level: 'warn', message: 'Development tokens count', fields: {} }, undefined);
  expect(text().match(/Development tokens count/g)).toHaveLength(1);
});

test('a source location is printed with its line, relative to the folder of the project', () => {
  const root = temporaryFolder();
  mkdirSync(join(root, 'assembly'));
  writeFileSync(join(root, 'assembly', 'till.ts'), 'one\n  two();\nthree\n');
  const { shown, text } = terminal(root);
  const place = { file: 'assembly/till.ts', line: 2, column: 3, function: 'Till.add' };
  const gone = { file: 'gone.ts', line: 9, column: null, function: null };
  shown.logged(
    { level: 'warn', message: 'm', fields: { reason: 'r' } },
    { locationsOf: () => [place, { ...place, column: 5 }, gone] },
  );
  expect(text()).toMatch(
    /assembly\/till\.ts:2:3 in Till\.add\n +2 \| two\(\);\n.*:2:5 in Till\.add\n/,
  );
  expect(text()).toMatch(/gone\.ts:9\n$/);
});

test('what was served is told in one line, and the same module is not called served anew', () => {
  const { shown, text } = terminal();
  shown.served(served('one'), 'till', build);
  expect(text()).toMatch(/● serving · compiled in 1\.2 s, served 62 ms after · .*a\.ts\n$/);
  shown.served(served('one'), 'till', build);
  expect(text()).toMatch(/compiled in 1\.2 s, the same module as before · .*a\.ts\n$/);
  expect(text().match(/http:/g)).toHaveLength(1);
});

test('many problems are cut after the first ones, and counted', () => {
  const { shown, text } = terminal();
  shown.failed(Array.from({ length: 9 }, (_, index) => problem(index + 1)));
  expect(text().match(/: error: wrong/g)).toHaveLength(5);
  expect(text()).toContain('and 4 more problems');
  expect(text()).toMatch(/✕ 9 problems · waiting for a change\n$/);
});

const buildWith = (count: number) => ({
  ...build,
  descriptor: { ...descriptor, endpoints: [endpointWith(count)] },
});

test('many routes are cut after the first ones, with the command that lists them all', () => {
  const { shown, text } = terminal();
  shown.served(served('/nowhere/a b.wasm'), 'till', buildWith(13));
  expect(text()).toContain('/tills/12\n');
  expect(text()).not.toContain('/tills/13');
  expect(text()).toMatch(/  and 1 more · all of them: npx svc inspect '.*nowhere\/a b\.wasm'\n/);
  const few = terminal();
  few.shown.served(served('one'), 'till', buildWith(12));
  expect(few.text()).not.toContain('svc inspect');
});

test('a parked event is shown with its consumer, its entity, and the commands that let it go on', () => {
  const { shown, text } = terminal();
  shown.served(served('/nowhere/a.wasm'), 'till', build);
  const event = { consumer: 'ledger', component: 'order', entity: "o'1", seq: 3 };
  const log = (message: string, reason: string) =>
    shown.logged({ level: 'warn', message, fields: { ...event, reason } }, undefined);
  log('a consumer failed', 'It trapped.');
  log(EVENT_PARKED, 'It trapped 10 times.');
  log(EVENT_SKIPPED, 'not of interest');
  const lines = text().split('\n');
  const from = (start: string) =>
    lines.slice(lines.findIndex((line) => line.includes(start))).map((line) => line.trim());
  expect(from("consumer ledger, event 3 of order/o'1").slice(1, 2)).toEqual(['It trapped.']);
  const data = relative(process.cwd(), served('').dataFolder);
  const args = String.raw`${data} ledger 'order/o'\''1'`;
  expect(from('is parked').slice(1, 5)).toEqual([
    'It trapped 10 times.',
    'the later events of this entity wait',
    `again:   npx svc consumers retry ${args}`,
    `without: npx svc consumers skip ${args} 3 --reason WHY`,
  ]);
  expect(from('is skipped').slice(1, 2)).toEqual(['not of interest']);
});

test('a journal in a database is named, and no command that needs a folder is shown', () => {
  const { shown, text } = terminal();
  const journal = 'the database whose URL is in the file /nowhere/url';
  shown.served({ ...served('/nowhere/a.wasm'), dataFolder: undefined, journal }, 'till', build);
  expect(text()).toContain(`journal ${journal} · look inside`);
  const event = { component: 'order', entity: 'o1', reason: 'It trapped.' };
  const parked = { ...event, consumer: 'ledger', seq: 3 };
  shown.logged({ level: 'warn', message: EVENT_PARKED, fields: parked }, undefined);
  const stopped = { ...event, code: 'SVC_VIEW_STOPPED', view: 'orders', event: 3 };
  shown.logged({ level: 'error', message: 'the view has stopped', fields: stopped }, undefined);
  expect(text()).toContain('the later events of this entity wait');
  expect(text()).toContain('the rows have no later events');
  expect(text()).not.toMatch(/npx svc (?:consumers|views)/);
});

test('a parked event is shown as on the page about svc dev', () => {
  const block = snippetsOf('docs/how-to/developing.md', 'text')
    .map(({ code }) => code)
    .find((code) => code.includes('is parked'))!;
  const { shown, text } = terminal();
  const dataFolder = join(process.cwd(), '.svc/bank');
  shown.served({ ...served('/nowhere/a.wasm'), dataFolder }, 'bank', build);
  const event = { consumer: 'ledger', component: 'transfer', entity: 't1', seq: 2 };
  const fields = { ...event, reason: 'INTERNAL: the account does not exist' };
  shown.logged({ level: 'warn', message: EVENT_PARKED, fields }, undefined);
  expect(text().slice(text().indexOf('✕')).trim()).toBe(block.slice(block.indexOf('✕')).trim());
});

test('a view that has stopped is shown with its event, and the command that leaves it out', () => {
  const { shown, text } = terminal();
  const event = { view: 'orders', component: 'order', entity: 'o1', event: 3 };
  const fields = { code: 'SVC_VIEW_STOPPED', ...event, reason: 'It trapped.' };
  shown.served(served('/nowhere/a.wasm'), 'till', build);
  shown.logged({ level: 'error', message: 'the view has stopped', fields }, undefined);
  expect(text()).toContain('view orders, event 3 of order/o1');
  expect(text()).toContain(' orders order/o1 3 --reason WHY');
});

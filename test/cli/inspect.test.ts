// svc inspect reports the same about a module as svc run does, with the same settings.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BearerRule } from '@svc/contract';
import {
  component,
  guestWat,
  testDescriptor,
  withDescriptor,
} from '../host/hosting/wasm/support/guest-module.ts';
import { runCommand } from '../support/command-line.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const described = (change: Partial<ReturnType<typeof testDescriptor>> = {}) => ({
  ...testDescriptor(),
  ...change,
});
const write = (name: string, content: Uint8Array) => writeFileSync(join(folder, name), content);
const [endpoint] = testDescriptor().endpoints;

beforeAll(async () => {
  const bytes = await component(guestWat());
  write('good.wasm', withDescriptor(bytes, described()));
  write('undescribed.wasm', bytes);
  write(
    'routes.wasm',
    withDescriptor(bytes, described({ endpoints: [endpoint!, { ...endpoint!, name: 'Again' }] })),
  );
  write('text.wasm', Buffer.from('export class Cart {}'));
  write('mirror.wasm', await compileFixture('counter-mirror'));
});

const inspect = (...args: readonly string[]) =>
  runCommand(['inspect', ...args.map((arg) => (arg.endsWith('.wasm') ? join(folder, arg) : arg))]);

describe('svc inspect and svc run say the same of a module that', () => {
  test.each([
    ['has no descriptor', ['undescribed.wasm'], 'SVC_MODULE_NO_DESCRIPTOR'],
    ['has a route twice', ['routes.wasm'], 'SVC_MODULE_BAD_DESCRIPTOR'],
    ['is none', ['text.wasm'], 'SVC_MODULE_NOT_WASM'],
    [
      'is too large for a setting',
      ['good.wasm', '--set', 'svc.wasm.module-bytes-max=1024'],
      'SVC_MODULE_TOO_LARGE',
    ],
    [
      'has too much in it for a setting',
      ['good.wasm', '--set', 'svc.wasm.functions-max=3', '--set', 'svc.wasm.globals-max=5'],
      'SVC_MODULE_TOO_LARGE',
    ],
  ])('%s', async (_what, args, code) => {
    const inspected = await runSvc(['inspect', ...args], { cwd: folder });
    const [verdict] = inspected.stdout.split('\n');
    expect(inspected.code).toBe(1);
    expect(verdict).toMatch(new RegExp(`^refused: .* \\[${code}\\]$`));
    const run = await runSvc(['run', ...args, '--port', '0'], { cwd: folder });
    expect(run.stderr).toBe(`${verdict!.replace('refused', 'svc')}\n`);
    expect(run.code).toBe(1);
  });
});

describe('svc inspect', () => {
  test('reads settings from the environment, as svc run does', async () => {
    const { stdout } = await runSvc(['inspect', 'good.wasm'], {
      cwd: folder,
      env: { SVC_WASM_FUNCTIONS_MAX: '3' },
    });
    expect(stdout).toContain('svc.wasm.functions-max');
  });

  test.each([
    ['svc.wasm.functions-max=none', 1, 'SVC_SETTING_INVALID'],
    ['svc.wasm.function-max=3', 2, 'SVC_USAGE'],
  ])('takes no setting that svc run does not take: %s', async (setting, code, said) => {
    const { stderr, ...ended } = await inspect('good.wasm', '--set', setting);
    expect(ended.code).toBe(code);
    expect(stderr).toContain(said);
  });

  test('prints the routes as OpenAPI alone, and of a module that is refused the reason', async () => {
    const { code, stdout, stderr } = await inspect('good.wasm', '--openapi');
    expect([code, stderr]).toEqual([0, '']);
    const document = JSON.parse(stdout) as Record<string, unknown>;
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'good' } });
    expect(Object.keys(document['paths'] as object).length).toBeGreaterThan(0);
    const refused = await inspect('undescribed.wasm', '--openapi');
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('[SVC_MODULE_NO_DESCRIPTOR]');
  });

  test('says which routes pages of other origins may call', async () => {
    const cors = { origins: ['https://shop.example.com'], credentials: false };
    const [route] = endpoint!.routes;
    const routes = [route!, { ...route!, path: '/own', cors: {} }];
    const endpoints = [{ ...endpoint!, cors, routes }];
    write('pages.wasm', withDescriptor(await component(guestWat()), described({ endpoints })));
    const { stdout } = await inspect('pages.wasm');
    expect(stdout).toContain('(internet; CORS for https://shop.example.com, without credentials)');
    expect(stdout).toContain('(internet; CORS)');
  });

  test('says which routes ask for an access token, and for which roles and scopes', async () => {
    const [route] = endpoint!.routes;
    const rule: BearerRule = {
      roles: { match: 'any', names: ['librarian', 'admin'] },
      scopes: { match: 'all', names: ['books:write'] },
      forwardsToken: true,
    };
    const routes = [route!, { ...route!, path: '/own', bearer: rule }];
    const endpoints = [{ ...endpoint!, bearer: {}, routes }];
    write('tokens.wasm', withDescriptor(await component(guestWat()), described({ endpoints })));
    const { stdout } = await inspect('tokens.wasm');
    expect(stdout).toContain('(internet; token)');
    expect(stdout).toContain(
      '(internet; token with one of the roles librarian, admin and the scope books:write, which the handler sees)',
    );
  });

  test('says how many requests the limits of a route let through', async () => {
    const [route] = endpoint!.routes;
    const limits = [{ count: 60, per: 'minute', by: 'address' } as const];
    const own = [{ count: 5, per: 'second', by: 'route' } as const];
    const routes = [route!, { ...route!, path: '/own', limits: own }];
    const endpoints = [{ ...endpoint!, limits, routes }];
    write('limits.wasm', withDescriptor(await component(guestWat()), described({ endpoints })));
    const { stdout } = await inspect('limits.wasm');
    expect(stdout).toContain('(internet; at most 60/minute by address)');
    expect(stdout).toContain('(internet; at most 60/minute by address and 5/second by route)');
  });

  test('lists the schedules of the service', async () => {
    const [entity] = testDescriptor().entities;
    const tick = { name: 'tick', input: { type: 'null' }, reply: { type: 'null' } } as const;
    const schedule = { target: { component: entity!.component, id: 'all' }, command: 'tick' };
    const schedules = [
      { ...schedule, id: 'often', due: { kind: 'every', everyMs: 60_000 } as const },
      {
        ...schedule,
        id: 'hourly',
        due: { kind: 'cron', expression: '@hourly', zone: '' } as const,
      },
    ];
    const entities = [{ ...entity!, commands: [tick] }];
    const descriptor = described({ entities, schedules });
    write('schedules.wasm', withDescriptor(await component(guestWat()), descriptor));
    const { stdout } = await inspect('schedules.wasm');
    expect(stdout).toContain(`
schedules
  often          every 60000 ms: counter/all tick
  hourly         @hourly (UTC): counter/all tick
`);
    expect((await inspect('good.wasm')).stdout).not.toContain('schedules');
  });

  test('lists views with their indexes and queries', async () => {
    write('orders.wasm', await compileFixture('order-list'));
    const { stdout } = await inspect('orders.wasm');
    expect(stdout).toMatch(
      /\nviews\n {2}orders\n {4}sources {8}order\n {4}keys {11}the id of the entity\n {4}row {12}status, [^\n]*placedAt[^\n]*\n {4}index {10}status, placedAt\n {4}query {10}of-status: status = :status order by placedAt desc\n {4}query {10}all\n {4}version {8}[0-9a-f]{64}\n {4}definition {5}[0-9a-f]{12}\n {2}amounts\n/,
    );
    expect(stdout).toMatch(
      / {2}amounts\n {4}sources {8}order, account\n {4}keys {11}computed from the events\n/,
    );
    const json = await inspect('orders.wasm', '-o', 'json');
    const { viewDefinitions } = JSON.parse(json.stdout) as { viewDefinitions: { orders: string } };
    expect(stdout).toContain(`definition     ${viewDefinitions.orders.slice(0, 12)}\n`);
    expect((await inspect('good.wasm')).stdout).not.toContain('views');
  });

  test('reads no file that has no end', async () => {
    const { stderr, code } = await inspect('/dev/zero');
    expect(stderr).toContain('SVC_MODULE_UNREADABLE');
    expect(code).toBe(1);
  });
});

test('svc inspect shows the consumers of a module, and what they handle', async () => {
  const { code, stdout } = await inspect('mirror.wasm');
  expect(code).toBe(0);
  expect(stdout).toContain('\nconsumers\n  tallying       of counter, from beginning\n');
  const json = await inspect('mirror.wasm', '-o', 'json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    descriptor: { consumers: [{ id: 'tallying', start: 'beginning', sources: ['counter'] }] },
  });
});

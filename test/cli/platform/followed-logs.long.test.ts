// `svc service logs -f` as a process, with a control plane whose instances write, end and follow one another.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiUnderTest, idleOrchestrator } from '../../control-plane/endpoints/api-under-test.ts';
import { FaultyFront } from '../../support/faulty-front.ts';
import { PlatformUser } from '../../support/platform-user.ts';

let api: ApiUnderTest;
let front: FaultyFront;
/** Lines by instance. The orchestrator answers with the last three of each, however old they are. */
let written: Map<string, string[]>;

async function logs() {
  return [...written].map(([instance, lines]) => ({
    instance,
    output: lines
      .slice(-3)
      .map((line) => `${line}\n`)
      .join(''),
    error: null,
  }));
}

beforeAll(async () => {
  api = await ApiUnderTest.start({}, undefined, idleOrchestrator({ logs }));
  front = await FaultyFront.open(api.control.url);
  await api.done('POST /organizations/acme', { as: 'ann', json: { name: 'Acme' } });
  const project = { name: 'Shop', organizationId: 'acme' };
  await api.done('POST /projects/shop', { as: 'ann', json: project });
});
afterAll(async () => {
  await front[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

test('lines come once, over a rollout and an outage, until the service is deleted', async () => {
  const descriptor = { name: 'cart', image: 'registry.test/cart:1' };
  await api.done('PUT /services/shop/cart', { as: 'ann', json: descriptor });
  const user = new PlatformUser({ SVC_URL: front.url, SVC_TOKEN: await api.token('ann') });
  const first = ['a1', 'a2', 'a3'];
  written = new Map([['cart-1-aa', first]]);
  const command = user.start(['service', 'logs', 'cart', '-f', '-p', 'shop']);
  const shows = async (text: string) => {
    while (!command.stdout.includes(text)) await pause(20);
  };
  await shows('a3\n');
  first.push('a4', 'a4', '\u001b[31m');
  await shows('\\u{1b}[31m\n');

  // The next generation begins while the former one still writes, and then ends.
  written.set('cart-2-bb', ['b1']);
  await shows('cart-2-bb  b1\n');
  first.push('a5');
  await shows('cart-1-aa  a5\n');
  written.delete('cart-1-aa');
  await command.logged(/^cart-1-aa no longer runs\.$/m);

  let failures = 0;
  // The client makes four attempts of a question, so that two questions have failed with ten requests.
  const failed = Promise.withResolvers<void>();
  front.fate = (line) => {
    if (!line.endsWith('/logs')) return 'pass';
    if (++failures === 10) failed.resolve();
    return 'cut';
  };
  await command.logged(/gave no answer.* Asking again each second\.$/m);
  written.get('cart-2-bb')!.push('b2');
  await failed.promise;
  front.fate = () => 'pass';
  await shows('b2\n');

  // No instance runs, which is no end.
  written = new Map();
  await command.logged(/^cart-2-bb no longer runs\.$/m);
  written = new Map([['cart-3-cc', ['c1']]]);
  await shows('c1\n');

  await api.done('DELETE /services/shop/cart', { as: 'ann' });
  const { code, stdout, stderr } = await command.ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/The service is deleted\.\n$/);
  expect(stderr.match(/Asking again/g)).toHaveLength(1);
  const lines = stdout.split('\n').map((line) => line.replace(/^cart-\S+ +/, ''));
  const all = ['a1', 'a2', 'a3', 'a4', 'a4', '\\u{1b}[31m', 'b1', 'a5', 'b2', 'c1', ''];
  expect(lines).toEqual(all);
});

test('a service that is not there, and a login that is none, end the command at once', async () => {
  written = new Map();
  const user = new PlatformUser({ SVC_URL: front.url, SVC_TOKEN: await api.token('ann') });
  const none = await user.svc(['service', 'logs', 'none', '-f', '-p', 'shop']);
  expect(none).toMatchObject({ code: 1, stdout: '' });
  expect(none.stderr).toMatch(/answered 404: .*\[SVC_API_REFUSED\]\n$/);
  const stranger = await user.svc(['service', 'logs', 'cart', '-f', '-p', 'shop'], {
    SVC_TOKEN: 'none',
  });
  expect(stranger.code).toBe(3);
});

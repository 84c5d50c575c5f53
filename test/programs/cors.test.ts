// `svc run` and pages of other origins: the flag, several shards, and what the log says of origins in vain.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SHOP = 'https://shop.example.com';

async function serve(fixture: string, ...options: readonly string[]) {
  const folder = temporaryFolder();
  const module = join(folder, `${fixture}.wasm`);
  writeFileSync(module, await compileFixture(fixture));
  const service = new SvcProcess(['run', module, '--port', '0', '--data', folder, ...options]);
  onTestFinished(async () => {
    service.child.kill('SIGTERM');
    await service.ended;
  });
  return { service, url: await service.listening() };
}

test('each shard answers preflights and requests of the origin that --cors names', async () => {
  const { service, url } = await serve('notes', '--cors', SHOP, '--shards', '2');
  const headers = { origin: SHOP, 'access-control-request-method': 'PUT' };
  for (let round = 0; round < 8; round++) {
    const close = { connection: 'close' };
    const preflight = await fetch(`${url}/notes/${round}`, {
      method: 'OPTIONS',
      headers: { ...headers, ...close },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(SHOP);
    const answer = await fetch(`${url}/notes/${round}`, { headers: { origin: SHOP, ...close } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(SHOP);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  }
  expect(service.stderr).not.toContain('svc.http.cors.origins');
});

test('the log says when no route declares that it is meant for pages', async () => {
  const { service, url } = await serve('counter', '--cors', SHOP);
  await service.logged(/warn.*svc\.http\.cors\.origins allows pages of other origins/);
  const answer = await fetch(`${url}/counters/a`, { headers: { origin: SHOP } });
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
});

test.each([
  ['https://shop.example.com/', 'write https://shop.example.com'],
  ['shop.example.com', 'write it as https://shop.example.com'],
])('an origin that no browser sends is refused at the start: %s', async (origin, todo) => {
  const { code, stderr } = await new SvcProcess(['run', 'none.wasm', '--cors', origin]).ended;
  expect(code).toBe(1);
  expect(stderr).toContain(todo);
  expect(stderr).toContain('SVC_SETTING_INVALID');
});

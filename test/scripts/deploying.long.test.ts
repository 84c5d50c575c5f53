// docs/how-to/deploying.md: its paths, settings and backups match the running image.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { SECTION_DEFAULTS } from '../../host/service/section-settings.ts';
import { IDENTITY_NAMES } from '../../identity/identity-settings.ts';
import { dottedName, variableName } from '../../kit/setting-name.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { managementOf } from '../support/deployed-service.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const repository = join(import.meta.dirname, '..', '..');
const file = join(repository, 'docs', 'how-to', 'deploying.md');
const page = readFileSync(file, 'utf8');
const module = join(temporaryFolderOfFile(), 'counter.wasm');

beforeAll(async () => writeFileSync(module, await compileFixture('counter')));

async function start(data: string): Promise<{ svc: SvcProcess; url: string }> {
  const svc = new SvcProcess(['run', '--deployed', module, '--data', data, '--port', '0']);
  onTestFinished(() => void svc.child.kill('SIGKILL'));
  return { svc, url: `${await svc.listening()}/counters/a` };
}

test('the page points at files that exist', () => {
  const links = [...page.matchAll(/\]\((?!http)([^)#]+)/g)].map((match) => match[1]!);
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter((link) => !existsSync(join(dirname(file), link)))).toEqual([]);
});

test('the page names settings that exist', () => {
  const sections = Object.entries(SECTION_DEFAULTS).flatMap(([section, record]) =>
    Object.keys(record).map((key) => dottedName(section, key)),
  );
  const known = new Set(
    [
      'svc.name',
      'svc.data',
      'svc.shards',
      'svc.configuration.file',
      'svc.configuration.folder',
      'svc.http.port',
      'svc.management.port',
      'svc.observability.otlp-endpoint',
      ...IDENTITY_NAMES,
      ...sections,
    ].map((name) => variableName(name)),
  );
  // Error codes are links, and have their own test.
  const named = [...page.matchAll(/(?<![[/])\bSVC_[A-Z_]+/g)].map((match) => match[0]);
  expect(named.length).toBeGreaterThan(6);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("the page mounts what the images declare, and waits longer than the runtime's grace", () => {
  const recipe = readFileSync(join(repository, 'Dockerfile'), 'utf8');
  const mounts = [...page.matchAll(/mountPath: (\S+?)[,\s}]/g)].map((match) => match[1]!);
  expect(new Set(mounts)).toEqual(new Set(['/service', '/data']));
  for (const folder of mounts) expect(recipe).toMatch(new RegExp(`mkdir .*${folder}\\b`));
  expect(recipe).toContain('USER 1000:1000');
  const ports = [...page.matchAll(/containerPort: (\d+)/g)].map((match) => match[1]);
  expect(recipe).toContain(`EXPOSE ${ports.join(' ')}`);
  expect(page).toContain('fsGroup: 1000');
  const { stopGraceMs, stopMarginMs } = SECTION_DEFAULTS.supervisor;
  const waits = [...page.matchAll(/(?:GracePeriodSeconds: |stop -t )(\d+)/g)];
  expect(waits.length).toBe(3);
  for (const [, seconds] of waits)
    expect(Number(seconds) * 1000).toBeGreaterThan(stopGraceMs + stopMarginMs);
});

test('the probe that the page shows asks the management server, which says that the instance is ready', async () => {
  const { svc } = await start(join(temporaryFolder(), 'data'));
  const [, path, port] = /readinessProbe: \{ httpGet: \{ path: (\S+), port: (\d+) \} \}/.exec(
    page,
  )!;
  expect(port).toBe('7626');
  const answer = await fetch(`${await managementOf(svc)}${path}`);
  expect([answer.status, await answer.json()]).toMatchObject([200, { ready: true }]);
});

test('the backup that the page shows is whole, while the service runs, and can be served', async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const { svc, url } = await start(data);
  const add = async () =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"amount":5}',
    });
  expect((await add()).status).toBe(200);
  const shown = [...page.matchAll(/^docker exec carts svc (journal .+)$/gm)];
  expect(shown).toHaveLength(2);
  for (const [, line] of shown) {
    const words = line!.split(' ').map((word) => word.replace(/^\/data/, data));
    expect(await runSvc(words)).toMatchObject({ code: 0 });
  }
  expect((await add()).status).toBe(200);
  expect((await svc.end('SIGTERM')).code).toBe(0);

  const restored = join(folder, 'restored');
  renameSync(join(data, 'monday'), restored);
  const again = await start(restored);
  expect(await (await fetch(again.url)).json()).toEqual({ value: 5 });
  expect((await again.svc.end('SIGTERM')).code).toBe(0);
});

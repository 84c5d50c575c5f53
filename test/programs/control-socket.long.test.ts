// The control socket of `svc run` when its host was killed, when it cannot be reached, and when it cannot be opened.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { runCommand } from '../support/command-line.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'order.wasm');

beforeAll(async () => {
  writeFileSync(module, await compileFixture('expiring-order'));
});

async function serve(data: string, env: NodeJS.ProcessEnv = {}) {
  const words = ['run', module, '--port', '0', '--data', data, '--shards', '1'];
  const service = new SvcProcess(words, { env });
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return { url: await service.listening(), service };
}

async function place(url: string): Promise<void> {
  const body = '{"cents":100}';
  const headers = { 'content-type': 'application/json' };
  expect((await fetch(`${url}/orders/o1`, { method: 'PUT', headers, body })).status).toBe(204);
}

const ownerOf = (data: string) =>
  JSON.parse(readFileSync(join(data, 'owner.json'), 'utf8')) as { pid: number; control: string };

test('the socket of a host is removed when it stops, and by the next host when it was killed', async () => {
  const data = join(temporaryFolder(), 'data');
  const killed = await serve(data);
  const { control } = ownerOf(data);
  expect(statSync(dirname(control)).mode & 0o777).toBe(0o700);
  await killed.service.end('SIGKILL');
  expect(existsSync(control)).toBe(true);
  // Nobody has the lock: the command takes it.
  expect((await runCommand(['timers', 'cancel', data, 'service', 'x'])).stderr).toContain(
    'SVC_NOT_IN_JOURNAL',
  );
  expect(existsSync(dirname(control))).toBe(false);
  const next = await serve(data);
  const { control: own } = ownerOf(data);
  expect(own).not.toBe(control);
  await next.service.end('SIGTERM');
  expect(existsSync(dirname(own))).toBe(false);
});

test('a command says why it cannot reach the running service', async () => {
  const data = join(temporaryFolder(), 'data');
  await serve(data);
  const owner = ownerOf(data);
  const cancel = async (control: unknown) => {
    writeFileSync(join(data, 'owner.json'), JSON.stringify({ ...owner, control }));
    const { code, stdout, stderr } = await runCommand(['timers', 'cancel', data, 'service', 'x']);
    expect([code, stdout]).toEqual([1, '']);
    return stderr;
  };
  const foreign = await cancel('/var/run/docker.sock');
  expect(foreign).toContain('it is not the path of a control socket');
  expect(foreign).toMatch(/\[SVC_CONTROL_UNAVAILABLE\]\n$/);
  expect(await cancel('/tmp/\u001b[2J/control.sock')).not.toContain('\u001b[2J');
  expect(await cancel('/tmp/svc-000000/control.sock')).toContain('it does not exist here');
  const without = await cancel(undefined);
  expect(without).toContain('It has no control socket');
  expect(without).toMatch(/\[SVC_DATA_IN_USE\]\n$/);
  expect(await cancel(owner.control)).toContain('SVC_NOT_IN_JOURNAL');
});

test('a service that cannot open its socket serves without it, and says so', async () => {
  const data = join(temporaryFolder(), 'data');
  const TMPDIR = join(temporaryFolder(), 'missing');
  const { url, service } = await serve(data, { TMPDIR });
  await place(url);
  expect(service.stderr).toContain('there is no control socket');
  mkdirSync(TMPDIR);
  expect((await runCommand(['timers', 'cancel', data, 'service', 'x'])).stderr).toContain(
    'SVC_DATA_IN_USE',
  );
});

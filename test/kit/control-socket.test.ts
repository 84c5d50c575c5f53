// The file of the control socket: who can reach it, and which paths a tool uses.
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  controlSocketProblem,
  makeControlSocket,
  removeControlSocket,
} from '../../kit/control-socket.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function listening(path: string): Promise<string> {
  const server = createServer().listen({ path });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return path;
}

function made(): string {
  const path = makeControlSocket()!;
  onTestFinished(() => rmSync(dirname(path), { recursive: true, force: true }));
  return path;
}

test('is in a folder that only its user can enter, and is gone when it is removed', async () => {
  const path = await listening(made());
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect(controlSocketProblem(path)).toBeUndefined();
  removeControlSocket(path);
  expect(existsSync(dirname(path))).toBe(false);
  expect(controlSocketProblem(path)).toBe('it does not exist here');
});

test('has a short path where the folder for temporary files has a long one', () => {
  const long = join(temporaryFolder(), 'x'.repeat(90));
  mkdirSync(long);
  vi.stubEnv('TMPDIR', long);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(tmpdir()).toBe(long);
  expect(Buffer.byteLength(made())).toBeLessThan(104);
});

test('is not used where other users could reach it or could have made it', async () => {
  const path = await listening(made());
  for (const mode of [0o701, 0o710, 0o755, 0o777]) {
    chmodSync(dirname(path), mode);
    expect(controlSocketProblem(path)).toBe('other users can reach it');
  }
  chmodSync(dirname(path), 0o700);
  vi.spyOn(process, 'getuid').mockReturnValue(4_242);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(controlSocketProblem(path)).toBe('it belongs to another user');
  removeControlSocket(path);
  expect(existsSync(path)).toBe(true);
});

test.each([
  '/var/run/docker.sock',
  'svc-abcdef/control.sock',
  '/tmp/svc-abcdef/../docker/control.sock',
  '/tmp/svc-abcdefg/control.sock',
  '/tmp/svc-abcdef/other.sock',
  '',
])('a foreign path is not used: %s', (path) => {
  expect(controlSocketProblem(path)).toBe('it is not the path of a control socket');
});

test('a file or a link in the place of the socket is not used', async () => {
  const file = made();
  writeFileSync(file, '');
  expect(controlSocketProblem(file)).toBe('it is not a socket');
  const link = made();
  symlinkSync(await listening(made()), link);
  expect(controlSocketProblem(link)).toBe('it is not a socket');
  const target = await listening(made());
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(dirname(target), join(folder, 'svc-linked'));
  expect(controlSocketProblem(join(folder, 'svc-linked', 'control.sock'))).toBe(
    'it is not a socket',
  );
});

test('nothing else is removed', () => {
  const path = made();
  const other = join(dirname(path), 'other');
  writeFileSync(other, '');
  removeControlSocket(path);
  removeControlSocket(other);
  removeControlSocket(join(dirname(path), '..', 'missing', 'control.sock'));
  expect(existsSync(other)).toBe(true);
});

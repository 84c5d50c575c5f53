// svc console, as a user starts and stops it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildStalePage } from '../../cli/console-page.ts';
import { runSvc, SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { WebhookServiceUnderTest } from '../webhooks/service/webhook-service-under-test.ts';

const DEFAULT_PORT = 9889;

/** A program that listens on the port; undefined if another one does. */
async function holdPort(port: number) {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false));
  server.listen(port, '127.0.0.1', () => resolve(true));
  if (!(await promise)) return undefined;
  const close = async () => {
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    await closed.promise;
  };
  onTestFinished(close);
  return { port: (server.address() as AddressInfo).port, close };
}

function started(args: readonly string[], env: NodeJS.ProcessEnv = {}): SvcProcess {
  const svc = new SvcProcess(['console', ...args], { env });
  onTestFinished(() => void svc.child.kill('SIGKILL'));
  return svc;
}

// The messages about building the page, which svc console prints first, are not part of these tests.
beforeAll(() => buildStalePage(join(import.meta.dirname, '../..')));

async function folderOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/services`);
  return ((await answer.json()) as { folder: string }).folder;
}

async function tenantOf(svc: SvcProcess): Promise<unknown> {
  return (await fetch(`${await svc.listening()}/api/webhooks`)).json();
}

test.each(['SIGINT', 'SIGTERM'] as const)(
  'it serves its page until %s, and ends at once',
  async (signal) => {
    const running = temporaryFolder();
    const svc = started(['--port', '0'], { SVC_RUNNING_DIR: running });
    const url = await svc.listening();
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<script type="module"');
    expect(await folderOf(url)).toBe(running);
    expect(await svc.end(signal)).toEqual({
      code: 0,
      signal: null,
      stdout: `${url}\n`,
      stderr: `Looking into the services that register in ${running}. Ctrl-c ends it.\n`,
    });
  },
);

test('--running-dir goes before SVC_RUNNING_DIR', async () => {
  const running = temporaryFolder();
  const svc = started(['--port', '0', '--running-dir', running], { SVC_RUNNING_DIR: '/nowhere' });
  expect(await folderOf(await svc.listening())).toBe(running);
});

test('services register in ~/.svc/running unless it is said otherwise', async () => {
  const home = temporaryFolder();
  const svc = started(['--port', '0'], { SVC_RUNNING_DIR: undefined, HOME: home });
  expect(await folderOf(await svc.listening())).toBe(join(home, '.svc', 'running'));
});

describe('webhooks', () => {
  const URL = 'https://api.example.com';

  /** Writes a context, and returns the environment in which it is chosen. */
  function contextOf(context: object): NodeJS.ProcessEnv {
    const home = temporaryFolder();
    mkdirSync(join(home, 'svc'), { mode: 0o700 });
    const contexts = { version: 1, current: 'here', contexts: { here: { url: URL, ...context } } };
    writeFileSync(join(home, 'svc', 'contexts.json'), JSON.stringify(contexts), { mode: 0o600 });
    return { XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, SVC_RUNNING_DIR: temporaryFolder() };
  }

  test('the page has those of the tenant of the context, and says how to log in', async () => {
    const svc = started(['--port', '0'], contextOf({ tenant: 'acme' }));
    expect(await tenantOf(svc)).toEqual({ tenant: 'acme', url: URL });
    const answer = await fetch(`${await svc.listening()}/api/webhooks/subscriptions`);
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({
      error: expect.stringContaining('svc login') as string,
    });
    expect(svc.stderr).toContain(`Its webhooks are those of the tenant acme at ${URL}.`);
  });

  test('those of the environment are asked for with its token', async () => {
    const service = new WebhookServiceUnderTest();
    await service.start();
    await service.send('POST', '/webhooks', { url: 'https://receiver.example/hook' });
    const svc = started(['--port', '0'], {
      XDG_CONFIG_HOME: temporaryFolder(),
      SVC_RUNNING_DIR: temporaryFolder(),
      SVC_URL: service.url,
      SVC_TOKEN: 'a-token',
      SVC_TENANT: 'acme',
    });
    const answer = await fetch(`${await svc.listening()}/api/webhooks/subscriptions`);
    expect(await answer.json()).toMatchObject([{ url: 'https://receiver.example/hook' }]);
  });

  test('--tenant goes before the tenant of the context', async () => {
    const svc = started(['--port', '0', '--tenant', 'other'], contextOf({ tenant: 'acme' }));
    expect(await tenantOf(svc)).toMatchObject({ tenant: 'other' });
  });

  test('a context that cannot be used is reported, and services are shown nevertheless', async () => {
    const svc = started(['--port', '0'], contextOf({ tenant: 'acme', authority: '/nowhere.pem' }));
    expect(await tenantOf(svc)).toEqual({ tenant: null, url: null });
    expect(svc.stderr).toContain('The page has no webhooks: /nowhere.pem cannot be read');
  });

  test('--tenant without an installation is refused', async () => {
    const home = temporaryFolder();
    const { code, stderr } = await runSvc(['console', '--port', '0', '--tenant', 'acme'], {
      env: { XDG_CONFIG_HOME: home, SVC_RUNNING_DIR: home },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('[SVC_CONTEXT_INVALID]');
  });
});

test('a port that is taken: it says so, and names --port', async () => {
  const { port } = (await holdPort(0))!;
  const { code, stdout, stderr } = await runSvc(['console', '--port', String(port)]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`Port ${port} of 127.0.0.1, which the console takes, is in use`);
  expect(stderr).toContain('--port');
  expect(stderr).toContain('[SVC_PORT_IN_USE]');
});

test('it listens on 127.0.0.1:9889', async ({ skip }) => {
  const held = await holdPort(DEFAULT_PORT);
  skip(held === undefined, 'another program of this machine has the port');
  await held!.close();
  const svc = started([], { SVC_RUNNING_DIR: temporaryFolder() });
  // By now another program may listen on the port.
  await Promise.race([svc.listening(), svc.ended]);
  expect(svc.stdout + svc.stderr).toMatch(/^http:\/\/127\.0\.0\.1:9889\n|Port 9889 of /);
});

test.each(['65536', '-1', 'http', '1.5', ''])(
  'a port that is none is refused: %s',
  async (port) => {
    const { code, stderr } = await runSvc(['console', `--port=${port}`]);
    expect(code).toBe(2);
    expect(stderr).toContain('--port');
  },
);

test('an empty folder is refused', async () => {
  const { code, stderr } = await runSvc(['console', '--port', '0'], {
    env: { SVC_RUNNING_DIR: '' },
  });
  expect(code).toBe(1);
  expect(stderr).toContain('[SVC_SETTING_INVALID]');
});

// The tests of a service whose code is in a process of its own, as whole programs: the process, and `svc run` beside it. Each SDK
// runs them with its cart.
import { expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Starts the process that holds the cart at a port, in a version of its code, and resolves when it listens. */
export type StartCart = (port: number, version: string) => Promise<SvcProcess>;

interface ReadyReport {
  readonly parts: readonly {
    readonly part: string;
    readonly ready: boolean;
    readonly required?: false;
  }[];
}

/** Starts the runtime of the process at the port. */
export function startRuntime(port: number, ...args: readonly string[]): SvcProcess {
  const address = ['--process', `127.0.0.1:${port}`];
  const own = ['--name', 'carts', '--port', '0', '--data', temporaryFolder()];
  const runtime = new SvcProcess(['run', ...address, ...own, ...args]);
  onTestFinished(() => void runtime.child.kill('SIGKILL'));
  return runtime;
}

const added = (url: string, sku: string, key?: string) =>
  fetch(`${url}/carts/c1/items`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ sku, quantity: 1 }),
  });
/** The text of an answer that is no 200, so that a test that fails shows the reason. */
const failureOf = async (answer: Response) => (answer.ok ? undefined : answer.text());
const skus = async (url: string) => {
  const cart = (await (await fetch(`${url}/carts/c1`)).json()) as {
    readonly items: readonly { readonly sku: string }[];
  };
  return cart.items.map(({ sku }) => sku);
};

/** The essential path. `start` starts the cart of an SDK. */
export function processProgramSuite(start: StartCart): void {
  test('a service waits for its process, serves it in two shards, and keeps its events when the process is killed', async () => {
    const [port, management] = await freePorts(2);
    const runtime = startRuntime(
      port!,
      ...`--shards 2 --deployed --host 127.0.0.1 --set svc.management.port=${management!}`.split(
        ' ',
      ),
    );
    const isProcessReady = async () => {
      const response = await fetch(`http://127.0.0.1:${management!}/ready`);
      const { parts } = (await response.json()) as ReadyReport;
      expect(response.ok).toBe(parts.every(({ ready, required }) => ready || required === false));
      return parts.find((one) => one.part === 'process')!.ready;
    };
    await runtime.logged(/waiting for the process at/);
    const cart = await start(port!, '1');
    const url = await runtime.listening();
    expect(await failureOf(await added(url, 'a'))).toBeUndefined();
    await expect.poll(isProcessReady).toBe(true);

    await cart.end('SIGKILL');
    await expect.poll(isProcessReady).toBe(false);
    const lost = await added(url, 'b', 'k1');
    expect(lost.status).toBe(503);
    expect(lost.headers.get('retry-after')).not.toBeNull();
    expect(await lost.text()).toContain('SVC_PROCESS_UNAVAILABLE');

    await start(port!, '1');
    // Each shard reaches the process again by itself, and a connection may lead to any of them.
    const again = async () => failureOf(await added(url, 'b', 'k1'));
    await expect.poll(again).toBeUndefined();
    await expect.poll(again).toBeUndefined();
    await expect.poll(() => skus(url)).toEqual(['a', 'b']);
    await expect.poll(isProcessReady).toBe(true);
    expect(await runtime.end('SIGTERM')).toMatchObject({ code: 0 });
  }, 180_000);
}

/** Tests of the long tier. `start` starts the cart of an SDK. */
export function replacedProcessSuite(start: StartCart): void {
  test('a deployed service ends when its process has become another one', async () => {
    const [port, management] = await freePorts(2);
    const cart = await start(port!, '1');
    const runtime = startRuntime(
      port!,
      ...`--deployed --host 127.0.0.1 --set svc.management.port=${management!}`.split(' '),
    );
    expect(await failureOf(await added(await runtime.listening(), 'a'))).toBeUndefined();
    await cart.end('SIGKILL');
    await start(port!, '2');
    const { code, stderr } = await runtime.ended;
    expect(code).not.toBe(0);
    expect(stderr).toContain('SVC_PROCESS_REPLACED');
  }, 180_000);
}

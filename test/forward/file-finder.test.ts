// Finding services in the file of a local orchestrator: its form, its changes, and contents that are not used.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FileFinder } from '../../forward/file-finder.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const cart = { service: 'cart', project: undefined };

function write(file: string, content: unknown): void {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/** A finder of a file, which has the content at first, and the problems that it has reported. */
function finderOf(content: unknown, lookEveryMs = 20) {
  const file = join(temporaryFolder(), 'services.json');
  if (content !== undefined) write(file, content);
  const problems: string[] = [];
  const times = { nowMs: 1000 };
  const finder = new FileFinder({
    file,
    project: 'shop',
    lookEveryMs,
    now: () => times.nowMs,
    onProblem: (reason) => problems.push(reason),
  });
  onTestFinished(() => finder.close());
  return { file, finder, problems, times };
}

/** Address of the first instance, or why there is none. */
async function found(finder: FileFinder, called: Parameters<FileFinder['find']>[0] = cart) {
  const one = await finder.find(called);
  if (one.kind === 'held') return one.kind;
  return one.kind === 'found' ? one.addresses[0]! : one.reason;
}

describe('the file', () => {
  test('names the instances of services of every project', async () => {
    const { finder, problems } = finderOf({
      services: { 'shop/cart': ['127.0.0.1:4001', '[::1]:4002'], 'bank/cart': ['127.0.0.1:443'] },
    });
    expect(await finder.find(cart)).toEqual({
      kind: 'found',
      authority: 'cart.svc-shop.svc.cluster.local:4001',
      addresses: [
        { host: '127.0.0.1', port: 4001 },
        { host: '::1', port: 4002 },
      ],
    });
    expect(await finder.find({ service: 'cart', project: 'bank' })).toMatchObject({
      authority: 'cart.svc-bank.svc.cluster.local',
    });
    expect(await found(finder, { service: 'none', project: undefined })).toBe(
      'it is not in the file',
    );
    expect(problems).toEqual([]);
  });

  test('is read again when it is replaced', async () => {
    const { file, finder } = finderOf({ services: { 'shop/cart': ['127.0.0.1:4001'] } });
    expect(await found(finder)).toMatchObject({ port: 4001 });
    write(file, { services: { 'shop/cart': ['127.0.0.1:4002'] } });
    await expect.poll(async () => found(finder)).toMatchObject({ port: 4002 });
    write(file, { services: {} });
    await expect.poll(async () => found(finder)).toBe('it is not in the file');
  });

  test('names services that are held, until their marks are gone', async () => {
    const services = { 'shop/cart': ['127.0.0.1:4001'] };
    const { file, finder } = finderOf({ services: {}, held: ['shop/cart', 'bank/cart'] });
    const released: string[] = [];
    finder.onReleased((key) => released.push(key));
    expect(await finder.find(cart)).toEqual({ kind: 'held', key: 'shop/cart' });
    expect(await found(finder, { service: 'other', project: undefined })).toBe(
      'it is not in the file',
    );
    write(file, { services, held: ['bank/cart'] });
    await expect.poll(async () => found(finder)).toMatchObject({ port: 4001 });
    expect(released).toEqual(['shop/cart']);
  });

  test('holds a service for 15 seconds at most, from when its mark is seen', async () => {
    const services = { 'shop/cart': ['127.0.0.1:4001'] };
    const { file, finder, times } = finderOf({ services, held: ['shop/cart'] });
    expect(await found(finder)).toBe('held');
    times.nowMs += 14_999;
    expect(await found(finder)).toBe('held');
    times.nowMs += 1;
    expect(await found(finder)).toMatchObject({ port: 4001 });
    write(file, { services });
    expect(await finder.find(cart, true)).toMatchObject({ kind: 'found' });
    write(file, { services, held: ['shop/cart'] });
    expect(await finder.find(cart, true)).toMatchObject({ kind: 'held' });
  });

  test('is read before a fresh answer', async () => {
    const { file, finder } = finderOf({ services: { 'shop/cart': ['127.0.0.1:4001'] } }, 60_000);
    await found(finder);
    write(file, { services: {}, held: ['shop/cart'] });
    expect(await finder.find(cart, true)).toMatchObject({ kind: 'held' });
  });

  test('may appear later', async () => {
    const { file, finder, problems } = finderOf(undefined);
    expect(await found(finder)).toBe('the file of services is not usable');
    write(file, { services: { 'shop/cart': ['127.0.0.1:4001'] } });
    await expect.poll(async () => found(finder)).toMatchObject({ port: 4001 });
    expect(problems).toEqual(['it does not exist']);
  });

  test('may be in a folder that is removed and made again', async () => {
    const { file, finder } = finderOf({ services: { 'shop/cart': ['127.0.0.1:4001'] } });
    await found(finder);
    rmSync(file);
    write(file, { services: { 'shop/cart': ['127.0.0.1:4003'] } });
    await expect.poll(async () => found(finder)).toMatchObject({ port: 4003 });
  });
});

describe('a file that cannot be used', () => {
  test.each<readonly [unknown, string]>([
    ['{"services": {"shop/ca', 'it is no JSON, or not completely written'],
    [[], 'it is no object with "services"'],
    [{ services: [] }, 'it is no object with "services"'],
    [{ services: { cart: [] } }, '"cart" is not <project>/<service>'],
    [{ services: { 'shop/cart/x': [] } }, '"shop/cart/x" is not <project>/<service>'],
    [{ services: { 'shop/Cart': [] } }, '"shop/Cart" is not <project>/<service>'],
    [{ services: { '2fin/cart': [] } }, '"2fin/cart" is not <project>/<service>'],
    [{ services: { 'shop/cart': '127.0.0.1:1' } }, 'shop/cart has no list of addresses'],
    [{ services: {}, held: {} }, '"held" is no list of <project>/<service>'],
    [{ services: {}, held: ['shop'] }, '"held" is no list of <project>/<service>'],
    ...[
      'localhost:1',
      '127.0.0.1',
      '127.0.0.1:0',
      '127.0.0.1:99999',
      '1.2.3.400:1',
      '::1:80',
      5,
    ].map(
      (address) =>
        [
          { services: { 'shop/cart': [address] } },
          'shop/cart has an entry that is not ADDRESS:PORT with a numeric address',
        ] as const,
    ),
  ])('leaves the former one in use, and is reported once: %j', async (content, problem) => {
    const { file, finder, problems } = finderOf(
      { services: { 'shop/cart': ['127.0.0.1:4001'] } },
      5,
    );
    await found(finder);
    write(file, content);
    await expect.poll(() => problems).toEqual([problem]);
    expect(await found(finder)).toMatchObject({ port: 4001 });
    write(file, { services: { 'shop/cart': ['127.0.0.1:4002'] } });
    await expect.poll(async () => found(finder)).toMatchObject({ port: 4002 });
    expect(problems).toEqual([problem]);
  });

  test('can be too large', async () => {
    const { finder, problems } = finderOf(`{"services": {}}${' '.repeat(5 * 1024 * 1024)}`);
    expect(await found(finder)).toBe('the file of services is not usable');
    expect(problems).toEqual(['it is larger than 4194304 bytes']);
  });
});

test('a finder that is closed reports nothing of a read on its way', async () => {
  const { file, finder, problems } = finderOf({ services: {} }, 60_000);
  rmSync(file);
  const read = finder.find(cart, true);
  finder.close();
  await read;
  expect(problems).toEqual([]);
});

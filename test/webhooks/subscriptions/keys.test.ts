// The master key, the salts of tenants, and what is sealed with both.
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SvcError } from '@svc/kit/svc-error';
import {
  checkMasterKey,
  developmentMasterKey,
  readMasterKey,
} from '../../../webhooks/subscriptions/master-key.ts';
import { FolderKeyCheck } from '../../../webhooks/subscriptions/folder-key-check.ts';
import { FolderSalts } from '../../../webhooks/subscriptions/salts.ts';
import { TenantKey, TenantKeys } from '../../../webhooks/subscriptions/tenant-keys.ts';
import { MASTER_KEY, ownFolder } from './subscriptions-under-test.ts';

const HEX = Buffer.from(MASTER_KEY).toString('hex');
const OTHER_KEY = MASTER_KEY.map((byte) => byte ^ 1);

async function fileWith(content: string): Promise<string> {
  const path = join(await ownFolder(), 'key');
  await writeFile(path, content);
  return path;
}

/** Resolves with the SvcError with which it rejects. */
async function failureOf(promise: Promise<unknown>): Promise<SvcError> {
  return await promise.then(
    () => {
      throw new Error('did not fail');
    },
    (error: unknown) => {
      if (error instanceof SvcError) return error;
      throw error;
    },
  );
}

describe('the master key', () => {
  test.each([
    ['hex', HEX],
    ['upper-case hex with a line end', `${HEX.toUpperCase()}\n`],
    ['base64url', Buffer.from(MASTER_KEY).toString('base64url')],
    [
      'base64url with padding and white space',
      ` ${Buffer.from(MASTER_KEY).toString('base64url')}=\r\n`,
    ],
  ])('is read as %s', async (_form, content) => {
    expect([...(await readMasterKey(await fileWith(content), 'a.setting'))]).toEqual([
      ...MASTER_KEY,
    ]);
  });

  test.each([
    ['empty', ''],
    ['too short', HEX.slice(2)],
    ['too long', `${HEX}00`],
    ['two keys', `${HEX}\n${HEX}`],
    ['base64 of another alphabet', `${'+/'.repeat(21)}A`],
    ['a placeholder', '0'.repeat(64)],
    ['as large as a disk', 'a'.repeat(100_000)],
  ])('that is %s is refused without a word of it', async (_form, content) => {
    const path = await fileWith(content);
    const failure = await failureOf(readMasterKey(path, 'a.setting'));
    expect(failure.code).toBe('SVC_MASTER_KEY_UNUSABLE');
    expect(failure.message).toContain(`${path} (a.setting)`);
    expect(failure.message).toContain('openssl rand -hex 32');
    expect(content.length > 10 && failure.message.includes(content.slice(0, 20))).toBe(false);
  });

  test('that is missing is refused', async () => {
    const failure = await failureOf(readMasterKey(join(await ownFolder(), 'key'), 'a.setting'));
    expect(failure.code).toBe('SVC_MASTER_KEY_UNUSABLE');
    expect(failure.message).toContain('ENOENT');
  });

  test('that is another one than before is told at the start', async () => {
    const folder = await ownFolder();
    await checkMasterKey(new FolderKeyCheck(folder), MASTER_KEY);
    await expect(checkMasterKey(new FolderKeyCheck(folder), MASTER_KEY)).resolves.toBeUndefined();
    const failure = await failureOf(checkMasterKey(new FolderKeyCheck(folder), OTHER_KEY));
    expect(failure.code).toBe('SVC_MASTER_KEY_WRONG');
    const check = await readFile(join(folder, 'master-key-check'), 'utf8');
    expect(check).not.toContain(HEX);
    await writeFile(join(folder, 'master-key-check'), check.slice(1));
    expect((await failureOf(checkMasterKey(new FolderKeyCheck(folder), MASTER_KEY))).code).toBe(
      'SVC_MASTER_KEY_WRONG',
    );
  });

  test('is not taken for right where the value is gone by which it is checked', async () => {
    const folder = await ownFolder();
    await checkMasterKey(new FolderKeyCheck(folder), MASTER_KEY);
    await (await FolderSalts.open(folder)).make('acme', 0);
    await rm(join(folder, 'master-key-check'));
    const failure = await failureOf(checkMasterKey(new FolderKeyCheck(folder), OTHER_KEY));
    expect(failure.code).toBe('SVC_MASTER_KEY_WRONG');
    expect(await readdir(folder)).toEqual(['salts']);
  });

  test('of development is made once', async () => {
    const folder = await ownFolder();
    const key = await developmentMasterKey(folder);
    expect(key).toHaveLength(32);
    expect(await developmentMasterKey(folder)).toEqual(key);
    expect(await developmentMasterKey(await ownFolder())).not.toEqual(key);
  });
});

describe('a salt', () => {
  test('is made once for each tenant and generation, and found after a restart', async () => {
    const folder = await ownFolder();
    const salts = await FolderSalts.open(folder);
    expect(await salts.find('acme', 0)).toBeUndefined();
    const made = await Promise.all(Array.from({ length: 8 }, () => salts.make('acme', 0)));
    expect(new Set(made.map((salt) => Buffer.from(salt).toString('hex'))).size).toBe(1);
    const others = await Promise.all([
      salts.make('acme', 1),
      salts.make('acm', 0),
      salts.make('', 0),
    ]);
    expect(new Set([made[0]!, ...others].map(String)).size).toBe(4);
    expect(await (await FolderSalts.open(folder)).find('acme', 0)).toEqual(made[0]);
    expect(await readdir(join(folder, 'salts'))).toHaveLength(4);
  });

  test('that the system cannot read or write is an error with a code, which passes', async () => {
    const folder = await ownFolder();
    const salts = await FolderSalts.open(folder);
    await writeFile(join(folder, 'salts'), 'no folder');
    const failure = { code: 'SVC_DATA_UNUSABLE', message: expect.stringMatching(/ENOTDIR|EEXIST/) };
    await expect(salts.find('acme', 0)).rejects.toMatchObject(failure);
    await expect(salts.make('acme', 0)).rejects.toMatchObject(failure);
    await rm(join(folder, 'salts'));
    const made = await salts.make('acme', 0);
    expect(await salts.find('acme', 0)).toEqual(made);
  });

  test('has a file whose name is no text of a caller', async () => {
    const folder = await ownFolder();
    const salts = await FolderSalts.open(folder);
    for (const name of ['../../escape', 'a/b', '\0', 'x'.repeat(5_000)])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await salts.make(name, 0);
    expect(await readdir(folder)).toEqual(['salts']);
    const names = await readdir(join(folder, 'salts'));
    expect(names).toEqual(names.filter((name) => /^[0-9a-f]{64}$/.test(name)));
  });

  test('that is removed is another one afterwards', async () => {
    const salts = await FolderSalts.open(await ownFolder());
    await salts.remove('acme', 0);
    const salt = await salts.make('acme', 0);
    await salts.remove('acme', 0);
    await salts.remove('acme', 0);
    expect(await salts.find('acme', 0)).toBeUndefined();
    expect(await salts.make('acme', 0)).not.toEqual(salt);
  });

  test('that a crash has cut off leaves nothing', async () => {
    const folder = await ownFolder();
    await mkdir(join(folder, 'salts'));
    await writeFile(join(folder, 'salts', 'half.part'), 'half');
    await FolderSalts.open(folder);
    expect(await readdir(join(folder, 'salts'))).toEqual([]);
  });

  test('that cannot be read is a failure, not a missing one', async () => {
    const folder = await ownFolder();
    const salts = await FolderSalts.open(folder);
    await salts.make('acme', 0);
    const [name = ''] = await readdir(join(folder, 'salts'));
    await rm(join(folder, 'salts', name));
    await mkdir(join(folder, 'salts', name));
    await expect(salts.find('acme', 0)).rejects.toThrow('EISDIR');
  });
});

describe('a sealed text', () => {
  const salt = new Uint8Array(32).fill(7);
  const key = new TenantKey(MASTER_KEY, 'acme', salt);
  const text = JSON.stringify({ url: 'https://receiver.example', more: 'ü😀' });

  test('opens with the key of its tenant, for its subscription', () => {
    const sealed = key.seal('wh_1', text);
    expect(key.open('wh_1', sealed)).toBe(text);
    expect(key.open('wh_2', sealed)).toBeUndefined();
    expect(new TenantKey(MASTER_KEY, 'acm', salt).open('wh_1', sealed)).toBeUndefined();
    expect(new TenantKey(OTHER_KEY, 'acme', salt).open('wh_1', sealed)).toBeUndefined();
    const otherSalt = new Uint8Array(32).fill(8);
    expect(new TenantKey(MASTER_KEY, 'acme', otherSalt).open('wh_1', sealed)).toBeUndefined();
  });

  test('differs each time, and begins with another nonce', () => {
    const sealed = Array.from({ length: 100 }, () => key.seal('wh_1', text));
    expect(new Set(sealed.map((one) => one.slice(0, 16))).size).toBe(100);
  });

  test('does not open if anything of it was changed', () => {
    const bytes = Buffer.from(key.seal('wh_1', 'short'), 'base64url');
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index]! ^= 1;
      expect(key.open('wh_1', changed.toString('base64url'))).toBeUndefined();
    }
    for (let length = 0; length < bytes.length; length++)
      expect(key.open('wh_1', bytes.subarray(0, length).toString('base64url'))).toBeUndefined();
  });

  test('has a digest that is equal for equal texts of a tenant alone', () => {
    expect(key.digest('a')).toBe(key.digest('a'));
    expect(key.digest('a')).not.toBe(key.digest('b'));
    expect(new TenantKey(MASTER_KEY, 'acme', new Uint8Array(32)).digest('a')).not.toBe(
      key.digest('a'),
    );
  });

  test('of a tenant that was removed opens no more', async () => {
    const keys = new TenantKeys(MASTER_KEY, await FolderSalts.open(await ownFolder()));
    const sealed = (await keys.make('acme', 0)).seal('wh_1', text);
    expect((await keys.find('acme', 0))?.open('wh_1', sealed)).toBe(text);
    await keys.remove('acme', 0);
    expect(await keys.find('acme', 0)).toBeUndefined();
    expect((await keys.make('acme', 0)).open('wh_1', sealed)).toBeUndefined();
  });
});

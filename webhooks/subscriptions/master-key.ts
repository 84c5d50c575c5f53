// MasterKey: the key of the installation, from which the keys of all tenants are derived. It is in a file outside of the data folder and the
// database, which have only a value by which a wrong one is recognized.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '@svc/kit/durable-file';
import { SvcError } from '@svc/kit/svc-error';

const KEY_BYTES = 32;
const HEX = /^[0-9a-f]{64}$/i;
const BASE64URL = /^[\w-]{43}=?$/;
/** More is no key, whatever it is. */
const FILE_LENGTH_MAX = 1_024;
const DEVELOPMENT_FILE = 'development-master-key';
const MAKE_ONE = 'Make one with: openssl rand -hex 32.';

/**
 * Reads a master key: 32 bytes in hex or base64url, and white space around them. `setting`: what names the file. Rejects with
 * SVC_MASTER_KEY_UNUSABLE, which says nothing of the content.
 */
export async function readMasterKey(path: string, setting: string): Promise<Uint8Array> {
  const where = `The file of the master key, ${path} (${setting}),`;
  let text: string;
  try {
    text = (await readFile(path, 'latin1')).slice(0, FILE_LENGTH_MAX).trim();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw unusable(`${where} cannot be read: ${code}. ${MAKE_ONE}`, error);
  }
  if (!HEX.test(text) && !BASE64URL.test(text))
    throw unusable(
      `${where} has no key: it takes ${KEY_BYTES} bytes in hex or base64url. ${MAKE_ONE}`,
    );
  const key = Buffer.from(text, HEX.test(text) ? 'hex' : 'base64url');
  if (key.every((byte) => byte === key[0]))
    throw unusable(`${where} has a placeholder: all of its bytes are the same. ${MAKE_ONE}`);
  return key;
}

/** Reads the master key of a data folder for development, where it is beside what it protects; it is made if there is none. */
export async function developmentMasterKey(dataFolder: string): Promise<Uint8Array> {
  const path = join(dataFolder, DEVELOPMENT_FILE);
  try {
    await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw unusable(`The file of the master key, ${path}, cannot be read.`, error);
    await writeDurably(path, `${randomBytes(KEY_BYTES).toString('hex')}\n`);
  }
  return readMasterKey(path, 'made for development');
}

/** Where the value is stored by which a wrong master key is recognized. */
export interface KeyCheckStorage {
  /** Words for what is opened with the key, such as `the data folder /data`. */
  readonly name: string;
  /** Words for a value that is missing. */
  readonly missing: string;
  /** Resolves with the value; undefined: there is none. */
  find(): Promise<string | undefined>;
  /** Stores a value unless there is one, and resolves with the one that is there. */
  add(value: string): Promise<string>;
  /** Whether something was sealed. */
  hasSalts(): Promise<boolean>;
}

/**
 * Compares the master key with the one with which the storage was first used. Rejects with SVC_MASTER_KEY_WRONG for another one, and if
 * that cannot be told although something was sealed.
 */
export async function checkMasterKey(
  storage: KeyCheckStorage,
  masterKey: Uint8Array,
): Promise<void> {
  const { name, missing } = storage;
  const value = createHmac('sha256', masterKey).update('svc webhooks master key').digest('hex');
  let known = await storage.find();
  if (known === undefined) {
    if (await storage.hasSalts())
      throw wrong(
        `There are subscriptions in ${name}, and ${missing}, by which the master key is checked. Restore it from a backup.`,
      );
    known = await storage.add(value);
  }
  const [a, b] = [Buffer.from(known), Buffer.from(value)];
  if (a.length !== b.length || !timingSafeEqual(a, b))
    throw wrong(
      `The master key is not the one of ${name}, and opens none of its subscriptions. Use the key with which it was first used.`,
    );
}

function unusable(message: string, cause?: unknown): SvcError {
  return new SvcError('SVC_MASTER_KEY_UNUSABLE', message, { cause });
}

function wrong(message: string): SvcError {
  return new SvcError('SVC_MASTER_KEY_WRONG', message);
}

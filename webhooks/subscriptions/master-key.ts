// MasterKey: the key of the installation, from which the keys of all tenants are derived. It is in a file outside of the data folder, which has
// only a value by which a wrong one is recognized.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '@svc/kit/durable-file';
import { SvcError } from '@svc/kit/svc-error';
import { hasSalts } from './salts.ts';

const KEY_BYTES = 32;
const HEX = /^[0-9a-f]{64}$/i;
const BASE64URL = /^[\w-]{43}=?$/;
/** More is no key, whatever it is. */
const FILE_LENGTH_MAX = 1_024;
const CHECK_FILE = 'master-key-check';
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

/**
 * Compares the master key with the one with which the data folder was first used. Rejects with SVC_MASTER_KEY_WRONG for another one, and if
 * that cannot be told although something was sealed.
 */
export async function checkMasterKey(dataFolder: string, masterKey: Uint8Array): Promise<void> {
  const path = join(dataFolder, CHECK_FILE);
  const value = createHmac('sha256', masterKey).update('svc webhooks master key').digest('hex');
  let known: string;
  try {
    known = (await readFile(path, 'latin1')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new SvcError(
        'SVC_DATA_UNUSABLE',
        `The file ${path} cannot be read. Let this user read it.`,
        { cause: error },
      );
    if (await hasSalts(dataFolder))
      throw wrong(
        `The data folder ${dataFolder} has subscriptions, and no file ${CHECK_FILE}, by which the master key is checked. Restore it from the backup of the folder.`,
      );
    await writeDurably(path, `${value}\n`);
    return;
  }
  const [a, b] = [Buffer.from(known), Buffer.from(value)];
  if (a.length !== b.length || !timingSafeEqual(a, b))
    throw wrong(
      `The master key is not the one of the data folder ${dataFolder}, and opens none of its subscriptions. Use the key with which the folder was first used.`,
    );
}

function unusable(message: string, cause?: unknown): SvcError {
  return new SvcError('SVC_MASTER_KEY_UNUSABLE', message, { cause });
}

function wrong(message: string): SvcError {
  return new SvcError('SVC_MASTER_KEY_WRONG', message);
}

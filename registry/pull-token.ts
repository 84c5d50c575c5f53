// PullToken: the token by which the orchestrator pulls, in a file that only its user may read. The registry makes it once.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '@svc/kit/svc-error';
import { writeDurably } from '@svc/kit/durable-file';

/** Number of random bytes of a token. */
const TOKEN_BYTES = 32;
/** A token that somebody else has written has at least as many characters. */
const TOKEN_LENGTH_MIN = 32;

/** Reads the token, and makes it if there is no file. Rejects with SVC_DATA_UNUSABLE. */
export async function pullToken(file: string): Promise<string> {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    if (statSync(file, { throwIfNoEntry: false }) === undefined)
      await writeDurably(file, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
    const isShared = (statSync(file).mode & 0o077) !== 0;
    const token = readFileSync(file, 'utf8').trim();
    if (!isShared && token.length >= TOKEN_LENGTH_MIN && /^[\x21-\x7e]+$/.test(token)) return token;
    throw new SvcError(
      'SVC_DATA_UNUSABLE',
      isShared
        ? `Others than its user may read or change ${file}, which has the token of the orchestrator. Delete it, so that a new one is made.`
        : `${file} has no token of at least ${TOKEN_LENGTH_MIN} visible characters. Delete it, so that a new one is made.`,
    );
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError(
      'SVC_DATA_UNUSABLE',
      `The token of the orchestrator in ${file} cannot be read or made (${(error as NodeJS.ErrnoException).code}). Check the folder.`,
      { cause: error },
    );
  }
}

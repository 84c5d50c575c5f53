// Contexts: the installations that a user works with, by names that the user has chosen, in `contexts.json` of the configuration.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from '../command.ts';
import { UsageError } from '../usage-error.ts';
import { withFileLock } from './file-lock.ts';
import { readImageFolder } from './image-folder.ts';
import { readPlatformUrl } from './platform-url.ts';
import { readPrivateFile, writePrivateFile } from './private-file.ts';
import type { UserFolders } from './user-folders.ts';

export interface Context {
  /** URL of the control plane, as `readPlatformUrl` returns it. */
  readonly url: string;
  readonly organization?: string;
  readonly project?: string;
  /** Tenant of the webhook service. */
  readonly tenant?: string;
  /** Absolute path of a file with the certificates of the installation's authority, as PEM. */
  readonly authority?: string;
  /** Folder of this machine from which the installation reads images, as `imageFolderText` writes it. */
  readonly images?: string;
}

/** All contexts. `current` is one of them, or undefined. */
export interface Contexts {
  readonly current: string | undefined;
  readonly contexts: Readonly<Record<string, Context>>;
}

/** Names of contexts: 1 to 63 letters, digits, full stops, hyphens and underscores, a letter or a digit first. */
export const CONTEXT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const CONTEXTS_MAX = 1_000;
const FIELDS = ['url', 'organization', 'project', 'tenant', 'authority', 'images'] as const;
const LOCK_WAIT_MS = 5_000;

/** Reads the contexts; none if there is no file. Throws SVC_CONTEXT_INVALID. */
export function readContexts({ config }: UserFolders): Contexts {
  const path = join(config, 'contexts.json');
  const found = orFailure(path, 'read', () => readPrivateFile(path));
  if (found === undefined) return { current: undefined, contexts: Object.create(null) as {} };
  const contexts = contextsIn(found.value);
  if (contexts === undefined)
    throw new CommandFailure(
      'SVC_CONTEXT_INVALID',
      `${path} is not a file of contexts that this version can read. Correct it, or move it away and set your ` +
        'contexts again with svc context set.',
    );
  return contexts;
}

/** Changes the contexts, one process at a time. Rejects with SVC_CONTEXT_INVALID. */
export async function changeContexts(
  folders: UserFolders,
  change: (contexts: Contexts) => Contexts,
): Promise<void> {
  const path = join(folders.config, 'contexts.json');
  const late = () =>
    new CommandFailure(
      'SVC_CONTEXT_INVALID',
      `Another command has been changing ${path} for ${LOCK_WAIT_MS / 1000} s. End it, and try again.`,
    );
  await orRejection(path, () =>
    withFileLock(`${path}.lock`, { waitMsMax: LOCK_WAIT_MS, late }, () => {
      const { current, contexts } = change(readContexts(folders));
      if (Object.keys(contexts).length > CONTEXTS_MAX)
        throw new CommandFailure(
          'SVC_CONTEXT_INVALID',
          `There are ${CONTEXTS_MAX} contexts in ${path} already. Remove some of them from the file.`,
        );
      writePrivateFile(path, { version: 1, current, contexts });
    }),
  );
}

/** Reads the certificates of an authority. Throws SVC_CONTEXT_INVALID if the file has none. */
export function readAuthority(path: string): string {
  const text = orFailure(path, 'read', () => readFileSync(path, 'utf8'));
  if (/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.test(text)) return text;
  throw new CommandFailure(
    'SVC_CONTEXT_INVALID',
    `${path} has no certificate. Give the authority of the installation as PEM, with svc context set.`,
  );
}

function contextsIn(value: unknown): Contexts | undefined {
  if (!isRecord(value) || value['version'] !== 1 || !isRecord(value['contexts'])) return undefined;
  const entries = Object.entries(value['contexts']);
  const { current } = value;
  const isValid = entries.every(([name, context]) => CONTEXT_NAME.test(name) && isContext(context));
  if (!isValid || entries.length > CONTEXTS_MAX) return undefined;
  const contexts = Object.assign(
    Object.create(null) as Record<string, Context>,
    Object.fromEntries(entries),
  );
  if (current !== undefined && (typeof current !== 'string' || contexts[current] === undefined))
    return undefined;
  return { current, contexts };
}

function isContext(value: unknown): value is Context {
  return (
    isRecord(value) &&
    typeof value['url'] === 'string' &&
    readPlatformUrl(value['url']) === value['url'] &&
    FIELDS.every((field) => value[field] === undefined || typeof value[field] === 'string') &&
    (value['images'] === undefined || readImageFolder(value['images'] as string) !== undefined)
  );
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function orFailure<Value>(path: string, done: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw fileFailure(path, done, error);
  }
}

async function orRejection(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw fileFailure(path, 'written', error);
  }
}

function fileFailure(path: string, done: string, error: unknown): unknown {
  if (error instanceof CommandFailure || error instanceof UsageError) return error;
  const { code } = error as NodeJS.ErrnoException;
  return new CommandFailure(
    'SVC_CONTEXT_INVALID',
    `${path} cannot be ${done} (${code}). Check its folder and your permissions.`,
    { cause: error },
  );
}

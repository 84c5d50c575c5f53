// Crashers: inputs that once broke a property, kept as `TARGET-HASH.hex` in fixtures/hostile/crashers/, so
// that they are run again by every test run. Lines that begin with # say what happened.
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { TARGET_NAMES, type TargetName } from './fuzz-target.ts';

/** Targets of the fuzzer, and `peers`: streams of requests that servers of others take for different requests. */
export const CRASHER_KINDS = [...TARGET_NAMES, 'peers'] as const;
export interface KeptCrasher {
  readonly target: TargetName | 'peers';
  readonly input: Uint8Array;
  readonly reason: string;
}

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'hostile', 'crashers');
const LINE_DIGITS = 96;

/** The inputs that are kept for a target. */
export function keptCrashers(
  target: KeptCrasher['target'],
  folder = FOLDER,
): readonly Uint8Array[] {
  return globSync(`${target}-*.hex`, { cwd: folder })
    .toSorted()
    .map((file) => {
      const lines = readFileSync(join(folder, file), 'utf8').split('\n');
      const digits = lines.filter((line) => !line.startsWith('#')).join('');
      return Uint8Array.from(Buffer.from(digits, 'hex'));
    });
}

/** Answers the file. */
export function keepCrasher({ target, input, reason }: KeptCrasher, folder = FOLDER): string {
  const hash = createHash('sha256').update(input).digest('hex').slice(0, 16);
  const file = join(folder, `${target}-${hash}.hex`);
  const [firstLine = ''] = reason.split('\n');
  const digits = Buffer.from(input)
    .toString('hex')
    .match(new RegExp(`.{1,${LINE_DIGITS}}`, 'g'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, [`# ${firstLine}`, ...(digits ?? []), ''].join('\n'));
  return file;
}

/** The files whose names belong to no target. */
export function strayCrashers(folder = FOLDER): readonly string[] {
  return globSync('*', { cwd: folder }).filter(
    (file) => !CRASHER_KINDS.some((name) => basename(file).startsWith(`${name}-`)),
  );
}

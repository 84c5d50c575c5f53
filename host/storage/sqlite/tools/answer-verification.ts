// AnswerVerification checks what a journal has besides its records since format 3: the stored replies to idempotency
// keys, the manifests of events, and the modules that wrote the journal.
import { SvcError } from '@svc/kit/svc-error';
import { pagesOf } from './index-verification.ts';
import { storedReplyOf } from '../stored-reply-row.ts';
import type { ReadingConnection } from './reading-connection.ts';
import type { VerificationStep } from '../../verification-step.ts';

const ANSWERS =
  () => `SELECT a.ano, component, id, a.key, a.digest, a.time_ms, a.outcome, a.crc, EXISTS (
    SELECT 1 FROM answer i INDEXED BY sqlite_autoindex_answer_1
    WHERE i.eno = a.eno AND i.key = a.key AND i.ano = a.ano)
  FROM answer a NOT INDEXED LEFT JOIN entity ON entity.eno = a.eno
  WHERE a.ano > ? ORDER BY a.ano LIMIT 2000`;
const MANIFEST = () => 'SELECT 1 FROM manifest WHERE component = ? AND manifest = ?';
const MODULES = () => 'SELECT mno, from_pos, descriptor FROM module ORDER BY mno';

/** Checks the stored replies, and returns their number. */
export function* answersChecked(
  connection: ReadingConnection,
): Generator<VerificationStep, number> {
  let count = 0;
  for (const rows of pagesOf(connection, ANSWERS, [0], (row) => [row[0] as bigint])) {
    count += rows.length;
    for (const [, component, id, key, digest, timeMs, outcome, crc, isThere] of rows) {
      const problems: string[] = [];
      if (typeof component !== 'string' || typeof id !== 'string')
        problems.push('belongs to no entity');
      else if (!isKept(component, id, [key, digest, Number(timeMs), outcome, Number(crc)]))
        problems.push('is not what was written');
      if (Number(isThere) === 0) problems.push('is not in its index');
      for (const problem of problems)
        yield {
          kind: 'finding',
          ...(typeof component === 'string' ? { component } : {}),
          ...(typeof id === 'string' ? { id } : {}),
          problem: `the answer to the idempotency key '${String(key)}' ${problem}`,
        };
    }
    yield { kind: 'progress', what: 'answers', done: count };
  }
  return count;
}

/** Returns whether the row of a stored reply matches its checksum. */
export function isKept(component: string, id: string, row: readonly unknown[]): boolean {
  try {
    storedReplyOf({ component, id }, row);
    return true;
  } catch (error) {
    if (error instanceof SvcError || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Checks that the table of manifests has all manifests of the records. `manifests` is indexed by component. */
export function* manifestsChecked(
  connection: ReadingConnection,
  manifests: ReadonlyMap<string, ReadonlySet<string>>,
): Generator<VerificationStep, void> {
  for (const [component, names] of manifests)
    for (const manifest of names)
      if (connection.rows(MANIFEST, [component, manifest]).length === 0)
        yield {
          kind: 'finding',
          component,
          problem: `the table of manifests lacks '${manifest}', which records have`,
        };
}

/** Checks that the modules are in the order of their first records, and that their descriptors are JSON objects. */
export function* modulesChecked(connection: ReadingConnection): Generator<VerificationStep, void> {
  let before = 0;
  for (const [moduleNo, from, descriptor] of connection.rows(MODULES, [])) {
    const fromPos = Number(from);
    if (fromPos < Math.max(before, 1))
      yield {
        kind: 'finding',
        problem: `module ${String(moduleNo)} begins before the one before it`,
      };
    if (!isObject(String(descriptor)))
      yield {
        kind: 'finding',
        problem: `the descriptor of module ${String(moduleNo)} is no JSON object`,
      };
    before = fromPos;
  }
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

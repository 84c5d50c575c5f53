// FindingLine: a finding of damage in a journal on one line.
import type { JournalFinding } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { outputStyle } from './terminal.ts';

/** Returns the line for a terminal. Names of entities and the problem are escaped. */
export function findingLine({ component, id, seq, pos, problem }: JournalFinding): string {
  const where = [
    ...[component, id].filter((name) => name !== undefined).map(printable),
    ...(seq === undefined ? [] : [`record ${seq}`]),
    ...(pos === undefined ? [] : [`position ${pos}`]),
  ];
  const head = where.length === 0 ? '' : `${where.join(' ')}: `;
  return `${outputStyle('red', 'damaged')}  ${head}${printable(problem)}\n`;
}

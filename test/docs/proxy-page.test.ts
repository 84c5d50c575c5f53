// docs/reference/proxy.md: its answers are those that the proxy makes, its limits those of forwarding, and its names and ports
// those of the platform.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  CALLING_PORT,
  PLATFORM_VARIABLES,
  READINESS_PORT,
  RESERVED_PORTS,
} from '../../client/index.ts';
import { ANSWER_RULES } from '../../forward/answers.ts';
import { FORWARD_LIMITS } from '../../forward/forward-limits.ts';
import { dottedName } from '../../kit/setting-name.ts';
import { FAILURE_CODES, failure } from '../../http1/messages/failure.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/proxy.md'), 'utf8');

/** Cells of the rows of the first table of a section, without its head. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [, table = ''] = /^((?:\|.*\n)+)/m.exec(section.split('\n## ')[0]!) ?? [];
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test('each answer of the proxy has a row with its status', () => {
  const statuses = [...new Set(FAILURE_CODES.map((code) => failure(code).status))];
  const ofFailures = statuses.toSorted((a, b) => a - b).join(', ');
  expect(rowsOf('Answers of the proxy')).toEqual(
    Object.values(ANSWER_RULES).map(({ status, when }) => [
      typeof status === 'number' ? String(status) : ofFailures,
      when,
    ]),
  );
});

test('each limit has a row with its default', () => {
  const rows = rowsOf('Limits').map(([name, value]) => [
    name!.replaceAll('`', ''),
    Number(value!.replaceAll(',', '')),
  ]);
  expect(rows).toEqual(
    Object.entries(FORWARD_LIMITS).map(([key, value]) => [dottedName('proxy', key), value]),
  );
});

test('the variables of a process are those that the platform gives', () => {
  expect(rowsOf('Environment of the process').map(([name]) => name!.replaceAll('`', ''))).toEqual(
    PLATFORM_VARIABLES,
  );
});

test("the ports are the platform's", () => {
  const ports = RESERVED_PORTS.map(({ port }) => port).join(', ');
  expect(page).toContain(`none of the platform's: ${ports}`);
  expect(page).toContain(`http://127.0.0.1:${CALLING_PORT}`);
  expect(rowsOf('Ports of a pod').map(([port]) => port)).toContain(String(READINESS_PORT));
});

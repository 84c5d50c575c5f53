// docs/reference/gateway.md: its answers are those that the gateway makes, and its numbers those of the settings.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GATEWAY_ANSWER_RULES } from '../../gateway/gateway-answers.ts';
import { GATEWAY_DEFAULTS } from '../../gateway/gateway-section.ts';
import { FAILURE_CODES, failure } from '../../http1/messages/failure.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/gateway.md'), 'utf8');

test('each answer of the gateway has a row with its status', () => {
  const statuses = [...new Set(FAILURE_CODES.map((code) => failure(code).status))];
  const ofFailures = statuses.toSorted((a, b) => a - b).join(', ');
  const [, section = ''] = page.split('\n## Answers of the gateway\n');
  const rows = [...section.matchAll(/^\| (.*?) \| (.*) \|$/gm)].map(([, status, when]) => [
    status,
    when,
  ]);
  expect(rows.slice(1)).toEqual(
    Object.values(GATEWAY_ANSWER_RULES).map(({ status, when }) => [
      typeof status === 'number' ? String(status) : ofFailures,
      when,
    ]),
  );
});

test('the bounds of held requests are those of the settings', () => {
  const { heldMax, heldOfServiceMax, heldMs } = GATEWAY_DEFAULTS;
  const [, section = ''] = page.split('\n## While a service is replaced\n');
  const numbers = [heldMax.toLocaleString('en-US'), heldOfServiceMax, `${heldMs / 1000} seconds`];
  for (const number of numbers) expect(section).toContain(` ${number}`);
});

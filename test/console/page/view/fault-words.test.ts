// FaultWords: the texts of a failure in a list, and their order.
import { expect, test } from 'vitest';
import { faultWords, logLinesShown } from '../../../../console/page/view/fault-words.ts';

const reason = 'The module trapped: unreachable.';

test("the module's own words stand beside those of the runtime, one line of each", () => {
  const words = faultWords({ reason, guestMessage: 'no such dish\n  at menu' });
  expect(words).toEqual({
    guestText: 'no such dish',
    reason,
    whole: `no such dish\n  at menu\n${reason}`,
  });
});

test.each([null, undefined, '', reason])('%o of the module adds nothing', (guestMessage) => {
  const { guestText, reason: told, whole } = faultWords({ reason, guestMessage });
  expect([guestText ?? told, whole]).toEqual([reason, reason]);
  expect([guestText, told].filter((words) => words !== undefined)).toHaveLength(1);
});

test('words of a module are as long as a line is, and turn no writing round', () => {
  const { guestText, whole } = faultWords({ reason, guestMessage: `\u202e${'a'.repeat(5_000)}` });
  expect(guestText).toBe(`\\u{202e}${'a'.repeat(199)}`);
  expect(whole).toBe(`\\u{202e}${'a'.repeat(1_999)}\n${reason}`);
});

test('each log line of a module is one line, with no control character', () => {
  expect(logLinesShown({ logLines: ['takes 3', 'a\nb \u001b[31m'] })).toEqual([
    'takes 3',
    String.raw`a\nb \u{1b}[31m`,
  ]);
  // A service that is older than the console has no guest message.
  expect(logLinesShown({})).toEqual([]);
});

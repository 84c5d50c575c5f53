// BoundedLogs: logs as they are answered. Whatever a driver returns, the answer has a bounded size and a valid form.
import { FalseAnswer, checkedRecord, shownText } from './checked-observation.ts';
import type { InstanceLogs } from './orchestrator.ts';

/** Instances of an answer: those of a rolling update, and more. */
export const INSTANCES_MAX = 100;
const NAME_LENGTH_MAX = 253;
/** Part of the answer that is not output: names, errors, punctuation and the line about what is left out. */
const REST_BYTES = 16;

/** `bytesMax`: of the output of all instances together, as JSON encodes it. Throws FalseAnswer. */
export function boundedLogs(answer: unknown, bytesMax: number): readonly InstanceLogs[] {
  if (!Array.isArray(answer)) throw new FalseAnswer('logs are no list');
  const instances = (answer as readonly unknown[]).slice(0, INSTANCES_MAX);
  const share = Math.floor(bytesMax / Math.max(1, instances.length));
  return instances.map((one) => {
    const { instance, output, error } = checkedRecord(one, 'an instance of logs');
    if (typeof output !== 'string') throw new FalseAnswer('the output of an instance is no text');
    return {
      instance: shownText(instance, NAME_LENGTH_MAX),
      output: lastPart(output, share),
      error: error === null || error === undefined ? null : shownText(error),
    };
  });
}

/** Returns the end of the text, from the beginning of a line, after a line that says how much is left out. */
function lastPart(text: string, bytesMax: number): string {
  // Every UTF-16 unit takes a byte at least, so no more of a huge text is looked at.
  const end = text.slice(-bytesMax).toWellFormed();
  let start = end.length;
  let bytes = REST_BYTES;
  while (start > 0 && (bytes += encodedBytes(end.charCodeAt(start - 1))) <= bytesMax) start--;
  if (start === 0 && end.length === text.length) return end;
  const line = end.indexOf('\n', start);
  const shown = line === -1 ? end.slice(start).toWellFormed() : end.slice(line + 1);
  return `[${text.length - shown.length} earlier characters are not shown]\n${shown}`;
}

/** Bytes of a UTF-16 unit in JSON in UTF-8. */
function encodedBytes(unit: number): number {
  if (unit === 0x22 || unit === 0x5c || unit === 0x0a || unit === 0x0d || unit === 0x09) return 2;
  if (unit < 0x20) return 6;
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return unit >= 0xd800 && unit <= 0xdfff ? 2 : 3;
}

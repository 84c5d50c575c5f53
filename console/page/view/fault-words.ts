// Why something failed, as lists and panels tell it: what the module said of it first, then what the runtime did. Pure.
import { visibleLine, visibleText } from './visible-text.ts';

/** Of each: more fits no line. */
const LINE_UNITS_MAX = 200;
const WHOLE_UNITS_MAX = 2_000;

interface FaultWords {
  /** By the module; undefined: nothing. */
  readonly said: string | undefined;
  /** By the runtime; undefined: the same. */
  readonly reason: string | undefined;
  /** All of it, on several lines. */
  readonly whole: string;
}

/** `guestMessage` is undefined where the service is older than the console. */
export function faultWords({
  reason,
  guestMessage,
}: {
  readonly reason: string;
  readonly guestMessage: string | null | undefined;
}): FaultWords {
  const said = guestMessage ?? '';
  const all = [said, reason === said ? '' : reason].filter((words) => words !== '');
  return {
    said: said === '' ? undefined : firstLine(said),
    reason: reason === said ? undefined : firstLine(reason),
    whole: all.map((words) => visibleText(words.slice(0, WHOLE_UNITS_MAX))).join('\n'),
  };
}

/** What the module logged before it failed, each log line on one line. */
export function logLinesShown({ logLines }: { readonly logLines?: readonly string[] }): string[] {
  return (logLines ?? []).map(visibleLine);
}

function firstLine(words: string): string {
  return visibleLine(words.split('\n', 1)[0]!.slice(0, LINE_UNITS_MAX));
}

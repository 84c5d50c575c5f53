// FaultWords: the text of a failure for lists and panels: the module's message first, then the runtime's. The
// functions are pure.
import { visibleLine, visibleText } from './visible-text.ts';

/** Maximum length of each text in a list, in UTF-16 code units. */
const LINE_UNITS_MAX = 200;
/** Maximum length of each text in `whole`, in UTF-16 code units. */
const WHOLE_UNITS_MAX = 2_000;

interface FaultWords {
  /** Message of the module; undefined: there is none. */
  readonly guestText: string | undefined;
  /** Reason that the runtime gives; undefined if it equals the module's message. */
  readonly reason: string | undefined;
  /** Both texts, each on lines of its own. */
  readonly whole: string;
}

/** `guestMessage` is undefined if the service is older than the console. */
export function faultWords({
  reason,
  guestMessage,
}: {
  readonly reason: string;
  readonly guestMessage: string | null | undefined;
}): FaultWords {
  const guestText = guestMessage ?? '';
  const all = [guestText, reason === guestText ? '' : reason].filter((words) => words !== '');
  return {
    guestText: guestText === '' ? undefined : firstLine(guestText),
    reason: reason === guestText ? undefined : firstLine(reason),
    whole: all.map((words) => visibleText(words.slice(0, WHOLE_UNITS_MAX))).join('\n'),
  };
}

/** Returns the module's log lines before the fault, each on one line. */
export function logLinesShown({ logLines }: { readonly logLines?: readonly string[] }): string[] {
  return (logLines ?? []).map(visibleLine);
}

function firstLine(words: string): string {
  return visibleLine(words.split('\n', 1)[0]!.slice(0, LINE_UNITS_MAX));
}

// ServiceChange: what the commands that change a service have in common.
import type { ControlRequest } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { CommandFailure, EXIT_CODE, type ExitCode } from './command.ts';
import { journalOf } from './journal-word.ts';
import type { OptionDescription } from './description.ts';
import { UsageError } from './usage-error.ts';

/** Maximum UTF-16 units of the reason for which an event is skipped. */
const REASON_UNITS_MAX = 1_000;

/** The option with which the commands that skip an event take the reason. */
export const REASON_OPTION = {
  type: 'string',
  value: 'TEXT',
  help: 'why, for people who read it later; required',
} as const satisfies OptionDescription;

interface ChangeWords {
  /** A whole sentence, for stderr. */
  readonly done: string;
  /** The sentence if no host runs on the folder, where it is another. */
  readonly doneWithoutHost?: string;
  /** A whole sentence that says what there is not, and where to look. */
  readonly nothing: string;
}

/**
 * Makes a change, through the host that runs on the folder if there is one, and reports it. Rejects with SVC_NOT_IN_JOURNAL if
 * there was nothing to change, and as `changeFolder` does.
 */
export async function changeService(
  dir: string,
  request: ControlRequest,
  { done, doneWithoutHost = done, nothing }: ChangeWords,
): Promise<ExitCode> {
  const tools = await import('@svc/host/tools');
  const { changed, byHost } = await tools.changeFolder(journalOf(tools, dir), request);
  if (!changed) throw new CommandFailure('SVC_NOT_IN_JOURNAL', nothing);
  process.stderr.write(`${printable(byHost ? done : doneWithoutHost)}\n`);
  return EXIT_CODE.ok;
}

/** Reads the number of an event. Throws UsageError. */
export function readSeq(command: string, text: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`${command} takes the number of an event, and found '${text}'.`);
}

/** Reads the value of REASON_OPTION. Throws UsageError. */
export function readReason(command: string, text: string | undefined): string {
  if (text !== undefined && text.trim() !== '' && text.length <= REASON_UNITS_MAX) return text;
  throw new UsageError(
    `${command} takes the reason of up to ${REASON_UNITS_MAX} characters as --reason.`,
  );
}

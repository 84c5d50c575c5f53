// Confirmation: the question before something is deleted.
import { createInterface } from 'node:readline/promises';
import { printable } from '@svc/kit/printable';
import { CommandFailure } from '../command.ts';
import { UsageError } from '../usage-error.ts';

/** Asks on the terminal. Rejects with UsageError if there is none, and with SVC_NOT_CONFIRMED unless the answer is yes. */
export async function confirmed(command: string, question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new UsageError(
      `${command} asks before it deletes, and nobody can answer here. Give --yes.`,
    );
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => asking.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([asking.question(`${printable(question)} [y/N] `), closed]);
    if (/^y(?:es)?$/i.test(answer.trim())) return;
  } finally {
    asking.close();
  }
  throw new CommandFailure('SVC_NOT_CONFIRMED', 'Nothing was deleted. Answer y, or give --yes.');
}

// What tests do with whole journals by the tools, whatever kind the journals are.
import type { JournalLocation } from '../../host/storage/journal-location.ts';
import {
  copyJournal,
  exportJournal,
  TEXT_HEAD,
  textChecksum,
  textEnd,
  verifyJournal,
} from '../../host/storage/journal-tools.ts';
import type { JournalFinding } from '../../host/storage/verification-step.ts';

/** The text of an export. Throws if the journal is damaged. */
export async function exported(location: JournalLocation): Promise<string> {
  const counts = { records: 0, answers: 0, modules: 0, timers: 0, consumers: 0, lanes: 0 };
  const lines = [TEXT_HEAD];
  for await (const entry of exportJournal(location)) {
    if (entry.kind === 'finding') throw new Error(entry.problem);
    if (entry.kind === 'progress') continue;
    counts[`${entry.kind}s`]++;
    lines.push(entry.line);
  }
  const crc = lines.reduce((before, line) => textChecksum(line, before), 0);
  return [...lines, textEnd({ ...counts, crc }), ''].join('\n');
}

/** Copies a journal, or interrupts the copy after so many records. Returns how much was copied, if the copy is complete. */
export async function copied(from: JournalLocation, to: JournalLocation, recordsMax = Infinity) {
  const steps = copyJournal(from, to);
  let step = await steps.next();
  while (step.done !== true && (step.value.what !== 'records' || step.value.done < recordsMax))
    // oxlint-disable-next-line no-await-in-loop -- one step follows the other
    step = await steps.next();
  if (step.done === true) return step.value;
  await steps.return(undefined as never);
  return undefined;
}

/** What the verification of a journal finds. */
export async function findingsIn(location: JournalLocation): Promise<readonly JournalFinding[]> {
  const findings: JournalFinding[] = [];
  for await (const step of verifyJournal(location, { structure: false }))
    if (step.kind === 'finding') findings.push(step);
  return findings;
}

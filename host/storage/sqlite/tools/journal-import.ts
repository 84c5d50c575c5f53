// JournalImport makes a journal from its text. It reads the text line by line, so a text may have any length.
import { isKept } from './answer-verification.ts';
import { JournalCopy } from './journal-copy.ts';
import { parseText, textChecksum, type TextLine } from './journal-text.ts';
import { consumerChecksum, laneChecksum } from '../consumer-rows.ts';
import { timerChecksum } from '../stored-timer-row.ts';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';

/** Maximum number of UTF-16 units in a line; far more than an event may have. */
const LINE_UNITS_MAX = 64 * 1024 * 1024;
/** The counts of the last line. */
const COUNTED = ['records', 'answers', 'modules', 'timers', 'consumers', 'lanes'] as const;
/** `progressed` is called each time this many more lines were read. */
const LINES_PER_STEP = 2_000;

/**
 * Makes a journal in the new folder `to`. Rejects with SVC_JOURNAL_NOT_EMPTY, SVC_DISK_FULL, SVC_DATA_UNUSABLE, what
 * `text` rejects with, and SVC_IMPORT_INVALID where a line is not what an export has there; then there is no journal.
 */
export async function importJournal(
  text: AsyncIterable<Uint8Array>,
  to: string,
  progressed: (lines: number) => void,
): Promise<JournalCopy['counts']> {
  const copy = new JournalCopy(to);
  try {
    let line = 0;
    let crc = 0;
    let hasEnded = false;
    for await (const texts of linesOf(text, () => line))
      for (const each of texts) {
        line++;
        const parsed = parseText(each);
        const problem =
          typeof parsed === 'string'
            ? parsed
            : (orderProblem(parsed, line, hasEnded) ?? take(copy, parsed, crc));
        if (problem !== undefined) throw invalid(line, problem);
        hasEnded ||= typeof parsed !== 'string' && parsed.kind === 'end';
        crc = textChecksum(each, crc);
        if (line % LINES_PER_STEP === 0) progressed(line);
      }
    if (!hasEnded) throw invalid(line + 1, 'is missing: the text ends without its last line');
    copy.finish();
    return copy.counts;
  } catch (error) {
    copy.abandon();
    throw error;
  }
}

function orderProblem({ kind }: TextLine, line: number, hasEnded: boolean): string | undefined {
  if (hasEnded) return 'comes after the last one';
  if (line === 1) return kind === 'head' ? undefined : 'is not the first one of an export of svc';
  return kind === 'head' ? 'belongs at the beginning' : undefined;
}

/** Adds a line to the copy; returns the reason if that fails, else undefined. `crc` covers the lines before it. */
function take(copy: JournalCopy, parsed: TextLine, crc: number): string | undefined {
  switch (parsed.kind) {
    case 'head':
      return undefined;
    case 'record':
      return copy.addRecord(parsed.component, parsed.id, parsed.row);
    case 'answer':
      if (!isKept(parsed.component, parsed.id, parsed.row)) return 'does not fit its checksum';
      return copy.addAnswer(parsed.component, parsed.id, parsed.row);
    case 'module':
      copy.addModule(parsed.row);
      return undefined;
    case 'timer':
      return (
        checksumProblem(() => timerChecksum(parsed.row), parsed.crc) ?? copy.addTimer(parsed.row)
      );
    case 'consumer':
      return (
        checksumProblem(() => consumerChecksum(parsed.row), parsed.crc) ??
        copy.addConsumer(parsed.row)
      );
    case 'lane':
      return (
        checksumProblem(() => laneChecksum(parsed.row), parsed.crc) ?? copy.addLane(parsed.row)
      );
    case 'end': {
      const { counts } = copy;
      const { end } = parsed;
      if (COUNTED.some((name) => counts[name] !== end[name]))
        return 'says that there is more or less than there was';
      return crc === end.crc ? undefined : 'has another checksum than the lines before it';
    }
  }
}

/** Returns the reason if a row has another checksum, or is none; else undefined. */
function checksumProblem(checksum: () => number, crc: number): string | undefined {
  try {
    if (checksum() === crc) return undefined;
  } catch (error) {
    // A member is missing.
    if (!(error instanceof TypeError)) throw error;
  }
  return 'does not fit its checksum';
}

/** Yields the lines that each chunk completes. `read`: returns the number of lines before them, for error messages. */
async function* linesOf(
  text: AsyncIterable<Uint8Array>,
  read: () => number,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest: string[] = [];
  let restUnits = 0;
  const decoded = (chunk?: Uint8Array): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      throw invalid(read() + 1, 'or one soon after it is no UTF-8');
    }
  };
  for await (const chunk of text) {
    const [first, ...others] = decoded(chunk).split('\n');
    rest.push(first!);
    restUnits += first!.length;
    if (restUnits > LINE_UNITS_MAX) throw invalid(read() + 1, 'is longer than any of an export');
    if (others.length === 0) continue;
    const lines = [rest.join(''), ...others.slice(0, -1)];
    const last = others.at(-1);
    rest = [last];
    restUnits = last.length;
    yield lines;
  }
  const end = rest.join('') + decoded();
  if (end !== '') yield [end];
}

function invalid(line: number, problem: string): SvcError {
  return new SvcError(
    'SVC_IMPORT_INVALID',
    `The journal was not imported: line ${line} ${printable(problem)}. ` +
      'Give what svc journal export has written without a filter, as it is.',
  );
}

// TimerPrinter: the output formats of `svc timers`. Names, ids, inputs and faults are untrusted, so they are escaped for
// the terminal. The functions return text and print nothing.
import type { StoredTimer } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { jsonLine, storedJson, timeText } from './printed-value.ts';
import { outputStyle } from './terminal.ts';
import { tableLines } from './text-table.ts';
import { ownerText } from './timer-owner.ts';

/** Functions that return the parts of a list, called in this order. `first`: true for the first page. */
export interface TimerPrinter {
  head(dir: string): string;
  page(timers: readonly StoredTimer[], first: boolean): string;
  /** `last`: value of `--after` for the next page; undefined if the list is complete. */
  tail(last: number | undefined): string;
}

const HEADS = ['due', 'next', 'attempts', 'owner', 'name', 'command', 'last fault'] as const;

export function timerPrinter(format: string): TimerPrinter {
  return format === 'json' ? JSON_PRINTER : TEXT_PRINTER;
}

/** Formats one document with a line for each timer, so that it can be written while the journal is read. */
const JSON_PRINTER: TimerPrinter = {
  head: (dir) => `${jsonLine({ dir }).slice(0, -1)},"timers":[`,
  page: (timers, first) =>
    timers
      .map((timer, index) => `${first && index === 0 ? '' : ','}\n${timerJson(timer)}`)
      .join(''),
  tail: (last) => `\n],"next":${last ?? 'null'}}\n`,
};

const TEXT_PRINTER: TimerPrinter = {
  head: () => '',
  page: (timers, first) => {
    const rows = timers.map(cellsOf);
    const lines = tableLines(HEADS, rows, first && rows.length > 0);
    if (first && lines.length > 0) lines[0] = outputStyle('bold', lines[0]!);
    return lines.map((text) => `${text}\n`).join('');
  },
  tail: () => '',
};

/** Returns the texts of the columns, escaped. */
function cellsOf(timer: StoredTimer): readonly string[] {
  const { owner, name, target, command, dueMs, nextMs, attempts, fault } = timer;
  return [
    timeText(dueMs) ?? '-',
    nextMs === undefined ? 'dead' : (timeText(nextMs) ?? '-'),
    String(attempts),
    printable(ownerText(owner)),
    printable(name),
    printable(`${ownerText(target)} ${command}`),
    fault === undefined ? '' : printable(fault),
  ];
}

/** Returns a timer as JSON. Its input is copied as text, because parsing could change its numbers. */
function timerJson(timer: StoredTimer): string {
  const { number, owner = null, name, target, command, input, schedule = null } = timer;
  const { dueMs, nextMs, attempts, attemptsMax = null, fault = null, setMs } = timer;
  const head = jsonLine({ number, owner, name, target, command }).slice(0, -1);
  const times = {
    schedule,
    state: nextMs === undefined ? 'dead' : 'pending',
    due: timeText(dueMs) ?? null,
    next: timeText(nextMs) ?? null,
    attempts,
    attemptsMax,
    fault,
    set: timeText(setMs) ?? null,
    trace: timer.traceParent ?? null,
  };
  return `${head},"input":${storedJson(input)},${jsonLine(times).slice(1)}`;
}

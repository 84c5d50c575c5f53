// svc timers: prints the timers in a data folder, which it only reads. It reads and prints page by page, so there may be
// millions of them.
import type { TimerFilter } from '@svc/host/tools';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { printable } from '@svc/kit/printable';
import { journalNote, journalOf } from '../journal-word.ts';
import { printData } from '../terminal.ts';
import { readOwner } from '../timer-owner.ts';
import { timerPrinter } from '../timer-printer.ts';
import { UsageError } from '../usage-error.ts';

/** Maximum number of timers per page. It is small, since the input of each may have 64 KiB. */
const PAGE_TIMERS = 100;

export const timers = command(
  {
    name: 'timers',
    summary: 'show the timers of a data folder',
    about: `Shows the timers in a journal, in the order in which they were set: whose they are, when they are
due, when they are tried next, and what they send to whom. A timer that failed too often is dead.
It reads only, and may do so while a service runs.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }],
    options: {
      owner: {
        type: 'string',
        value: 'OWNER',
        help: "only timers of this entity, as COMPONENT/ID; or 'service': its schedules",
      },
      state: {
        type: 'string',
        value: 'STATE',
        help: "only timers that are 'pending', or 'dead'",
        completes: { kind: 'choices', choices: ['pending', 'dead'] },
      },
      after: { type: 'string', value: 'NUMBER', help: 'only timers after the one of this number' },
      limit: {
        type: 'string',
        value: 'N',
        help: "at most so many, or 'all'",
        otherwise: '100',
      },
      output: OUTPUT_OPTION,
    },
    notes: `${journalNote()}
Exits with 1 when it met a damaged timer, which it names; it shows the others all the same.`,
    examples: [
      'svc timers .svc/orders',
      'svc timers .svc/orders --owner order/o1',
      'svc timers .svc/orders --state dead --limit all -o json',
    ],
  },
  async ([dir], { owner, state, after, limit, output }) => {
    const filter: TimerFilter = {
      owner: owner === undefined ? undefined : readOwner('timers', owner),
      state: state as TimerFilter['state'],
    };
    const isFiltered = (owner ?? state ?? after) !== undefined;
    const limitCount = readCount('--limit', limit ?? '100');
    let last = after === undefined ? 0 : readCount('--after', after);
    const tools = await import('@svc/host/tools');
    const inspection = tools.inspectTimers(journalOf(tools, dir!));
    const printer = timerPrinter(output);
    let count = 0;
    let damagedCount = 0;
    try {
      let isOpen = await printData(printer.head(dir!));
      while (isOpen && count < limitCount) {
        const asked = Math.min(PAGE_TIMERS, limitCount - count);
        const page = await inspection.list(filter, last, asked);
        isOpen = await printData(printer.page(page.timers, count === damagedCount));
        for (const { message } of page.damaged) process.stderr.write(`${printable(message)}\n`);
        damagedCount += page.damaged.length;
        const found = page.timers.length + page.damaged.length;
        count += found;
        const before = last;
        last = page.last?.number ?? last;
        // A damaged number may be larger than a number of JavaScript holds exactly.
        if (found < asked || last <= before) break;
      }
      const isMore = isOpen && (await inspection.list(filter, last, 1)).last !== undefined;
      await printData(printer.tail(isMore ? last : undefined));
      if (isMore && output !== 'json') process.stderr.write(`There is more: --after=${last}\n`);
    } finally {
      inspection.close();
    }
    if (count === 0)
      process.stderr.write(isFiltered ? 'There is no such timer.\n' : 'No timers.\n');
    if (damagedCount === 0) return EXIT_CODE.ok;
    throw new CommandFailure(
      'SVC_JOURNAL_CORRUPT',
      `The journal in ${dir} has ${counted(damagedCount, 'damaged timer')}, named above. ` +
        'Restore the journal from a backup, or cancel them; the other timers are not affected.',
    );
  },
);

function readCount(option: '--limit' | '--after', text: string): number {
  if (option === '--limit' && text === 'all') return Number.POSITIVE_INFINITY;
  if (option === '--limit' ? /^[1-9][0-9]{0,14}$/.test(text) : /^[0-9]{1,15}$/.test(text))
    return Number(text);
  const what = option === '--limit' ? "whole number from 1 or 'all'" : "timer's number";
  throw new UsageError(`timers takes a ${what} as ${option}, not '${text}'.`);
}

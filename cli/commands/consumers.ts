// svc consumers: prints the consumers of a data folder and the lanes of one, which it only reads.
import type { InspectedConsumer, LaneFilter, StoredLane } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { command, CommandFailure, EXIT_CODE, type ExitCode } from '../command.ts';
import { counted } from '../counted.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { jsonLine, timeText } from '../printed-value.ts';
import { outputStyle, printData } from '../terminal.ts';
import { tableLines } from '../text-table.ts';
import { readEntity } from '../timer-owner.ts';
import { UsageError } from '../usage-error.ts';

/** Maximum number of lanes per page. */
const PAGE_LANES = 500;
const HEADS = ['consumer', 'start', 'behind', 'retrying', 'parked'] as const;
const LANE_HEADS = ['entity', 'event', 'state', 'next', 'attempts', 'reason'] as const;

export const consumers = command(
  {
    name: 'consumers',
    summary: 'show the consumers of a data folder, and the entities whose events wait',
    about: `Shows the consumers that have handled events of a journal: how many records they are behind, and
how many entities have an event that is tried again, or is parked. With CONSUMER it shows these
entities. It reads only, and may do so while a service runs.`,
    words: [
      { name: 'DIR', completes: { kind: 'folder' } },
      { name: 'CONSUMER', optional: true },
    ],
    options: {
      state: {
        type: 'string',
        value: 'STATE',
        help: "with CONSUMER: only entities whose event is 'retrying', or 'parked'",
        completes: { kind: 'choices', choices: ['retrying', 'parked'] },
      },
      entity: {
        type: 'string',
        value: 'ENTITY',
        help: 'with CONSUMER: only this entity, as COMPONENT/ID',
      },
      limit: {
        type: 'string',
        value: 'N',
        help: "with CONSUMER: at most so many, or 'all'",
        otherwise: '100',
      },
      output: OUTPUT_OPTION,
    },
    notes: `${journalNote()}
Exits with 1 when it met a damaged lane, which it names; it shows the others all the same.`,
    examples: [
      'svc consumers .svc/orders',
      'svc consumers .svc/orders ledger --state parked',
      'svc consumers .svc/orders ledger --limit all -o json',
    ],
  },
  async ([dir, consumer], { state, entity, limit, output }) => {
    const tools = await import('@svc/host/tools');
    if (consumer === undefined && (state ?? entity ?? limit) !== undefined)
      throw new UsageError('consumers takes --state, --entity and --limit with CONSUMER only.');
    const inspection = tools.inspectConsumers(journalOf(tools, dir!));
    try {
      const found = await inspection.consumers();
      if (consumer === undefined) return await printConsumers(dir!, found, output);
      if (!found.some((one) => one.consumer === consumer))
        throw new CommandFailure('SVC_NOT_IN_JOURNAL', unknownConsumer(consumer, found));
      const filter: LaneFilter = {
        state: state as LaneFilter['state'],
        entity: entity === undefined ? undefined : readEntity('consumers', entity),
      };
      return await printLanes(
        { dir: dir!, consumer, output },
        async (after, count) => inspection.lanes(consumer, filter, after, count),
        readLimit(limit ?? '100'),
      );
    } finally {
      inspection.close();
    }
  },
);

function unknownConsumer(consumer: string, found: readonly InspectedConsumer[]): string {
  const names = found.map((one) => `'${one.consumer}'`).join(', ');
  const there = names === '' ? 'No consumer has.' : `Those that have: ${names}.`;
  return `No consumer '${consumer}' has handled events of this journal. ${there}`;
}

async function printConsumers(
  dir: string,
  found: readonly InspectedConsumer[],
  output: string,
): Promise<ExitCode> {
  if (output === 'json') await printData(`${jsonLine({ dir, consumers: found })}\n`);
  else if (found.length === 0)
    process.stderr.write('No consumer has handled events of this journal.\n');
  else {
    const [head, ...lines] = tableLines(
      HEADS,
      found.map(({ consumer, start, lagRecords, retrying, parked }) => [
        printable(consumer),
        start,
        String(lagRecords),
        String(retrying),
        String(parked),
      ]),
    );
    await printData([outputStyle('bold', head!), ...lines, ''].join('\n'));
  }
  return EXIT_CODE.ok;
}

interface PrintedLanes {
  readonly dir: string;
  readonly consumer: string;
  readonly output: string;
}

/** Prints pages until the limit. `page`: returns the lanes after a number, at most so many. */
async function printLanes(
  { dir, consumer, output }: PrintedLanes,
  page: (after: number, count: number) => Promise<LanesRead>,
  limit: number,
): Promise<ExitCode> {
  const isJson = output === 'json';
  let after = 0;
  let count = 0;
  let damagedCount = 0;
  let isOpen = await printData(
    isJson ? `${jsonLine({ dir, consumer }).slice(0, -1)},"lanes":[` : '',
  );
  let isFirst = true;
  while (isOpen && count < limit) {
    const asked = Math.min(PAGE_LANES, limit - count);
    const { lanes, damaged, last } = await page(after, asked);
    for (const { message } of damaged) process.stderr.write(`${printable(message)}\n`);
    damagedCount += damaged.length;
    isOpen = await printData(isJson ? lanesJson(lanes, isFirst) : lanesText(lanes, isFirst));
    isFirst &&= lanes.length === 0;
    count += lanes.length + damaged.length;
    if (last === undefined || last <= after || lanes.length + damaged.length < asked) break;
    after = last;
  }
  if (isJson) await printData('\n]}\n');
  if (count === 0)
    process.stderr.write(`No events wait for the consumer '${printable(consumer)}'.\n`);
  if (damagedCount === 0) return EXIT_CODE.ok;
  throw new CommandFailure(
    'SVC_JOURNAL_CORRUPT',
    `The journal in ${dir} has ${counted(damagedCount, 'damaged lane')}, named above: no events of the entity are delivered; those of others are. ` +
      'Restore the journal from a backup; or let svc consumers skip settle the last event that is known to be handled.',
  );
}

interface LanesRead {
  readonly lanes: readonly StoredLane[];
  readonly damaged: readonly { readonly message: string }[];
  readonly last: number | undefined;
}

function lanesText(lanes: readonly StoredLane[], isFirst: boolean): string {
  const rows = lanes.map(({ entity, seq, nextMs, attempts, reason }) => [
    printable(`${entity.component}/${entity.id}`),
    String(seq),
    nextMs === undefined ? 'parked' : 'retrying',
    timeText(nextMs) ?? '-',
    String(attempts),
    printable(reason ?? ''),
  ]);
  const lines = tableLines(LANE_HEADS, rows, isFirst && rows.length > 0);
  if (isFirst && lines.length > 0) lines[0] = outputStyle('bold', lines[0]!);
  return lines.map((line) => `${line}\n`).join('');
}

function lanesJson(lanes: readonly StoredLane[], isFirst: boolean): string {
  return lanes
    .map(({ entity, seq, nextMs, attempts, reason = null }, index) => {
      const state = nextMs === undefined ? 'parked' : 'retrying';
      const next = timeText(nextMs) ?? null;
      const line = jsonLine({ entity, event: seq, state, next, attempts, reason });
      return `${isFirst && index === 0 ? '' : ','}\n${line}`;
    })
    .join('');
}

function readLimit(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`consumers takes a whole number from 1 or 'all' as --limit, not '${text}'.`);
}

// svc views: prints the views of a journal, which it only reads, and how far their rows are.
import type { InspectedView } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { command, EXIT_CODE } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { jsonLine, timeText } from '../printed-value.ts';
import { outputStyle, printData } from '../terminal.ts';
import { tableLines } from '../text-table.ts';

/** Number of digits of a definition in a table. */
const DEFINITION_DIGITS = 12;
const HEADS = ['view', 'state', 'behind', 'since', 'definition', 'queries'] as const;

export const views = command(
  {
    name: 'views',
    summary: 'show the views of a journal, and how far their rows are',
    about: `Shows the views of the module that has used the journal last: whether their rows are built,
and how many records of the journal are not folded into them. It reads only, and may do so while a
service runs. Whether a view has stopped, and why, it asks a service that runs on this machine.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }],
    options: { output: OUTPUT_OPTION },
    notes: journalNote(),
    examples: ['svc views .svc/orders', "svc views .svc/orders -o json | jq '.views[].state'"],
  },
  async ([dir], { output }) => {
    const tools = await import('@svc/host/tools');
    const found = await tools.inspectViews(journalOf(tools, dir!));
    await printData(output === 'json' ? jsonOf(dir!, found) : textOf(found));
    if (found.length === 0)
      process.stderr.write('The module that has used this journal last declares no views.\n');
    return EXIT_CODE.ok;
  },
);

function textOf(found: readonly InspectedView[]): string {
  if (found.length === 0) return '';
  const [head, ...lines] = tableLines(HEADS, found.map(cellsOf));
  const notes = found.flatMap(({ status: { view, problem, skipped } }) => [
    ...(problem === null
      ? []
      : [`${view}: ${problemText(problem)}${problem.code === null ? '' : ` [${problem.code}]`}`]),
    ...skipped.map(
      ({ component, id, seq, reason, timeMs }) =>
        `${view}: skips event ${seq} of ${component}/${id} since ${timeText(timeMs) ?? '-'}: ${reason}`,
    ),
  ]);
  return [outputStyle('bold', head!), ...lines, ...notes.map(printable), ''].join('\n');
}

function problemText({ reason, event }: NonNullable<InspectedView['status']['problem']>): string {
  return event === null
    ? reason
    : `stopped at event ${event.seq} of ${event.component}/${event.id}: ${reason}`;
}

function cellsOf({ status, queries }: InspectedView): readonly string[] {
  const { view, state, lagRecords, lagSeconds, progress, definition } = status;
  return [
    printable(view),
    state === 'building' ? `building ${Math.floor(100 * progress)} %` : state,
    String(lagRecords),
    lagSeconds === 0 ? '-' : `${lagSeconds.toFixed(1)} s`,
    definition.slice(0, DEFINITION_DIGITS),
    printable(queries.join(', ')),
  ];
}

function jsonOf(dir: string, found: readonly InspectedView[]): string {
  const lines = found.map(({ status, sources, queries }) => {
    const { skipped, ...rest } = status;
    const events = skipped.map(({ timeMs, ...event }) => ({
      ...event,
      time: timeText(timeMs) ?? null,
    }));
    return `\n${jsonLine({ ...rest, skipped: events, sources, queries })}`;
  });
  return `${jsonLine({ dir }).slice(0, -1)},"views":[${lines.join(',')}\n]}\n`;
}

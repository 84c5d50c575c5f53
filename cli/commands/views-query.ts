// svc views query: prints rows of a view that a declared query finds. It only reads, and may do so while a service runs.
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { jsonLine, storedJson } from '../printed-value.ts';
import { printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

/** Query that finds the row of a key, unless the view declares one of this name. */
const GET = 'get';
const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000;

export const viewsQuery = command(
  {
    name: 'views query',
    summary: 'find rows of a view by one of its queries',
    about: `Prints rows of a view that one of its declared queries finds, a line of JSON for each; with the
query 'get' and --key, the row of a key. It reads only, and may do so while a service runs.
A view that has stopped is queried in the rows that it has.`,
    words: [{ name: 'DIR', completes: { kind: 'folder' } }, { name: 'VIEW' }, { name: 'QUERY' }],
    options: {
      input: {
        type: 'string',
        value: 'JSON',
        help: "the query's parameters",
        default: '{}',
      },
      key: { type: 'string', value: 'KEY', help: "the row's key, for the query 'get'" },
      limit: {
        type: 'string',
        value: 'N',
        help: `at most so many rows, up to ${LIMIT_MAX}`,
        default: String(LIMIT_DEFAULT),
      },
      cursor: {
        type: 'string',
        value: 'TEXT',
        help: 'the page after the one that gave this cursor',
      },
      output: OUTPUT_OPTION,
    },
    notes: `${journalNote()}
svc views DIR lists the views and their queries.`,
    examples: [
      'svc views query .svc/orders orders get --key o1',
      'svc views query .svc/orders orders all',
      `svc views query .svc/orders orders of-status --input '{"status":"paid"}' --limit 10 -o json`,
    ],
  },
  async ([dir, view, query], { input, key, limit, cursor, output }) => {
    const limitCount = readLimit(limit);
    if (key !== undefined && query !== GET)
      throw new UsageError(`views query takes --key with the query '${GET}' alone.`);
    const tools = await import('@svc/host/tools');
    const inspection = new tools.ViewInspection(journalOf(tools, dir!));
    try {
      const found = await inspection.find({
        view: view!,
        ...(key === undefined
          ? { query: query!, input }
          : { query: tools.KEY_QUERY, input: JSON.stringify({ key }) }),
        limit: limitCount,
        cursor,
      });
      if ('kind' in found) {
        if (query === GET && found.code === 'NOT_FOUND' && key === undefined)
          throw new UsageError(`views query finds the row of a key with '${GET} --key KEY'.`);
        throw new CommandFailure('SVC_FIND_INVALID', sentence(found.message));
      }
      const rows = found.rows.map(storedJson);
      const next = found.cursor ?? null;
      if (output === 'json')
        await printData(
          `{"rows":[${rows.map((row) => `\n${row}`).join(',')}\n],${jsonLine({ next }).slice(1)}\n`,
        );
      else {
        await printData(rows.map((row) => `${row}\n`).join(''));
        if (rows.length === 0) process.stderr.write('There is no such row.\n');
        if (next !== null) process.stderr.write(`There is more: --cursor=${next}\n`);
      }
    } finally {
      inspection.close();
    }
    return EXIT_CODE.ok;
  },
);

function readLimit(text: string): number {
  const limit = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : Number.NaN;
  if (limit <= LIMIT_MAX) return limit;
  throw new UsageError(
    `views query takes a whole number from 1 to ${LIMIT_MAX} as --limit, not '${text}'.`,
  );
}

/** Makes a sentence of the message of a refusal. */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`;
}

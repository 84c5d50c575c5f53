// svc views prepare: builds the rows of a module's views beside the service that runs on the data folder.
import { setPriority } from 'node:os';
import type { PreparedView } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { command, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { ProgressLine } from '../progress-line.ts';
import {
  checkSettings,
  givenSource,
  PROCESS_OPTIONS,
  SOURCE_WORDS,
  withSources,
} from '../source-to-run.ts';
import { printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

const PRIORITY_LOWEST = 19;

export const viewsPrepare = command(
  {
    name: 'views prepare',
    summary: 'build the views of a module before it is served',
    about: `Builds the rows of a module's views beside the journal of a service, which may run meanwhile: it is
neither changed nor delayed. When the module is served later, only later events are folded.
Run it before an upgrade, and before going back to a module whose rows are gone.`,
    words: [{ name: 'MODULE.wasm', optional: true, completes: { kind: 'file', ending: '.wasm' } }],
    options: {
      ...PROCESS_OPTIONS,
      data: {
        type: 'string',
        value: 'DIR',
        help: 'the data folder of the service, or its database',
        completes: { kind: 'folder' },
      },
      set: {
        type: 'string',
        multiple: true,
        value: 'NAME=VALUE',
        help: 'a setting with which the module runs, as of svc run',
      },
    },
    notes: `${journalNote()}
A preparation that was interrupted continues where it was when you repeat it. The rows are deleted
if they are not used for svc.views.kept-ms (24 h).`,
    examples: [
      'svc views prepare orders-2.wasm --data .svc/orders',
      'svc views prepare orders-2.wasm --data url-file:database.url',
      'svc views prepare --process 127.0.0.1:9010 --data .svc/orders',
    ],
  },
  async ([module], { data, set, ...options }) => {
    const given = givenSource('views prepare', { module, ...options });
    if (given === undefined)
      throw new UsageError(
        'views prepare takes MODULE.wasm, --process ADDRESS or --process-command COMMAND.',
      );
    if (data === undefined)
      throw new UsageError('views prepare takes the data folder or the database: --data DIR.');
    checkSettings('views prepare', set, given);
    const tools = await import('@svc/host/tools');
    const location = journalOf(tools, data);
    setPriority(PRIORITY_LOWEST);
    const progress = new ProgressLine();
    let count = 0;
    await withSources(tools, [given], set, async ([{ source, settings }]) => {
      try {
        const onProgress = (records: number, total: number) =>
          progress.show(records, total, 'events');
        const question = { source, settings, location, onProgress };
        for await (const view of tools.prepareViews(question)) {
          count++;
          progress.clear();
          await printData(`${lineOf(view)}\n`);
        }
      } finally {
        progress.clear();
      }
    });
    if (count === 0) process.stderr.write(`The ${SOURCE_WORDS[given.kind]} has no views.\n`);
    return EXIT_CODE.ok;
  },
);

function lineOf({ view, state, rows }: PreparedView): string {
  const name = printable(view);
  if (state === 'served') return `${name}: a running service keeps it up to date`;
  return `${name}: ${state === 'built' ? 'built' : 'brought up to date'}, ${counted(rows!, 'row')}`;
}

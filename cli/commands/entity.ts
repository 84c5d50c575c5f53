// svc entity: prints an entity at any point of its history, computed from the journal's events by the given module, program or
// process. It only reads, and may do so while a service runs.
import type { EntityHistory, HistoryPoint, TimerInspection } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { command, EXIT_CODE, type ExitCode } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import {
  type Asked,
  entityPrinter,
  type EntityPrinter,
  type ShownTimers,
} from '../entity-printer.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import {
  checkSettings,
  givenSource,
  PROCESS_OPTIONS,
  PROGRAM_OPTION,
  withSources,
} from '../source-to-run.ts';
import { printData } from '../terminal.ts';
import { readTime } from '../time-word.ts';
import { UsageError } from '../usage-error.ts';

/** Maximum number of timers. It is small, since the input of each may have 64 KiB. */
const TIMERS_SHOWN_MAX = 20;
const SEED_MAX = 2n ** 64n - 1n;

export const entity = command(
  {
    name: 'entity',
    summary: "show an entity's state at any point of its history",
    about: `Shows the state of an entity at any point of its history, as the module, the program or the
process that is given makes it of the journal's events; how it came about, event by event; and what
a command would do there. Without --at it also shows the timers of the entity. It reads only, and
may do so while a service runs.`,
    words: [
      { name: 'DIR', completes: { kind: 'folder' } },
      { name: 'COMPONENT', completes: { kind: 'component' } },
      { name: 'ID' },
    ],
    options: {
      module: {
        type: 'string',
        value: 'MODULE.wasm',
        help: `the module that folds the events; required, or a program or a
process`,
        completes: { kind: 'file', ending: '.wasm' },
      },
      program: PROGRAM_OPTION,
      ...PROCESS_OPTIONS,
      at: {
        type: 'string',
        value: 'SEQ|TIME',
        help: `the state after record SEQ (0: before the first), or at a TIME
(2030-01-02T03:04:05Z, 15m ago)`,
        otherwise: 'its end',
      },
      steps: {
        type: 'boolean',
        help: 'each record of that life of the entity, with what it changed',
      },
      'what-if': {
        type: 'string',
        value: 'COMMAND',
        help: 'what this command would do there; nothing is stored',
      },
      input: { type: 'string', value: 'JSON', help: 'its input', otherwise: 'null' },
      now: {
        type: 'string',
        value: 'TIME',
        help: 'its time',
        otherwise: 'the time of --at, or the present',
      },
      seed: {
        type: 'string',
        value: 'N',
        help: 'its seed, as svc journal shows it',
        otherwise: 'drawn by chance',
      },
      output: OUTPUT_OPTION,
      set: {
        type: 'string',
        multiple: true,
        value: 'NAME=VALUE',
        help: 'a setting with which the module runs, as of svc run',
      },
    },
    notes: `${journalNote()}
The state at a TIME is the one after the last record, in the order of their numbers, before the
first one that is later. A command that is refused or fails is an answer: the exit code is 0.`,
    examples: [
      'svc entity .svc/shopping-cart shopping-cart c1 --module shopping-cart.wasm',
      'svc entity .svc/cart shopping-cart c1 --module cart.wasm --at 12 --steps',
      'svc entity .svc/flags flag new-search --program src/components.ts',
      "svc entity .svc/cart shopping-cart c1 --process-command 'python3 main.py'",
      `svc entity .svc/cart shopping-cart c1 --module cart.wasm --what-if add --input '{"sku":"a"}'`,
    ],
  },
  async ([dir, component, id], options) => {
    const { at, steps, 'what-if': name, set } = options;
    const given = givenSource('entity', options);
    if (given === undefined)
      throw new UsageError(
        'entity takes what folds the events: --module MODULE.wasm, --program FILE.ts, --process ADDRESS ' +
          'or --process-command COMMAND.',
      );
    checkSettings('entity', set, given);
    const point = readPoint(at);
    const call = readCall(options);
    const tools = await import('@svc/host/tools');
    const asked = { dir: dir!, component: component!, id: id! };
    const location = journalOf(tools, asked.dir);
    const printer = entityPrinter(options.output);
    const whatIf = name === undefined ? undefined : { name, ...call };
    // The journal does not have the timers of an earlier point.
    const timers =
      point.kind === 'end' ? () => timersOf(tools.inspectTimers(location), asked) : undefined;
    return withSources(tools, [given], set, async ([{ source, settings }]) => {
      const inspection = tools.inspectJournal(location);
      try {
        const entityHistory = { inspection, source, settings, entity: asked };
        const history = await tools.EntityHistory.open(entityHistory);
        try {
          return await print(history, printer, { asked, point, steps, timers, whatIf });
        } finally {
          history.close();
        }
      } finally {
        inspection.close();
      }
    });
  },
);

interface Call {
  readonly input: string;
  readonly nowMs: number | undefined;
  readonly seed: bigint;
}

async function print(
  history: EntityHistory,
  printer: EntityPrinter,
  what: {
    readonly asked: Asked;
    readonly point: HistoryPoint;
    readonly steps: boolean;
    readonly timers: (() => Promise<ShownTimers>) | undefined;
    readonly whatIf: (Call & { readonly name: string }) | undefined;
  },
): Promise<ExitCode> {
  const { asked, steps, whatIf } = what;
  const past = await history.stateAt(what.point);
  // The point is fixed from here on, even if a service appends events.
  const point = { kind: 'seq', seq: past.seq } as const;
  let whatIfText = '';
  if (whatIf !== undefined) {
    const { name, input, seed } = whatIf;
    const nowMs = whatIf.nowMs ?? timeAt(what.point, past.timeMs);
    const call = { name, input, nowMs, seed, metadata: [] };
    whatIfText = printer.whatIf(call, await history.whatIf(point, call));
  }
  let isOpen = await printData(printer.head(asked));
  if (steps && isOpen) {
    isOpen = await printData(printer.stepsHead());
    let isFirst = true;
    for await (const step of history.steps(point)) {
      if (!isOpen) break;
      isOpen = await printData(printer.step(step, isFirst));
      isFirst = false;
    }
    if (isOpen) await printData(printer.stepsTail());
  }
  const timersText = what.timers === undefined ? '' : printer.timers(await what.timers(), asked);
  await printData(printer.state(past, asked) + timersText + whatIfText + printer.tail());
  return EXIT_CODE.ok;
}

/** Reads the timers that an entity has now. Names damaged ones on stderr. */
async function timersOf(
  inspection: TimerInspection,
  { component, id }: Asked,
): Promise<ShownTimers> {
  try {
    const page = await inspection.list({ owner: { component, id } }, 0, TIMERS_SHOWN_MAX + 1);
    for (const { message } of page.damaged) process.stderr.write(`${printable(message)}\n`);
    return {
      timers: page.timers.slice(0, TIMERS_SHOWN_MAX),
      isMore: page.timers.length > TIMERS_SHOWN_MAX,
    };
  } finally {
    inspection.close();
  }
}

/**
 * Returns the time of a what-if command without `--now`: the time of the point; the present for the end of the history
 * and for the state before the first record. `recordedMs`: time of the record at the point; undefined if there is none.
 */
function timeAt(point: HistoryPoint, recordedMs: number | undefined): number {
  if (point.kind === 'time') return point.timeMs;
  return (point.kind === 'seq' ? recordedMs : undefined) ?? Date.now();
}

function readPoint(text: string | undefined): HistoryPoint {
  if (text === undefined) return { kind: 'end' };
  if (/^[0-9]{1,15}$/.test(text)) return { kind: 'seq', seq: Number(text) };
  return { kind: 'time', timeMs: readTimeAfter1970('--at', text, "a record's number or a time") };
}

/** Parses a time. Throws UsageError for a time before 1970, because no command can have run then. */
function readTimeAfter1970(option: string, text: string, what: string): number {
  const timeMs = readTime('entity', option, text, what);
  if (timeMs >= 0) return timeMs;
  throw new UsageError(`entity takes ${what} from 1970 on as ${option}, and found '${text}'.`);
}

function readCall(options: {
  readonly 'what-if': string | undefined;
  readonly input: string | undefined;
  readonly now: string | undefined;
  readonly seed: string | undefined;
}): Call {
  const { input, now, seed } = options;
  if (options['what-if'] === undefined)
    for (const option of ['input', 'now', 'seed'] as const)
      if (options[option] !== undefined)
        throw new UsageError(`entity takes --${option} with --what-if COMMAND only.`);
  return {
    input: input === undefined ? 'null' : readJson(input),
    nowMs: now === undefined ? undefined : readTimeAfter1970('--now', now, 'a time'),
    seed: seed === undefined ? randomSeed() : readSeed(seed),
  };
}

function readJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    throw new UsageError(`entity takes JSON as --input, and found '${text}'.`);
  }
}

function readSeed(text: string): bigint {
  const seed = /^[0-9]{1,20}$/.test(text) ? BigInt(text) : -1n;
  if (seed >= 0n && seed <= SEED_MAX) return seed;
  throw new UsageError(
    `entity takes a whole number from 0 to ${SEED_MAX} as --seed, and found '${text}'.`,
  );
}

function randomSeed(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0]!;
}

// svc upgrade-check: checks before a deployment whether a new module, program or process can continue with a journal. It only reads,
// and may do so while a service runs on the journal.
import { availableParallelism } from 'node:os';
import type { Finding, HostingSettings, UpgradeAnswer } from '@svc/host/tools';
import { printable, printableJson } from '@svc/kit/printable';
import { didYouMean } from '@svc/contract/suggestion';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { journalNote, journalOf } from '../journal-word.ts';
import { ProgressLine } from '../progress-line.ts';
import {
  checkSettings,
  type GivenSource,
  givenSource,
  PROCESS_OPTIONS,
  PROGRAM_OPTION,
  SOURCE_WORDS,
  type SourceToRun,
  withSources,
} from '../source-to-run.ts';
import { outputStyle, printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

const THREADS_MAX = 64;
/** The finding that `--allow` does not accept, because it is not a difference between modules. */
const DAMAGE = 'record-damaged';

export const upgradeCheck = command(
  {
    name: 'upgrade-check',
    summary: 'say whether a new version can go on with what is stored',
    about: `Folds every stored event of every entity with a new module, and with the one before it, and
compares the states and the rows of views; then compares what the two declare, and looks for timers
and events of consumers that the new one cannot carry on. It says what would be refused, would
fault, or would mean something else. It reads only, and may do so while a service runs.
A program is checked with --program and --from-program, and a process with --process and
--from-process, or with commands that start it. Each may be mixed with a module.`,
    words: [{ name: 'NEW.wasm', optional: true, completes: { kind: 'file', ending: '.wasm' } }],
    options: {
      program: PROGRAM_OPTION,
      ...PROCESS_OPTIONS,
      data: {
        type: 'string',
        value: 'DIR',
        help: 'the data folder, or the database (below); required',
        completes: { kind: 'folder' },
      },
      from: {
        type: 'string',
        value: 'OLD.wasm',
        help: 'the module that runs on it now',
        otherwise: 'no comparison',
        completes: { kind: 'file', ending: '.wasm' },
      },
      'from-program': {
        type: 'string',
        value: 'OLD.ts',
        help: `the program that runs on it now, in the place of a module:
the file that exports its components, in a copy of its
sources`,
        completes: { kind: 'file', ending: '.ts' },
      },
      'from-process': {
        type: 'string',
        value: 'ADDRESS',
        help: 'a process with the version that runs on it now',
      },
      'from-process-command': {
        type: 'string',
        value: 'COMMAND',
        help: 'starts that process, in a copy of its sources',
      },
      allow: {
        type: 'string',
        multiple: true,
        value: 'NAME[:COMPONENT]',
        help: `a finding that is meant, by the name under which it is
listed; may be repeated`,
      },
      threads: {
        type: 'string',
        value: 'N',
        help: 'how many threads fold',
        otherwise: "the machine's cores",
      },
      output: OUTPUT_OPTION,
      set: {
        type: 'string',
        multiple: true,
        value: 'NAME=VALUE',
        help: 'a setting with which the module would run, as of svc run',
      },
    },
    notes: `${journalNote()}
Exits with 0 when the upgrade is safe: nothing was found, or nothing but what is allowed.`,
    examples: [
      'svc upgrade-check new.wasm --data .svc/shopping-cart --from old.wasm',
      'svc upgrade-check new.wasm --data .svc/cart --from old.wasm --allow state-differs:shopping-cart',
      'svc upgrade-check new.wasm --data url-file:database.url --from old.wasm',
      "svc upgrade-check new.wasm --data .svc/shopping-cart -o json | jq '.findings[].name'",
      'svc upgrade-check --program src/components.ts --data .svc/flags --from-program old/components.ts',
      "svc upgrade-check --process-command 'node main.ts' --data .svc/cart --from-process 127.0.0.1:9010",
    ],
  },
  async ([module], { data, from, ...options }) => {
    const { allow, threads, output, set } = options;
    const given = givenSource('upgrade-check', { module, ...options });
    const givenBefore = givenSource('upgrade-check', {
      module: from,
      program: options['from-program'],
      process: options['from-process'],
      'process-command': options['from-process-command'],
    });
    if (given === undefined)
      throw new UsageError(
        'upgrade-check takes the new version: NEW.wasm, --program NEW.ts, --process ADDRESS or --process-command COMMAND.',
      );
    if (data === undefined) throw new UsageError('upgrade-check takes the journal: --data DIR.');
    checkSettings('upgrade-check', set, given, givenBefore);
    const tools = await import('@svc/host/tools');
    const location = journalOf(tools, data);
    checkAllowed(allow, tools.ALLOWABLE_NAMES);
    const threadCount = readThreads(threads);
    const progress = new ProgressLine();
    const answer = await withSources(tools, [given, givenBefore], set, async ([now, before]) => {
      try {
        return await tools.checkUpgrade({
          location,
          now: now.source,
          before: before?.source,
          settings: settingsOf(now, before),
          threads: threadCount,
          onProgress: ({ records, recordsTotal }) =>
            progress.show(records, recordsTotal, 'records'),
        });
      } finally {
        progress.clear();
      }
    });
    const findings = answer.findings.map((finding) => ({
      ...finding,
      allowed: allow.some((word) => tools.isAllowed(word, finding)),
    }));
    const unsafe = findings.filter(({ allowed }) => !allowed);
    const kindWord = SOURCE_WORDS[given.kind];
    const report = {
      dir: data,
      [kindWord]: given.name,
      from: givenBefore?.name ?? null,
      compared: answer.compared,
      safe: unsafe.length === 0,
      entities: answer.entities,
      records: answer.records,
      findings,
    };
    await printData(
      output === 'json'
        ? `${printableJson(JSON.stringify(report, null, 2))}\n`
        : textOf(report, kindWord),
    );
    for (const word of allow)
      // An entry that matches nothing would silently accept a later finding of its name.
      if (!findings.some((finding) => tools.isAllowed(word, finding)))
        process.stderr.write(`--allow ${printable(word)} is of no use: nothing of it was found.\n`);
    if (unsafe.length === 0) return EXIT_CODE.ok;
    const names = [...new Set(unsafe.map(({ name }) => name))];
    const isDamaged = names.includes(DAMAGE);
    throw new CommandFailure(
      'SVC_UPGRADE_UNSAFE',
      `${given.name} cannot take over what ${data} holds: ${names.join(', ')}. ` +
        (isDamaged
          ? 'Restore the journal from a backup; svc journal verify names what is damaged.'
          : `Fix the ${kindWord}, or accept intended findings with --allow.`),
    );
  },
);

/**
 * Returns the settings for both versions. Only modules have settings: two modules have the same ones, and other
 * code uses none.
 */
function settingsOf(now: SourceToRun, before: SourceToRun | undefined): HostingSettings {
  return before?.source.kind === 'wasm' ? before.settings : now.settings;
}

type AllowableNames = typeof import('@svc/host/tools').ALLOWABLE_NAMES;

function checkAllowed(allow: readonly string[], known: AllowableNames): void {
  for (const word of allow) {
    const [name] = word.split(':', 1);
    if (known.some((one) => one === name)) continue;
    if (name === DAMAGE)
      throw new UsageError(
        `upgrade-check takes no '${DAMAGE}' as --allow: nobody knows what the record was. ` +
          'Restore the journal from a backup; svc journal verify names what is damaged.',
      );
    throw new UsageError(
      `upgrade-check takes the name of a finding as --allow, and found '${word}'.` +
        `${didYouMean(name!, known)} docs/how-to/evolving-events.md lists them.`,
    );
  }
}

function readThreads(text: string | undefined): number {
  if (text === undefined) return Math.min(availableParallelism(), THREADS_MAX);
  const count = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= THREADS_MAX) return count;
  throw new UsageError(
    `upgrade-check takes a whole number from 1 to ${THREADS_MAX} as --threads, and found '${text}'.`,
  );
}

interface Report {
  readonly compared: UpgradeAnswer['compared'];
  readonly safe: boolean;
  readonly entities: number;
  readonly records: number;
  readonly findings: readonly (Finding & { readonly allowed: boolean })[];
}

/** The part of the check that was not made, by what was compared; empty if everything was compared. */
const CAVEATS: Readonly<Record<UpgradeAnswer['compared'], string>> = {
  module: '',
  program: '',
  process: '',
  descriptor: 'states not compared',
  nothing: 'neither states nor declarations compared',
};

function textOf(
  { compared, safe, entities, records, findings }: Report,
  word: (typeof SOURCE_WORDS)[GivenSource['kind']],
): string {
  const lines = findings.flatMap((finding) => [...findingLines(finding), '']);
  const option = word === 'module' ? '--from' : `--from-${word}`;
  const missing = CAVEATS[compared];
  const caveat = missing === '' ? '' : `, ${missing}: that takes ${option}`;
  const verdict = safe ? outputStyle('green', 'safe') : outputStyle('red', 'unsafe');
  lines.push(
    `${verdict}: ${counted(records, 'record')} of ${counted(entities, 'entity', 'entities')}${caveat}`,
  );
  return `${lines.join('\n')}\n`;
}

/** Units of the findings that do not count entities. */
const UNITS: Readonly<Partial<Record<Finding['name'], readonly [one: string, many: string]>>> = {
  'view-rows-differ': ['row', 'rows'],
  'timer-command-removed': ['timer', 'timers'],
};

function findingLines({
  name,
  component,
  message,
  entities,
  examples,
  allowed,
}: Report['findings'][number]): string[] {
  const unit = UNITS[name] ?? (['entity', 'entities'] as const);
  const count = entities === 0 ? '' : ` (${counted(entities, ...unit)})`;
  const head = `${outputStyle('bold', name)}  ${printable(component)}${allowed ? '  allowed' : ''}`;
  return [
    head,
    `  ${printable(message)}${count}`,
    ...examples.map(({ id, seq, problem }) => {
      const position = seq === undefined ? '' : `, record ${seq}`;
      return printable(`    ${id}${position}: ${problem}`);
    }),
    ...(entities > examples.length && examples.length > 0 ? ['    …'] : []),
  ];
}

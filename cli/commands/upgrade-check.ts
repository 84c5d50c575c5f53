// svc upgrade-check: checks before a deployment whether a new module, program or process can continue with a journal. It only reads,
// and may do so while a service runs on the journal.
import { availableParallelism } from 'node:os';
import type { HostingSettings, JournalLocation, UpgradeAnswer } from '@svc/host/tools';
import { printable, printableJson } from '@svc/kit/printable';
import { didYouMean } from '@svc/contract/suggestion';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
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
import { printData } from '../terminal.ts';
import { journalText, rollingText } from '../upgrade-report.ts';
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
With --rolling it compares the new version with the one that runs on a database instead, as a node
does before it joins: what one of them stores or sends, and the other does not understand.
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
      rolling: {
        type: 'string',
        value: 'DATABASE',
        help: `in the place of --data: the database of the nodes that run,
url-file:FILE or url-variable:NAME`,
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
      'svc upgrade-check new.wasm --rolling url-file:database.url',
      "svc upgrade-check new.wasm --data .svc/shopping-cart -o json | jq '.findings[].name'",
      'svc upgrade-check --program src/components.ts --data .svc/flags --from-program old/components.ts',
      "svc upgrade-check --process-command 'node main.ts' --data .svc/cart --from-process 127.0.0.1:9010",
    ],
  },
  async ([module], { data, from, rolling, ...options }) => {
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
    const dir = data ?? rolling;
    if (dir === undefined)
      throw new UsageError('upgrade-check takes the journal: --data DIR or --rolling DATABASE.');
    if (rolling !== undefined)
      checkRolling(given, { '--data': data, '--threads': threads, '--from': givenBefore?.name });
    checkSettings('upgrade-check', set, given, givenBefore);
    const tools = await import('@svc/host/tools');
    const location = journalOf(tools, dir);
    checkAllowed(allow, tools.ALLOWABLE_NAMES);
    const threadCount = readThreads(threads);
    const answer = await withSources(tools, [given, givenBefore], set, ([now, before]) =>
      rolling === undefined
        ? checkJournal(tools, { location, now, before, threads: threadCount })
        : checkBesideRunning(tools, { location, now }),
    );
    const findings = answer.findings.map((finding) => ({
      ...finding,
      allowed: allow.some((word) => tools.isAllowed(word, finding)),
    }));
    const unsafe = findings.filter(({ allowed }) => !allowed);
    const kindWord = SOURCE_WORDS[given.kind];
    const report = {
      dir,
      [kindWord]: given.name,
      from: givenBefore?.name ?? null,
      compared: answer.compared,
      safe: unsafe.length === 0,
      entities: answer.entities,
      records: answer.records,
      ...(answer.running && { running: answer.running }),
      findings,
    };
    const { running } = answer;
    const text = () =>
      running === undefined ? journalText(report, kindWord) : rollingText({ ...report, running });
    await printData(
      output === 'json' ? `${printableJson(JSON.stringify(report, null, 2))}\n` : text(),
    );
    for (const word of allow)
      // An entry that matches nothing would silently accept a later finding of its name.
      if (!findings.some((finding) => tools.isAllowed(word, finding)))
        process.stderr.write(`--allow ${printable(word)} is of no use: nothing of it was found.\n`);
    if (unsafe.length === 0) return EXIT_CODE.ok;
    const names = [...new Set(unsafe.map(({ name }) => name))];
    const isDamaged = names.includes(DAMAGE);
    const problem =
      running === undefined
        ? `cannot take over what ${dir} holds`
        : `cannot run beside what uses ${dir}`;
    throw new CommandFailure(
      'SVC_UPGRADE_UNSAFE',
      `${given.name} ${problem}: ${names.join(', ')}. ` +
        (isDamaged
          ? 'Restore the journal from a backup; svc journal verify names what is damaged.'
          : `Fix the ${kindWord}, or accept intended findings with --allow.`),
    );
  },
);

type Tools = typeof import('@svc/host/tools');

interface Question {
  readonly location: JournalLocation;
  readonly now: SourceToRun;
  readonly before: SourceToRun | undefined;
  readonly threads: number;
}

/** The answer of either check. */
interface Answer extends UpgradeAnswer {
  /** Fingerprints of the versions that run; undefined: the check was on a journal. */
  readonly running?: readonly string[];
}

async function checkJournal(
  tools: Tools,
  { location, now, before, threads }: Question,
): Promise<Answer> {
  const progress = new ProgressLine();
  try {
    return await tools.checkUpgrade({
      location,
      now: now.source,
      before: before?.source,
      settings: settingsOf(now, before),
      threads,
      onProgress: ({ records, recordsTotal }) => progress.show(records, recordsTotal, 'records'),
    });
  } finally {
    progress.clear();
  }
}

/** Rejects with UsageError for a journal in a folder, which one process uses alone. */
async function checkBesideRunning(
  tools: Tools,
  { location, now }: Pick<Question, 'location' | 'now'>,
): Promise<Answer> {
  if (location.kind === 'folder')
    throw new UsageError(
      `upgrade-check takes a database as --rolling, url-file:FILE or url-variable:NAME, and found '${location.dir}'.`,
    );
  const { running, findings } = await tools.checkRollingUpgrade(location, now.source);
  const compared = running.length === 0 ? 'nothing' : 'descriptor';
  return { entities: 0, records: 0, findings, compared, running };
}

/** Throws UsageError for what has no meaning with `--rolling`. `others`: options that belong to the check on a journal, with their values. */
function checkRolling(
  { kind, name }: GivenSource,
  others: Readonly<Record<string, string | undefined>>,
): void {
  const other = Object.entries(others).find(([, value]) => value !== undefined);
  if (other !== undefined)
    throw new UsageError(
      `upgrade-check takes no ${other[0]} beside --rolling, which compares with what runs.`,
    );
  if (kind === 'program')
    throw new UsageError(
      `upgrade-check takes a module or a process beside --rolling, and found ${name}: a program uses its database alone.`,
    );
}

/**
 * Returns the settings for both versions. Only modules have settings: two modules have the same ones, and other
 * code uses none.
 */
function settingsOf(now: SourceToRun, before: SourceToRun | undefined): HostingSettings {
  return before?.source.kind === 'wasm' ? before.settings : now.settings;
}

type AllowableNames = Tools['ALLOWABLE_NAMES'];

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

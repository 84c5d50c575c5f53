// svc upgrade-check: whether a new module can go on with what a data folder holds, before it is deployed. It
// reads only, and may do so while a service runs on the folder.
import { availableParallelism } from 'node:os';
import type { Finding, UpgradeAnswer } from '@svc/host/tools';
import { printable, printableJson } from '@svc/host/printable';
import { didYouMean } from '@svc/contract/suggestion';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { numberText, ProgressLine } from '../progress-line.ts';
import { outputStyle, printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

const THREADS_MAX = 64;

export const upgradeCheck = command(
  {
    name: 'upgrade-check',
    summary: 'say whether a new module can go on with what is stored',
    about: `Folds every stored event of every entity with a new module, and with the one before it, and
compares the states; then compares what the two declare. It says what would be refused, would fault,
or would mean something else. It reads only, and may do so while a service runs on the folder.`,
    words: [{ name: 'NEW.wasm', completes: { kind: 'file', ending: '.wasm' } }],
    options: {
      data: {
        type: 'string',
        value: 'DIR',
        help: 'the data folder; required',
        completes: { kind: 'folder' },
      },
      from: {
        type: 'string',
        value: 'OLD.wasm',
        help: 'the module that runs on it now',
        otherwise: 'states are not compared',
        completes: { kind: 'file', ending: '.wasm' },
      },
      allow: {
        type: 'string',
        multiple: true,
        value: 'NAME[:COMPONENT]',
        help: `a finding that is meant, by the name under which it is listed; may
be repeated`,
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
    notes:
      'Exits with 0 when the upgrade is safe: nothing was found, or nothing but what is allowed.',
    examples: [
      'svc upgrade-check new.wasm --data .svc/shopping-cart --from old.wasm',
      'svc upgrade-check new.wasm --data .svc/cart --from old.wasm --allow state-differs:shopping-cart',
      "svc upgrade-check new.wasm --data .svc/shopping-cart -o json | jq '.findings[].name'",
    ],
  },
  async ([file], { data, from, allow, threads, output, set }) => {
    if (data === undefined)
      throw new UsageError('upgrade-check takes the data folder: --data DIR.');
    const tools = await import('@svc/host/tools');
    const isAllowed = readAllowed(allow, tools.ALLOWABLE_NAMES);
    const threadCount = readThreads(threads);
    const { module: now, limits } = await admitted(tools, file!, set);
    const before = from === undefined ? undefined : (await admitted(tools, from, set)).module;
    const progress = new ProgressLine();
    let answer: UpgradeAnswer;
    try {
      answer = await tools.checkUpgrade({
        dir: data,
        now,
        before,
        limits,
        threads: threadCount,
        onProgress: ({ records, recordsTotal }) => progress.show(records, recordsTotal, 'records'),
      });
    } finally {
      progress.clear();
    }
    const findings = answer.findings.map((finding) => ({
      ...finding,
      allowed: isAllowed(finding),
    }));
    const unsafe = findings.filter(({ allowed }) => !allowed);
    const report = {
      dir: data,
      module: file!,
      from: from ?? null,
      compared: answer.compared,
      safe: unsafe.length === 0,
      entities: answer.entities,
      records: answer.records,
      findings,
    };
    await printData(
      output === 'json' ? `${printableJson(JSON.stringify(report, null, 2))}\n` : textOf(report),
    );
    if (unsafe.length === 0) return EXIT_CODE.ok;
    const names = [...new Set(unsafe.map(({ name }) => name))].join(', ');
    throw new CommandFailure(
      'SVC_UPGRADE_UNSAFE',
      `${file} cannot take over what ${data} holds: ${names}. ` +
        'Mend the module, or name with --allow what is meant.',
    );
  },
);

type AllowableNames = typeof import('@svc/host/tools').ALLOWABLE_NAMES;

function readAllowed(
  allow: readonly string[],
  known: AllowableNames,
): (finding: Finding) => boolean {
  const allowed = new Set<string>();
  for (const word of allow) {
    const [name] = word.split(':', 1);
    if (!known.some((one) => one === name))
      throw new UsageError(
        `upgrade-check takes the name of a finding as --allow, and found '${word}'.` +
          `${didYouMean(name!, known)} docs/how-to/evolving-events.md lists them.`,
      );
    allowed.add(word);
  }
  return ({ name, component }) => allowed.has(name) || allowed.has(`${name}:${component}`);
}

function readThreads(text: string | undefined): number {
  if (text === undefined) return Math.min(availableParallelism(), THREADS_MAX);
  const count = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= THREADS_MAX) return count;
  throw new UsageError(
    `upgrade-check takes a whole number from 1 to ${THREADS_MAX} as --threads, and found '${text}'.`,
  );
}

/** Two modules are named: the message says which one it is about. */
async function admitted(
  { SvcError, admitFileToRun }: typeof import('@svc/host/tools'),
  file: string,
  settings: readonly string[],
) {
  try {
    return await admitFileToRun(file, settings, {});
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    if (error.code === 'SVC_USAGE') throw new UsageError(error.message);
    const { code, message } = error;
    throw new CommandFailure(code, message.includes(file) ? message : `${file}: ${message}`, {
      cause: error,
    });
  }
}

interface Report {
  readonly compared: UpgradeAnswer['compared'];
  readonly safe: boolean;
  readonly entities: number;
  readonly records: number;
  readonly findings: readonly (Finding & { readonly allowed: boolean })[];
}

function textOf({ compared, safe, entities, records, findings }: Report): string {
  const lines = findings.flatMap((finding) => [...findingLines(finding), '']);
  const caveat = compared === 'module' ? '' : ', states not compared: that takes --from';
  const verdict = safe ? outputStyle('green', 'safe') : outputStyle('red', 'unsafe');
  lines.push(
    `${verdict}: ${numberText(records)} records of ${numberText(entities)} entities${caveat}`,
  );
  return `${lines.join('\n')}\n`;
}

function findingLines({
  name,
  component,
  message,
  entities,
  examples,
  allowed,
}: Report['findings'][number]): string[] {
  const count = entities === 0 ? '' : ` (${entities} ${entities === 1 ? 'entity' : 'entities'})`;
  const head = `${outputStyle('bold', name)}  ${printable(component)}${allowed ? '  allowed' : ''}`;
  return [
    head,
    `  ${printable(message)}${count}`,
    ...examples.map(({ id, seq, problem }) => {
      const place = seq === undefined ? '' : `, record ${seq}`;
      return printable(`    ${id}${place}: ${problem}`);
    }),
    ...(entities > examples.length && examples.length > 0 ? ['    …'] : []),
  ];
}

// UpgradeReport is what svc upgrade-check prints for people: the findings, and the verdict.
import type { Finding, UpgradeAnswer } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { counted } from './counted.ts';
import type { GivenSource, SOURCE_WORDS } from './source-to-run.ts';
import { outputStyle } from './terminal.ts';

export interface JudgedFinding extends Finding {
  readonly allowed: boolean;
}

interface JournalReport {
  readonly compared: UpgradeAnswer['compared'];
  readonly safe: boolean;
  readonly entities: number;
  readonly records: number;
  readonly findings: readonly JudgedFinding[];
}

/** The part of the check that was not made, by what was compared; empty if everything was compared. */
const CAVEATS: Readonly<Record<UpgradeAnswer['compared'], string>> = {
  module: '',
  program: '',
  process: '',
  descriptor: 'states not compared',
  nothing: 'neither states nor declarations compared',
};

/** Returns the text of a check on a journal. `word`: the word for the new version. */
export function journalText(
  { compared, safe, entities, records, findings }: JournalReport,
  word: (typeof SOURCE_WORDS)[GivenSource['kind']],
): string {
  const option = word === 'module' ? '--from' : `--from-${word}`;
  const missing = CAVEATS[compared];
  const caveat = missing === '' ? '' : `, ${missing}: that takes ${option}`;
  const checked = `${counted(records, 'record')} of ${counted(entities, 'entity', 'entities')}`;
  return textOf(findings, safe, `${checked}${caveat}`);
}

/** Returns the text of a check beside the versions that run. */
export function rollingText({
  running,
  safe,
  findings,
}: Pick<JournalReport, 'safe' | 'findings'> & { readonly running: readonly string[] }): string {
  const checked = running.length === 0 ? 'no other version runs' : 'beside the version that runs';
  return textOf(findings, safe, checked);
}

function textOf(findings: readonly JudgedFinding[], safe: boolean, checked: string): string {
  const lines = findings.flatMap((finding) => [...findingLines(finding), '']);
  const verdict = safe ? outputStyle('green', 'safe') : outputStyle('red', 'unsafe');
  return `${[...lines, `${verdict}: ${checked}`].join('\n')}\n`;
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
}: JudgedFinding): string[] {
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

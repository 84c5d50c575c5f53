// VerifyReport prints what svc verify finds as it is found, as text or as one JSON document, and counts it.
import type { PurityFinding, VerifiedEntity, VerifiedView } from '@svc/host/tools';
import { printable, printableJson } from '@svc/kit/printable';
import { counted } from './counted.ts';
import type { ProgressLine } from './progress-line.ts';
import { outputStyle, printData } from './terminal.ts';

type Tools = typeof import('@svc/host/tools');

export interface VerifyReportNeeds {
  readonly word: 'module' | 'program' | 'process';
  /** The file, address or command that was given. */
  readonly name: string;
  readonly isJson: boolean;
  readonly tools: Pick<Tools, 'FOLD_VARIANTS' | 'VIEW_CHECKS' | 'faultLine'>;
  readonly progress: Pick<ProgressLine, 'clear'>;
}

export interface VerifyCounts {
  readonly entities: number;
  readonly events: number;
  readonly views: number;
  readonly findings: number;
  /** Number of entities and views that could not be judged. */
  readonly failures: number;
}

export class VerifyReport {
  readonly #needs: VerifyReportNeeds;
  readonly #head: string;
  #counts = { entities: 0, events: 0, views: 0, findings: 0, failures: 0 };
  #isEmpty = true;

  constructor(needs: VerifyReportNeeds) {
    this.#needs = needs;
    this.#head = `{"${needs.word}":${json(needs.name)},"findings":[`;
  }

  get counts(): VerifyCounts {
    return this.#counts;
  }

  /** Returns false if nobody reads the output any more. */
  async entity(verified: VerifiedEntity): Promise<boolean> {
    const { isJson, tools } = this.#needs;
    this.#counts.entities++;
    this.#counts.events += verified.eventCount;
    this.#count(verified);
    return this.#print(isJson ? jsonOf(verified, tools) : textOf(verified, tools));
  }

  /** Returns false if nobody reads the output any more. */
  async view(verified: VerifiedView): Promise<boolean> {
    const { isJson, tools } = this.#needs;
    this.#counts.views++;
    this.#count(verified);
    return this.#print(isJson ? viewJsonOf(verified) : viewTextOf(verified, tools.VIEW_CHECKS));
  }

  /** Prints the counts. `isMadeUp`: the events were generated. */
  async end(isMadeUp: boolean): Promise<void> {
    const { entities, events, views, failures } = this.#counts;
    const ofViews = views === 0 ? {} : { views };
    if (this.#needs.isJson) {
      const counts = json({ entities, events, ...ofViews, failures });
      await printData(`${this.#isEmpty ? this.#head : '\n'}],${counts.slice(1)}\n`);
      return;
    }
    const checked = [
      counted(entities, 'entity', 'entities'),
      counted(events, isMadeUp ? 'made-up event' : 'event'),
      ...(views === 0 ? [] : [counted(views, 'view')]),
    ];
    const verdict = this.#isEmpty ? ': every fold depends on the events alone' : '';
    await printData(`${checked.join(', ')}${verdict}\n`);
  }

  #count({ findings, failure }: Pick<VerifiedEntity | VerifiedView, 'findings' | 'failure'>): void {
    this.#counts.findings += findings.length;
    if (failure !== undefined) this.#counts.failures++;
  }

  async #print(found: readonly string[]): Promise<boolean> {
    if (found.length === 0) return true;
    const { isJson, progress } = this.#needs;
    progress.clear();
    const separator = this.#isEmpty ? `${this.#head}\n` : ',\n';
    this.#isEmpty = false;
    return printData(isJson ? separator + found.join(',\n') : found.join(''));
  }
}

function jsonOf(
  { entity, findings, failure }: VerifiedEntity,
  { faultLine }: VerifyReportNeeds['tools'],
): readonly string[] {
  const { component, id } = entity;
  if (failure !== undefined)
    return [json({ component, id, error: { code: failure.code, message: failure.message } })];
  return findings.map(({ way, seq, path, expected, found }) =>
    json({
      component,
      id,
      seq,
      way,
      path: path ?? null,
      expected: value(expected),
      ...(found.kind === 'state'
        ? { found: value(found.state) }
        : { problem: problemText(found.problem, faultLine) }),
    }),
  );
}

function textOf(
  { entity, findings, failure }: VerifiedEntity,
  { FOLD_VARIANTS: ways, faultLine }: VerifyReportNeeds['tools'],
): readonly string[] {
  const name = `${printable(entity.component)} ${printable(entity.id)}`;
  if (failure !== undefined)
    return [`${outputStyle('red', 'not judged')}  ${name}: ${printable(failure.message)}\n`];
  return findings.map((finding) => {
    const { way, seq, path, found } = finding;
    const where = seq === 0 ? 'the empty state' : `event ${seq}`;
    const at = path === undefined || path === '' ? '' : `, at ${printable(path)}`;
    const what =
      found.kind === 'state'
        ? `another state from ${where} on${at}`
        : `a failure at ${where}: ${printable(problemText(found.problem, faultLine))}`;
    return `${outputStyle('red', way)}  ${name}: ${what}, when folded ${ways[way]}\n`;
  });
}

function viewJsonOf({ view, findings, failure }: VerifiedView): readonly string[] {
  if (failure !== undefined)
    return [json({ view, error: { code: failure.code, message: failure.message } })];
  return findings.map(({ way, rows, examples, problem }) =>
    json({ view, way, rows, examples, ...(problem === undefined ? {} : { problem }) }),
  );
}

function viewTextOf(
  { view, findings, failure }: VerifiedView,
  ways: Readonly<Record<string, string>>,
): readonly string[] {
  if (failure !== undefined)
    return [
      `${outputStyle('red', 'not judged')}  view ${printable(view)}: ${printable(failure.message)}\n`,
    ];
  return findings.map(({ way, rows, examples, problem }) => {
    const what =
      problem === undefined
        ? `${counted(rows, 'row')} ${rows === 1 ? 'is' : 'are'} different`
        : `it stops ${printable(problem)}`;
    const lines = examples.map(({ key, path, expected, found }) => {
      const at = path === '' ? '' : `, ${path}`;
      return `  ${printable(`${key}${at}: ${expected}, and ${found}`)}\n`;
    });
    const more = rows > examples.length && examples.length > 0 ? '  …\n' : '';
    return `${outputStyle('red', way)}  view ${printable(view)}: ${what} ${ways[way]}\n${lines.join('')}${more}`;
  });
}

function problemText(
  problem: Extract<PurityFinding['found'], { kind: 'problem' }>['problem'],
  faultLine: Tools['faultLine'],
): string {
  if (typeof problem === 'string') return problem;
  return faultLine(problem) ?? problem.message;
}

/** Parses a state. Returns the text itself if it is not JSON. */
function value(state: string): unknown {
  try {
    return JSON.parse(state);
  } catch {
    return state;
  }
}

function json(found: unknown): string {
  return printableJson(JSON.stringify(found));
}

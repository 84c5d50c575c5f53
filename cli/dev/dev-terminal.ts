// DevTerminal: the output of `svc dev`: the address of the service, the result of the last build, and the module's
// faults with their source locations. The state of the last build is redrawn in the same lines; everything else adds
// lines above these.
import { join, relative } from 'node:path';
import { routeTemplate, type ModuleDescriptor, type SourceLocation } from '@svc/contract';
import type { Problem } from '@svc/guest-sdk/compiler';
import { printable } from '@svc/kit/printable';
import { EVENT_PARKED, EVENT_SKIPPED, type FaultLocator, type FromDevHost } from '@svc/host/tools';
import { counted } from '../counted.ts';
import { problemTexts } from '../problem-lines.ts';
import { shellWord } from '../shell-word.ts';
import { errorStyle } from '../terminal.ts';
import { LiveArea, type AreaStream } from './live-area.ts';
import { readSourceLine } from './source-line.ts';

type Entry = Extract<FromDevHost, { readonly kind: 'log' }>['entry'];
type Fields = NonNullable<Entry['fields']>;

const OUTCOMES: ReadonlyMap<string, string> = new Map([
  [EVENT_PARKED, 'is parked'],
  [EVENT_SKIPPED, 'is skipped'],
]);
const ROUTES_SHOWN_MAX = 12;
const FILES_SHOWN_MAX = 3;
const FINDINGS_SHOWN_MAX = 5;
const PROBLEMS_SHOWN_MAX = 5;
const LOCATIONS_SHOWN_MAX = 3;
/** Maximum length of a displayed source line, in UTF-16 code units. */
const SOURCE_LINE_MAX = 120;
/** Indentation of the lines below a status line: the width of its time and its sign. */
const INDENT = ' '.repeat(11);

export class DevTerminal {
  readonly #area: LiveArea;
  readonly #root: string;
  #isHeaderShown = false;
  #isServing = false;
  #servedFile: string | undefined;
  /** The data folder relative to the working folder, as a word for a shell. */
  #dataWord: string | undefined;
  /** The last printed fault. `subject`: its component, handler and entity, or its route. `location` may be a reason. */
  #last = { subject: '', location: '' };
  /** Lines that show the served build, with its warnings. */
  #serving: readonly string[] = [];

  constructor(root: string, stream: AreaStream = process.stderr) {
    this.#root = root;
    this.#area = new LiveArea(stream);
  }

  building(changed: readonly string[]): void {
    const files = changed.map((file) => this.#short(file));
    const more = files.length - FILES_SHOWN_MAX;
    const named = `${files.slice(0, FILES_SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    this.#area.show([status('cyan', '◐', 'compiling', named)], true);
  }

  failed(problems: readonly Problem[]): void {
    const texts = problemTexts(problems.slice(0, PROBLEMS_SHOWN_MAX));
    const more = problems.length - texts.length;
    this.#area.show([
      '',
      ...texts.flatMap((text) => [text, '']),
      ...(more > 0 ? [`and ${counted(more, 'more problem', 'more problems')}`, ''] : []),
      status('red', '✕', counted(problems.length, 'problem', 'problems'), this.#consequence()),
    ]);
  }

  /**
   * Shows that a build is not served. `locations`: source locations of a failure while the module started.
   * `isRetried`: the start is repeated until it succeeds, and no module is served before.
   */
  refused(
    code: string,
    message: string,
    locations: readonly SourceLocation[],
    isRetried = false,
  ): void {
    const more = isRetried ? 'it is tried again' : this.#consequence();
    this.#area.show([
      ...this.#locationLines(locations),
      status('red', '✕', `not served: ${printable(message)} [${code}]`, more),
    ]);
  }

  served(
    {
      source,
      url,
      dataFolder,
      journal,
      afterMs,
    }: Extract<FromDevHost, { readonly kind: 'served' }>,
    name: string,
    {
      descriptor,
      builtMs,
      changed,
      warnings,
    }: {
      readonly descriptor: ModuleDescriptor;
      readonly builtMs: number;
      readonly changed: readonly string[];
      readonly warnings: readonly Problem[];
    },
  ): void {
    const folder = dataFolder && (relative(process.cwd(), dataFolder) || '.');
    this.#dataWord = folder && shellWord(folder);
    const header = { name, url, journal: folder ?? journal, descriptor, file: source.file };
    if (!this.#isHeaderShown) this.#area.print(this.#header(header));
    this.#isHeaderShown = true;
    this.#isServing = true;
    const files = changed.slice(0, FILES_SHOWN_MAX).map((file) => this.#short(file));
    const isSame = this.#servedFile === source.file;
    this.#servedFile = source.file;
    const then = isSame ? 'the same module as before' : `served ${seconds(afterMs)} after`;
    const took = `compiled in ${seconds(builtMs)}, ${then}`;
    const warned = problemTexts(warnings.slice(0, PROBLEMS_SHOWN_MAX));
    this.#serving = [...warned, status('green', '●', 'serving', [took, ...files].join(' · '))];
    this.#area.show(this.#serving);
  }

  /** Prints the findings of checking stored events against the served module. */
  upgrade(findings: readonly string[]): void {
    if (findings.length === 0) return;
    const shown = findings.slice(0, FINDINGS_SHOWN_MAX);
    const more = findings.length - shown.length;
    this.#area.show([
      status(
        'yellow',
        '◆',
        'stored events no longer fold',
        'the service goes on; their entities fail',
      ),
      ...shown.map((finding) => `${INDENT}${printable(finding)}`),
      ...(more > 0 ? [`${INDENT}and ${more} more`] : []),
      ...this.#serving,
    ]);
  }

  /**
   * Prints a log entry. `locator`: finds the source locations of a fault; undefined if they are not needed. Entries of
   * svc of the levels info and debug are left out.
   */
  logged(entry: Entry, locator: FaultLocator | undefined): void {
    const { level, message, fields = {}, frames = [] } = entry;
    // Only entries that the module logged itself have this field.
    if (fields['from'] !== undefined) {
      this.#area.print([status('dim', '·', 'log', printable(message))]);
      return;
    }
    if (level === 'info' || level === 'debug') return;
    const { code, reason, errorId } = fields;
    const guestMessage = fields['guestMessage']?.toString();
    const subject = subjectOf(message, fields);
    const location = frames.length > 0 ? JSON.stringify(frames) : `${reason ?? message}`;
    const isSame = location === this.#last.location;
    // A fault of an entity is logged a second time for the request that failed because of the fault.
    if (isSame && subject !== this.#last.subject && errorId !== undefined)
      return this.#area.print([dim(`${INDENT}in ${printable(subject)}, error id ${errorId}`)]);
    const isAgain = isSame && subject === this.#last.subject;
    this.#last = { subject, location };
    const colour = level === 'error' ? 'red' : 'yellow';
    const head = status(colour, '✕', printable(subject), isAgain ? 'the same again' : '');
    const hints = this.#remedies(message, fields).map((line) => dim(`${INDENT}${printable(line)}`));
    if (isAgain) return this.#area.print([head, ...hints]);
    const why = `${reason ?? message}`;
    const guestLines = guestMessage === undefined || guestMessage === why ? [] : [guestMessage];
    const codeWord = code === undefined ? '' : dim(` [${printable(`${code}`)}]`);
    // The head says it already if there is no other subject.
    const isSaid = why === subject && codeWord === '';
    const found = locator?.locationsOf({ frames, guestMessage }) ?? [];
    return this.#area.print([
      head,
      ...guestLines.map((words) => `${INDENT}${printable(words)}`),
      ...(isSaid ? [] : [`${INDENT}${printable(why)}${codeWord}`]),
      ...this.#locationLines(found),
      ...hints,
    ]);
  }

  /** Returns the commands by which a person lets a consumer or a view go on that cannot. Those do not take a database. */
  #remedies(message: string, fields: Fields): string[] {
    const { consumer, view, component, entity, seq, event, code } = fields;
    const owner = shellWord(`${component}/${entity}`);
    const data = this.#dataWord;
    if (message === EVENT_PARKED && consumer !== undefined) {
      const waits = 'the later events of this entity wait';
      if (data === undefined) return [waits];
      const args = `${data} ${shellWord(String(consumer))} ${owner}`;
      return [
        waits,
        `again:   npx svc consumers retry ${args}`,
        `without: npx svc consumers skip ${args} ${seq} --reason WHY`,
      ];
    }
    if (code === 'SVC_VIEW_STOPPED' && view !== undefined && entity !== undefined) {
      const stops = 'the rows have no later events until the code of the view is changed';
      if (data === undefined) return [stops];
      return [
        stops,
        `without: npx svc views skip ${data} ${shellWord(String(view))} ${owner} ${event} --reason WHY`,
      ];
    }
    return [];
  }

  /** Prints text that the service's process wrote to its stdout or stderr, such as a crash report. */
  output(text: string): void {
    this.#area.print(
      text
        .trimEnd()
        .split('\n')
        .map((line) => printable(line)),
    );
  }

  stopping(): void {
    this.#area.show([status('dim', '○', 'stopping', '')], true);
  }

  stopped(): void {
    this.#area.show([status('dim', '○', 'stopped', '')]);
    this.#area.leave();
  }

  #header({
    name,
    url,
    journal,
    descriptor,
    file,
  }: {
    readonly name: string;
    readonly url: string | undefined;
    readonly journal: string;
    readonly descriptor: ModuleDescriptor;
    readonly file: string;
  }): string[] {
    const routes = descriptor.endpoints.flatMap(({ prefix, routes: own }) =>
      own.map(({ method, path }) => `${method.padEnd(7)} ${routeTemplate(prefix, path)}`),
    );
    const more = routes.length - ROUTES_SHOWN_MAX;
    return [
      '',
      `  ${errorStyle('bold', name)}  ${errorStyle('cyan', url ?? 'without HTTP')}`,
      dim(`  journal ${printable(journal)} · look inside: npx svc console`),
      '',
      ...routes.slice(0, ROUTES_SHOWN_MAX).map((route) => `  ${printable(route)}`),
      ...(more > 0
        ? [dim(`  and ${more} more · all of them: npx svc inspect ${shellWord(this.#short(file))}`)]
        : []),
      '',
    ];
  }

  /**
   * Returns lines for the first LOCATIONS_SHOWN_MAX locations: each location, and its source line unless the location
   * before has the same one.
   */
  #locationLines(locations: readonly SourceLocation[]): string[] {
    let last = '';
    return locations.slice(0, LOCATIONS_SHOWN_MAX).flatMap((location) => {
      const { file, line, column, function: inFunction } = location;
      const path = file.startsWith('~lib/') ? file : this.#short(join(this.#root, file));
      const within = inFunction === null ? '' : dim(` in ${printable(inFunction)}`);
      const where = `${printable(path)}:${line}${column === null ? '' : `:${column}`}`;
      const source = last === `${file}:${line}` ? undefined : readSourceLine(this.#root, location);
      last = `${file}:${line}`;
      return [
        `${INDENT}${errorStyle('bold', where)}${within}`,
        ...(source === undefined
          ? []
          : [dim(`${INDENT}${line} | ${printable(source.trim().slice(0, SOURCE_LINE_MAX))}`)]),
      ];
    });
  }

  /** Returns what the service does after a build that is not served. */
  #consequence(): string {
    return this.#isServing ? 'what was served before goes on' : 'waiting for a change';
  }

  /** Returns the path of a file relative to the working folder. */
  #short(file: string): string {
    return printable(relative(process.cwd(), file));
  }
}

/** Returns what a log entry is about: a handler of an entity, an event and who follows it, or a route. */
function subjectOf(message: string, fields: Fields): string {
  const { component, entity, handler, route, consumer, view, seq, event } = fields;
  if (component === undefined) return `${route ?? message}`;
  const number = seq ?? event;
  if (number === undefined)
    return `${component}${handler === undefined ? '' : `.${handler}`} ${entity ?? ''}`;
  const follower = consumer === undefined ? `view ${view}` : `consumer ${consumer}`;
  const outcome = OUTCOMES.get(message);
  return `${follower}, event ${number} of ${component}/${entity}${outcome === undefined ? '' : ` ${outcome}`}`;
}

function status(
  colour: 'cyan' | 'green' | 'red' | 'yellow' | 'dim',
  sign: string,
  word: string,
  more: string,
): string {
  const time = new Date().toTimeString().slice(0, 8);
  return `${dim(time)} ${errorStyle(colour, sign)} ${word}${more === '' ? '' : dim(` · ${more}`)}`;
}

function dim(text: string): string {
  return errorStyle('dim', text);
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000
    ? `${Math.round(milliseconds)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;
}

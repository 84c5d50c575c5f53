// svc verify: checks whether a module or a program computes the states of its entities from their events alone. It
// checks code; svc journal verify checks a journal.
import type { JournalInspection, PurityFinding, VerifiedEntity } from '@svc/host/tools';
import { setImmediate } from 'node:timers/promises';
import { printable, printableJson } from '@svc/kit/printable';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import { OUTPUT_OPTION } from '../description.ts';
import { ProgressLine } from '../progress-line.ts';
import { checkSettings, givenSource, PROGRAM_OPTION, sourceToRun } from '../source-to-run.ts';
import { outputStyle, printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

export const verify = command(
  {
    name: 'verify',
    summary: 'check that folds depend on nothing but the events',
    about: `Folds the events of entities with a module in several ways that have to come to the same state: in
fresh and in used instances, in batches of other sizes, beside other entities, on from snapshots.
A fold that depends on anything else is named. A program is judged in the same ways with --program.
It judges a module; svc journal verify judges a journal.`,
    words: [{ name: 'MODULE.wasm', optional: true, completes: { kind: 'file', ending: '.wasm' } }],
    options: {
      program: PROGRAM_OPTION,
      data: {
        type: 'string',
        value: 'DIR',
        help: 'every entity of the journal in this folder, on which a service may run',
        completes: { kind: 'folder' },
      },
      events: {
        type: 'string',
        value: 'FILE.ndjson',
        help: `the entities of this file: {"component", "id", "event"} on each
line, as svc journal export writes them`,
        completes: { kind: 'file', ending: '.ndjson' },
      },
      output: OUTPUT_OPTION,
      set: {
        type: 'string',
        multiple: true,
        value: 'NAME=VALUE',
        help: 'a setting with which the module runs, as of svc run',
      },
    },
    notes: `Without --data and --events it folds made-up events of each kind. Exits with 1 when it found
something, or met an entity that cannot be folded.`,
    examples: [
      'svc verify shopping-cart.wasm --data .svc/shopping-cart',
      'svc verify shopping-cart.wasm --events carts.ndjson -o json',
      'svc verify --program src/components.ts --data .svc/flags',
    ],
  },
  async ([module], { program, data, events, output, set }) => {
    const given = givenSource('verify', module, program);
    if (given === undefined)
      throw new UsageError('verify takes what it judges: MODULE.wasm, or --program FILE.ts.');
    checkSettings('verify', set, given);
    const tools = await import('@svc/host/tools');
    const { source, settings } = await sourceToRun(tools, given, set);
    const { kind, file } = given;
    const inspection = data === undefined ? undefined : tools.inspectJournal(data);
    const isJson = output === 'json';
    const head = `{"${kind}":${json(file)},"findings":[`;
    const progress = new ProgressLine();
    const total = events === undefined ? entitiesOf(inspection) : undefined;
    let [entities, eventCount, findings, failures] = [0, 0, 0, 0];
    try {
      const question = {
        source,
        settings,
        ...(inspection === undefined ? {} : { inspection }),
        ...(events === undefined ? {} : { eventsFile: events }),
      };
      for await (const verified of tools.verifyModule(question)) {
        const found = isJson ? jsonOf(verified) : textOf(verified, tools.FOLD_VARIANTS);
        if (found.length > 0) {
          progress.clear();
          const isFirst = findings + failures === 0;
          const separator = isFirst ? `${head}\n` : ',\n';
          const isOpen = await printData(isJson ? separator + found.join(',\n') : found.join(''));
          if (!isOpen) break;
        }
        entities++;
        eventCount += verified.eventCount;
        findings += verified.findings.length;
        if (verified.failure !== undefined) failures++;
        progress.show(entities, total, 'entities');
        // Lets the process handle signals between the entities.
        await setImmediate();
      }
    } finally {
      progress.clear();
      inspection?.close();
    }
    const counts = { entities, events: eventCount, failures };
    const isMadeUp = data === undefined && events === undefined;
    if (isJson)
      await printData(`${findings + failures === 0 ? head : '\n'}],${json(counts).slice(1)}\n`);
    else {
      const checked = `${counted(entities, 'entity', 'entities')}, ${counted(eventCount, isMadeUp ? 'made-up event' : 'event')}`;
      const verdict = findings + failures === 0 ? ': every fold depends on the events alone' : '';
      await printData(`${checked}${verdict}\n`);
    }
    if (findings > 0)
      throw new CommandFailure(
        'SVC_FOLD_IMPURE',
        `The folds of ${file} depend on more than the events: ${counted(findings, 'finding')}, named above. ` +
          'Let apply make the next state from the given state and the event alone.',
      );
    if (failures === 0) return EXIT_CODE.ok;
    throw new CommandFailure(
      'SVC_FOLD_FAULTED',
      `${counted(failures, 'entity', 'entities')} could not be judged, for the reasons above. ` +
        `Give the ${kind} that wrote the events, or look for damage with svc journal verify.`,
    );
  },
);

/**
 * Returns the number of entities in the journal, for the progress; undefined if no journal is given. Deleted entities
 * are counted but not verified, so fewer entities may be verified.
 */
function entitiesOf(inspection: JournalInspection | undefined): number | undefined {
  return inspection?.components().reduce((sum, { entities }) => sum + entities, 0);
}

function jsonOf({ entity, findings, failure }: VerifiedEntity): readonly string[] {
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
        : { problem: problemText(found.problem) }),
    }),
  );
}

function textOf(
  { entity, findings, failure }: VerifiedEntity,
  ways: Readonly<Record<string, string>>,
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
        : `a failure at ${where}: ${printable(problemText(found.problem))}`;
    return `${outputStyle('red', way)}  ${name}: ${what}, when folded ${ways[way]}\n`;
  });
}

function problemText(
  problem: Extract<PurityFinding['found'], { kind: 'problem' }>['problem'],
): string {
  if (typeof problem === 'string') return problem;
  return problem.guestMessage ?? problem.message;
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

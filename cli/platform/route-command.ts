// RouteCommand: a command that is one call of one route of an installation.
//
// Invariants: with `-o json`, stdout has the body of the answer and nothing else. With `-o names`, for completion, the command
// takes about a second at most, is silent when it fails, and renews no login. Text from the installation is escaped.
import { successOf } from '@svc/client';
import { printable, printableJson } from '@svc/kit/printable';
import { command, EXIT_CODE, type Command, type ExitCode } from '../command.ts';
import type {
  CommandDescription,
  OptionDescription,
  OptionDescriptions,
  OptionValues,
} from '../description.ts';
import { printData } from '../terminal.ts';
import { freshToken } from './access-tokens.ts';
import { confirmed } from './confirmation.ts';
import { readEnvironment } from './environment.ts';
import {
  bodyOf,
  routeOf,
  type AnswerOf,
  type InputOf,
  type RouteName,
} from './installation-api.ts';
import { keepNames, keptNames } from './names-cache.ts';
import { Platform } from './platform.ts';
import { printFields, printTable, type Fields } from './printed-answer.ts';
import { findTarget, type Target } from './target.ts';

/** Time for names, in milliseconds. */
const NAMES_TIMEOUT_MS = 1_000;

export interface RouteCommand extends Command {
  readonly route: RouteName;
}

export interface RoutePlan<Name extends RouteName, O extends OptionDescriptions> {
  /** Makes the input of the route. `target` has the defaults of the context. Throws UsageError and CommandFailure. */
  readonly input: (
    words: readonly string[],
    options: OptionValues<O>,
    target: Target,
  ) => InputOf<Name> | Promise<InputOf<Name>>;
  /** Names and values of an answer that is one thing, not escaped. */
  readonly fields?: (answer: AnswerOf<Name>) => Fields;
  /** Rows of an answer that is a list, not escaped. */
  readonly table?: {
    readonly heads: readonly string[];
    readonly rows: (answer: AnswerOf<Name>) => readonly (readonly string[])[];
  };
  /** Writes any other answer. */
  readonly print?: (answer: AnswerOf<Name>) => Promise<void>;
  /** Sentence for stderr, not escaped: after an answer without a body, or for an empty list. */
  readonly note?: (answer: AnswerOf<Name>, input: InputOf<Name>) => string | undefined;
  /** Names in a list, for completion. */
  readonly names?: (answer: AnswerOf<Name>) => readonly string[];
  /** Question that has to be answered before the call: what is deleted, and what that means. */
  readonly question?: (input: InputOf<Name>) => string;
  /** Replaces the one call and its output. Undefined: the call is made as always. */
  readonly instead?: (
    platform: Platform,
    input: InputOf<Name>,
    options: OptionValues<O> & { readonly output?: string },
  ) => Promise<ExitCode> | undefined;
}

type RouteDescription<O extends OptionDescriptions> = Omit<CommandDescription<O>, 'options'> & {
  readonly options?: O;
};

const YES_OPTION = {
  type: 'boolean',
  help: 'delete without asking; needed where nobody can be asked',
} as const satisfies OptionDescription;

export function routeCommand<const Name extends RouteName, const O extends OptionDescriptions = {}>(
  route: Name,
  description: RouteDescription<O>,
  plan: RoutePlan<Name, O>,
): RouteCommand {
  const options = {
    ...description.options,
    ...(plan.question === undefined ? {} : { yes: YES_OPTION }),
    ...(hasAnswer(route) ? { output: outputOption(plan.names !== undefined) } : {}),
  } as unknown as O;
  const made = command<O>({ ...description, options }, async (words, values) => {
    const { yes, output } = values as unknown as {
      readonly yes?: boolean;
      readonly output?: string;
    };
    if (output === 'names') return await printNames(route, plan, words, values);
    const target = findTarget(readEnvironment());
    const input = await plan.input(words, values, target);
    const platform = new Platform(target);
    const instead = plan.instead?.(platform, input, values);
    if (instead !== undefined) return await instead;
    if (plan.question !== undefined && yes !== true)
      await confirmed(description.name, plan.question(input));
    const answer = await platform.call(route, input);
    if (output === 'json')
      await printData(`${printableJson(JSON.stringify(bodyOf(route, answer)))}\n`);
    else if (plan.fields !== undefined) await printFields(plan.fields(answer));
    else if (plan.print !== undefined) await plan.print(answer);
    else if (plan.table !== undefined) await printTable(plan.table.heads, plan.table.rows(answer));
    const note = output === 'json' ? undefined : plan.note?.(answer, input);
    if (note !== undefined) process.stderr.write(`${printable(note)}\n`);
    return EXIT_CODE.ok;
  });
  return { ...made, route };
}

function hasAnswer(name: RouteName): boolean {
  return successOf(routeOf(name)) !== 204;
}

function outputOption(hasNames: boolean): OptionDescription {
  return {
    type: 'string',
    short: 'o',
    value: 'FORMAT',
    help: hasNames ? "'text', 'json', or 'names' for completion" : "'text' or 'json'",
    default: 'text',
    completes: {
      kind: 'choices',
      choices: hasNames ? ['text', 'json', 'names'] : ['text', 'json'],
    },
  };
}

async function printNames<Name extends RouteName, O extends OptionDescriptions>(
  route: Name,
  { input, names }: RoutePlan<Name, O>,
  words: readonly string[],
  options: OptionValues<O>,
): Promise<ExitCode> {
  try {
    const target = findTarget(readEnvironment());
    const asked = await input(words, options, target);
    const isStored = target.credentials.kind === 'login';
    const key = [target.url, route, JSON.stringify(asked)];
    const kept = isStored ? keptNames(target.folders, key) : undefined;
    if (kept !== undefined) return await printed(kept);
    const token = isStored ? freshToken(target) : undefined;
    if (isStored && token === undefined) return EXIT_CODE.failed;
    const platform = new Platform(target, {
      attemptsMax: 1,
      ...(token === undefined ? {} : { token }),
    });
    const answer = await platform.call(route, asked, AbortSignal.timeout(NAMES_TIMEOUT_MS));
    const found = names!(answer);
    if (isStored) keepNames(target.folders, key, found);
    return await printed(found);
  } catch {
    // A message would appear amid the line that is being typed.
    return EXIT_CODE.failed;
  }
}

async function printed(names: readonly string[]): Promise<ExitCode> {
  await printData(names.map((name) => `${printable(name)}\n`).join(''));
  return EXIT_CODE.ok;
}

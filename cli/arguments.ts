// Arguments: parses the arguments of a command according to its description, with Node's own parser and with messages
// that say what to do.
import { parseArgs } from 'node:util';
import type {
  CommandDescription,
  Completion,
  OptionDescription,
  OptionDescriptions,
  OptionValues,
} from './description.ts';
import { didYouMean } from '@svc/contract/suggestion';
import { UsageError } from './usage-error.ts';

/** Maximum number of choices that a message lists. If there are more, the message lists none of them. */
const CHOICES_LISTED_MAX = 5;
const HYPHEN_HINT = " A word that begins with a hyphen stands behind '--'.";

/** The parsed arguments of a command: its words, which are the positional arguments, and its options. */
interface Arguments<O extends OptionDescriptions> {
  readonly words: readonly string[];
  readonly options: OptionValues<O>;
}

/** Parses the arguments of a command. Throws UsageError. */
export function readArguments<O extends OptionDescriptions>(
  description: CommandDescription<O>,
  args: readonly string[],
): Arguments<O> {
  const { name, words } = description;
  const { before, behind } = splitArguments(description, args);
  const { values, positionals } = parse(description, before);
  const required = words.filter((word) => word.optional !== true).length;
  if (positionals.length < required || positionals.length > words.length) {
    const expected = words.map((word) => (word.optional ? `[${word.name}]` : word.name)).join(' ');
    const found = positionals.length === 0 ? 'nothing' : positionals.join(' ');
    throw new UsageError(
      `${name} takes ${expected || 'no words'}, and found ${found}. svc ${name} --help says more.`,
    );
  }
  for (const [index, { name: word, completes }] of words.entries()) {
    checkNotEmpty(name, word, positionals[index]);
    checkChoice(name, word, completes, positionals[index]);
  }
  const options = Object.entries(description.options).map(([option, { completes, ...rest }]) => {
    const value = values[option] ?? rest.default ?? withoutValue(rest);
    if (typeof value === 'string') {
      checkNotEmpty(name, `--${option}`, value);
      checkChoice(name, `--${option}`, completes, value);
    }
    return [option, value];
  });
  return {
    words: [...positionals, ...behind],
    options: Object.fromEntries(options) as OptionValues<O>,
  };
}

/** Separates the words that a command takes behind `--`. Throws UsageError if there are none. */
function splitArguments(
  { name, behind }: CommandDescription,
  args: readonly string[],
): { readonly before: readonly string[]; readonly behind: readonly string[] } {
  if (behind === undefined) return { before: args, behind: [] };
  const end = args.indexOf('--');
  const before = end < 0 ? args : args.slice(0, end);
  const found = end < 0 ? [] : args.slice(end + 1);
  if (found.length === 0)
    throw new UsageError(
      `${name} takes ${behind} behind '--', and found nothing there. svc ${name} --help says more.`,
    );
  checkNotEmpty(name, behind.split(' ')[0]!, found[0]);
  return { before, behind: found };
}

/** Returns the value of an option that was not given and has no default. */
function withoutValue({
  type,
  multiple,
}: OptionDescription): false | undefined | readonly string[] {
  if (multiple === true) return [];
  return type === 'boolean' ? false : undefined;
}

/**
 * Checks that the command has each given option, and that a value follows exactly the options that take one. Does not
 * check the values and the words. Throws UsageError.
 */
export function checkOptions(description: CommandDescription, args: readonly string[]): void {
  parse(description, args);
}

function parse(
  { name, options }: CommandDescription,
  args: readonly string[],
): { values: Readonly<Record<string, unknown>>; positionals: readonly string[] } {
  try {
    return parseArgs({
      args: withBareValues(options, args),
      options: Object.fromEntries(
        Object.entries(options).map(([option, described]) => [option, forNode(described)]),
      ),
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const unknown = /^Unknown option '(--?[^']*)'/.exec(message)?.[1];
    if (unknown === undefined) throw new UsageError(problemText(name, message));
    const known = Object.keys(options).map((option) => `--${option}`);
    throw new UsageError(
      `${name} has no option '${unknown}'.${didYouMean(unknown, [...known, '--help'])} ` +
        `svc ${name} --help lists them.${isShort(unknown) ? HYPHEN_HINT : ''}`,
    );
  }
}

/** Gives their values to options that are given without one and have one for that case. */
function withBareValues(options: OptionDescriptions, args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.map((arg, index) => {
    const bare = arg.startsWith('--') ? options[arg.slice(2)]?.bare : undefined;
    if (bare === undefined || (end >= 0 && index >= end)) return arg;
    const next = args[index + 1];
    return next === undefined || next.startsWith('-') ? `${arg}=${bare}` : arg;
  });
}

/** Returns whether a word begins with a single hyphen. Such a word may not have been meant as an option. */
function isShort(option: string): boolean {
  return !option.startsWith('--');
}

/**
 * Returns the message of Node's parser for a user: its first sentence and a reference to the help of the command. The
 * message about an ambiguous value is replaced.
 */
function problemText(name: string, message: string): string {
  const option = /^Option '([^']*)' argument is ambiguous/.exec(message)?.[1]?.split(', ').at(-1);
  if (option !== undefined)
    return (
      `${name} found no value for ${option}, but a word that begins with a hyphen. ` +
      `A value that does is written ${option}=VALUE. svc ${name} --help says more.`
    );
  // The sentences after the first one explain words that begin with a hyphen.
  return `${message.split('. ')[0]}. svc ${name} --help says more.`;
}

/** Returns the description of an option in the form that Node's parser takes. */
function forNode({ type, short, multiple }: OptionDescription) {
  return {
    type,
    ...(short === undefined ? {} : { short }),
    ...(multiple === undefined ? {} : { multiple }),
  };
}

/**
 * Refuses an empty word. It usually comes from a variable that is not set, and as a path it would be the current
 * folder.
 */
function checkNotEmpty(command: string, argument: string, found: string | undefined): void {
  if (found === '')
    throw new UsageError(
      `${command} takes no empty word as ${argument}. svc ${command} --help says more.`,
    );
}

function checkChoice(
  command: string,
  argument: string,
  completes: Completion | undefined,
  found: string | undefined,
): void {
  if (found === undefined || completes?.kind !== 'choices' || completes.choices.includes(found))
    return;
  const { choices } = completes;
  const expected =
    choices.length > CHOICES_LISTED_MAX
      ? `${command} does not know the ${argument} '${found}'.`
      : `${command} takes ${choices.map((choice) => `'${choice}'`).join(' or ')} as ${argument}, and found '${found}'.`;
  throw new UsageError(`${expected}${didYouMean(found, choices)} svc ${command} --help says more.`);
}

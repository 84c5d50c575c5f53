// Description: a command and its arguments as data. It holds the words, which are the positional arguments, the
// options, the possible values of both, texts for the help, and examples.

/** The possible values of a word or an option. Completion offers them; for `choices`, other values are refused. */
export type Completion =
  /** `ending`: the end of the file's name, with its dot: `.wasm`. */
  | { readonly kind: 'file'; readonly ending: string }
  | { readonly kind: 'folder' }
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  /** A component of the journal in the folder that the command's first word names. */
  | { readonly kind: 'component' }
  /** Names that a command prints with `-o names`: `project list`. */
  | { readonly kind: 'names'; readonly command: string };

/** A positional argument of a command. */
export interface WordDescription {
  /** Name in usage and messages: `FILE.ts`. */
  readonly name: string;
  /** True: the word may be left out, together with all words after it. */
  readonly optional?: true;
  readonly completes?: Completion;
}

export interface OptionDescription {
  readonly type: 'string' | 'boolean';
  /** One letter: `o` for `-o`. */
  readonly short?: string;
  /** True: the option may be repeated. */
  readonly multiple?: true;
  /** Name of the value in usage: `OUT.wasm`. A boolean option has none. */
  readonly value?: string;
  /** Help text of one or several lines. */
  readonly help: string;
  readonly default?: string;
  /** Value of the option when it is given without one: the next word then begins with a hyphen, or there is none. */
  readonly bare?: string;
  /** Description of the default, if it is not a fixed value. */
  readonly otherwise?: string;
  readonly completes?: Completion;
}
export type OptionDescriptions = Readonly<Record<string, OptionDescription>>;

export interface CommandDescription<O extends OptionDescriptions = OptionDescriptions> {
  /** One word, or for a sub-command two: `journal verify`. */
  readonly name: string;
  /** True: the word only begins the names of sub-commands, and does nothing itself. */
  readonly isGroup?: true;
  /** One line for the list of commands. */
  readonly summary: string;
  /** First paragraph of the help. */
  readonly about: string;
  readonly words: readonly WordDescription[];
  /**
   * Usage of the words that have to stand behind `--`: `COMMAND [ARGUMENT ...]`. They are passed on as they are, after
   * the other words. Absent: `--` only ends the options.
   */
  readonly behind?: string;
  readonly options: O;
  /** Paragraph after the options in the help. */
  readonly notes?: string;
  readonly examples: readonly string[];
}

/** The values of options after parsing, by the names of the options. */
export type OptionValues<O extends OptionDescriptions> = {
  readonly [Name in keyof O]: O[Name] extends { readonly type: 'boolean' }
    ? boolean
    : O[Name] extends { readonly multiple: true }
      ? readonly string[]
      : O[Name] extends { readonly default: string }
        ? string
        : string | undefined;
};

/** The option `-o` of the commands that print data either as text or as JSON. */
export const OUTPUT_OPTION = {
  type: 'string',
  short: 'o',
  value: 'FORMAT',
  help: "'text' or 'json'",
  default: 'text',
  completes: { kind: 'choices', choices: ['text', 'json'] },
} as const satisfies OptionDescription;

/** Returns the second words of the sub-commands of `name`; for `journal` these are `verify`, `export` and so on. */
export function subcommandWords(name: string, names: readonly string[]): readonly string[] {
  return names
    .filter((other) => other.startsWith(`${name} `))
    .map((other) => other.slice(name.length + 1));
}

/** Returns the usage line of a command, such as `svc build FILE.ts [OPTION ...]`. */
export function usageOf({ name, words, behind, options }: CommandDescription): string {
  const open = words.map((word) => (word.optional ? ` [${word.name}` : ` ${word.name}`)).join('');
  const closed = ']'.repeat(words.filter((word) => word.optional).length);
  const optional = Object.keys(options).length === 0 ? '' : ' [OPTION ...]';
  return `svc ${name}${open}${closed}${optional}${behind === undefined ? '' : ` -- ${behind}`}`;
}

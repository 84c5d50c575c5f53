// What a command takes, as data: its words, its options, what may stand in each, and examples.

/** What may stand in a place: completion offers it, and of `choices` nothing else is accepted. */
export type Completion =
  | { readonly kind: 'file'; readonly ending: string }
  | { readonly kind: 'folder' }
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  /** A component of the journal in the folder that is the command's first word. */
  | { readonly kind: 'component' };

export interface WordDescription {
  /** As usage and messages name it: `FILE.ts`. */
  readonly name: string;
  /** It may be left out, and with it all that follow. */
  readonly optional?: true;
  readonly completes?: Completion;
}

export interface OptionDescription {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: true;
  /** As usage names it: `OUT.wasm`. A boolean has none. */
  readonly value?: string;
  /** A line or several. */
  readonly help: string;
  readonly default?: string;
  /** What holds when it is not given, in words, where that is no fixed value. */
  readonly otherwise?: string;
  readonly completes?: Completion;
}
export type OptionDescriptions = Readonly<Record<string, OptionDescription>>;

export interface CommandDescription<O extends OptionDescriptions = OptionDescriptions> {
  /** One word, or that of a command and one more: `journal verify`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The first lines of its help. */
  readonly about: string;
  readonly words: readonly WordDescription[];
  readonly options: O;
  /** What else a user has to know, after the options. */
  readonly notes?: string;
  readonly examples: readonly string[];
}

export type OptionValues<O extends OptionDescriptions> = {
  readonly [Name in keyof O]: O[Name] extends { readonly type: 'boolean' }
    ? boolean
    : O[Name] extends { readonly multiple: true }
      ? readonly string[]
      : O[Name] extends { readonly default: string }
        ? string
        : string | undefined;
};

/** `-o`, wherever data is printed. */
export const OUTPUT_OPTION = {
  type: 'string',
  short: 'o',
  value: 'FORMAT',
  help: "'text' or 'json'",
  default: 'text',
  completes: { kind: 'choices', choices: ['text', 'json'] },
} as const satisfies OptionDescription;

/** The second words of the sub-commands of `name`: of `journal`, `verify` and its like. */
export function subcommandWords(name: string, names: readonly string[]): readonly string[] {
  return names
    .filter((other) => other.startsWith(`${name} `))
    .map((other) => other.slice(name.length + 1));
}

/** `svc build FILE.ts [OPTION ...]` */
export function usageOf({ name, words, options }: CommandDescription): string {
  const open = words.map((word) => (word.optional ? ` [${word.name}` : ` ${word.name}`)).join('');
  const closed = ']'.repeat(words.filter((word) => word.optional).length);
  return `svc ${name}${open}${closed}${Object.keys(options).length === 0 ? '' : ' [OPTION ...]'}`;
}

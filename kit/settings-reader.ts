// SettingsReader reads a program's settings. Every setting has one dotted name: `svc.http.port` is also the
// variable SVC_HTTP_PORT, and may be given as NAME=VALUE on the command line. The command line overrides the
// environment, which overrides the default.
//
// Invariants: every number and every list has a range, an empty value is refused, and a message names the
// setting by its dotted name and its variable.
import { dottedName, variableName } from './setting-name.ts';
import { SvcError } from './svc-error.ts';

export type SettingValue = number | boolean | readonly string[];

/** The settings of a section with their defaults: `{ answerTimeoutMs: 60_000 }`. */
export type SectionDefaults = Readonly<Record<string, SettingValue>>;

/** Minimum and maximum of a number, or of the number of entries of a list. */
export type Range = readonly [min: number, max: number];

/** The type of a setting's values, whatever its default is. */
type Widened<Value> = Value extends number ? number : Value extends boolean ? boolean : Value;

type AllDefaults = Readonly<Record<string, SectionDefaults>>;

/** The ranges of all sections: one for each number and each list. */
export type SectionRanges<Sections extends AllDefaults> = {
  readonly [Section in keyof Sections]: {
    readonly [
      Key in keyof Sections[Section] as Sections[Section][Key] extends boolean ? never : Key
    ]: Range;
  };
};

/** The values of all sections. */
export type SectionValues<Sections extends AllDefaults> = {
  readonly [Section in keyof Sections]: {
    readonly [Key in keyof Sections[Section]]: Widened<Sections[Section][Key]>;
  };
};

/** Value that sets a list to no entries: an empty value is refused. */
const EMPTY_LIST = 'none';
const PORT_RANGE: Range = [0, 65_535];

export class SettingsReader {
  readonly #given: ReadonlyMap<string, string>;
  readonly #env: Readonly<Record<string, string | undefined>>;

  /** `given`: values of the command line, by dotted names. */
  constructor(
    given: ReadonlyMap<string, string>,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.#given = given;
    this.#env = env;
  }

  /** Throws SVC_USAGE when the command line names a setting that is not among `known`. */
  checkNames(known: ReadonlySet<string>): void {
    for (const dotted of this.#given.keys())
      if (!known.has(dotted))
        throw new SvcError(
          'SVC_USAGE',
          `There is no setting '${dotted}'. docs/reference/settings.md lists them.`,
        );
  }

  /** Returns the given value; undefined if none was given. Throws SVC_SETTING_INVALID when it is empty. */
  text(dotted: string): string | undefined {
    const value = this.#given.get(dotted) ?? this.#env[variableName(dotted)];
    // An empty value comes from an unset variable. It would mean the working folder, or all addresses as the host.
    if (value === '') throw invalidSetting(dotted, value, 'a value that is not empty');
    return value;
  }

  boolean(dotted: string, fallback: boolean): boolean {
    const text = this.text(dotted);
    if (text === undefined) return fallback;
    if (text !== 'true' && text !== 'false')
      throw invalidSetting(dotted, text, "'true' or 'false'");
    return text === 'true';
  }

  number(dotted: string, fallback: number, [min, max]: Range): number {
    const text = this.text(dotted);
    if (text === undefined) return fallback;
    const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max))
      throw invalidSetting(dotted, text, `a whole number from ${min} to ${max}`);
    return value;
  }

  port(dotted: string, fallback: number): number {
    return this.number(dotted, fallback, PORT_RANGE);
  }

  list(dotted: string, fallback: readonly string[], [min, max]: Range): readonly string[] {
    const text = this.text(dotted);
    if (text === undefined) return fallback;
    const entries = text === EMPTY_LIST ? [] : text.split(',').map((entry) => entry.trim());
    if (entries.includes('') || entries.length < min || entries.length > max)
      throw invalidSetting(
        dotted,
        text,
        `'${EMPTY_LIST}', or up to ${max} entries with commas between`,
      );
    return entries;
  }

  /** Reads every setting of every section. */
  sections<const Sections extends AllDefaults>(
    sections: Sections,
    ranges: SectionRanges<Sections>,
  ): SectionValues<Sections> {
    const read = (section: string, key: string, fallback: SettingValue): SettingValue => {
      const dotted = dottedName(section, key);
      if (typeof fallback === 'boolean') return this.boolean(dotted, fallback);
      const range = (ranges[section] as Readonly<Record<string, Range>>)[key]!;
      return typeof fallback === 'number'
        ? this.number(dotted, fallback, range)
        : this.list(dotted, fallback, range);
    };
    const values = Object.entries(sections).map(([section, record]) => {
      const entries = Object.entries(record).map(([key, fallback]) => [
        key,
        read(section, key, fallback),
      ]);
      return [section, Object.fromEntries(entries)];
    });
    return Object.fromEntries(values) as SectionValues<Sections>;
  }
}

/** Returns the dotted names of all settings of these sections. */
export function sectionNames(sections: AllDefaults): string[] {
  return Object.entries(sections).flatMap(([section, record]) =>
    Object.keys(record).map((key) => dottedName(section, key)),
  );
}

/**
 * Returns the values of `--set NAME=VALUE` by dotted names; the last one of a name counts. Throws SVC_USAGE for an
 * assignment without `=`.
 */
export function readAssignments(assignments: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const assignment of assignments) {
    const equals = assignment.indexOf('=');
    if (equals < 0)
      throw new SvcError('SVC_USAGE', `--set takes NAME=VALUE, and found '${assignment}'.`);
    given.set(assignment.slice(0, equals), assignment.slice(equals + 1));
  }
  return given;
}

export function invalidSetting(dotted: string, found: string, wanted: string): SvcError {
  return new SvcError(
    'SVC_SETTING_INVALID',
    `The setting ${dotted} (environment: ${variableName(dotted)}) takes ${wanted}, and found '${found}'.`,
  );
}

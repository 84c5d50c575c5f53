// EmbeddedSettings: the settings of a service that a program embeds. They have the names, defaults and ranges of `svc
// run`, and come from the program alone, because the environment belongs to the program.
import {
  SECTION_DEFAULTS,
  SECTION_RANGES,
  type SettingsSections,
  checkSections,
} from './section-settings.ts';
import { dottedName } from '@svc/kit/setting-name';
import type { SettingValue } from '@svc/kit/settings-reader';
import { SvcError } from '@svc/kit/svc-error';

/** Sections that apply to an embedded service; those of modules and of threads do not. */
const SECTIONS = [
  'http',
  'http.cors',
  'engine',
  'journal',
  'timers',
  'views',
  'consumers',
  'calls',
  'log',
  'observability',
] as const;
type Section = (typeof SECTIONS)[number];

export type EmbeddedSections = Pick<SettingsSections, Section>;

/** `answerTimeoutMs` → `answer-timeout-ms` */
type Kebab<Key extends string> = Key extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Kebab<Rest>}`
    : `-${Lowercase<First>}${Kebab<Rest>}`
  : '';
/** Settings of one section, indexed by their dotted names. */
type NamedSettings<Each extends Section> = {
  readonly [
    Key in keyof SettingsSections[Each] & string as `svc.${Each}.${Kebab<Key>}`
  ]?: SettingsSections[Each][Key];
};

/**
 * `{ 'svc.engine.live-entities-max': 10_000, 'svc.http.cors.origins': ['https://shop.example.com'] }`. Absent
 * settings have their defaults.
 */
export type ServiceSettings = NamedSettings<'http'> &
  NamedSettings<'http.cors'> &
  NamedSettings<'engine'> &
  NamedSettings<'journal'> &
  NamedSettings<'timers'> &
  NamedSettings<'views'> &
  NamedSettings<'consumers'> &
  NamedSettings<'calls'> &
  NamedSettings<'log'> &
  NamedSettings<'observability'>;

/** Throws SVC_SETTING_INVALID for an unknown name or a value that is out of range. */
export function readServiceSettings(given: ServiceSettings): EmbeddedSections {
  const left = new Map<string, unknown>(Object.entries(given));
  const sections: Record<string, Record<string, SettingValue>> = {};
  for (const section of SECTIONS) {
    const values: Record<string, SettingValue> = { ...SECTION_DEFAULTS[section] };
    const ranges: Readonly<Record<string, readonly [number, number]>> = SECTION_RANGES[section];
    for (const key of Object.keys(values)) {
      const name = dottedName(section, key);
      const value = left.get(name);
      left.delete(name);
      if (value !== undefined) values[key] = checkedValue(name, value, values[key]!, ranges[key]);
    }
    sections[section] = values;
  }
  const [unknown] = left.keys();
  if (unknown !== undefined)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `There is no setting '${unknown}' of an embedded service: it has those of svc.http, svc.engine, ` +
        'svc.journal, svc.log and svc.observability that docs/reference/settings.md lists.',
    );
  const settings = sections as unknown as EmbeddedSections;
  checkSections({ ...SECTION_DEFAULTS, ...settings });
  return settings;
}

/** Checks the value of a setting. Every number and every list has a range. */
function checkedValue(
  name: string,
  value: unknown,
  fallback: SettingValue,
  range: readonly [number, number] | undefined,
): SettingValue {
  if (typeof fallback === 'boolean') {
    if (typeof value === 'boolean') return value;
    throw invalid(name, 'true or false', value);
  }
  const [min, max] = range!;
  if (typeof fallback === 'number') {
    if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max)
      return value as number;
    throw invalid(name, `a whole number from ${min} to ${max}`, value);
  }
  const isList = Array.isArray(value) && value.every((entry) => typeof entry === 'string');
  if (isList && value.length >= min && value.length <= max) return [...value];
  throw invalid(name, `a list of ${min} to ${max} texts`, value);
}

function invalid(name: string, wanted: string, found: unknown): SvcError {
  return new SvcError(
    'SVC_SETTING_INVALID',
    `The setting ${name} takes ${wanted}, and found '${String(found)}'.`,
  );
}

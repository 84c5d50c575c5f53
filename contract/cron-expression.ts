// A cron expression: five fields or a word such as @daily. This check decides alone which expressions are valid, without
// a package and in time linear in at most 100 characters, so that it may run where modules run. The times of an
// expression are computed elsewhere.

const LENGTH_MAX = 100;
const WORDS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];
const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const WEEKDAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');
const FIELDS_HELP = 'write five: minute, hour, day of month, month, day of week';

interface Field {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** Most that a step may be. */
  readonly stepMax: number;
  /** Names of the values from `first` on. */
  readonly names: readonly string[];
}

const FIELDS: readonly Field[] = [
  { name: 'minute', first: 0, last: 59, stepMax: 60, names: [] },
  { name: 'hour', first: 0, last: 23, stepMax: 24, names: [] },
  { name: 'day of month', first: 1, last: 31, stepMax: 31, names: [] },
  { name: 'month', first: 1, last: 12, stepMax: 12, names: MONTHS },
  { name: 'day of week', first: 0, last: 7, stepMax: 7, names: WEEKDAYS },
];
const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const SUNDAY = 7;

/** The values that a field names, or why the field is wrong. */
type Parsed = { readonly values: ReadonlySet<number> } | { readonly problem: string };

/**
 * Returns why the text is not a cron expression, as the end of a sentence about the text ("has 6 fields: …"), with what
 * to write instead. Returns undefined for a valid expression, which has at least one occurrence before year 9999.
 *
 * An expression has five fields (minute, hour, day of month, month, day of week) of numbers, names (`JAN`, `MON`),
 * `*`, lists, ranges and steps (`1-30/5`), or is one of `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`,
 * `@midnight` and `@hourly`; case does not matter. Both 0 and 7 are Sunday.
 */
export function cronProblem(text: string): string | undefined {
  if (text.length > LENGTH_MAX)
    return `has ${text.length} characters: write at most ${LENGTH_MAX}, or several timers`;
  if (/[^\w@*,\-/ \t]/.test(text))
    return 'has a character that it may not have: write numbers, names such as MON or JAN, and * , - / alone';
  const texts = text.split(/[ \t]+/).filter((part) => part !== '');
  const [first, ...others] = texts;
  if (first === undefined) return `is empty: ${FIELDS_HELP}, such as 0 9 * * MON-FRI`;
  if (first.startsWith('@'))
    return others.length === 0 && WORDS.includes(first.toLowerCase())
      ? undefined
      : `is not a known word: write ${WORDS.join(', ')}, or five fields`;
  return texts.length === FIELDS.length ? fieldsProblem(texts) : countProblem(texts.length);
}

function countProblem(count: number): string {
  if (count === 6) return `has 6 fields, but seconds are not supported: ${FIELDS_HELP}`;
  if (count === 7) return `has 7 fields, but seconds and years are not supported: ${FIELDS_HELP}`;
  return `has ${count} ${count === 1 ? 'field' : 'fields'}: ${FIELDS_HELP}`;
}

function fieldsProblem(texts: readonly string[]): string | undefined {
  const fields: ReadonlySet<number>[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const parsed = parseField(texts[index]!, field);
    if ('problem' in parsed) return parsed.problem;
    fields.push(parsed.values);
  }
  const [, , days, months] = fields;
  // With a day of week beside it, a day of month is only one of two conditions, of which either is enough.
  if (texts[4] !== '*') return undefined;
  const longest = Math.max(...[...months!].map((month) => DAYS_OF_MONTH[month - 1]!));
  return Math.min(...days!) <= longest
    ? undefined
    : `never fires: the months that it names have at most ${longest} days`;
}

function parseField(text: string, field: Field): Parsed {
  const values = new Set<number>();
  for (const item of text.toUpperCase().split(',')) {
    const problem = addItem(item, field, values);
    if (problem !== undefined)
      return { problem: `has '${item}' in the field ${field.name}, ${problem}` };
  }
  return { values };
}

/** Adds the values of an item: `*`, a value or a range, and perhaps a step. Returns what is wrong with it. */
function addItem(item: string, field: Field, values: Set<number>): string | undefined {
  const [range = '', step, ...more] = item.split('/');
  const [from = '', to, ...rest] = range.split('-');
  if (more.length > 0 || rest.length > 0) return shapeHelp(field);
  if (step !== undefined && !isStep(step, field)) return `whose step is not 1 to ${field.stepMax}`;
  if (step !== undefined && to === undefined && from !== '*')
    return `which has a step without a range: write ${from}-${field.last}/${step}`;
  const isAll = range === '*';
  const first = isAll ? field.first : valueOf(from, field);
  const last = isAll ? field.last : to === undefined ? first : endOf(to, field);
  if (first === undefined || last === undefined) return shapeHelp(field);
  if (last < first) return `whose range ends before it begins: write two ranges`;
  for (let value = first; value <= last; value += Number(step ?? 1)) values.add(value);
  return undefined;
}

function isStep(text: string, { stepMax }: Field): boolean {
  return /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= stepMax;
}

/** Returns the number of a value; undefined if the field has no such value. */
function valueOf(text: string, { first, last, names }: Field): number | undefined {
  if (!/^\d{1,2}$/.test(text)) {
    const index = names.indexOf(text);
    return index === -1 ? undefined : first + index;
  }
  const value = Number(text);
  return value >= first && value <= last ? value : undefined;
}

/** Returns the number of the value that ends a range. A Sunday ends a week, so that SAT-SUN is a range. */
function endOf(text: string, field: Field): number | undefined {
  return field.names === WEEKDAYS && text === 'SUN' ? SUNDAY : valueOf(text, field);
}

function shapeHelp({ first, last, names }: Field): string {
  const named = names.length === 0 ? '' : ` or ${names[0]!} to ${names.at(-1)!}`;
  return `which is neither a value nor a range: write *, ${first} to ${last}${named}, or a range of these`;
}

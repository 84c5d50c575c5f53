// PeopleFile: the people and the machines that can log in, from a file in YAML or JSON. A file is used as a whole or not at all, and
// a refusal names all of its problems.
import { SvcError } from '@svc/kit/svc-error';
import { readFileSync, statSync } from 'node:fs';
import { parseDocument } from 'yaml';

/** The claims of a person or a machine. */
export interface Account {
  readonly name?: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly roles?: readonly string[];
  /** Ids of the tenants of the webhook service that the account belongs to. */
  readonly tenants?: readonly string[];
}
export interface Machine extends Account {
  readonly secret: string;
}
export interface Accounts {
  /** People by the subject of their tokens. */
  readonly people: ReadonlyMap<string, Account>;
  /** Machines by their client id, which is also the subject of their tokens. */
  readonly machines: ReadonlyMap<string, Machine>;
}

/** The client id of the command line, which no machine may have. */
export const CLI_CLIENT = 'svc-cli';
const FILE_BYTES_MAX = 1024 * 1024;
const ENTRIES_MAX = 1000;
const LIST_LENGTH_MAX = 100;
const PROBLEMS_SHOWN_MAX = 20;
/** Printable ASCII without blanks. */
const VISIBLE = /^[\x21-\x7e]+$/;
const CONTROL = /\p{Cc}/u;

type Check = (value: unknown) => string | undefined;
type Fields = Readonly<Record<string, { readonly check: Check; readonly isRequired?: boolean }>>;

const ACCOUNT_FIELDS: Fields = {
  name: { check: text(200) },
  email: { check: text(254) },
  emailVerified: {
    check: (value) => (typeof value === 'boolean' ? undefined : 'has to be true or false'),
  },
  roles: { check: texts },
  tenants: { check: texts },
};
const PERSON_FIELDS: Fields = {
  subject: { check: text(255), isRequired: true },
  ...ACCOUNT_FIELDS,
};
const MACHINE_FIELDS: Fields = {
  clientId: { check: clientId, isRequired: true },
  secret: { check: secret, isRequired: true },
  ...ACCOUNT_FIELDS,
};

/** Throws SVC_SETTING_INVALID with all problems of the file. */
export function readPeopleFile(file: string): Accounts {
  const problems: string[] = [];
  const accounts = parsePeople(textOf(file), problems);
  if (problems.length === 0) return accounts;
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX);
  const more = problems.length - shown.length;
  throw invalid(
    file,
    `cannot be used: ${shown.join('; ')}${more === 0 ? '' : `; and ${more} more problems`}.`,
  );
}

/** Returns the accounts of the text, and adds a line for each problem: `people/0/emial is not known`. */
export function parsePeople(source: string, problems: string[]): Accounts {
  const people = new Map<string, Account>();
  const machines = new Map<string, Machine>();
  const root = valueOf(source, problems);
  if (root !== undefined) {
    for (const key of Object.keys(root))
      if (key !== 'people' && key !== 'machines')
        problems.push(`${JSON.stringify(key)} is not known`);
    for (const entry of entriesOf(root, 'people', PERSON_FIELDS, problems)) {
      const { subject, ...account } = entry as Account & { readonly subject: string };
      addNew(people, subject, account, 'subject', problems);
    }
    for (const entry of entriesOf(root, 'machines', MACHINE_FIELDS, problems)) {
      const { clientId: id, ...machine } = entry as Machine & { readonly clientId: string };
      addNew(machines, id, machine, 'clientId', problems);
      if (people.has(id)) problems.push(`the clientId ${JSON.stringify(id)} is also a subject`);
    }
    if (people.size === 0 && problems.length === 0) problems.push('people has no entry');
  }
  return { people, machines };
}

function textOf(file: string): string {
  try {
    if (statSync(file).size <= FILE_BYTES_MAX) return readFileSync(file, 'utf8');
  } catch (error) {
    throw invalid(file, `cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  throw invalid(file, `has more than ${FILE_BYTES_MAX} bytes.`);
}

function invalid(file: string, problem: string): SvcError {
  return new SvcError(
    'SVC_SETTING_INVALID',
    `The file ${file} of the setting svc.login-provider.people ${problem}`,
  );
}

/** Aliases are refused: a few lines of them can make a document of any size. */
function valueOf(source: string, problems: string[]): object | undefined {
  const document = parseDocument(source, { prettyErrors: true });
  if (document.errors.length > 0) {
    problems.push(
      ...document.errors.map(({ message }) => message.split('\n')[0]!.replace(/:$/, '')),
    );
    return undefined;
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (isObject(value)) return value;
    problems.push('it has to be an object with people and machines');
  } catch {
    problems.push('it has aliases');
  }
  return undefined;
}

function entriesOf(
  root: object,
  key: string,
  fields: Fields,
  problems: string[],
): readonly object[] {
  const list = (root as Readonly<Record<string, unknown>>)[key];
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.length > ENTRIES_MAX) {
    problems.push(`${key} has to be a list of at most ${ENTRIES_MAX} entries`);
    return [];
  }
  return (list as readonly unknown[]).filter((entry, index): entry is object => {
    const found = entryProblems(entry, `${key}/${index}`, fields);
    problems.push(...found);
    return found.length === 0;
  });
}

function entryProblems(entry: unknown, at: string, fields: Fields): readonly string[] {
  if (!isObject(entry)) return [`${at} has to be an object`];
  const found = entry as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(found)
    .filter((key) => !Object.hasOwn(fields, key))
    .map((key) => `${at}/${key} is not known`);
  const wrong = Object.entries(fields).flatMap(([key, { check, isRequired = false }]) => {
    const value = found[key];
    if (value === undefined) return isRequired ? [`${at}/${key} is missing`] : [];
    const problem = check(value);
    return problem === undefined ? [] : [`${at}/${key} ${problem}`];
  });
  return [...unknown, ...wrong];
}

function addNew<Value>(
  all: Map<string, Value>,
  id: string,
  value: Value,
  field: string,
  problems: string[],
): void {
  if (all.has(id)) problems.push(`the ${field} ${JSON.stringify(id)} is there twice`);
  all.set(id, value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(lengthMax: number): Check {
  return (value) =>
    typeof value === 'string' && value !== '' && value.length <= lengthMax && !CONTROL.test(value)
      ? undefined
      : `has to be a text of 1 to ${lengthMax} characters without control characters`;
}

function clientId(value: unknown): string | undefined {
  if (value === CLI_CLIENT) return `is ${CLI_CLIENT}, the client of the command line`;
  return typeof value === 'string' && value.length <= 255 && VISIBLE.test(value)
    ? undefined
    : 'has to be a text of 1 to 255 characters of printable ASCII without blanks';
}

function secret(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{16,255}$/.test(value)
    ? undefined
    : 'has to be a text of 16 to 255 characters of printable ASCII without blanks';
}

function texts(value: unknown): string | undefined {
  const isList =
    Array.isArray(value) &&
    value.length <= LIST_LENGTH_MAX &&
    value.every((each) => text(255)(each) === undefined);
  return isList ? undefined : `has to be a list of at most ${LIST_LENGTH_MAX} texts`;
}

// ConfigurationValues gathers the values that an operator gives to a module, from a file, a folder with a file for each value, and
// the command line, and checks all of them together. A later one of these sources overrides an earlier one. A platform that runs the
// module gives the variables of the service's descriptor, and a folder of secrets.
//
// Invariants
// C1  The result is complete and of the declared types, or there are problems, and all of them are reported. A value of a file that could
//     not be read is not called missing as well.
// C2  No problem and no warning quotes a value.
// C3  What the members of a project read, problems with variables and secrets of a platform, names no path.
// C4  Of a folder of secrets, the files are read whose names the folder lists and the module declares as secrets, and no others.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CONFIGURATION_BYTES_MAX,
  configurationJson,
  configurationProblems,
  type DeclaredValue,
  declaredValues,
  type ModuleDescriptor,
  valueOfText,
} from '@svc/contract';
import type { ConfigurationTexts } from '@svc/model/configuration';
import { type FileProblem, readBounded } from './bounded-file.ts';

/** Where an operator gives the values. */
export interface ConfigurationSources {
  /** Absolute path of a file in YAML or JSON; undefined: there is none. */
  readonly file: string | undefined;
  /** Absolute path of a folder with a file for each value; undefined: there is none. */
  readonly folder: string | undefined;
  /** Absolute path of a file with the variables of the service's descriptor, texts by their names in JSON. Absent: there are none. */
  readonly variables?: string | undefined;
  /** Whether variables are ignored that are no values: a process has them in its environment. Absent: they are problems. */
  readonly ignoresOtherVariables?: boolean;
  /** Absolute path of a folder with a file for each secret, which other modules may have too. Absent: there is none. */
  readonly secrets?: string | undefined;
  /** Values of the command line, `NAME=VALUE`. */
  readonly assignments: readonly string[];
  /** Values that a program gives itself, which may be secrets. Absent: none. */
  readonly values?: Readonly<Record<string, unknown>>;
}

type Described = Pick<ModuleDescriptor, 'configuration' | 'types'>;

export interface GatheredConfiguration {
  /** Undefined if the module has no configuration, and if there are problems. */
  readonly texts: ConfigurationTexts | undefined;
  readonly problems: readonly string[];
  /** Whether all problems are files that could not be read, and may be readable a moment later. */
  readonly isUnreadable: boolean;
  /** Files with secrets that other users may read. */
  readonly warnings: readonly string[];
}

/** Maximum number of files of a folder that are looked at. */
const FOLDER_FILES_MAX = 1000;
/** Maximum size of a file of variables in bytes: that of all values, escaped. */
const VARIABLES_BYTES_MAX = 8 * CONFIGURATION_BYTES_MAX;
/** The origin of a variable in problems. */
const VARIABLES = 'env of the descriptor';
/** Bits of a folder's rights by which others than its owner use it. */
const USED_BY_OTHERS = 0o077;

export async function gatherConfiguration(
  sources: ConfigurationSources,
  described: Described,
): Promise<GatheredConfiguration> {
  const gathering = new Gathering(described);
  await gathering.addFile(sources.file);
  await gathering.addFolder(sources.folder);
  await gathering.addSecrets(sources.secrets);
  await gathering.addVariables(sources.variables, sources.ignoresOtherVariables);
  for (const assignment of sources.assignments) gathering.addAssignment(assignment);
  gathering.addValues(sources.values);
  return gathering.result(described);
}

class Gathering {
  readonly #types: Described['types'];
  readonly #declared: ReadonlyMap<string, DeclaredValue>;
  readonly #values = new Map<string, unknown>();
  /** Names whose values could not be read, which are not missing. */
  readonly #unread = new Set<string>();
  /** Name → where its value is from, for problems. */
  readonly #origins = new Map<string, string>();
  readonly #problems: string[] = [];
  readonly #warnings: string[] = [];
  /** Number of the problems that may be gone a moment later. */
  #unreadFiles = 0;

  constructor(described: Described) {
    this.#types = described.types;
    this.#declared = new Map(declaredValues(described).map((one) => [one.name, one]));
  }

  async addFile(path: string | undefined): Promise<void> {
    if (path === undefined) return;
    const read = await readBounded(path, CONFIGURATION_BYTES_MAX);
    if ('problem' in read) return this.#noteUnread(path, read);
    const { readDocument } = await import('./configuration-document.ts');
    const document = readDocument(read.text);
    if ('problems' in document) {
      this.#noteUnknown();
      return void this.#problems.push(...document.problems.map((problem) => `${path}: ${problem}`));
    }
    const names = [...document.values.keys()];
    const secret = names.find((name) => this.#declared.get(name)?.isSecret === true);
    if (secret !== undefined && read.isOpenToOthers) this.#warnOfRights(path);
    for (const [name, value] of document.values) this.#add(name, value, path);
  }

  async addFolder(path: string | undefined): Promise<void> {
    if (path === undefined) return;
    let names: string[];
    try {
      // A mounted folder has hidden folders, to which the links of its files lead.
      names = (await readdir(path)).filter((name) => !name.startsWith('.'));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return this.#noteUnread(path, unreadable(code));
    }
    if (names.length > FOLDER_FILES_MAX) {
      this.#noteUnknown();
      return void this.#problems.push(`${path} has more than ${FOLDER_FILES_MAX} files`);
    }
    for (const name of names.toSorted()) {
      const file = join(path, name);
      const declared = this.#declared.get(name);
      const read = await readValue(file, declared);
      if ('problem' in read) {
        this.#noteUnread(file, read, [name]);
        continue;
      }
      if (declared?.isSecret === true && read.isOpenToOthers) this.#warnOfRights(file);
      this.#addText(name, withoutLineBreak(read.text), file);
    }
  }

  /** Adds the declared secrets that have a file in the folder. A folder that is not there has none. */
  async addSecrets(path: string | undefined): Promise<void> {
    const secrets = [...this.#declared.values()].filter(({ isSecret }) => isSecret);
    if (path === undefined || secrets.length === 0) return;
    let listed: ReadonlySet<string>;
    try {
      listed = new Set(await readdir(path));
      if (((await stat(path)).mode & USED_BY_OTHERS) !== 0)
        this.#warnings.push(
          "the folder of the project's secrets can be used by other users of the machine: give it the rights 0700",
        );
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      return this.#noteUnread("the folder of the project's secrets", unreadable(code));
    }
    for (const secret of secrets) {
      const { name } = secret;
      // A listed name has no slash. One that only the module says could lead out of the folder.
      if (!listed.has(name)) continue;
      const file = `the file of the secret '${name}'`;
      const read = await readValue(join(path, name), secret);
      if ('problem' in read) {
        this.#noteUnread(file, read, [name]);
        continue;
      }
      if (read.isOpenToOthers) this.#warnOfRights(file);
      this.#addText(name, withoutLineBreak(read.text), file);
    }
  }

  async addVariables(path: string | undefined, ignoresOthers = false): Promise<void> {
    if (path === undefined) return;
    const read = await readBounded(path, VARIABLES_BYTES_MAX);
    const file = 'the file with the variables';
    if ('problem' in read) return this.#noteUnread(file, read);
    const variables = textsIn(read.text);
    if (variables === undefined)
      return this.#noteUnread(file, { problem: 'is not an object of texts', isTransient: false });
    for (const [name, text] of variables)
      if (ignoresOthers && !this.#declared.has(name)) continue;
      else if (this.#declared.get(name)?.isSecret === true) {
        this.#problems.push(
          `'${name}' is a secret, and may not be declared in ${VARIABLES}, which the platform stores`,
        );
        this.#unread.add(name);
      } else this.#addText(name, text, VARIABLES);
  }

  addAssignment(assignment: string): void {
    const equals = assignment.indexOf('=');
    const name = assignment.slice(0, Math.max(equals, 0));
    if (equals < 1) this.#problems.push('--configure takes NAME=VALUE');
    else if (this.#declared.get(name)?.isSecret === true) {
      this.#problems.push(
        `--configure cannot give the secret '${name}', because other users see it in the list of processes: put it into a file`,
      );
      this.#unread.add(name);
    } else this.#addText(name, assignment.slice(equals + 1), '--configure');
  }

  addValues(values: Readonly<Record<string, unknown>> = {}): void {
    // A member that is undefined is one that the program leaves out.
    for (const [name, value] of Object.entries(values))
      if (value !== undefined) this.#add(name, value, 'the option configured.values');
  }

  result(described: Described): GatheredConfiguration {
    const given = { origins: this.#origins, unread: this.#unread };
    const problems = [...this.#problems, ...configurationProblems(this.#values, described, given)];
    const isUsed = described.configuration !== undefined && problems.length === 0;
    const texts = isUsed
      ? { json: configurationJson(this.#values), secrets: this.#secrets() }
      : undefined;
    const isUnreadable = problems.length > 0 && problems.length === this.#unreadFiles;
    return { texts, problems, isUnreadable, warnings: this.#warnings };
  }

  /** Returns the texts of the secrets. A secret that contains another one comes first, and is replaced as a whole. */
  #secrets(): readonly string[] {
    const secrets = [...this.#declared.values()]
      .filter(({ isSecret }) => isSecret)
      .map(({ name }) => this.#values.get(name))
      .filter((value) => typeof value === 'string');
    const texts = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
    return [...new Set(texts)].toSorted((one, other) => other.length - one.length);
  }

  /** Notes a file or folder without values for these names; absent: it may have a value for any. */
  #noteUnread(
    file: string,
    { problem, isTransient }: FileProblem,
    names: readonly string[] = [...this.#declared.keys()],
  ): void {
    if (isTransient) this.#unreadFiles++;
    this.#problems.push(`${file} ${problem}`);
    for (const name of names) this.#unread.add(name);
  }

  /** Notes a source that has values for names which are not known. */
  #noteUnknown(): void {
    for (const name of this.#declared.keys()) this.#unread.add(name);
  }

  #addText(name: string, text: string, origin: string): void {
    const declared = this.#declared.get(name);
    const value = declared === undefined ? text : valueOfText(text, declared.schema, this.#types);
    this.#add(name, value, origin);
  }

  #add(name: string, value: unknown, origin: string): void {
    this.#values.set(name, value);
    this.#origins.set(name, origin);
  }

  #warnOfRights(path: string): void {
    this.#warnings.push(
      `${path} has a secret, and other users may read it: give the file the rights 0600, or 0400`,
    );
  }
}

/** Reads the file of a value. That of a secret is empty while somebody begins to write it. */
async function readValue(
  path: string,
  declared: DeclaredValue | undefined,
): ReturnType<typeof readBounded> {
  const read = await readBounded(path, CONFIGURATION_BYTES_MAX);
  const isEmpty = 'text' in read && withoutLineBreak(read.text) === '';
  return isEmpty && declared?.isSecret === true ? { problem: 'is empty', isTransient: true } : read;
}

function unreadable(code: string | undefined): FileProblem {
  return { problem: `cannot be read (${code})`, isTransient: true };
}

/** An editor ends a file with a line break, which is not part of the value. */
function withoutLineBreak(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** Returns the texts by their names of a JSON object; undefined if it is another value. */
function textsIn(json: string): readonly (readonly [string, string])[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  return entries.every(isText) ? entries : undefined;
}

function isText(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === 'string';
}

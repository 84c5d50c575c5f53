// MutatedSource: finds the place of a mutant in the sources of a folder, and changes it. A mutant has exactly one
// place: where there is none or there are several, its anchor is lost.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testNamePattern } from '../test-names.ts';
import type { Mutant } from './mutant.ts';
import {
  type SourcePattern,
  type SourceRange,
  type SyntaxNode,
  findPattern,
  isNode,
  matches,
  parsePattern,
  parseSource,
} from './source-pattern.ts';

// Not the AssemblyScript of guests: it is on their side of the sandbox, and its decorators of functions do not parse.
const SOURCES =
  '{addresses,api,cli,client,components,console/server,contract,control-plane,forward,gateway,guest-sdk/compiler,host,http1,identity,kit,model,oci,process-protocol,process-sdk,proxy,registry,routing,tokens,webhooks}/**/*.ts';
const TESTS = '{test,examples/*/test}/**/*.test.ts';
const LEFT_OUT = /(?:^|\/)(?:node_modules|build|dist|generated|template)\//;

export interface MutatedSource {
  /** Path from the root, with `/`. */
  readonly file: string;
  /** What the file holds with the mutation. */
  readonly text: string;
  /** Path of a test file from the root, and the name of a test in it. */
  readonly tests: readonly (readonly [file: string, name: string])[];
}

export class AnchorLost extends Error {}

/** The sources under a root, read once and parsed when needed. */
export class SourceTree {
  readonly #sources = new Map<string, string>();
  readonly #trees = new Map<string, SyntaxNode>();
  readonly #tests: readonly string[];

  constructor(root: string) {
    for (const file of filesOf(SOURCES, root))
      this.#sources.set(file, readFileSync(join(root, file), 'utf8'));
    this.#tests = filesOf(TESTS, root);
  }

  /** Throws `AnchorLost` when the mutant has no place or several, or a test that it names is gone. */
  mutate(mutant: Mutant): MutatedSource {
    const pattern = mutant.at === undefined ? undefined : parsePattern(mutant.at);
    const places = this.#placesOf(mutant, pattern);
    const what = mutant.at === undefined ? 'it' : `\`${mutant.at}\``;
    if (places.length !== 1)
      throw new AnchorLost(`${what} stands ${places.length} times in ${mutant.in ?? mutant.file}`);
    const { file, range } = places[0]!;
    const text = mutated(this.#sources.get(file)!, range, pattern?.kind, mutant.mutation);
    if (matches(this.#treeOf(file), parseMutated(file, text)))
      throw new AnchorLost(`the mutation of ${what} changes nothing`);
    return { file, text, tests: mutant.tests.map((test) => this.#testOf(test)) };
  }

  #placesOf(mutant: Mutant, pattern?: SourcePattern): { file: string; range: SourceRange }[] {
    const name = mutant.in?.split('.').at(-1) ?? '';
    const files = [...this.#sources.keys()].filter(
      (file) =>
        (mutant.file === undefined || isEndOf(mutant.file, file)) &&
        this.#sources.get(file)!.includes(name),
    );
    const scopes = files.flatMap((file) =>
      scopesOf(this.#treeOf(file), mutant.in).map((scope) => ({ file, scope })),
    );
    if (scopes.length === 0)
      throw new AnchorLost(
        `there is no ${mutant.in ?? 'file'}${mutant.file === undefined ? '' : ` in ${mutant.file}`}`,
      );
    return scopes.flatMap(({ file, scope }) =>
      (pattern === undefined ? [scope] : findPattern(scope, pattern)).map((range) => ({
        file,
        range,
      })),
    );
  }

  #testOf(test: string): readonly [string, string] {
    const [end, name] = splitOnce(test, ' › ');
    const files = this.#tests.filter(
      (file) => isEndOf(end, withoutTier(file)) && testNamePattern(file, name) !== undefined,
    );
    // A suite that is in both tiers is tried in the faster one.
    const isOne = new Set(files.map((file) => withoutTier(file))).size === 1;
    const file = files.find((one) => !one.endsWith('.long.test.ts')) ?? files[0];
    if (!isOne || file === undefined)
      throw new AnchorLost(`${files.length} files ${end}.test.ts have the test '${name}'`);
    return [file, name];
  }

  #treeOf(file: string): SyntaxNode {
    const tree = this.#trees.get(file) ?? parseSource(file, this.#sources.get(file)!);
    this.#trees.set(file, tree);
    return tree;
  }
}

/** Finds what a name of a top-level declaration or of a class member stands for: overloads are several. */
export function scopesOf(program: SyntaxNode, name: string | undefined): readonly SyntaxNode[] {
  if (name === undefined) return [program];
  return (program['body'] as readonly SyntaxNode[]).flatMap((statement) =>
    declaredIn((statement['declaration'] as SyntaxNode | undefined) ?? statement)
      .filter(([declared]) => declared === name)
      .map(([, node]) => node),
  );
}

/** The names that a top-level statement declares, those of class members as `Class.member`. */
export function declaredIn(statement: SyntaxNode): readonly (readonly [string, SyntaxNode])[] {
  if (statement.type === 'VariableDeclaration')
    return (statement['declarations'] as readonly SyntaxNode[]).map(
      (one) => [nameOf(one['id']), one] as const,
    );
  if (statement.type === 'FunctionDeclaration') return [[nameOf(statement['id']), statement]];
  if (statement.type !== 'ClassDeclaration') return [];
  const className = nameOf(statement['id']);
  const { body } = statement['body'] as { readonly body: readonly SyntaxNode[] };
  return [
    [className, statement],
    ...body.map((member) => [`${className}.${nameOf(member['key'])}`, member] as const),
  ];
}

function nameOf(node: unknown): string {
  if (!isNode(node)) return '';
  const name = node['name'];
  if (typeof name !== 'string') return '';
  return node.type === 'PrivateIdentifier' ? `#${name}` : name;
}

/** The source with a mutation at a place. */
export function mutated(
  source: string,
  { start, end }: SourceRange,
  kind: SourcePattern['kind'] | undefined,
  mutation: Mutant['mutation'],
): string {
  const [before, after] = [source.slice(0, start), source.slice(end)];
  if (typeof mutation === 'object' && 'replaceText' in mutation) {
    const parts = source.slice(start, end).split(mutation.replaceText);
    if (parts.length !== 2)
      throw new AnchorLost(`\`${mutation.replaceText}\` stands ${parts.length - 1} times there`);
    return before + parts.join(mutation.by) + after;
  }
  if (typeof mutation === 'object') {
    const isReplacedExpression =
      kind === 'expression' && parsePattern(mutation.replaceBy)?.kind === kind;
    return before + (isReplacedExpression ? `(${mutation.replaceBy})` : mutation.replaceBy) + after;
  }
  if (mutation !== 'remove') return `${before}${mutation}${after}`;
  // What is removed from a list leaves with the comma behind it.
  return kind === 'statements' ? `${before};${after}` : before + after.replace(/^\s*,/, '');
}

function parseMutated(file: string, text: string): SyntaxNode {
  try {
    return parseSource(file, text);
  } catch (error) {
    throw new AnchorLost(`after the mutation ${(error as Error).message}`);
  }
}

function filesOf(pattern: string, cwd: string): readonly string[] {
  return globSync(pattern, { cwd, exclude: (name) => name === 'node_modules' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !LEFT_OUT.test(file));
}

/** Drops what says in which tier a test file is: a test may change it. */
function withoutTier(file: string): string {
  return file.replace(/(?:\.long)?\.test\.ts$/, '');
}

/** Whether a path is another one's end, in whole names. */
function isEndOf(end: string, file: string): boolean {
  return file === end || file.endsWith(`/${end}`);
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

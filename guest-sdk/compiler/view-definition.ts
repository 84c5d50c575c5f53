// ViewDefinition: hashes the sources that a view's class reaches, so that the rows of a view are folded again when its
// code changes, and not when other code of the module does.
//
// Invariant: what cannot be decided counts as reached. Names are not resolved: a name reaches every declaration of that
// name, in all files of the author and of packages, with their subclasses; and code that runs while the module starts is
// always reached. Code whose results depend on the whole module (`idof`, addresses) has no hash.
import { hash } from 'node:crypto';
import {
  CallExpression,
  ClassDeclaration,
  DeclarationStatement,
  EnumDeclaration,
  ExportDefaultStatement,
  ExportImportStatement,
  ExportStatement,
  ExpressionStatement,
  FieldDeclaration,
  IdentifierExpression,
  ImportStatement,
  NamespaceDeclaration,
  VariableStatement,
  type Expression,
  type Node,
  type Source,
  type Statement,
} from 'assemblyscript';
import { libraryFiles } from 'assemblyscript/asc';
import { SDK_PATH, STATIC, has, sdkNames, textOf } from './syntax.ts';
import { walk } from './syntax-walk.ts';
import type { ViewClass } from './view-declaration.ts';

/** Functions whose results depend on the layout of the whole module. */
const WHOLE_MODULE: ReadonlySet<string> = new Set(['idof', 'load', 'store', 'memory', 'heap']);
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null']);
const INTEGERS: ReadonlySet<string> = new Set(['usize', 'isize', 'u32', 'i32']);

/** A part of the sources that is reached as a whole. */
interface Part {
  readonly text: string;
  /** Names by which it is reached. */
  readonly names: readonly string[];
  /** Names of the classes and interfaces that it extends and implements. */
  readonly bases: readonly string[];
  /** Names that it reaches. */
  readonly reaches: ReadonlySet<string>;
  /** Whether its results depend on the whole module. */
  readonly dependsOnModule: boolean;
  /** Whether it runs while the module starts. */
  readonly runsAtStart: boolean;
}

/** Hashes by the classes of the views; undefined where no hash can be known. */
export type ViewDefinitions = ReadonlyMap<ClassDeclaration, string | undefined>;

/**
 * Returns the hash for each view; undefined where no hash can be known. Call it before code is written into the classes.
 * `sdkVersion` stands for the code of the SDK and of the standard library.
 */
export function viewDefinitions(
  sources: readonly Source[],
  views: Iterable<ViewClass>,
  sdkVersion: string,
): ViewDefinitions {
  const viewClasses = new Map([...views].map((view) => [view.declaration, view]));
  if (viewClasses.size === 0) return new Map();
  const graph = new SourceGraph(sources.filter(isOwnCode), viewClasses);
  return new Map(
    [...viewClasses].map(([declaration, { name }]) => {
      const texts = graph.textsReachedFrom(name);
      const content = JSON.stringify([sdkVersion, name, texts]);
      return [declaration, texts && hash('sha256', content, 'hex')] as const;
    }),
  );
}

/** Returns whether a file belongs to the author or to a package, and not to the SDK or the standard library. */
function isOwnCode({ normalizedPath: path }: Source): boolean {
  if (path.startsWith(SDK_PATH)) return false;
  return !(
    path.startsWith('~lib/') && Object.hasOwn(libraryFiles, path.slice(5).replace(/\.ts$/, ''))
  );
}

class SourceGraph {
  /** In the order of the sources. */
  readonly #parts: Part[] = [];
  /** Name → other names of the same thing, by imports and exports under another name. */
  readonly #aliases = new Map<string, Set<string>>();
  readonly #byName: ReadonlyMap<string, readonly Part[]>;
  /** Classes by the names of those that they extend or implement. */
  readonly #byBase: ReadonlyMap<string, readonly Part[]>;
  readonly #viewClasses: ReadonlyMap<ClassDeclaration, ViewClass>;

  constructor(sources: readonly Source[], viewClasses: ReadonlyMap<ClassDeclaration, ViewClass>) {
    this.#viewClasses = viewClasses;
    for (const source of sources)
      for (const statement of source.statements) this.#add(statement, source);
    this.#byName = byEach(this.#parts, ({ names }) => names);
    this.#byBase = byEach(this.#parts, ({ bases }) => bases);
  }

  /** Returns the texts of the reached parts, in the order of the sources; undefined: one depends on the whole module. */
  textsReachedFrom(name: string): readonly string[] | undefined {
    const names = new Set<string>();
    const reached = new Set<Part>();
    const waiting = [name];
    const reach = (part: Part): void => {
      if (reached.has(part)) return;
      reached.add(part);
      waiting.push(...part.reaches, ...part.names);
    };
    for (const part of this.#parts) if (part.runsAtStart) reach(part);
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (names.has(next)) continue;
      const same = this.#withAliases(next);
      for (const one of same) names.add(one);
      const named = [...same].flatMap((one) => this.#byName.get(one) ?? []);
      // Whoever reaches a class may get an object of a class that extends it. Those that extend a class of the SDK have
      // nothing to do with each other.
      const derived =
        named.length === 0 ? [] : [...same].flatMap((one) => this.#byBase.get(one) ?? []);
      for (const part of [...named, ...derived]) reach(part);
    }
    if ([...reached].some(({ dependsOnModule }) => dependsOnModule)) return undefined;
    return this.#parts.filter((part) => reached.has(part)).map(({ text }) => text);
  }

  #add(statement: Statement, source: Source): void {
    if (statement instanceof ImportStatement)
      for (const { name, foreignName } of statement.declarations ?? [])
        this.#alias(name.text, foreignName.text);
    else if (statement instanceof ExportStatement)
      for (const { localName, exportedName } of statement.members ?? [])
        this.#alias(exportedName.text, localName.text);
    else if (statement instanceof ExportImportStatement)
      this.#alias(statement.name.text, statement.externalName.text);
    else if (statement instanceof ExportDefaultStatement) this.#add(statement.declaration, source);
    else if (statement instanceof VariableStatement)
      for (const one of statement.declarations)
        this.#parts.push(partOf(one, [one.name.text], isInitialized(one)));
    else if (statement instanceof DeclarationStatement) this.#addDeclaration(statement);
    else if (!isRegistration(statement, source)) this.#parts.push(partOf(statement, [], true));
  }

  #addDeclaration(declaration: DeclarationStatement): void {
    const isNamespace = declaration instanceof NamespaceDeclaration;
    const view = declaration instanceof ClassDeclaration && this.#viewClasses.get(declaration);
    const part = partOf(
      declaration,
      isNamespace ? namesIn(declaration) : [declaration.name.text],
      isNamespace ||
        (declaration instanceof EnumDeclaration && declaration.values.some(isInitialized)),
    );
    this.#parts.push(view ? withoutDecorators(part, view) : part);
    if (!(declaration instanceof ClassDeclaration)) return;
    // A static field is initialized while the module starts, whether or not the class is reached.
    for (const member of declaration.members)
      if (member instanceof FieldDeclaration && has(member, STATIC) && isInitialized(member))
        this.#parts.push(partOf(member, [], true));
  }

  /** Returns the name with all other names of the same thing. */
  #withAliases(name: string): ReadonlySet<string> {
    const same = new Set([name]);
    for (const one of same) for (const other of this.#aliases.get(one) ?? []) same.add(other);
    return same;
  }

  #alias(one: string, other: string): void {
    if (one === other) return;
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const aliases = this.#aliases.get(from) ?? new Set();
      this.#aliases.set(from, aliases.add(to));
    }
  }
}

function byEach(
  parts: readonly Part[],
  namesOf: (part: Part) => readonly string[],
): ReadonlyMap<string, readonly Part[]> {
  const found = new Map<string, Part[]>();
  for (const part of parts)
    for (const name of namesOf(part)) found.set(name, [...(found.get(name) ?? []), part]);
  return found;
}

function partOf(node: Node, names: readonly string[], runsAtStart: boolean): Part {
  const reaches = new Set<string>();
  let dependsOnModule = false;
  walk(node, (one) => {
    if (one instanceof IdentifierExpression) {
      reaches.add(one.text);
      dependsOnModule ||= WHOLE_MODULE.has(one.text) || one.text.startsWith('__');
    } else if (one instanceof CallExpression) dependsOnModule ||= givesAddress(one);
  });
  const { extendsType = null, implementsTypes = null } =
    node instanceof ClassDeclaration ? node : {};
  const bases = [...(extendsType === null ? [] : [extendsType]), ...(implementsTypes ?? [])].map(
    ({ name }) => (name.next ?? name).identifier.text,
  );
  return { text: textOf(node), names, bases, reaches, dependsOnModule, runsAtStart };
}

/** Removes the decorators of a view's class: indexes are not part of the definition. */
function withoutDecorators(part: Part, { declaration }: ViewClass): Part {
  const { source, end } = declaration.range;
  const start = Math.max(...(declaration.decorators ?? []).map(({ range }) => range.end));
  return { ...part, text: source.text.slice(start, end) };
}

/** Returns whether the call turns an object into its address, which depends on all code of the module. */
function givesAddress({ expression, typeArguments }: CallExpression): boolean {
  if (!(expression instanceof IdentifierExpression) || expression.text !== 'changetype')
    return false;
  const [type] = typeArguments ?? [];
  return type === undefined || INTEGERS.has(textOf(type));
}

/** Returns whether an initializer may run code, which may change anything: whether it is more than literals. */
function isInitialized({ initializer }: { readonly initializer: Expression | null }): boolean {
  let found = false;
  if (initializer !== null)
    walk(initializer, (one) => {
      found ||= one instanceof IdentifierExpression && !LITERALS.has(one.text);
    });
  return found;
}

function namesIn(namespace: NamespaceDeclaration): string[] {
  const names: string[] = [];
  walk(namespace, (node) => {
    if (node instanceof DeclarationStatement) names.push(node.name.text);
  });
  return names;
}

/** Returns whether the statement registers a class, which changes nothing that code of views sees. */
function isRegistration(statement: Statement, source: Source): boolean {
  if (!(statement instanceof ExpressionStatement)) return false;
  const { expression } = statement;
  if (!(expression instanceof CallExpression)) return false;
  const called = textOf(expression.expression).split('.');
  const names = sdkNames(source);
  return called.length === 1
    ? names.ofLocal(called[0]!) === 'register'
    : called.length === 2 && names.isNamespace(called[0]!) && called[1] === 'register';
}

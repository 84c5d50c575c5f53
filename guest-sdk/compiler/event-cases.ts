// EventCases: checks whether `apply` handles every case of its event. It handles a case if it names the case where it
// uses the event: `event instanceof Added`, `event as Added`, `changetype<Added>(event)`, in `apply` itself or in a
// function or method that it passes the event to.
//
// Invariant: code that cannot be followed counts as handling every case: a method or a field of the event, a copy of
// the event in a variable, a function of a library.
import {
  AssertionExpression,
  BlockStatement,
  CallExpression,
  ClassDeclaration,
  FunctionDeclaration,
  FunctionPrototype,
  IdentifierExpression,
  InstanceOfExpression,
  MethodDeclaration,
  PropertyAccessExpression,
  ReturnStatement,
  ThisExpression,
  type Class,
  type Node,
  type Program,
  type Source,
  type TypeNode,
} from 'assemblyscript';
import type { Problem } from './build-error.ts';
import type { DataClass } from './declarations.ts';
import { SWALLOW, methodOf, problemAt } from './syntax.ts';
import { walk } from './syntax-walk.ts';

type Callable = FunctionDeclaration | MethodDeclaration;

/** Returns the problem of an `apply` that lacks a case; undefined if there is none. `event`: the entity's sum type. */
export function eventCaseProblem(
  program: Program,
  entity: Class,
  event: DataClass,
): Problem | undefined {
  const declaration = entity.prototype.declaration as ClassDeclaration;
  const apply = methodOf(declaration, 'apply');
  const parameter = apply?.signature.parameters[1]?.name.text;
  if (apply === undefined || parameter === undefined) return undefined;
  // A single case needs no test of the type: any body but `return state` counts as handling it.
  if (event.cases.length === 1 && !onlyReturnsTheState(apply)) return undefined;
  const search = new Search(program, entity, declaration);
  search.follow(apply, parameter);
  if (search.isOpen) return undefined;
  const missing = event.cases.filter((one) => !search.named.has(one.declaration));
  if (missing.length === 0) return undefined;
  const names = missing.map((one) => `'${one.name}'`).join(', ');
  const lines = missing.map((one) => `if (${parameter} instanceof ${one.name}) {}`);
  return problemAt(
    apply.name.range,
    `'apply' of entity '${entity.name}' does not handle ${names}`,
    `say what each does to the state; leave the braces empty when it changes nothing:\n${lines.join('\n')}`,
  );
}

function onlyReturnsTheState({ body, signature }: MethodDeclaration): boolean {
  const only = body instanceof BlockStatement ? body.statements[0] : body;
  if (only === undefined || (body instanceof BlockStatement && body.statements.length > 1))
    return false;
  return (
    only instanceof ReturnStatement &&
    only.value instanceof IdentifierExpression &&
    only.value.text === signature.parameters[0]?.name.text
  );
}

/** Follows the event through `apply` and the functions that receive it, and collects the cases that they name. */
class Search {
  readonly named = new Set<Node>();
  /** Whether the event is used in code that cannot be followed. */
  isOpen = false;
  readonly #program: Program;
  readonly #entity: Class;
  readonly #declaration: ClassDeclaration;
  readonly #followed = new Map<Callable, Set<string>>();

  constructor(program: Program, entity: Class, declaration: ClassDeclaration) {
    this.#program = program;
    this.#entity = entity;
    this.#declaration = declaration;
  }

  follow(callable: Callable, name: string): void {
    const names = this.#followed.get(callable) ?? new Set();
    if (names.has(name)) return;
    this.#followed.set(callable, names.add(name));
    if (callable.body === null) {
      this.isOpen = true;
      return;
    }
    walk(callable.body, (node, parents) => {
      if (!(node instanceof IdentifierExpression) || node.text !== name) return;
      const parent = parents.at(-1);
      if (parent instanceof PropertyAccessExpression && parent.property === node) return;
      if (!this.#isFollowed(node, parent, callable)) this.isOpen = true;
    });
  }

  /** Follows one use of the event. Returns false if it cannot be followed. */
  #isFollowed(node: Node, parent: Node | undefined, within: Callable): boolean {
    if (parent instanceof InstanceOfExpression) return this.#isNamed(parent.isType, within);
    if (parent instanceof AssertionExpression) return this.#isNamed(parent.toType, within);
    if (!(parent instanceof CallExpression)) return false;
    const index = parent.args.findIndex((argument) => unwrapped(argument) === node);
    const called = parent.expression;
    if (called instanceof IdentifierExpression && called.text === 'changetype')
      return this.#isNamed(parent.typeArguments?.[0] ?? null, within);
    const target = this.#target(called, within.range.source);
    const parameter = target?.signature.parameters[index]?.name.text;
    if (target === undefined || parameter === undefined) return false;
    this.follow(target, parameter);
    return true;
  }

  #isNamed(type: TypeNode | null, within: Callable): boolean {
    if (type === null) return false;
    const file = this.#program.filesByName.get(within.range.source.internalPath);
    const scope = within instanceof MethodDeclaration ? this.#entity : file;
    if (scope === undefined) return false;
    const resolved = this.#program.resolver.resolveType(
      type,
      null,
      scope,
      this.#entity.contextualTypeArguments,
      SWALLOW,
    );
    const declaration = resolved?.getClass()?.prototype.declaration;
    // `as CartEvent` names no case: the result may be used in any way.
    if (declaration === undefined || !isCase(declaration)) return false;
    this.named.add(declaration);
    return true;
  }

  /** Returns the author's function or the entity's method that a call names directly. */
  #target(called: Node, source: Source): Callable | undefined {
    if (called instanceof PropertyAccessExpression) {
      const object = called.expression;
      const isOwn =
        object instanceof ThisExpression ||
        (object instanceof IdentifierExpression && object.text === this.#declaration.name.text);
      return isOwn ? methodOf(this.#declaration, called.property.text) : undefined;
    }
    if (!(called instanceof IdentifierExpression)) return undefined;
    const element = this.#program.filesByName.get(source.internalPath)?.lookup(called.text);
    if (!(element instanceof FunctionPrototype)) return undefined;
    const { declaration } = element;
    return declaration instanceof FunctionDeclaration ? declaration : undefined;
  }
}

function isCase(node: Node): boolean {
  return (
    node instanceof ClassDeclaration &&
    (node.decorators ?? []).some(
      ({ name }) => name instanceof IdentifierExpression && name.text === 'variant',
    )
  );
}

/** Returns the expression within any parentheses. */
function unwrapped(node: Node): Node {
  let found: Node | undefined;
  walk(node, (one) => (found ??= one));
  return found ?? node;
}

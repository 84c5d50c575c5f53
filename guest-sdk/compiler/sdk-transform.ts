// What the compiler does to a user's program, at the three places where AssemblyScript lets it:
// after parsing (write code into the classes), after resolving names (say what is wrong with
// types), after compiling (describe the module, close its edges).
import {
  CallExpression,
  ClassPrototype,
  ExpressionStatement,
  IdentifierExpression,
  type Class,
  type DiagnosticMessage,
  type Parser,
  type Program,
  type Range,
  type Type,
  type TypeNode,
} from 'assemblyscript';
import type binaryen from 'assemblyscript/binaryen';
import type { ModuleDescriptor } from '@svc/contract';
import type { Problem } from './build-error.ts';
import { isUserSource, readDeclarations, type Declarations } from './declarations.ts';
import { describe, replyBody } from './descriptor.ts';
import { injectInterface, injectMembers, injectStatements } from './inject.ts';
import { closeEdges } from './module-edges.ts';
import { SchemaBuilder, displayName } from './schema-of-type.ts';
import { SWALLOW, problemAt, sdkNames } from './syntax.ts';
import {
  GLUE_IMPORT,
  clientClass,
  dataMembers,
  endpointMembers,
  entityMembers,
} from './written-code.ts';

/** What one build learns of its program. */
export interface BuildState {
  readonly sdk: { readonly name: string; readonly version: string };
  /** Not empty: the build has failed, and these say why. */
  problems: Problem[];
  descriptor: ModuleDescriptor | undefined;
  /** What AssemblyScript's own compiler has to say; it adds to this list. */
  diagnostics: readonly DiagnosticMessage[];
}

/** Ends the compiler's run; the reasons are in the build's state. */
class Stopped extends Error {}

/** A class that AssemblyScript makes an object of; it puts `program` and `binaryen` into its prototype. */
export type TransformClass = new () => object;

export function sdkTransform(state: BuildState): TransformClass {
  let declarations: Declarations | undefined;
  const stopOnProblems = (): void => {
    if (state.problems.length > 0) throw new Stopped('the build has problems');
  };
  return class SdkTransform {
    declare readonly program: Program;
    declare readonly binaryen: typeof binaryen;

    constructor() {
      state.diagnostics = this.program.diagnostics;
    }

    afterParse(parser: Parser): void {
      declarations = readDeclarations(parser);
      state.problems.push(...declarations.problems);
      stopOnProblems();
      write(parser, declarations);
    }

    afterInitialize(program: Program): void {
      state.problems.push(
        ...typeProblems(program, declarations!),
        ...registerProblems(program, declarations!),
      );
      stopOnProblems();
    }

    afterCompile(module: binaryen.Module): void {
      const { program } = this;
      const registered = describe(program, declarations!, state.sdk, state.problems);
      closeEdges(this.binaryen, module, program, registered.endpoints, state.problems);
      state.descriptor = registered.descriptor;
      stopOnProblems();
    }
  };
}

function write(parser: Parser, declarations: Declarations): void {
  for (const data of declarations.data.values()) injectMembers(data.declaration, dataMembers(data));
  for (const endpoint of declarations.endpoints.values()) {
    injectInterface(endpoint.declaration, '__svc_EndpointComponent');
    injectMembers(endpoint.declaration, endpointMembers(endpoint));
  }
  for (const entity of declarations.entities.values()) {
    injectMembers(entity.declaration, entityMembers(entity));
    injectStatements(entity.declaration.range.source, clientClass(entity));
  }
  const written = new Set(
    [
      ...declarations.data.keys(),
      ...declarations.entities.keys(),
      ...declarations.endpoints.keys(),
    ].map((declaration) => declaration.range.source),
  );
  for (const source of parser.sources)
    if (written.has(source)) injectStatements(source, GLUE_IMPORT);
}

/**
 * What is wrong with types, said at the user's line before the compiler would say it of the
 * SDK's. A type that does not resolve is left to the compiler, which says so itself.
 */
function typeProblems(program: Program, declarations: Declarations): Problem[] {
  const problems: Problem[] = [];
  const report = (range: Range, message: string): void => {
    problems.push(problemAt(range, message));
  };
  const schemas = new SchemaBuilder(program, declarations, report);
  for (const data of declarations.data.values()) {
    if ((data.declaration.typeParameters?.length ?? 0) > 0) continue;
    const reference = classOf(program, data.declaration);
    if (reference !== undefined) schemas.schema(reference.type, data.declaration.name.range);
  }
  const checkJson = (node: TypeNode, reference: Class): void => {
    const type = resolve(program, node, reference);
    if (type !== undefined && !isSdkValue(type)) schemas.schema(type, node.range);
  };
  for (const entity of declarations.entities.values()) {
    const reference = classOf(program, entity.declaration);
    if (reference === undefined) continue;
    const state = entity.stateNode && resolve(program, entity.stateNode, reference);
    const event = entity.eventNode && resolve(program, entity.eventNode, reference);
    if (state !== undefined && dataOf(schemas, state) === undefined)
      report(
        entity.stateNode!.range,
        `the state '${displayName(state)}' must be a @data class: it is stored`,
      );
    if (event !== undefined && dataOf(schemas, event)?.kind !== 'sum')
      report(
        entity.eventNode!.range,
        `the event '${displayName(event)}' must be an abstract @data class with @variant cases: events are stored with their case`,
      );
    for (const handler of entity.handlers) {
      const [first] = handler.method.signature.parameters;
      const given = first && resolve(program, first.type, reference);
      if (given !== undefined && state !== undefined && given !== state)
        report(
          first!.range,
          `the first parameter of a ${handler.kind} is the state, '${displayName(state)}'`,
        );
      if (handler.input !== undefined) checkJson(handler.input.type, reference);
      checkJson(handler.reply, reference);
    }
  }
  for (const endpoint of declarations.endpoints.values()) {
    const reference = classOf(program, endpoint.declaration);
    if (reference === undefined) continue;
    for (const route of endpoint.routes) {
      for (const argument of route.arguments)
        if (argument.kind === 'body') {
          const type = resolve(program, argument.type, reference);
          if (type !== undefined && !isBytes(type)) schemas.schema(type, argument.type.range);
        }
      const node = route.method.signature.returnType;
      const returned = resolve(program, node, reference);
      if (returned !== undefined) replyBody(returned, node.range, schemas, report);
    }
  }
  return problems;
}

function isSdkValue(type: Type): boolean {
  return type.getClass()?.prototype.internalName.startsWith('~lib/@svc/') ?? false;
}

function isBytes(type: Type): boolean {
  return type.getClass()?.prototype.internalName === '~lib/typedarray/Uint8Array';
}

function dataOf(schemas: SchemaBuilder, type: Type): ReturnType<SchemaBuilder['dataOf']> {
  const reference = type.getClass();
  return reference === null ? undefined : schemas.dataOf(reference);
}

function classOf(
  program: Program,
  declaration: Class['prototype']['declaration'],
): Class | undefined {
  const prototype = program.elementsByDeclaration.get(declaration);
  if (!(prototype instanceof ClassPrototype)) return undefined;
  return program.resolver.resolveClass(prototype, null) ?? undefined;
}

function resolve(program: Program, node: TypeNode, reference: Class): Type | undefined {
  const types = reference.contextualTypeArguments;
  return program.resolver.resolveType(node, null, reference, types, SWALLOW) ?? undefined;
}

/** `register<T>()` takes what can be registered. */
function registerProblems(program: Program, declarations: Declarations): Problem[] {
  const problems: Problem[] = [];
  for (const source of program.sources) {
    if (!isUserSource(source)) continue;
    const names = sdkNames(source);
    for (const statement of source.statements) {
      if (!(statement instanceof ExpressionStatement)) continue;
      const call = statement.expression;
      if (!(call instanceof CallExpression) || !(call.expression instanceof IdentifierExpression))
        continue;
      if (names.ofLocal(call.expression.text) !== 'register') continue;
      const argument = call.typeArguments?.[0];
      const file = program.filesByName.get(source.internalPath);
      if (argument === undefined || file === undefined) {
        problems.push(problemAt(call.range, 'say what to register: register<ShoppingCart>()'));
        continue;
      }
      const type = program.resolver.resolveType(argument, null, file.startFunction, null, SWALLOW);
      const declaration = type?.getClass()?.prototype.declaration as Parameters<
        typeof declarations.entities.has
      >[0];
      if (
        type &&
        !declarations.entities.has(declaration) &&
        !declarations.endpoints.has(declaration)
      )
        problems.push(
          problemAt(
            argument.range,
            `'${displayName(type)}' cannot be registered: it is neither an @entity nor an @endpoint class`,
          ),
        );
    }
  }
  return problems;
}

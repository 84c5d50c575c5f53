// SdkTransform: the three steps at which AssemblyScript lets a transform change a program. After parsing it checks
// declarations and writes code into the classes; after names are resolved it checks types; after compiling it writes
// the descriptor and renames exports and imports.
import type { ClassDeclaration, DiagnosticMessage, Parser, Program } from 'assemblyscript';
import type binaryen from 'assemblyscript/binaryen';
import type { ModuleDescriptor } from '@svc/contract';
import type { Problem } from './build-error.ts';
import { enumClass, giveEnumsTypes } from './data-enum.ts';
import { isUserSource, readDeclarations, type Declarations } from './declarations.ts';
import { describe } from './descriptor.ts';
import type { KnownNames } from './diagnostic-help.ts';
import { entityCallProblems } from './entity-calls.ts';
import { injectInterface, injectMembers, injectStatements, returnExpression } from './inject.ts';
import { writeLaterReplies } from './later-reply-calls.ts';
import { knownNames } from './known-names.ts';
import { closeEdges } from './module-edges.ts';
import { queryEffectProblems } from './query-effects.ts';
import { nothingRegistered, readRegistrations } from './registrations.ts';
import { descriptorProblems } from './refused-descriptor.ts';
import { reservedNameProblems } from './reserved-names.ts';
import { serviceCallProblems } from './service-calls.ts';
import { settingsProblems } from './settings-calls.ts';
import { sourceNumbers } from './source-map.ts';
import { timerCallProblems } from './timer-calls.ts';
import { typeProblems } from './type-problems.ts';
import { uncheckedNumberWarnings } from './unchecked-numbers.ts';
import { unregisteredViewProblems } from './unregistered-views.ts';
import { GLUE_IMPORT, dataMembers, defaultsOf, endpointMembers } from './written-code.ts';
import { consumerMembers } from './written-consumer-code.ts';
import { viewDefinitions, type ViewDefinitions } from './view-definition.ts';
import { viewClientClass, viewMembers } from './written-view-code.ts';
import { callClass, clientClass, entityMembers, laterReplyClasses } from './written-entity-code.ts';

/** The data that a build collects about its program. */
export interface BuildState {
  readonly sdk: { readonly name: string; readonly version: string };
  /** Name of the author's entry file, without its folder. */
  readonly entryName: string;
  /** Problems; if there are any, the build has failed. */
  problems: Problem[];
  warnings: readonly Problem[];
  known: KnownNames;
  descriptor: ModuleDescriptor | undefined;
  /** Messages of AssemblyScript's own compiler, which adds to this list. */
  diagnostics: readonly DiagnosticMessage[];
  /** Numbers of the program's files in the compiler's source map. */
  sourceNumbers: ReadonlySet<number>;
}

/** Ends the run of the compiler; the build's state has the reasons. */
class Stopped extends Error {}

/** A class that AssemblyScript instantiates, after it has added `program` and `binaryen` to the prototype. */
export type TransformClass = new () => object;

export function sdkTransform(state: BuildState): TransformClass {
  let declarations: Declarations | undefined;
  let definitions: ViewDefinitions | undefined;
  let isEmpty = false;
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
      state.known = knownNames(parser, declarations);
      const { clients } = state.known;
      const entities = [...declarations.entities.values()];
      state.problems.push(
        ...declarations.problems,
        ...parser.sources.filter(isUserSource).flatMap(reservedNameProblems),
        ...entities.flatMap(queryEffectProblems),
        ...[...entities, ...declarations.views.values()].flatMap((one) =>
          entityCallProblems(one, clients),
        ),
        ...parser.sources.filter(isUserSource).flatMap(timerCallProblems),
        ...parser.sources.filter(isUserSource).flatMap(serviceCallProblems),
      );
      state.warnings = parser.sources.filter(isUserSource).flatMap(uncheckedNumberWarnings);
      const views = declarations.views.values();
      definitions = viewDefinitions(parser.sources, views, state.sdk.version);
      // Types are checked in any case, so that all problems are reported together.
      if (state.problems.length === 0) write(parser, declarations);
    }

    afterInitialize(program: Program): void {
      giveEnumsTypes(program, isUserSource, declarations!.enums);
      // The check of types comes first: a type is resolved once, and only at that point does the compiler report why
      // it does not resolve.
      const types = typeProblems(program, declarations!);
      const registrations = readRegistrations(program, declarations!, state.entryName);
      const reported = new Set(state.problems.map(locationKey));
      const reads = settingsProblems(program, declarations!);
      for (const problem of [...types, ...reads, ...registrations.problems]) {
        if (reported.has(locationKey(problem))) continue;
        reported.add(locationKey(problem));
        state.problems.push(problem);
      }
      state.warnings = [...state.warnings, ...registrations.warnings];
      isEmpty = registrations.isEmpty;
      stopOnProblems();
      // Adds source lines to the code of the module; the code is the same.
      program.options.sourceMap = true;
    }

    afterCompile(module: binaryen.Module): void {
      const { program } = this;
      state.sourceNumbers = sourceNumbers(program);
      if (isEmpty) state.problems.push(nothingRegistered(declarations!, state.entryName));
      const registered = describe(program, declarations!, definitions!, state.sdk, state.problems);
      state.problems.push(
        ...unregisteredViewProblems(program, declarations!, registered.descriptor, state.entryName),
      );
      closeEdges(this.binaryen, module, program, registered, state.problems);
      if (state.problems.length === 0) {
        const endpoints = registered.endpoints.map(({ reference }) =>
          declarations!.endpoints.get(reference.prototype.declaration as ClassDeclaration)!,
        );
        state.problems.push(...descriptorProblems(registered.descriptor, endpoints, declarations!));
      }
      state.descriptor = registered.descriptor;
      stopOnProblems();
    }
  };
}

/**
 * Returns a key by which one location gets one message: a second one would be a consequence of the first, or the same
 * for a generic class with other type arguments.
 */
function locationKey({ file, line, column, message }: Problem): string {
  return file === undefined ? message : `${file}:${line}:${column}`;
}

function write(parser: Parser, declarations: Declarations): void {
  for (const data of declarations.data.values()) injectMembers(data.declaration, dataMembers(data));
  for (const one of declarations.enums.values())
    injectStatements(one.declaration.range.source, enumClass(one));
  for (const endpoint of declarations.endpoints.values()) {
    injectInterface(endpoint.declaration, '__svc_EndpointComponent');
    injectMembers(endpoint.declaration, endpointMembers(endpoint));
    for (const { name, argument } of defaultsOf(endpoint))
      returnExpression(endpoint.declaration, name, argument.node.initializer!);
  }
  for (const entity of declarations.entities.values()) {
    injectMembers(entity.declaration, entityMembers(entity));
    injectStatements(
      entity.declaration.range.source,
      `${clientClass(entity)}\n${callClass(entity)}\n${laterReplyClasses(entity)}`,
    );
    writeLaterReplies(entity);
  }
  for (const view of declarations.views.values()) {
    const queries = declarations.queries.filter((query) => query.view === view.id);
    injectMembers(view.declaration, viewMembers(view));
    injectStatements(view.declaration.range.source, viewClientClass(view, queries));
  }
  for (const consumer of declarations.consumers.values())
    injectMembers(consumer.declaration, consumerMembers(consumer));
  const written = new Set(
    [
      ...declarations.data.keys(),
      ...declarations.enums.keys(),
      ...declarations.entities.keys(),
      ...declarations.endpoints.keys(),
      ...declarations.views.keys(),
      ...declarations.consumers.keys(),
    ].map((declaration) => declaration.range.source),
  );
  for (const source of parser.sources)
    if (written.has(source)) injectStatements(source, GLUE_IMPORT);
}

// Descriptors for tests of the OpenAPI document, and what is wrong with a document: where it leaves the schema, leads
// to nothing, or names two operations alike.
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { type ModuleDescriptor, type OpenApiDocument, parseModuleDescriptor } from '@svc/contract';
import { openApiShapes } from './open-api-schema.ts';

const { Document } = Type.Module(openApiShapes);

/** The descriptor of a module. Throws its problems. */
export function parsed(text: string): ModuleDescriptor {
  const result = parseModuleDescriptor(text);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.descriptor;
}

/** A descriptor of these parts, held against the contract like that of a module. */
export const describing = (change: Partial<ModuleDescriptor>): ModuleDescriptor =>
  parsed(
    JSON.stringify({
      protocol: '0.1.0',
      sdk: { name: 'test', version: '1.0.0' },
      types: {},
      entities: [],
      endpoints: [],
      ...change,
    }),
  );

/** Everything in the document that is no part of it. */
export function problemsOf(document: OpenApiDocument): string[] {
  const problems = Value.Errors(Document, document).map(
    ({ instancePath, message }) => `${instancePath}: ${message}`,
  );
  const operationIds: unknown[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, child] of Object.entries(node)) {
      if (name === 'operationId') operationIds.push(child);
      const isReference = name === '$ref' || (name !== 'url' && String(child).startsWith('#/'));
      if (
        isReference &&
        typeof child === 'string' &&
        Value.Pointer.Get(document, child.slice(1)) === undefined
      )
        problems.push(`${child} is not there`);
      visit(child);
    }
  };
  visit(document);
  if (new Set(operationIds).size !== operationIds.length)
    problems.push('an operation id is not unique');
  return problems;
}

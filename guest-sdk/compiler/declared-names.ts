// DeclaredNames: the names that a file declares or imports, besides the names of methods.
import {
  DeclarationStatement,
  ImportStatement,
  MethodDeclaration,
  ParameterNode,
  type Source,
} from 'assemblyscript';
import { walk } from './syntax-walk.ts';

/** Returns the names that a file declares, with fields, parameters and variables but no methods, or imports. */
export function declaredNames(source: Source): string[] {
  const names: string[] = [];
  for (const statement of source.statements)
    if (statement instanceof ImportStatement)
      names.push(...(statement.declarations ?? []).map(({ name }) => name.text));
    else
      walk(statement, (node) => {
        if (node instanceof MethodDeclaration) return;
        if (node instanceof DeclarationStatement || node instanceof ParameterNode)
          names.push(node.name.text);
      });
  return names;
}

// WrittenViewCode: the AssemblyScript that the compiler writes into a view's class, and the view's client.
import { madeFor } from './inject.ts';
import { quote, textOf } from './syntax.ts';
import {
  countMethodOf,
  methodNameOf,
  rowText,
  type ViewClass,
  type ViewQueryClass,
  type ViewSource,
} from './view-declaration.ts';

/** Returns the members that dispatch events to the methods of their sources. */
export function viewMembers(view: ViewClass): string {
  const row = rowText(view);
  return `${madeFor(view.declaration.name)}__svc_view(): string { return ${quote(view.id)}; }
__svc_register(): void { __svc_addView(this); }
__svc_keys(event: __svc_SourceEvent): string[] {
  ${view.keys.map((source) => dispatch(source, [], '[]')).join('\n  ')}
  return [event.context.entityId];
}
__svc_fold(row: ${row} | null, event: __svc_SourceEvent): __svc_RowChange<${row}> {
  ${view.folds.map((source) => dispatch(source, ['row'], 'this.keep()')).join('\n  ')}
  throw new Error("view ${view.id} has no source " + event.component);
}`;
}

function dispatch(source: ViewSource, given: readonly string[], failed: string): string {
  const { method, component, event, takesContext } = source;
  const args = [...given, 'value', ...(takesContext ? ['event.context'] : [])];
  return `${madeFor(method.name)}if (event.component == ${quote(component)}) { const value = event.value<${event === undefined ? '' : textOf(event)}>(); if (event.failed) return ${failed}; return this.${method.name.text}(${args.join(', ')}); }`;
}

/** Returns the class by which handlers find rows. The classes of the queries' parameters are in the file of the view. */
export function viewClientClass(view: ViewClass, queries: readonly ViewQueryClass[]): string {
  const row = rowText(view);
  const methods = queries.map((query) => {
    const { declaration, name } = query;
    const parameters = declaration.name.text;
    return `${madeFor(declaration.name)}${methodNameOf(query)}(parameters: ${parameters}, limit: u32 = 100, cursor: string | null = null): __svc_Result<__svc_Page<${row}>> { return this.__svc_find<${row}>(${quote(name)}, __svc_toJson<${parameters}>(parameters), limit, cursor); }
  ${countMethodOf(query)}(parameters: ${parameters}): __svc_Result<__svc_RowCount> { return this.__svc_count(${quote(name)}, __svc_toJson<${parameters}>(parameters)); }`;
  });
  return `${madeFor(view.declaration.name)}export class ${view.name}Client extends __svc_ViewClient {
  constructor() { super(${quote(view.id)}); }
  get(key: string): __svc_Result<__svc_FoundRow<${row}>> { return this.__svc_get<${row}>(key); }
  ${methods.join('\n  ')}
}`;
}

// WrittenConsumerCode: the AssemblyScript that the compiler writes into a consumer's class.
import type { ConsumerClass } from './consumer-declaration.ts';
import { madeFor } from './inject.ts';
import { quote, textOf } from './syntax.ts';

/** Returns the members that dispatch events to the methods of their sources. */
export function consumerMembers({ declaration, id, sources }: ConsumerClass): string {
  const dispatched = sources.map(({ method, component, event, takesContext }) => {
    const type = event === undefined ? '' : textOf(event);
    const args = takesContext ? 'value, event.context' : 'value';
    return `${madeFor(method.name)}if (event.component == ${quote(component)}) { const value = event.value<${type}>(); if (event.failed) throw new Error(event.problem); return this.${method.name.text}(${args}); }`;
  });
  return `${madeFor(declaration.name)}__svc_consumer(): string { return ${quote(id)}; }
__svc_register(): void { __svc_addConsumer(this); }
__svc_consume(event: __svc_SourceEvent): __svc_Verdict {
  ${dispatched.join('\n  ')}
  throw new Error(${quote(`consumer ${id} has no source `)} + event.component);
}`;
}

// CallSites: finds the expression that a message about code of a package, of the SDK or of the standard library is due to.
// The compiler compiles a generic function when it is called with new types, and its message names only a line of that
// function: the expression is then the one that chose the types. Code that is not generic is wrong by itself.
import { Compiler, type DiagnosticMessage, type Range, type Source } from 'assemblyscript';

const callSites = new WeakMap<DiagnosticMessage, Range>();
let isNoting = false;

/** Returns the innermost expression around a message that is the author's or is not generic; undefined if there is none. */
export function callSiteOf(message: DiagnosticMessage): Range | undefined {
  return callSites.get(message);
}

/**
 * Wraps the compiler's method that compiles an expression, once per thread. `isForeign`: returns whether a file is
 * neither the author's nor written by the SDK for the author's file.
 */
export function noteCallSites(isForeign: (source: Source) => boolean): void {
  if (isNoting) return;
  isNoting = true;
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its object
  const compileExpression = Compiler.prototype.compileExpression;
  Compiler.prototype.compileExpression = function (this: Compiler, expression, ...rest) {
    const { diagnostics } = this;
    const before = diagnostics.length;
    const compiled = compileExpression.call(this, expression, ...rest);
    if (diagnostics.length > before && !(isForeign(expression.range.source) && isGeneric(this)))
      for (const message of diagnostics.slice(before))
        if (!callSites.has(message)) callSites.set(message, expression.range);
    return compiled;
  };
}

/** Whether the function that is being compiled has types that its caller has chosen. */
function isGeneric({ currentFlow }: Compiler): boolean {
  return (currentFlow.targetFunction.contextualTypeArguments?.size ?? 0) > 0;
}

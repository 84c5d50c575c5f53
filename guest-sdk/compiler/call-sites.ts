// CallSites: finds the expression that caused a compiler message about code of a package, of the SDK or of the standard
// library. The compiler compiles a generic function when it is called with new types, and its message names only a line
// of that function: the cause is then the expression that chose the types. Other code is itself the cause.
import { Compiler, type DiagnosticMessage, type Range, type Source } from 'assemblyscript';

const callSites = new WeakMap<DiagnosticMessage, Range>();
let isNoting = false;

/**
 * Returns the innermost expression that was being compiled when the message was reported, and that is the author's or
 * is not in generic code; undefined if there is none.
 */
export function callSiteOf(message: DiagnosticMessage): Range | undefined {
  return callSites.get(message);
}

/**
 * Notes call sites from now on: wraps the compiler's method that compiles an expression, once per thread. `isForeign`:
 * returns whether a file is neither the author's nor written by the compiler for the author's file.
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

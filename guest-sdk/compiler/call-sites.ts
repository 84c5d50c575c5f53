// CallSites: finds the author's expression behind a message about code that is not the author's. The compiler
// compiles a generic function of the SDK or of the standard library when it is called with new types, and its message
// names only a line of that function.
import { Compiler, type DiagnosticMessage, type Range, type Source } from 'assemblyscript';

const callSites = new WeakMap<DiagnosticMessage, Range>();
let isNoting = false;

/** Returns the innermost of the author's expressions around a message; undefined if there is none. */
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
    if (diagnostics.length > before && !isForeign(expression.range.source))
      for (const message of diagnostics.slice(before))
        if (!callSites.has(message)) callSites.set(message, expression.range);
    return compiled;
  };
}

// From a TypeScript source to the JavaScript that is published: Node takes the types out as it does in
// the checkout, so every line and column stays where it was; only the names of other files change.
// Node runs no TypeScript under node_modules, hence this step.
import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';

/** Where a module names another file: in an import, an export, a URL, or what it resolves. */
const REFERENCE =
  /(\bfrom\s*|\bimport\s*\(\s*|^import\s+|\bnew URL\(\s*|\bimport\.meta\.resolve\(\s*)(['"])(\.{1,2}\/[^'"\n]*)\.ts\2/gm;
const LITERAL = /(['"`])(\.{1,2}\/[^'"`\n]*\.ts)\1/g;

/** `compiled`: the sources of the package that become JavaScript, relative to its folder. */
export function javascriptOf(source: string, file: string, compiled: ReadonlySet<string>): string {
  return renamed(withoutTrailingBlanks(stripTypeScriptTypes(source), source), file, compiled);
}

/** Also for declarations. Throws when a name of a source is left over. */
export function renamed(code: string, file: string, compiled: ReadonlySet<string>): string {
  const isSource = (name: string) => compiled.has(posix.join(posix.dirname(file), name));
  const result = code.replaceAll(REFERENCE, (whole, before: string, quote: string, name: string) =>
    isSource(`${name}.ts`) ? `${before}${quote}${name}.js${quote}` : whole,
  );
  const left = [...result.matchAll(LITERAL)].map((match) => match[2]!).filter(isSource);
  if (left.length > 0)
    throw new Error(
      `${file} names ${left.join(', ')}, which is not published as TypeScript. ` +
        "Write it as new URL('./FILE.ts', import.meta.url), or as an import.",
    );
  return result;
}

/** What stood there were types; blanks of the source's own, within a template, stay. */
function withoutTrailingBlanks(code: string, source: string): string {
  const lines = source.split('\n');
  return code
    .split('\n')
    .map((line, index) => (/\s$/.test(lines[index] ?? '') ? line : line.trimEnd()))
    .join('\n');
}

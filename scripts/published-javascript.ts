// PublishedJavascript: converts a TypeScript source to the published JavaScript, because Node runs no TypeScript in
// node_modules. Node strips the types as in the checkout, so every line and column stays the same; only the names of
// other files change.
import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';

/** Matches a relative reference to a TypeScript file: in an import, an export, a URL, or a resolved specifier. */
const REFERENCE =
  /(\bfrom\s*|\bimport\s*\(\s*|^import\s+|\bnew URL\(\s*|\bimport\.meta\.resolve\(\s*)(['"])(\.{1,2}\/[^'"\n]*)\.ts\2/gm;
/** Matches each literal that is a relative path of a TypeScript file. */
const LITERAL = /(['"`])(\.{1,2}\/[^'"`\n]*\.ts)\1/g;

/**
 * Converts a source. `file`: its path. `compiled`: paths of the package's sources that become JavaScript. All paths are
 * relative to the package's folder. Throws if a reference cannot be renamed.
 */
export function javascriptOf(source: string, file: string, compiled: ReadonlySet<string>): string {
  return renamed(withoutTrailingBlanks(stripTypeScriptTypes(source), source), file, compiled);
}

/**
 * Returns code or declarations in which references to compiled sources end in `.js` instead of `.ts`. Throws if a
 * reference cannot be renamed.
 */
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

/** Removes trailing blanks where types were; blanks of the source itself, in a template literal, stay. */
function withoutTrailingBlanks(code: string, source: string): string {
  const lines = source.split('\n');
  return code
    .split('\n')
    .map((line, index) => (/\s$/.test(lines[index] ?? '') ? line : line.trimEnd()))
    .join('\n');
}

// SourceTree: the sources of the checkout with what each imports, found by walking the folders. Nothing is listed by
// hand: a new folder is there from its first file on.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface Import {
  readonly from: string;
  /** A file of the checkout, or the name of a package. */
  readonly to: string;
  /** As it is written. */
  readonly specifier: string;
  readonly isPackage: boolean;
}

export interface SourceTree {
  /** Paths from the root of the checkout. */
  readonly files: readonly string[];
  /** The text of each file. */
  readonly texts: ReadonlyMap<string, string>;
  readonly imports: readonly Import[];
}

/** What is installed, built or generated. */
const MADE = /(?:^|\/)(?:node_modules|build|dist|generated|\.[^/]+)\/|^console\/public\//;
/** A statement begins at the start of its line: what stands indented in a template is no import. */
const IMPORT =
  /(?:^(?:import|export)\s+(?:type\s+)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)(?:\s*,\s*\{[^}]*\})?\s+from\s+|\bimport\s*\(\s*|^import\s+)(['"])([^'"\n]+)\1/gm;

/** Every file with one of the endings (without a dot). */
export function filesOf(root: string, ...endings: readonly string[]): readonly string[] {
  const pattern = endings.length === 1 ? endings[0] : `{${endings.join(',')}}`;
  return globSync(`**/*.${pattern}`, {
    cwd: root,
    exclude: (path) => /(?:^|\/)(?:node_modules|\.git)$/.test(path),
  })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !MADE.test(file))
    .toSorted();
}

export function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

/** Reads the files and finds their imports. */
export function readTree(root: string, files: readonly string[]): SourceTree {
  return treeOf(new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')])));
}

export function treeOf(texts: ReadonlyMap<string, string>): SourceTree {
  const files = [...texts.keys()];
  const imports = files.flatMap((from) =>
    [...texts.get(from)!.matchAll(IMPORT)].map(([, , specifier]): Import =>
      specifier!.startsWith('.')
        ? { from, to: fileOf(texts, from, specifier!), specifier: specifier!, isPackage: false }
        : { from, to: packageOf(specifier!), specifier: specifier!, isPackage: true },
    ),
  );
  return { files, texts, imports };
}

/** AssemblyScript leaves the ending away. */
function fileOf(texts: ReadonlyMap<string, string>, from: string, specifier: string): string {
  const path = normalize(join(dirname(from), specifier));
  return texts.has(`${path}.ts`) ? `${path}.ts` : path;
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

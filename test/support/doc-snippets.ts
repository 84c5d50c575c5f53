// The TypeScript of a page, and whether a file that tests run has it word for word.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export interface Snippet {
  /** `page:line` */
  readonly place: string;
  readonly code: string;
}

/** The fenced blocks of a language, in their order. */
export function snippetsOf(page: string, language: string): readonly Snippet[] {
  const text = readFileSync(join(root, page), 'utf8');
  const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...text.matchAll(fence)].map((match) => ({
    place: `${page}:${text.slice(0, match.index).split('\n').length}`,
    code: match[1]!,
  }));
}

/**
 * The files among `patterns` that have the whole snippet: its lines in their order, all indented by
 * the same blanks.
 */
export function filesWith(code: string, patterns: readonly string[]): readonly string[] {
  const wanted = lines(code);
  return globSync([...patterns], { cwd: root })
    .filter((file) => !file.includes('node_modules'))
    .filter((file) => {
      const found = lines(readFileSync(join(root, file), 'utf8'));
      return found.some((_, start) => standsAt(found, start, wanted));
    });
}

function standsAt(found: readonly string[], start: number, wanted: readonly string[]): boolean {
  const own = /^ */.exec(wanted[0]!)![0].length;
  const indent = /^ */.exec(found[start]!)![0].slice(own);
  return wanted.every((line, offset) => {
    const there = found[start + offset];
    return there === (line === '' ? '' : indent + line);
  });
}

function lines(text: string): readonly string[] {
  return text.trimEnd().split('\n');
}

export interface Curl {
  readonly command: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** The comment below it. */
  readonly answer: string;
}

/** The curl commands of a page that say what is answered. */
export function curlsOf(text: string): readonly Curl[] {
  const pattern = /^(curl (?:.*\\\n)*.*)\n# (.*)$/gm;
  return [...text.matchAll(pattern)].map(([, command, answer]) => {
    const words = [...command!.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, bare]) => quoted ?? bare!,
    );
    const after = (option: string) =>
      words.flatMap((word, at) => (word === option ? [words[at + 1]!] : []));
    const address = words.find((word) => word.startsWith('http://127.0.0.1:9000/'))!;
    return {
      command: command!,
      method: after('-X')[0] ?? 'GET',
      path: address.slice('http://127.0.0.1:9000'.length),
      headers: Object.fromEntries(after('-H').map((header) => header.split(': '))),
      body: after('-d')[0],
      answer: answer!,
    };
  });
}

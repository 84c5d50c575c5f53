// svc explain: prints the page of an error code.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, EXIT_CODE } from '../command.ts';
import { errorPagesFolder } from '../installation.ts';
import { outputStyle } from '../terminal.ts';

const folder = errorPagesFolder();
/** The codes that have a page. There are none in an image that only serves modules, which has no pages. */
const codes = (existsSync(folder) ? readdirSync(folder) : [])
  .filter((file) => /^SVC_[A-Z_]+\.md$/.test(file))
  .map((file) => file.slice(0, -'.md'.length))
  .toSorted();

export const explain = command(
  {
    name: 'explain',
    summary: 'say what an error code means, and what to do',
    about: 'Prints the page of an error code; without one, the list of all codes.',
    words: [{ name: 'CODE', optional: true, completes: { kind: 'choices', choices: codes } }],
    options: {},
    examples: ['svc explain SVC_BUILD_FAILED', 'svc explain'],
  },
  async ([code]) => {
    process.stdout.write(code === undefined ? `${codes.join('\n')}\n` : pageOf(code));
    return EXIT_CODE.ok;
  },
);

/** Returns the page of a code for a terminal: Markdown without links, and with bold titles. */
function pageOf(code: string): string {
  return readFileSync(join(folder, `${code}.md`), 'utf8')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^#+ (.*)$/gm, (_line, title: string) => outputStyle('bold', title));
}

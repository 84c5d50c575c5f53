// ChecksReference: docs/reference/sandbox-checks.md, generated from the rows of test/mutants/. The page names checks,
// functions and tests, but no line of the sources, so that a change of the sources does not change the page.
import { type Mutant, mutantLists } from '../test/support/mutants/mutant.ts';

export const CHECKS_PAGE = 'docs/reference/sandbox-checks.md';

const HEAD = `# Checks of the sandbox and of durability

<!-- Generated from test/mutants/ by \`npm run generate\`. -->

\`npm run mutants\` turns each of these checks off, one by one, and expects that one of the tests in its row fails.
[Sandbox](sandbox.md) describes what the checks guarantee.
`;

export function checksReference(): string {
  return [HEAD, ...[...mutantLists()].map(([area, mutants]) => table(area, mutants))].join('\n');
}

function table(area: string, mutants: readonly Mutant[]): string {
  const rows = mutants.map(
    ({ check, file, in: name, tests }) =>
      `| \`${check}\` | \`${name ?? file}\` | ${tests.map(testCell).join('<br>')} |`,
  );
  return `## ${area[0]!.toUpperCase()}${area.slice(1).replaceAll('-', ' ')}\n\n| Check | In | Noticed by |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function testCell(test: string): string {
  const [file = '', ...name] = test.split(' › ');
  return `\`${file}\`: ${cellText(name.join(' › '))}`;
}

/** Escapes the characters that Markdown would read as markup. */
function cellText(text: string): string {
  return text.replaceAll(/[\\|`*_<>[\]{}$%]/g, (character) => `\\${character}`);
}

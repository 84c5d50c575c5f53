// What a build has to say, for standard error: the place first, as editors and terminals know it; then the line, and
// what to do.
import { problemText, type Problem, type ProblemPart } from '@svc/guest-sdk/compiler';
import { errorStyle } from './terminal.ts';

const PROBLEM_STYLES = {
  place: 'bold',
  error: 'red',
  warning: 'yellow',
  mark: 'red',
  help: 'cyan',
} as const satisfies Record<ProblemPart, string>;

/** A text of several lines for each. */
export function problemTexts(problems: readonly Problem[]): readonly string[] {
  return problems.map((problem) =>
    problemText(problem, (part, text) => errorStyle(PROBLEM_STYLES[part], text)),
  );
}

// ProblemLines: the problems of a build, for standard error: first the source location, in the form that editors and
// terminals recognise, with the message; then, where they are known, the source line and a hint how to fix the problem.
import { problemText, type Problem, type ProblemPart } from '@svc/guest-sdk/compiler';
import { errorStyle } from './terminal.ts';

const PROBLEM_STYLES = {
  location: 'bold',
  error: 'red',
  warning: 'yellow',
  mark: 'red',
  help: 'cyan',
} as const satisfies Record<ProblemPart, string>;

/** Returns a text of several lines for each problem. */
export function problemTexts(problems: readonly Problem[]): readonly string[] {
  return problems.map((problem) =>
    problemText(problem, (part, text) => errorStyle(PROBLEM_STYLES[part], text)),
  );
}

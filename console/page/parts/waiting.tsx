// Waiting: a placeholder for content that is still loading, as high as the content will be, or the reason why it
// cannot be loaded.
import type { ApiProblem } from '../api.ts';
import { visibleText } from '../view/visible-text.ts';

export function Waiting({ rows }: { readonly rows: number }) {
  return (
    <div class="waiting" aria-busy="true">
      <span class="unseen">Loading</span>
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} class="waiting-row" style={{ width: `${92 - ((at * 37) % 40)}%` }} />
      ))}
    </div>
  );
}

export function ProblemNote({ problem }: { readonly problem: ApiProblem }) {
  return (
    <p class="problem-note" role="status">
      {problemText(problem)}
    </p>
  );
}

export function problemText({ status, message }: ApiProblem): string {
  if (status === 0) return 'The console does not answer. Start it again: npx svc console';
  if (status === 502) return `The service does not answer: ${visibleText(message)}`;
  if (status === 504)
    return `The service is busy and did not answer in time: ${visibleText(message)}`;
  return visibleText(message);
}

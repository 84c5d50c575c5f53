// DevBar: the line below the header while `svc dev` runs the service: the running build, the problems of
// the last build, and the served module. It never takes the focus, and has a constant height until the user opens its
// problems.
import type { DevProblem, DevState } from '@svc/contract';
import { useEffect, useRef } from 'preact/hooks';
import { getJson, observed } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { announce, developed } from '../store.ts';
import { amountText, durationText } from '../view/number-text.ts';
import { visibleLine, visibleText } from '../view/visible-text.ts';
import { CopyButton } from './copy.tsx';

const POLLED_EVERY_MS = 1000;

export function DevBar({ instanceId }: { readonly instanceId: string }) {
  const dev = useLoaded<DevState>(
    developed.value === instanceId ? instanceId : undefined,
    (signal) => getJson(observed(instanceId, 'dev'), signal),
    { everyMs: POLLED_EVERY_MS },
  ).value;
  const announced = useRef('');
  const text = dev === undefined ? '' : lineOf(dev);
  useEffect(() => {
    if (announced.current !== '' && text !== '' && text !== announced.current) announce(text);
    announced.current = text;
  }, [text]);
  if (dev === undefined) return null;
  const findings = dev.upgrade ?? [];
  const isOpenable = dev.problems.length > 0 || findings.length > 0;
  const line = (
    <>
      <span class="sign" aria-hidden="true">
        {signOf(dev)}
      </span>
      <span class="dev-line">{text}</span>
    </>
  );
  if (!isOpenable) return <div class={`dev-bar is-${kindOf(dev)}`}>{line}</div>;
  return (
    <details class={`dev-bar is-${kindOf(dev)}`} name="dev">
      <summary>
        {line}
        <span class="more" />
      </summary>
      <div class="dev-findings">
        {dev.problems.map((problem, at) => (
          <Problem key={at} problem={problem} />
        ))}
        {isOlderServed(dev) && <p class="dim">The previous module is still served.</p>}
        {findings.length > 0 && (
          <>
            <p>Stored events do not fold with the module that is served:</p>
            <ul>
              {findings.map((finding) => (
                <li key={finding}>{visibleText(finding)}</li>
              ))}
            </ul>
          </>
        )}
      </div>
    </details>
  );
}

function Problem({ problem }: { readonly problem: DevProblem }) {
  const location = [problem.file, problem.line, problem.column].filter((part) => part !== null);
  return (
    <div class="dev-problem">
      {problem.file !== null && (
        <p class="place">
          <code>{visibleLine(location.join(':'))}</code>
          <CopyButton text={location.join(':')} what="location" />
        </p>
      )}
      <p>{visibleText(problem.message)}</p>
      {problem.source !== null && <SourceLine source={problem.source} column={problem.column} />}
      {problem.help !== null && <p class="dim">{visibleText(problem.help)}</p>}
    </div>
  );
}

/** Displays a line of the sources without its indentation, with a mark below the column; several lines as they are. */
function SourceLine({
  source,
  column,
}: {
  readonly source: string;
  readonly column: number | null;
}) {
  if (source.includes('\n')) return <pre>{visibleText(source)}</pre>;
  const line = source.trimStart();
  const markAt = column === null ? -1 : column - 1 - (source.length - line.length);
  return (
    <pre>
      {visibleText(line)}
      {markAt >= 0 && markAt <= line.length && (
        <span class="mark">{`\n${' '.repeat(markAt)}^`}</span>
      )}
    </pre>
  );
}

function lineOf({ state, problems, upgrade, builtMs, servedAfterMs }: DevState): string {
  switch (state) {
    case 'building':
      return 'building…';
    case 'build-failed':
      return amountText(problems.length, 'compile error');
    case 'refused':
      return `refused: ${visibleLine(problems[0]?.message ?? 'the module did not start')}`;
    case 'serving': {
      // A narrow screen cuts the line off at its end, so a finding replaces the durations.
      if (upgrade?.length)
        return `serving; stored events no longer fold: ${amountText(upgrade.length, 'finding')}`;
      const built = builtMs === null ? '' : `, built in ${durationText(builtMs)}`;
      const after = servedAfterMs === null ? '' : `, served ${durationText(servedAfterMs)} after`;
      return `serving${built}${after}`;
    }
    default:
      return state;
  }
}

/**
 * Returns whether the previous module is still served. If the problem of a refused module has a help text, the previous
 * module has stopped, and the start of the refused module is tried again.
 */
function isOlderServed({ state, problems }: DevState): boolean {
  return state === 'build-failed' || (state === 'refused' && problems[0]?.help === null);
}

function kindOf({ state, upgrade }: DevState): string {
  if (state === 'serving') return upgrade?.length ? 'warning' : 'good';
  return state === 'building' ? 'working' : 'bad';
}

function signOf(dev: DevState): string {
  return { good: '●', warning: '◆', working: '◐', bad: '✕' }[kindOf(dev)] ?? '●';
}

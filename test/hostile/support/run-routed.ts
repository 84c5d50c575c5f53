// Runs the cases of a switchboard against one host process, each with its documented answer, and says
// which did not get it.
import { moduleOf } from '../../../fixtures/hostile/component-bytes.ts';
import { goodDescriptor } from '../../../fixtures/hostile/good-descriptor.ts';
import type { Answer, Crowd, RoutedCase, Step } from '../../../fixtures/hostile/hostile-case.ts';
import { requestOf, switchboard } from '../../../fixtures/hostile/switchboard.ts';
import type { HostileHost } from './hostile-host.ts';
import { type Sent, send } from './send.ts';

export async function switchboardModule(
  cases: readonly RoutedCase[],
  encoding: NonNullable<RoutedCase['encoding']> = 'utf8',
): Promise<Uint8Array> {
  return moduleOf(switchboard(cases, encoding), goodDescriptor(cases.length), encoding);
}

/** Undefined: the case got what it should. */
export async function problemOf(
  host: HostileHost,
  routed: RoutedCase,
  index: number,
): Promise<string | undefined> {
  const request = requestOf(routed, index);
  for (let left = routed.times ?? 1; left > 0; left--) {
    const problem = await answerProblem(host, request, routed.answer);
    if (problem !== undefined) return problem;
  }
  return routed.then === undefined ? undefined : answerProblem(host, request, routed.then);
}

/** Undefined: all requests of the step got what they should. */
export async function stepProblem(
  host: HostileHost,
  step: Step | Crowd,
): Promise<string | undefined> {
  const { method = 'GET', path } = step;
  if ('together' in step) return crowdProblem(host, step);
  for (let left = step.times ?? 1; left > 0; left--) {
    const problem = await answerProblem(host, { method, path }, step.answer);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function crowdProblem(
  host: HostileHost,
  { method = 'GET', path, together, answers }: Crowd,
): Promise<string | undefined> {
  const all = await Promise.all(
    Array.from({ length: together }, () => send(host.url + path, { method })),
  );
  const missing = new Set(answers);
  for (const sent of all) {
    const expected = answers.find(({ status }) => [status].flat().includes(sent.status));
    const problem = await sentProblem(host, sent, expected ?? answers[0]!);
    if (problem !== undefined) return problem;
    missing.delete(expected!);
  }
  const statuses = [...missing].map(({ status }) => [status].flat().join(' or '));
  return missing.size === 0 ? undefined : `answers none of ${together} with ${statuses.join()}`;
}

/** What is wrong with the host's answer to a request, or with its log of it. */
async function answerProblem(
  host: HostileHost,
  { method, path }: { readonly method: string; readonly path: string },
  expected: Answer,
): Promise<string | undefined> {
  return sentProblem(host, await send(host.url + path, { method }), expected);
}

async function sentProblem(
  host: HostileHost,
  { status, text, headers }: Sent,
  expected: Answer,
): Promise<string | undefined> {
  const statuses = [expected.status].flat();
  if (!statuses.includes(status))
    return `answers ${status} ${text.slice(0, 200)}, not ${statuses.join(' or ')}`;
  if (expected.retryAfter === true && !headers.has('retry-after'))
    return `does not say when to try again: ${text.slice(0, 200)}`;
  if (typeof expected.body === 'string' && expected.body !== text)
    return `says ${text.slice(0, 200)}, not ${expected.body}`;
  if (expected.body instanceof RegExp && !expected.body.test(text))
    return `says ${text.slice(0, 200)}, which is not ${expected.body}`;
  if (expected.code === undefined && expected.limit === undefined) return undefined;
  const body = JSON.parse(text) as Record<string, unknown>;
  const { errorId } = body;
  if (typeof errorId !== 'string') return `has no error id: ${text.slice(0, 200)}`;
  const told = Object.keys(body).toSorted().join();
  if (told !== 'error,errorId,status') return `tells the caller ${told}`;
  const line = await host.logged(
    `the line about ${text}`,
    (candidate) => candidate['errorId'] === errorId,
  );
  if (expected.code !== undefined && line['code'] !== expected.code)
    return `is logged as ${String(line['code'])} (${String(line['reason'])}) with ${status}, not as ${expected.code}`;
  if (expected.limit !== undefined && line['limit'] !== expected.limit)
    return `is logged with the limit ${String(line['limit'])} (${String(line['reason'])}), not with ${expected.limit}`;
  return undefined;
}

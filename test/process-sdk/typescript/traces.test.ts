// The traces of a service whose code is in a process of its own: they have the spans that the same components have in a program that
// embeds the runtime, and the endpoint describes the process.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ServiceDescription, Span, TraceDetail, TraceList } from '@svc/contract';
import { createService } from '../../../host/embed.ts';
import { serveProcess } from '../../../process-sdk/typescript/index.ts';
import { observedProcess, schemaProblems } from '../../support/observed-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { remindedOrders } from './support/reminded-orders.ts';

/** A span without what differs from run to run. */
interface Shape {
  readonly kind: string;
  readonly name: string;
  readonly entityId: string | null;
  readonly outcome: string;
  readonly events: number | null;
  readonly fault: string | null;
  readonly children: readonly Shape[];
}

/** Spans of an order that is placed: the handler and its command, the reminder, and for each event the consumer and its command. */
const PLACED_SPANS = 7;
/** Then a request that is refused, and one whose command throws. */
const ALL_SPANS = PLACED_SPANS + 2 * 2;

/** Sends the requests of the journey, and resolves with the shapes of its traces. */
async function journey(url: string, address: string): Promise<readonly Shape[]> {
  const post = async (path: string) => (await fetch(`${url}${path}`, { method: 'POST' })).status;
  const spans = async () =>
    (await traces(address)).reduce((sum, { spans: count }) => sum + count, 0);
  expect(await post('/orders/a')).toBe(204);
  await expect.poll(spans, { timeout: 60_000 }).toBe(PLACED_SPANS);
  expect(await post('/orders/a')).toBe(409);
  expect(await post('/orders/a/fail')).toBe(500);
  await expect.poll(spans).toBe(ALL_SPANS);
  const details = await Promise.all(
    (await traces(address)).map(({ traceId }) => get<TraceDetail>(address, `traces/${traceId}`)),
  );
  return details.flatMap(({ roots }) => sorted(roots));
}

/** Spans that began at the same time have no order. */
function sorted(spans: readonly Span[]): readonly Shape[] {
  const named = spans.map((span): [string, Shape] => {
    const shape = shapeOf(span);
    return [JSON.stringify(shape), shape];
  });
  return named.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, shape]) => shape);
}

const traces = async (address: string) =>
  (await get<TraceList>(address, 'traces?limit=100')).traces;

async function get<Body>(address: string, path: string): Promise<Body> {
  const response = await fetch(`${address}/observability/${path}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Body;
}

function shapeOf({
  kind,
  component,
  handler,
  entityId,
  outcome,
  events,
  fault,
  children,
}: Span): Shape {
  return {
    kind,
    name: `${component}.${handler}`,
    entityId,
    outcome,
    events,
    fault: fault?.reason ?? null,
    children: sorted(children),
  };
}

test('a service of a process has the spans of an embedded one, and its description has the process', async () => {
  const folder = temporaryFolder();
  const runningFolder = join(folder, 'embedded');
  const embedded = await createService({
    ...remindedOrders,
    name: 'orders',
    http: { port: 0 },
    dataFolder: join(folder, 'data'),
    observability: { local: true, runningFolder },
    log: 'none',
  });
  onTestFinished(() => embedded.stop());
  const [file] = readdirSync(runningFolder);
  const { observabilityAddress } = JSON.parse(readFileSync(join(runningFolder, file!), 'utf8')) as {
    readonly observabilityAddress: string;
  };
  const expected = await journey(embedded.url!, observabilityAddress);

  const served = await serveProcess({ ...remindedOrders, port: 0 });
  onTestFinished(() => served.close());
  const args = ['--process', served.address, '--name', 'orders', '--data', 'process-data'];
  const observed = await observedProcess(folder, args);
  expect(await journey(observed.url, observed.address)).toEqual(expected);

  const described = () => get<ServiceDescription>(observed.address, 'service');
  const description = await described();
  expect(schemaProblems('ServiceDescription', description)).toEqual([]);
  expect(description.codeProcess).toEqual({
    address: served.address,
    sdk: expect.stringMatching(/^@svc\/process \d/) as string,
    problem: null,
  });
  await served.close();
  await expect
    .poll(async () => (await described()).codeProcess?.problem)
    .toContain(`The process at ${served.address} `);
}, 180_000);

// OtlpWorker is the code of the thread that exports spans. Only this thread loads OpenTelemetry's exporter. It sends
// spans in the order in which it receives them. An export begins when the one before has ended or its time is over; the
// spans that the receiver does not accept in time are dropped.
import { parentPort, workerData } from 'node:worker_threads';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { FromOtlpWorker, OtlpSettings, ToOtlpWorker } from './otlp-messages.ts';
import { readableSpans } from './otlp-span.ts';
import type { RecordedSpan } from '../../shards/recorder/recorded-span.ts';

/** Maximum length of the text of a problem, in UTF-16 code units. */
const PROBLEM_UNITS_MAX = 300;

const { url, headers, timeoutMs, source } = workerData as OtlpSettings;
const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: timeoutMs });
let readable = readableSpans(source);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const send = (message: FromOtlpWorker) => parentPort!.postMessage(message);
let settled: Promise<void> = Promise.resolve();

parentPort!.on('message', (message: ToOtlpWorker) => {
  settled = settled.then(async () => {
    if (message.kind === 'routes') readable = readableSpans({ ...source, routes: message.routes });
    else {
      const { spans } = message;
      send({ spans: spans.length, problem: await exported(spans) });
    }
  });
});

/** Exports the spans. Resolves with the reason if they were not accepted. */
async function exported(spans: readonly RecordedSpan[]): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  // The exporter's own timeout restarts with each byte that arrives.
  const timer = setTimeout(
    () =>
      resolve(`There was no answer within ${timeoutMs} ms (svc.observability.export-timeout-ms).`),
    timeoutMs,
  );
  exporter.export(spans.map(readable), ({ error }) =>
    resolve(error === undefined ? undefined : problemOf(error)),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the error's message and the status of the response, without its body. */
function problemOf({ message, code }: Error & { readonly code?: number | string }): string {
  return `${message}${code === undefined ? '' : ` (${code})`}`.slice(0, PROBLEM_UNITS_MAX);
}
